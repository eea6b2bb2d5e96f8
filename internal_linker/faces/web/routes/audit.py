"""The API of the audit: actions, figures in three states, and the rows behind each number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from starlette.responses import FileResponse

from internal_linker.faces.web.context import WORKBOOK, OpenedProject, SharedState, download, given
from internal_linker.faces.web.tasks import TaskState
from internal_linker.insight.audit.records import Action
from internal_linker.insight.audit.states import (
    ORDER,
    STATES,
    AuditStates,
    RuleCount,
    ShownOpportunity,
    Sort,
    State,
    StateFinding,
    StateLink,
    StateMeasure,
    StatePage,
)
from internal_linker.project.audit_states import audit_in_states, last_audit, states_file, write_state
from internal_linker.project.options.evaluation import AuditOptions

router = APIRouter(prefix="/projects/{key}/audit", tags=["Audit"])
_Key = Annotated[str, Query(max_length=40, description="The figure whose rows are wanted; empty: all.")]
_Section = Annotated[str, Query(max_length=2_000)]
_From = Annotated[int, Query(alias="from", ge=0, le=100_000_000)]
_Rows = Annotated[int, Query(ge=1, le=1_000)]


@dataclass(frozen=True, slots=True)
class AuditOverview:
    """What an audit found, in the states today, accepted and all; see `AuditStates`.

    Attributes:
        order: how actions are ordered.
        pages: how many pages there are.
        sections: the largest sections.
        matrix: links from section (row) to section (column), by state.
        opportunities: how many there are.
    """

    made: str
    site: str
    home: str
    links_known: bool
    run: str
    pages: int
    order: str
    actions: Sequence[Action]
    measures: Sequence[StateMeasure]
    rules: Sequence[RuleCount]
    sections: Sequence[str]
    matrix: Mapping[State, Sequence[Sequence[int]]]
    opportunities: int


@dataclass(frozen=True, slots=True)
class StatePages:
    """Some of the pages behind a number."""

    total: int
    rows: Sequence[StatePage]


@dataclass(frozen=True, slots=True)
class StateLinks:
    """Some of the links behind a number."""

    total: int
    rows: Sequence[StateLink]


@dataclass(frozen=True, slots=True)
class FindingRows:
    """Some of the findings of a rule."""

    total: int
    rows: Sequence[StateFinding]


@dataclass(frozen=True, slots=True)
class OpportunityRows:
    """Some of the opportunities, the largest gain first."""

    total: int
    rows: Sequence[ShownOpportunity]


@router.post("", status_code=202)
def start_audit(
    # Sections are chosen in the page, and it shows all states.
    options: Annotated[AuditOptions, given(AuditOptions, "after", "fail_on", "sections", "report")],
    project: OpenedProject,
    state: SharedState,
) -> TaskState:
    """Start to audit the site; the task `audit` shows how far it is."""
    home = options.home.strip()
    return state.tasks.start(
        project.root, "audit", lambda progress, stop: audit_in_states(project, progress, stop, home=home)
    )


@router.get("")
def show_audit(project: OpenedProject, state: SharedState) -> AuditOverview | None:
    """Show what the last audit found; null: there was none."""
    found = _found(project, state)
    if found is None:
        return None
    names, matrix = found.section_matrix
    return AuditOverview(
        found.made,
        found.site,
        found.home,
        found.links_known,
        found.run,
        len(found.urls),
        ORDER,
        found.actions,
        found.measures,
        found.rules,
        list(names),
        {each: matrix[each].tolist() for each in STATES},
        len(found.opportunities),
    )


@router.get("/pages")
def show_pages(
    project: OpenedProject,
    state: SharedState,
    of: State,
    *,
    figure: _Key = "",
    sort: Sort = "",
    section: _Section = "",
    first: _From = 0,
    rows: _Rows = 100,
) -> StatePages:
    """Show the pages behind a figure."""
    found = _required(project, state).pages(of, figure, sort, section)
    return StatePages(len(found), list(found[first : first + rows]))


@router.get("/links")
def show_links(
    project: OpenedProject,
    state: SharedState,
    of: State,
    *,
    figure: _Key = "",
    source: Annotated[_Section, Query(description="Only links from this section of the matrix.")] = "",
    target: Annotated[_Section, Query(description="Only links to this section of the matrix.")] = "",
    first: _From = 0,
    rows: _Rows = 100,
) -> StateLinks:
    """Show the links behind a figure, or between two sections; new ones come first."""
    found = _required(project, state).links(of, figure, (source, target))
    return StateLinks(len(found), list(found[first : first + rows]))


@router.get("/findings")
def show_findings(
    project: OpenedProject,
    state: SharedState,
    of: State,
    *,
    rule: Annotated[str, Query(max_length=40)] = "",
    first: _From = 0,
    rows: _Rows = 100,
) -> FindingRows:
    """Show the findings of a rule."""
    found = _required(project, state).found(of, rule)
    return FindingRows(len(found), found[first : first + rows])


@router.get("/opportunities")
def show_opportunities(
    project: OpenedProject, state: SharedState, first: _From = 0, rows: _Rows = 100
) -> OpportunityRows:
    """Show the clicks that pages would gain in 28 days at better positions, and which pages should link to them."""
    found = _required(project, state).opportunities
    return OpportunityRows(len(found), found[first : first + rows])


@router.get("/workbook", response_class=FileResponse, responses=WORKBOOK)
def download_audit(project: OpenedProject, state: SharedState, of: State) -> FileResponse:
    """Download actions, opportunities, figures, findings, pages and new links in one state as .xlsx."""
    found = _required(project, state)
    return download(f"audit-{of}.xlsx", lambda path: write_state(found, of, path))


def _found(project: OpenedProject, state: SharedState) -> AuditStates | None:
    return state.views.get(states_file(project), lambda: last_audit(project))


def _required(project: OpenedProject, state: SharedState) -> AuditStates:
    if (found := _found(project, state)) is None:
        raise HTTPException(409, "The site has not been audited yet")
    return found
