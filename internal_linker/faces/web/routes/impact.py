"""The API of impact: what links that went live did to their targets, and experiments that make it certain."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Query

from internal_linker.faces.web.context import (
    OpenedProject,
    SharedState,
    answer_rows,
    describe_rows_answer,
    given,
)
from internal_linker.faces.web.tasks import TaskState
from internal_linker.project.experiments import (
    ENDS,
    PlanStatus,
    end_experiment,
    last_experiment,
    plan_experiment,
    to_end_columns,
)
from internal_linker.project.impact import ImpactView, impact_file, last_impact, measure_impact
from internal_linker.project.options.evaluation import ImpactOptions

router = APIRouter(prefix="/projects/{key}", tags=["Impact"])


@dataclass(frozen=True, slots=True)
class ShownExperiment:
    """The last experiment; see `ExperimentStanding`.

    Attributes:
        released: how many targets were drawn to get their links at once.
        links, pages: how many links wait, and to how many pages.
        remark: what weakens it; "": nothing is known to.
    """

    first: date
    until: date
    running: bool
    held: int
    released: int
    links: int
    pages: int
    remark: str


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """What came of a plan: whether an experiment was begun or why not."""

    status: PlanStatus
    sentence: str


@dataclass(frozen=True, slots=True)
class ImpactSentence:
    """What was done, as a sentence."""

    sentence: str


@router.post("/impact", status_code=202)
def start_measuring(
    options: Annotated[ImpactOptions, given(ImpactOptions, "report")],
    project: OpenedProject,
    state: SharedState,
) -> TaskState:
    """Start to measure what links did; the task `impact` shows how far it is."""
    return state.tasks.start(
        project.root, "impact", lambda progress, stop: measure_impact(project, options, progress, stop)
    )


@router.get("/impact")
def show_impact(project: OpenedProject, state: SharedState) -> ImpactView | None:
    """Show what was measured last; null: nothing yet."""
    return state.views.get(impact_file(project), lambda: last_impact(project))


@router.get("/experiment")
def show_experiment(project: OpenedProject) -> ShownExperiment | None:
    """Show how the last experiment stands; null: none was planned."""
    one = last_experiment(project)
    if one is None:
        return None
    return ShownExperiment(
        one.first,
        one.until,
        one.running,
        one.held,
        len(one.drawn) - one.held,
        len(one.waiting),
        one.waiting_pages,
        one.remark,
    )


@router.get("/experiment/links", response_model=describe_rows_answer(ENDS))
def list_held_links(
    project: OpenedProject,
    first: Annotated[int, Query(alias="from", ge=0, le=100_000_000)] = 0,
    rows: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> dict[str, Any]:
    """List the accepted links that wait for the end of an experiment."""
    one = last_experiment(project)
    waiting = one.waiting if one else ()
    return answer_rows(len(waiting), to_end_columns(waiting[first : first + rows]))


@router.post("/experiment", status_code=201)
def plan(project: OpenedProject) -> PlanOutcome:
    """Hold back the accepted links to one in five of their targets, drawn at random, for four weeks."""
    planned = plan_experiment(project)
    return PlanOutcome(planned.status, planned.sentence)


@router.delete("/experiment")
def release(project: OpenedProject) -> ImpactSentence:
    """Let all links go live that are held back."""
    return ImpactSentence(end_experiment(project).sentence)
