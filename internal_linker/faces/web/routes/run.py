"""The API of runs: what one would do, start it, watch it, cancel it."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from internal_linker.faces.web.context import Folder, OpenedProject, given
from internal_linker.model.progress import Tracker
from internal_linker.project import jobs
from internal_linker.project import run as usecase
from internal_linker.project.options.links import RunOptions

router = APIRouter(prefix="/projects/{key}", tags=["Run"])
# Often enough for a bar that moves, seldom enough for a laptop on battery.
_BETWEEN_S = 0.5
# A proxy closes a connection on which nothing comes for a minute.
_ALIVE_S = 15.0
_Options = Annotated[RunOptions, given(RunOptions)]


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What a run would do; nothing was spent or written.

    Attributes:
        summary: all figures, for people.
        notes: what is unusual.
        seconds: about how long it would take.
        cost_usd: the most that the embeddings would cost, in US dollars.
        searches, credits, texts: searches, credits for them at most, and texts to embed.
    """

    summary: Sequence[jobs.SummaryFigure]
    notes: Sequence[str]
    seconds: float
    cost_usd: float
    searches: int
    credits: int
    texts: int


@dataclass(frozen=True, slots=True)
class CurrentJob:
    """The job of a project: the one that is running, or the last one.

    Attributes:
        job: None: there was none.
    """

    job: jobs.Job | None


@router.post("/plan")
def plan_run(options: _Options, project: OpenedProject) -> RunPlan:
    """Tell what a run would fetch, embed and cost, and how long it would take."""
    notes = Tracker()
    found = usecase.plan(project, options, notes)
    return RunPlan(
        [jobs.SummaryFigure(name, value) for name, value in found.summary],
        notes.notes,
        found.seconds,
        found.usage.cost_usd,
        found.search.searches,
        found.search.most,
        found.texts,
    )


@router.get("/job")
def show_job(folder: Folder) -> CurrentJob:
    """Return the job that is running, or the last one."""
    return CurrentJob(jobs.current_job(folder))


@router.post("/job", status_code=201)
def start_job(options: _Options, project: OpenedProject) -> jobs.Job:
    """Start a run as a process of its own; it goes on when the app ends."""
    return jobs.start_run(project.root, options)


@router.post("/job/cancel")
def cancel_job(folder: Folder) -> jobs.Job:
    """Ask the run to stop. It ends in order; asked twice, it ends at once."""
    return jobs.cancel_job(folder)


@router.get("/job/events", response_class=StreamingResponse)
def watch_job(folder: Folder, request: Request) -> StreamingResponse:
    """Send the job whenever it changes, as server-sent events, until it has ended."""

    async def events() -> AsyncIterator[str]:
        sent, quiet = "", 0.0
        while not await request.is_disconnected():
            job = await run_in_threadpool(jobs.current_job, folder)
            text = json.dumps(_told(job), ensure_ascii=False)
            if text != sent:
                sent, quiet = text, 0.0
                yield f"data: {text}\n\n"
            if job is None or job.state != "running":
                return
            if (quiet := quiet + _BETWEEN_S) >= _ALIVE_S:
                quiet = 0.0
                yield ": still there\n\n"
            await asyncio.sleep(_BETWEEN_S)

    return StreamingResponse(events(), media_type="text/event-stream")


def _told(job: jobs.Job | None) -> Mapping[str, Any]:
    return {"job": asdict(job) if job else None}
