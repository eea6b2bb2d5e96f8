"""The review in Python: waiting links as a table, and decisions as records or as that table filled in."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pandas import DataFrame

from internal_linker.model.edges import Anchor, Edge, Verdict
from internal_linker.model.errors import InputError
from internal_linker.project.project import Project, open_project
from internal_linker.project.review import LinkDecision, decide, waiting_links
from internal_linker.review.session import EdgeQueue, ReviewCounts
from tests.support.small_project import write_text

LINK = Edge(
    "https://a.example/s",
    "https://a.example/t",
    "https://a.example/s",
    "https://a.example/t",
    rank=1,
    strength=0.5,
    anchors=(Anchor("<b>tea</b>", "We drink <b>tea</b>."),),
)
OTHER = replace(LINK, target="https://a.example/u", target_url="https://a.example/u", strength=float("nan"))
COPY = replace(LINK, target="https://a.example/copy", kind="duplicate")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a project with two links that wait for a decision, and a pair of near-duplicates."""
    write_text(tmp_path / "config/settings.toml", 'search_query_template = "site:a.example {main_query}"')
    opened = open_project(tmp_path)
    with opened.graph(read_only=False) as (edges, _):
        edges.put([LINK, OTHER, COPY])
    return opened


def kept(project: Project) -> dict[str, Edge]:
    with project.graph() as (edges, _):
        return {edge.id: edge for edge in edges.each()}


def test_waiting_links_are_a_table(project: Project) -> None:
    """The table has one row per link, strongest first, with all that a decision needs; scores are numbers or NaN."""
    result = waiting_links(project)
    frame = result.to_frame()
    assert list(frame.columns) == [
        *("link_id", "source", "target", "anchor", "sentence", "wording"),
        *("score", "tier", "status", "why", "notes", "warning"),
    ]
    assert frame["link_id"].tolist() == [LINK.id, OTHER.id]
    assert frame["score"].dtype == "float64" and frame["score"].fillna(-1).tolist() == [50, -1]
    assert frame["status"].tolist() == ["proposed", "proposed"]
    assert repr(result) == "<ReviewResult links: 2 rows>"


def test_html_of_a_result_escapes_the_sites_texts(project: Project) -> None:
    html = waiting_links(project)._repr_html_()
    assert "&lt;b&gt;tea&lt;/b&gt;" in html and "<b>tea" not in html


def test_the_table_filled_in_is_taken_back(project: Project) -> None:
    """Only changed cells count: a status keeps its editor, and a new anchor turns an accepted link into edited."""
    frame = waiting_links(project).to_frame()
    frame.loc[0, ["status", "anchor"]] = ["accepted", "green tea"]
    counts = decide(project, frame, by="Ann")
    assert counts == ReviewCounts(edited=1, skipped=1, left=1)
    edge = kept(project)[LINK.id]
    assert (edge.status, edge.anchor, edge.by) == ("edited", "green tea", "Ann")
    assert kept(project)[OTHER.id].status == "proposed"
    assert waiting_links(project).to_frame()["link_id"].tolist() == [OTHER.id]


def test_empty_cells_leave_a_link_as_it_is(project: Project) -> None:
    """NaN, as read from a CSV file, and missing columns change neither anchor nor notes."""
    decide(project, [LinkDecision(LINK.id, anchor="green tea", notes="ask Bob")], by="Ann")
    decide(project, DataFrame({"link_id": [LINK.id], "status": ["rejected"], "anchor": [float("nan")]}))
    edge = kept(project)[LINK.id]
    assert (edge.status, edge.anchor, edge.notes) == ("rejected", "green tea", "ask Bob")


@pytest.mark.parametrize(
    ("decision", "status", "counts"),
    [
        (LinkDecision(LINK.id, " Accepted "), "accepted", ReviewCounts(accepted=1, left=1)),
        (LinkDecision(LINK.id, "live"), "accepted", ReviewCounts(accepted=1, left=1)),
        (LinkDecision(LINK.id, "withdrawn"), "rejected", ReviewCounts(rejected=1, left=1)),
        (LinkDecision(LINK.id, notes="ask Bob"), "proposed", ReviewCounts(skipped=1, left=2)),
        (LinkDecision(LINK.id, "proposed", "green tea"), "edited", ReviewCounts(edited=1, left=1)),
        (LinkDecision(LINK.id, "proposed", "<b>tea</b>"), "proposed", ReviewCounts(skipped=1, left=2)),
    ],
)
def test_a_status_means_what_it_means_in_the_workbook(
    project: Project, decision: LinkDecision, status: str, counts: ReviewCounts
) -> None:
    assert decide(project, [decision], by="Ann") == counts
    assert kept(project)[LINK.id].status == status


def test_a_link_that_was_decided_meanwhile_keeps_that_decision(project: Project) -> None:
    frame = waiting_links(project).to_frame()
    with project.graph(read_only=False) as (edges, _):
        EdgeQueue(edges).decide(Verdict(LINK.id, "edited", "oolong", "", "Bob"))
    assert decide(project, frame, by="Ann") == ReviewCounts(skipped=2, left=1)
    assert (kept(project)[LINK.id].anchor, kept(project)[LINK.id].by) == ("oolong", "Bob")
    frame.loc[0, "status"] = "rejected"
    assert decide(project, frame, by="Ann") == ReviewCounts(rejected=1, skipped=1, left=1)
    assert kept(project)[LINK.id].by == "Ann"


def test_a_decision_can_be_taken_back(project: Project) -> None:
    """An empty status takes a decision back; of two decisions on a link the last one counts."""
    some = [LinkDecision(LINK.id, "accepted"), LinkDecision(LINK.id, "")]
    assert decide(project, some, by="Ann") == ReviewCounts(accepted=1, taken_back=1, left=2)
    assert kept(project)[LINK.id].status == "proposed"


@pytest.mark.parametrize(
    ("decisions", "sentence"),
    [
        ([LinkDecision("no-link", "accepted")], "Decision 2: link 'no-link' not found."),
        ([LinkDecision(COPY.id, "accepted")], f"Decision 2: link '{COPY.id}' not found."),
        ([LinkDecision(OTHER.id, "acepted")], f"Decision 2 (link {OTHER.id}): 'acepted' is not a status."),
    ],
)
def test_a_wrong_decision_keeps_all_others_out(
    project: Project, decisions: Sequence[LinkDecision], sentence: str
) -> None:
    before = kept(project)
    with pytest.raises(InputError, match=sentence.replace("(", r"\(").replace(")", r"\)")):
        decide(project, [LinkDecision(LINK.id, "accepted"), *decisions], by="Ann")
    assert kept(project) == before


def test_a_table_without_ids_is_refused(project: Project) -> None:
    with pytest.raises(InputError, match="no column link_id"):
        decide(project, DataFrame({"status": ["accepted"]}))


def test_no_decision_is_no_change(project: Project) -> None:
    assert decide(project, []) == decide(project, DataFrame({"link_id": []})) == ReviewCounts(left=2)


def test_counts_are_a_table() -> None:
    counts = ReviewCounts(accepted=2, left=3)
    assert dict(counts.to_frame().itertuples(index=False, name=None)) == {
        **{"accepted": 2, "rejected": 0, "edited": 0, "skipped": 0, "taken_back": 0, "left": 3},
    }
    assert repr(counts).startswith("ReviewCounts(accepted=2, ")
