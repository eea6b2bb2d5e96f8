"""Audit a project in three states of its links, and keep the result so that each number can lead to its rows."""

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from internal_linker.insight.audit.records import Action, ActionLink, GraphFigures
from internal_linker.insight.audit.states import (
    STATE_FINDINGS,
    STATE_MEASURES,
    STATE_OPPORTUNITIES,
    STATES,
    AuditStates,
    State,
    states_of,
    to_state_table,
)
from internal_linker.insight.audit.tables import state_tables
from internal_linker.insight.graph import SiteGraph
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Stop, Tracker
from internal_linker.project.audit import audits_of_states
from internal_linker.project.project import Project
from internal_linker.sources.tables.xlsx_writer import write_xlsx
from internal_linker.store.files.index_folder import read_arrays, write_arrays

_FACTS = ("made", "site", "home", "links_known", "run", "urls", "titles", "sections", "clusters")
_LIMITS = ("min_inlinks", "clicks")
_FIGURES = ("inlinks", "outlinks", "depth", "pagerank", "orphans")
_LINKS = ("sources", "targets", "weights")
_TABLES = {
    "measures": STATE_MEASURES,
    "findings": STATE_FINDINGS,
    "opportunities": STATE_OPPORTUNITIES,
}


def states_file(project: Project) -> Path:
    """Return where the result is kept."""
    return project.file("audit.npz")


def audit_in_states(
    project: Project, progress: Progress, should_stop: Stop = lambda: False, *, home: str = ""
) -> AuditStates:
    """Audit the site today, with the links that editors accepted, and with all that were proposed.

    Nothing is fetched or spent. The result is kept in files/audit.npz.

    Args:
        home: URL of the home page; "": it is detected.

    Raises:
        InputError: there are no pages, or a file can't be read.
        Interrupted: the work was stopped.
    """
    stoppable = Tracker(
        progress, should_stop=should_stop, cancelled="The audit was cancelled; the earlier result stays."
    )
    accepted, every = audits_of_states(project, stoppable, home=home)
    settings = project.settings
    found = states_of(
        accepted,
        every,
        made=datetime.now().astimezone().isoformat(timespec="seconds"),
        min_inlinks=settings.min_inlinks,
        clicks=settings.max_clicks,
    )
    facts: dict[str, Any] = {name: getattr(found, name) for name in (*_FACTS, *_LIMITS)}
    facts["actions"] = [asdict(each) for each in found.actions]
    facts |= {name: getattr(found, name).to_dict("records") for name in _TABLES}
    arrays: dict[str, NDArray[Any]] = {}
    for state in STATES:
        arrays |= {f"{state}_{name}": getattr(found.figures[state], name) for name in _FIGURES}
        arrays |= {f"{state}_{name}": getattr(found.graphs[state], name) for name in _LINKS}
    stoppable.check()
    write_arrays(states_file(project), facts, arrays)
    return found


def last_audit(project: Project) -> AuditStates | None:
    """Return the result of the last `audit_in_states`; None without one."""
    stored = read_arrays(states_file(project))
    if stored is None:
        return None
    facts, arrays = stored
    try:
        figures = {state: GraphFigures(*(arrays[f"{state}_{name}"] for name in _FIGURES)) for state in STATES}
        graphs = {state: SiteGraph(*(arrays[f"{state}_{name}"] for name in _LINKS)) for state in STATES}
        return AuditStates(
            **{name: facts[name] for name in (*_FACTS, *_LIMITS)},
            figures=figures,
            graphs=graphs,
            actions=[_action(each) for each in facts["actions"]],
            **{name: to_state_table(columns, facts[name]) for name, columns in _TABLES.items()},
        )
    except (KeyError, TypeError):  # a file of another version
        return None


def write_state(found: AuditStates, state: State, path: Path) -> list[str]:
    """Write an audit in one state of the links as a workbook; return what was unusual.

    Raises:
        OutputError: the file can't be written.
    """
    return write_xlsx(path, state_tables(found, state))


def _action(told: dict[str, Any]) -> Action:
    links = tuple(ActionLink(**each) for each in told["links"])
    return Action(**{**told, "where": tuple(told["where"]), "links": links})
