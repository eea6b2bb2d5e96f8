"""The tool's memory of a link: editors' decisions, a run's findings, and which of the two has priority."""

from dataclasses import replace
from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.edges import VERDICTS, Anchor, Cells, Edge, Status, Verdict
from internal_linker.review.transitions import decided, heard, remembered, says_nothing_new

NOW, LATER = "2026-01-04T03:00:00+00:00", "2026-01-11T03:00:00+00:00"
EDGE = Edge("https://a.example/s", "https://a.example/t", "https://a.example/s/", "https://a.example/t/")
EDGE = replace(EDGE, anchors=(Anchor("green tea"), Anchor("tea")), first_run="1", last_run="1", rank=1)
WORDS = st.sampled_from(["", "proposed", "accepted", "rejected", "edited", "live", "withdrawn"])
TEXTS = st.sampled_from(["", "green tea", "tea", "fresh tea", " "])
SAID = st.builds(
    Verdict, st.just(EDGE.id), WORDS, TEXTS, TEXTS, st.just("Review tab"), proposed=st.just("green tea")
)


def says(status: str = "proposed", anchor: str = "green tea", notes: str = "", by: str = "Ann") -> Verdict:
    return Verdict(EDGE.id, status, anchor, notes, by)  # type: ignore[arg-type]


def shown(edge: Edge) -> Edge:
    """Return the edge after its untouched row was written and read once."""
    return heard(edge, says(edge.status), NOW)


def test_a_row_that_nobody_touched_decides_nothing() -> None:
    for status in ("proposed", "live", "withdrawn"):
        edge = replace(EDGE, status=status)
        assert replace(shown(edge), cells=Cells()) == edge


def test_an_editors_word_is_taken_with_its_writer_and_time() -> None:
    for status in VERDICTS:
        edge = heard(shown(EDGE), says(status), LATER)
        assert (edge.status, edge.verdict, edge.by, edge.at) == (status, status, "Ann", LATER)


def test_a_word_counts_once() -> None:
    """A cell unchanged since last week doesn't overrule a later decision made elsewhere."""
    accepted = heard(shown(EDGE), says("accepted"), NOW)
    rejected = replace(accepted, verdict="rejected", status="rejected", by="terminal")
    assert heard(rejected, says("accepted"), LATER) == rejected


def test_a_verdict_is_taken_back_by_writing_proposed() -> None:
    rejected = heard(shown(EDGE), says("rejected"), NOW)
    for word in ("proposed", ""):
        edge = heard(rejected, says(word), LATER)
        assert (edge.verdict, edge.status) == ("", "proposed")


def test_an_edited_anchor_is_kept_and_means_edited() -> None:
    """A new text in the anchor's cell is the editor's anchor; one of the tool's proposals is not."""
    edge = heard(shown(EDGE), says(anchor="fresh tea"), LATER)
    assert (edge.anchor, edge.verdict) == ("fresh tea", "edited")
    again = remembered(edge, replace(EDGE, anchors=(Anchor("leaves"),), last_run="2"), False, LATER)
    assert again.anchor == "fresh tea" and again.formerly == ("green tea",)
    assert heard(shown(EDGE), says(anchor="tea"), LATER).anchor == ""
    emptied = heard(edge, says("edited", anchor=""), LATER)
    assert (emptied.anchor, emptied.verdict) == ("", "accepted")


UNREAD = replace(EDGE, cells=Cells())


def test_a_row_that_a_run_with_another_cache_wrote_decides_nothing() -> None:
    theirs: dict[str, Any] = {"proposed": "oolong", "written": "live"}
    read_before = replace(EDGE, cells=Cells("proposed", "green tea"))
    for edge in (UNREAD, read_before, replace(EDGE, formerly=("oolong",))):
        for status in ("proposed", "live", "withdrawn"):
            said = replace(says(status, anchor="oolong"), proposed="oolong", written=status)
            assert replace(heard(edge, said, LATER), cells=edge.cells) == edge
        assert heard(edge, replace(says("accepted", anchor="oolong"), **theirs), LATER).verdict == "accepted"
        assert heard(edge, replace(says("withdrawn", anchor="oolong"), **theirs), LATER).verdict == "rejected"
        edited = heard(edge, replace(says(anchor="fresh tea"), **theirs), LATER)
        assert (edited.verdict, edited.anchor) == ("edited", "fresh tea")


def test_a_row_without_a_record_of_what_was_written() -> None:
    """Without the hidden columns, a cell counts if it changed since this cache read it, or if it says "edited"."""
    assert replace(heard(UNREAD, says("live", anchor="oolong"), LATER), cells=Cells()) == UNREAD
    seen = heard(UNREAD, says(anchor="oolong"), NOW)
    assert heard(seen, says(anchor="fresh tea"), LATER).anchor == "fresh tea"
    assert heard(UNREAD, says("edited", anchor="oolong"), LATER).anchor == "oolong"


def test_an_anchor_typed_elsewhere_outlives_a_row_that_nobody_touched() -> None:
    for edge in (EDGE, replace(EDGE, anchors=())):
        best = edge.anchors[0].text if edge.anchors else ""
        typed = replace(edge, anchor="fresh tea", verdict="edited", status="edited", by="Ann")
        untouched = replace(says(anchor=best), proposed=best, written="proposed")
        for cells in (Cells(), Cells("proposed", "an older proposal")):
            found = heard(replace(typed, cells=cells), untouched, LATER)
            assert (found.anchor, found.verdict, found.by) == ("fresh tea", "edited", "Ann")


def test_an_editor_who_restores_the_proposal_takes_the_own_anchor_back() -> None:
    in_row: dict[str, Any] = {"proposed": "green tea", "written": "proposed"}
    own = heard(EDGE, replace(says(anchor="fresh tea"), **in_row), NOW)
    back = heard(own, replace(says("edited"), **in_row), LATER)
    assert (own.anchor, back.anchor, back.verdict) == ("fresh tea", "", "accepted")


def test_the_tools_own_words_chosen_by_an_editor_are_understood() -> None:
    assert heard(shown(EDGE), says("rejected", anchor="fresh tea"), LATER).verdict == "rejected"
    assert heard(shown(EDGE), says("live"), LATER).verdict == "accepted"
    assert heard(shown(EDGE), says("withdrawn"), LATER).verdict == "rejected"


@given(st.lists(SAID, max_size=8))
def test_no_note_and_no_anchor_of_an_editor_is_lost(said: list[Verdict]) -> None:
    edge = EDGE
    for each in said:
        edge = heard(edge, each, LATER)
        assert edge.notes == each.notes
        assert edge.anchor == ("" if each.anchor == "green tea" else each.anchor.strip())
        assert heard(edge, each, "9") == edge


@given(st.lists(SAID, min_size=1, max_size=4))
def test_cells_that_say_nothing_new_change_nothing_else(said: list[Verdict]) -> None:
    """Exactly those cells say nothing new after which an edge differs in its record of them only."""
    edge = EDGE
    for each in said:
        now = heard(edge, each, edge.at)
        assert says_nothing_new(edge, each) == (replace(now, cells=edge.cells) == edge)
        edge = now


@given(WORDS, st.booleans(), st.booleans(), st.sampled_from(["", *VERDICTS]))
def test_a_run_never_changes_a_verdict(
    was: Status, found: bool, linked: bool, verdict: Status | Literal[""]
) -> None:
    """A run keeps the verdict; the status is live if the link exists, else follows the verdict and the proposal."""
    old = replace(EDGE, status=was or "proposed", verdict=verdict, notes="n", anchor="a", by="Ann")
    now = replace(EDGE, first_run="2", last_run="2") if found else None
    edge = remembered(old, now, linked, LATER)
    assert (edge.verdict, edge.notes, edge.anchor, edge.first_run) == (verdict, "n", "a", "1")
    if linked:
        assert edge.status == "live"
    elif verdict == "rejected":
        assert edge.status == "rejected"
    elif not found:
        assert edge.status == "withdrawn"
    else:
        assert edge.status == (verdict or "proposed")
    assert (edge.at == LATER) == (edge.status != old.status)
    assert edge.last_run == ("2" if found else "1")


def test_what_is_decided_is_told_by_source() -> None:
    """The decisions by source are rejected targets and accepted or edited edges; undecided edges are in neither."""
    words: list[Status | Literal[""]] = ["", *VERDICTS]
    edges = [replace(EDGE, target=status, verdict=status) for status in words]
    found = decided(edges)
    assert found.rejected == {EDGE.source: ["rejected"]}
    assert [edge.target for edge in found.accepted[EDGE.source]] == ["accepted", "edited"]
