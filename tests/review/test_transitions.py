"""What the tool remembers of a link: editors' words, what a run found, and which of the two counts."""

from dataclasses import replace
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from internal_linker.core.edges import VERDICTS, Anchor, Cells, Edge, Status, Verdict
from internal_linker.review.transitions import decided, heard, remembered

NOW, LATER = "2026-01-04T03:00:00+00:00", "2026-01-11T03:00:00+00:00"
EDGE = Edge("https://a.example/s", "https://a.example/t", "https://a.example/s/", "https://a.example/t/")
EDGE = replace(EDGE, anchors=(Anchor("green tea"), Anchor("tea")), first_run="1", last_run="1", rank=1)
WORDS = st.sampled_from(["", "proposed", "accepted", "rejected", "edited", "live", "withdrawn"])
TEXTS = st.sampled_from(["", "green tea", "tea", "fresh tea", " "])
SAID = st.builds(Verdict, st.just(EDGE.id), WORDS, TEXTS, TEXTS, st.just("Review tab"))


def says(status: str = "proposed", anchor: str = "green tea", notes: str = "", by: str = "Ann") -> Verdict:
    return Verdict(EDGE.id, status, anchor, notes, by)  # type: ignore[arg-type]


def shown(edge: Edge) -> Edge:
    """The edge after its row was shown and read once, untouched."""
    return heard(edge, says(edge.status), NOW)


def test_a_row_that_nobody_touched_decides_nothing() -> None:
    """Reading back what the tool itself wrote leaves status, verdict and anchor as they are."""
    for status in ("proposed", "live", "withdrawn"):
        edge = replace(EDGE, status=status)
        assert replace(shown(edge), cells=Cells()) == edge


def test_an_editors_word_is_taken_with_its_writer_and_time() -> None:
    """Each of the three verdicts becomes the status."""
    for status in VERDICTS:
        edge = heard(shown(EDGE), says(status), LATER)
        assert (edge.status, edge.verdict, edge.by, edge.at) == (status, status, "Ann", LATER)


def test_a_word_counts_once() -> None:
    """A cell that still says what it said last week does not overrule what was said elsewhere since."""
    accepted = heard(shown(EDGE), says("accepted"), NOW)
    rejected = replace(accepted, verdict="rejected", status="rejected", by="terminal")
    assert heard(rejected, says("accepted"), LATER) == rejected


def test_a_verdict_is_taken_back_by_writing_proposed() -> None:
    """An editor who sets a rejected link back to proposed wants to see it again."""
    rejected = heard(shown(EDGE), says("rejected"), NOW)
    for word in ("proposed", ""):
        edge = heard(rejected, says(word), LATER)
        assert (edge.verdict, edge.status) == ("", "proposed")


def test_an_edited_anchor_is_kept_and_means_edited() -> None:
    """Another text in the anchor's cell is the editor's; one of the tool's own proposals is not."""
    edge = heard(shown(EDGE), says(anchor="fresh tea"), LATER)
    assert (edge.anchor, edge.verdict) == ("fresh tea", "edited")
    again = remembered(edge, replace(EDGE, anchors=(Anchor("leaves"),), last_run="2"), False, LATER)
    assert again.anchor == "fresh tea" and again.formerly == ("green tea",)
    assert heard(shown(EDGE), says(anchor="tea"), LATER).anchor == ""
    emptied = heard(edge, says("edited", anchor=""), LATER)
    assert (emptied.anchor, emptied.verdict) == ("", "accepted")


def test_a_rejected_link_stays_rejected_with_any_anchor() -> None:
    """An anchor that is edited on a rejected row does not bring it back."""
    assert heard(shown(EDGE), says("rejected", anchor="fresh tea"), LATER).verdict == "rejected"


def test_the_tools_own_words_chosen_by_an_editor_are_understood() -> None:
    """Live means that it was welcome, withdrawn that it was not."""
    assert heard(shown(EDGE), says("live"), LATER).verdict == "accepted"
    assert heard(shown(EDGE), says("withdrawn"), LATER).verdict == "rejected"


@given(st.lists(SAID, max_size=8))
def test_no_note_and_no_anchor_of_an_editor_is_lost(said: list[Verdict]) -> None:
    """Whatever is written in whatever order, the last note stands, and the last anchor that is not the tool's."""
    edge = EDGE
    for each in said:
        edge = heard(edge, each, LATER)
        assert edge.notes == each.notes
        assert edge.anchor == ("" if each.anchor.strip() in ("green tea", "tea") else each.anchor.strip())
        assert heard(edge, each, "9") == edge


@given(WORDS, st.booleans(), st.booleans(), st.sampled_from(["", *VERDICTS]))
def test_a_run_never_changes_a_verdict(
    was: Status, found: bool, linked: bool, verdict: Status | Literal[""]
) -> None:
    """The status follows: live where the link stands, else the verdict, else whether it is proposed."""
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
    """Rejected targets, and accepted and edited edges; what nobody spoke of is in neither."""
    words: list[Status | Literal[""]] = ["", *VERDICTS]
    edges = [replace(EDGE, target=status, verdict=status) for status in words]
    found = decided(edges)
    assert found.rejected == {EDGE.source: ["rejected"]}
    assert [edge.target for edge in found.accepted[EDGE.source]] == ["accepted", "edited"]
