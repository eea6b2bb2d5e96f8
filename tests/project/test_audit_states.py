"""The audit in three states: every number equals the count of its rows, today, accepted and with all proposals."""

from math import isnan
from pathlib import Path

import pytest

from internal_linker.insight.audit.states import ROWS, STATES, AuditStates, State
from internal_linker.model.errors import ConfigurationError, Interrupted
from internal_linker.project.audit import audit
from internal_linker.project.audit_states import audit_in_states, last_audit, states_file
from internal_linker.project.options.evaluation import AuditOptions
from internal_linker.project.project import Project, open_project
from internal_linker.project.review import LinkDecision, decide, waiting_links
from tests.support.builders import Told
from tests.support.small_project import URLS, command, make_project, write_csv

# Figures that count their rows; the others are means, shares or maxima.
COUNTED = (
    *("pages", "links", "unfollowed", "orphans", "few-inlinks", "no-outlinks", "unreachable", "deep"),
    "reciprocal",
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project with a run, an accepted link, and links of today among four of its six pages."""
    tmp_path = make_project(tmp_path_factory.mktemp("states") / "site", {"max_clicks": 1})
    header = ("Source", "Destination", "Anchor", "Rel")
    pairs = [(0, 1, ""), (1, 0, ""), (1, 2, ""), (2, 3, "nofollow"), (3, 2, "")]
    links = [(URLS[one], URLS[other], "tea", rel) for one, other, rel in pairs]
    write_csv(tmp_path / "files/existing_links.csv", [header, *links])
    assert command("run", "--project", str(tmp_path)) == 0
    opened = open_project(tmp_path)
    row = next(one for one in waiting_links(opened).links if one.target_url == URLS[5])
    decide(opened, [LinkDecision(row.id, "accepted")])
    return opened


@pytest.fixture(scope="module")
def found(project: Project) -> AuditStates:
    return audit_in_states(project, Told())


def rows(found: AuditStates, state: State, key: str) -> int:
    return len(found.pages(state, key) if ROWS[key] == "pages" else found.links(state, key))


def ends(found: AuditStates, state: State) -> set[tuple[str, ...]]:
    return {*found.findings_in(state)[["rule", "page", "other"]].itertuples(index=False, name=None)}


def test_every_number_leads_to_its_rows(project: Project) -> None:
    found = audit_in_states(project, Told(), home=URLS[0])
    values = found.measures.set_index("key")["values"]
    assert [*values.index] == [*ROWS]
    for at, state in enumerate(STATES):
        told = {key: values[key][at] for key in COUNTED}
        assert told == {key: rows(found, state, key) for key in COUNTED}
        links = values["links"][at]
        assert links and values["crossing"][at] == pytest.approx(rows(found, state, "crossing") / links)
        assert sum(found.page_values(state, found.pages(state))["outlinks"]) == links
    today, accepted, every = values["links"]
    assert (today, accepted) == (5, 6) and every is not None and every > 6
    assert values["unfollowed"][0] == 1 and values["orphans"][:2] != values["orphans"][1:]


def test_the_states_are_those_of_the_command(project: Project, found: AuditStates) -> None:
    """Findings, figures and actions are the command's, with --after accepted and --after all."""
    for at, (state, after) in enumerate([("accepted", "accepted"), ("all", "all")], 1):
        told = audit(project, AuditOptions(after=after), Told(), write=False).audit
        there = {(str(one.rule), one.page, one.other) for one in told.findings if one.standing != "resolved"}
        ours = ends(found, state)  # type: ignore[arg-type]
        assert ours == there and len(ours) == sum(rule["counts"][at] for rule in found.rules)
        assert [each[at] for each in found.measures["values"]] == [
            None if isnan(after) else after for after in told.summary["after"]
        ]
        today = {(str(one.rule), one.page, one.other) for one in told.findings if one.standing != "new"}
        assert today == ends(found, "today")
    assert found.actions and len(found.actions) <= 10
    names, matrix = found.section_matrix
    assert matrix["today"].sum() == 5 and len(names) == matrix["all"].shape[0]


def test_links_between_sections_are_listed_new_ones_first(found: AuditStates) -> None:
    names, matrix = found.section_matrix
    for at, one in enumerate(names):
        for to, other in enumerate(names):
            assert len(found.links("all", ends=(one, other))) == matrix["all"][at, to]
    links = found.link_values("all", found.links("all"))
    assert links["new"] == sorted(links["new"], reverse=True)
    assert [score is not None for score in links["score"]] == links["new"]
    assert not any(found.link_values("today", found.links("today"))["new"])


def test_pages_can_be_sorted_and_narrowed(found: AuditStates) -> None:
    assert found.page_values("today", found.pages("today", sort="url"))["url"] == sorted(URLS)
    inlinks = [*found.page_values("all", found.pages("all", sort="inlinks"))["inlinks"]]
    assert inlinks == sorted(inlinks, reverse=True)
    assert len(found.pages("all", section="/")) == 6 and not len(found.pages("all", section="/water"))


@pytest.mark.parametrize("key", ["links", "nonsense"])
def test_a_figure_that_is_not_of_pages_is_refused(found: AuditStates, key: str) -> None:
    with pytest.raises(ConfigurationError, match="no figure of pages"):
        found.pages("today", key)
    with pytest.raises(ConfigurationError, match="no section"):
        found.links("today", ends=("/nowhere", ""))


def test_the_result_is_kept(project: Project, found: AuditStates) -> None:
    """The last audit can be shown again; one that is cancelled or damaged changes nothing, or counts as none."""
    made = found
    with pytest.raises(Interrupted):
        audit_in_states(project, Told(), lambda: True)
    loaded = last_audit(project)
    assert loaded is not None
    assert (loaded.records(), loaded.actions) == (made.records(), made.actions)
    assert loaded.links("all").tolist() == made.links("all").tolist()
    assert loaded.pages("all").tolist() == made.pages("all").tolist()
    states_file(project).write_bytes(b"no")
    assert last_audit(project) is None


def test_without_links_the_figures_are_unknown(tmp_path: Path) -> None:
    found = audit_in_states(open_project(make_project(tmp_path)), Told())
    values = found.measures.set_index("key")["values"]
    assert not found.links_known and values["orphans"] == [None, None, None]
    assert values["pages"] == [6, 6, 6]
