"""The API of the audit: actions, figures in three states, and the rows behind each number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from starlette.responses import FileResponse

from internal_linker.faces.web.context import (
    WORKBOOK,
    OpenedProject,
    Rows,
    SharedState,
    answer_rows,
    describe_rows,
    describe_rows_answer,
    download,
    given,
)
from internal_linker.faces.web.tasks import TaskState
from internal_linker.insight.audit.records import Action
from internal_linker.insight.audit.states import (
    ORDER,
    STATE_FINDINGS,
    STATE_MEASURES,
    STATE_OPPORTUNITIES,
    STATE_RULES,
    STATES,
    AuditStates,
    Sort,
    State,
)
from internal_linker.insight.audit.tables import STATE_LINKS, STATE_PAGES
from internal_linker.project.audit_states import audit_in_states, last_audit, states_file, write_state
from internal_linker.project.options.evaluation import AuditOptions

router = APIRouter(prefix="/projects/{key}/audit", tags=["Audit"])
_Key = Annotated[str, Query(max_length=40, description="The figure whose rows are wanted; empty: all.")]
_Section = Annotated[str, Query(max_length=2_000)]
_From = Annotated[int, Query(alias="from", ge=0, le=100_000_000)]
_Count = Annotated[int, Query(ge=1, le=1_000)]


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
    measures: Annotated[Rows, describe_rows(STATE_MEASURES)]
    rules: Annotated[Rows, describe_rows(STATE_RULES)]
    sections: Sequence[str]
    matrix: Mapping[State, Sequence[Sequence[int]]]
    opportunities: int


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
        found.measures.to_dict("records"),
        found.rules,
        list(names),
        {each: matrix[each].tolist() for each in STATES},
        len(found.opportunities),
    )


@router.get("/pages", response_model=describe_rows_answer(STATE_PAGES))
def show_pages(
    project: OpenedProject,
    state: SharedState,
    of: State,
    *,
    figure: _Key = "",
    sort: Sort = "",
    section: _Section = "",
    first: _From = 0,
    rows: _Count = 100,
) -> dict[str, Any]:
    """Show the pages behind a figure."""
    found = _required(project, state)
    shown = found.pages(of, figure, sort, section)
    return answer_rows(len(shown), found.page_values(of, shown[first : first + rows]))


@router.get("/links", response_model=describe_rows_answer(STATE_LINKS))
def show_links(
    project: OpenedProject,
    state: SharedState,
    of: State,
    *,
    figure: _Key = "",
    source: Annotated[_Section, Query(description="Only links from this section of the matrix.")] = "",
    target: Annotated[_Section, Query(description="Only links to this section of the matrix.")] = "",
    first: _From = 0,
    rows: _Count = 100,
) -> dict[str, Any]:
    """Show the links behind a figure, or between two sections; new ones come first."""
    found = _required(project, state)
    shown = found.links(of, figure, (source, target))
    return answer_rows(len(shown), found.link_values(of, shown[first : first + rows]))


@router.get("/findings", response_model=describe_rows_answer(STATE_FINDINGS))
def show_findings(
    project: OpenedProject,
    state: SharedState,
    of: State,
    *,
    rule: Annotated[str, Query(max_length=40)] = "",
    first: _From = 0,
    rows: _Count = 100,
) -> dict[str, Any]:
    """Show the findings of a rule."""
    found = _required(project, state).findings_in(of, rule)
    return answer_rows(len(found), found[first : first + rows])


@router.get("/opportunities", response_model=describe_rows_answer(STATE_OPPORTUNITIES))
def show_opportunities(
    project: OpenedProject, state: SharedState, first: _From = 0, rows: _Count = 100
) -> dict[str, Any]:
    """Show the clicks that pages would gain in 28 days at better positions, and which pages should link to them."""
    found = _required(project, state).opportunities
    return answer_rows(len(found), found[first : first + rows])


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
