"""The API of earlier runs: list them, compare two, and put the links of one back."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from internal_linker.faces.web.context import Folder, OpenedProject, SharedState, given
from internal_linker.faces.web.tasks import TaskState
from internal_linker.model.count_breakdown import CountBreakdown
from internal_linker.model.ports import Progress
from internal_linker.model.runs import Difference
from internal_linker.project.history import diff, history, names, preview_rollback, rollback
from internal_linker.project.options.decisions import DiffOptions, RollbackOptions

router = APIRouter(prefix="/projects/{key}", tags=["History"])
# Differences in an answer: more than anybody reads; `diff` on the command line writes all to a file.
MOST_SHOWN = 2_000
_Run = Annotated[str, Query(min_length=1, max_length=100, description="A run's id or name, such as last-1.")]
_Sections = Annotated[
    # All of them fit into an address: servers and proxies take no more than some 60,000 bytes.
    list[Annotated[str, Field(max_length=500)]],
    Query(max_length=20, description="Only pages below these paths."),
]
_Rollback = Annotated[RollbackOptions, given(RollbackOptions)]


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run whose links are kept; see `Version`. `name` is last, last-1, ..."""

    run: str
    name: str
    at: str
    what: str
    rows: int
    links: int
    published: bool
    encoder: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A link that two runs do not both have at the same place; see `Difference`."""

    source: str
    target: str
    change: str
    before: int
    after: int
    why: str
    other: str


@dataclass(frozen=True, slots=True)
class Part:
    """A number of a sum, with what it counts; below 0, it is subtracted."""

    count: int
    name: str


@dataclass(frozen=True, slots=True)
class ReasonedChange:
    """How many links changed in one way and for one reason."""

    change: str
    why: str
    links: int


@dataclass(frozen=True, slots=True)
class RunComparison:
    """How the links of two runs differ.

    Attributes:
        links: how the number of links of the later run follows from that of the earlier one.
        total: the number of links of the later run.
        counts: the differences by change and reason.
        differences: how many there are.
        shown: the first of them.
    """

    links: Sequence[Part]
    total: int
    counts: Sequence[ReasonedChange]
    differences: int
    shown: Sequence[Changed]


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """What a rollback would change; see `RollbackPreview`."""

    run: str
    rows: int
    links: int
    rejected: int
    changes: RunComparison


@dataclass(frozen=True, slots=True)
class RolledBack:
    """What a rollback did; see `RollbackResult`."""

    run: str
    summary: str
    gaps: Sequence[str]
    earlier: str


@router.get("/history")
def list_runs(project: OpenedProject) -> Sequence[ListedRun]:
    """List the runs whose links are kept, the newest first."""
    versions = history(project).versions
    return [
        ListedRun(
            one.run,
            name,
            one.at,
            one.what,
            one.rows,
            one.links,
            one.published,
            one.encoder.partition(", recipe ")[0],
        )
        for one, name in reversed(list(zip(versions, names(versions), strict=True)))
    ]


@router.get("/history/difference")
def compare_runs(
    project: OpenedProject,
    before: _Run,
    after: _Run,
    section: _Sections = [],  # noqa: B006 - FastAPI copies it
) -> RunComparison:
    """Show how the links of two runs differ, and why."""
    found = diff(project, DiffOptions(before=before, after=after, sections=section), write=False)
    return _comparison(found.differences, found.links)


@router.post("/history/rollback/preview")
def plan_rollback(options: _Rollback, project: OpenedProject) -> RollbackPlan:
    """Show what a rollback would change; nothing is written."""
    plan = preview_rollback(project, options)
    return RollbackPlan(
        plan.run, plan.rows, plan.links, plan.rejected, _comparison(plan.differences, plan.balance)
    )


@router.post("/history/rollback", status_code=202)
def start_rollback(options: _Rollback, project: OpenedProject, state: SharedState) -> TaskState:
    """Start to put the links of a run back; the task `rollback` shows how far it is."""
    return state.tasks.start(
        project.root, "rollback", lambda progress, _: _rolled_back(project, options, progress)
    )


@router.get("/history/rollback")
def show_rollback(folder: Folder, state: SharedState) -> RolledBack | None:
    """Show what the last rollback since the app's start did."""
    done: RolledBack | None = state.tasks.result(folder, "rollback")
    return done


def _rolled_back(project: OpenedProject, options: RollbackOptions, progress: Progress) -> RolledBack:
    done = rollback(project, options, progress)
    if done.failure:
        raise done.failure
    return RolledBack(done.run, done.summary, done.gaps, done.earlier)


def _comparison(differences: Sequence[Difference], links: CountBreakdown) -> RunComparison:
    counts = Counter((one.change, str(one.why)) for one in differences)
    return RunComparison(
        [Part(count, name) for count, name in links.parts],
        links.total,
        [ReasonedChange(change, why, count) for (change, why), count in counts.most_common()],
        len(differences),
        [
            Changed(one.source, one.target, one.change, one.before, one.after, str(one.why), one.other)
            for one in differences[:MOST_SHOWN]
        ],
    )
