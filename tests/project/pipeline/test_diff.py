"""Comparing two versions of a site's links: each difference once, with its cause."""

from collections import Counter
from dataclasses import replace

import pytest

from internal_linker.model.edges import Status
from internal_linker.model.reasons import Cause, Reason
from internal_linker.model.records import Candidate, Link, Recommendation, Source
from internal_linker.model.runs import Version, VersionRow
from internal_linker.project.pipeline.diff import differences

BEFORE = Version("1", "", "all rows", "model a", 3, 4)
AFTER = replace(BEFORE, run="2")


def row(name: str, targets: str, text: str = "", serp: str = "") -> VersionRow:
    """Return a page's row with a letter for each target; those in `serp` come from a search."""
    links = [
        Link(Candidate(one, one.upper(), serp_rank=int(one in serp)), rank, "semantic")
        for rank, one in enumerate(targets, 1)
    ]
    return VersionRow(
        Recommendation(Source(name, name.upper(), "", None, in_sheet=False), tuple(links)), text
    )


def told(
    before: list[VersionRow],
    after: list[VersionRow],
    status: Status | None = None,
    now: Version = AFTER,
) -> list[str]:
    found = differences(BEFORE, now, before, after, lambda *_: status)
    return [f"{one.source}>{one.target} {one.change} {one.before}>{one.after}: {one.why}" for one in found]


PAGES = [row("x", ""), row("y", ""), row("z", "")]


def test_equal_versions_do_not_differ() -> None:
    rows = [row("a", "xy"), *PAGES]
    assert told(rows, rows, "rejected", replace(AFTER, encoder="model b")) == []


def test_a_new_a_gone_and_a_moved_link_are_told_once_each() -> None:
    why = "the ranking of other links changed"
    assert told([row("a", "xy"), *PAGES], [row("a", "zx"), *PAGES]) == [
        f"A>X moved 1>2: {why}",
        f"A>Y gone 2>0: {why}",
        f"A>Z new 0>1: {why}",
    ]


@pytest.mark.parametrize(
    ("status", "change"),
    [
        ("rejected", "A>X gone 1>0: rejected by an editor"),
        ("live", "A>X gone 1>0: the page links there now"),
        ("proposed", "A>X gone 1>0: the ranking of other links changed"),
        (None, "A>X gone 1>0: the ranking of other links changed"),
    ],
)
def test_what_an_editor_did_explains_that_a_link_is_gone(status: Status | None, change: str) -> None:
    assert told([row("a", "x"), *PAGES], [row("a", ""), *PAGES], status) == [change]


def test_what_an_editor_accepted_explains_that_it_came() -> None:
    before, after = [row("a", ""), *PAGES], [row("a", "x"), *PAGES]
    assert told(before, after, "accepted") == ["A>X new 0>1: accepted by an editor"]
    assert told(before, after, "rejected") == ["A>X new 0>1: the ranking of other links changed"]


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ([], [row("a", "x")], "a new row"),
        ([row("a", "x")], [], "the row is no longer in the input"),
        ([row("a", "")], [row("a", "x"), row("x", "")], "the target is a new page"),
        ([row("a", "x"), row("x", "")], [row("a", "")], "the target is no longer in the input"),
        ([row("a", "", "1")], [row("a", "x", "2")], "the page's text changed"),
        ([row("a", ""), row("x", "", "1")], [row("a", "x"), row("x", "", "2")], "the target's text changed"),
        ([row("a", "x", serp="x")], [row("a", "")], "the search results changed"),
    ],
)
def test_what_changed_by_itself_is_named(before: list[VersionRow], after: list[VersionRow], why: str) -> None:
    (one,) = told(before, after)
    assert one.endswith(f": {why}")


def test_another_model_explains_what_nothing_nearer_does() -> None:
    (one,) = told([row("a", "x")], [row("a", "")], now=replace(AFTER, encoder="model b"))
    assert one.endswith("the model changed to model b")


def others(before: list[VersionRow], after: list[VersionRow]) -> dict[str, tuple[str, Cause]]:
    """Return the other link and the cause of each difference, by its source and target."""
    found = differences(BEFORE, AFTER, before, after, lambda *_: None)
    return {f"{one.source}>{one.target}": (one.other, one.why.kind) for one in found}


def test_each_difference_names_the_link_that_displaced_it() -> None:
    """A link that is gone names the new one in its place and the reverse; a moved one the link that passed it."""
    ranking, pages = Cause.OTHER_RANKING, [*PAGES, row("w", "")]
    assert others([row("a", "xyz"), *pages], [row("a", "wxz"), *pages]) == {
        "A>X": ("W", ranking),
        "A>Y": ("W", ranking),
        "A>W": ("Y", ranking),
    }
    assert others([row("a", "xyz"), *pages], [row("a", "yz"), *pages]) == {
        "A>X": ("", ranking),
        "A>Y": ("X", ranking),
        "A>Z": ("X", ranking),
    }


def test_a_link_that_a_target_gets_for_a_lost_one_names_it() -> None:
    """If another page's link to the target is gone, the new one names that link; the one it displaced names it."""
    pages = [*PAGES, row("w", "")]
    found = others([row("a", "x"), row("b", "y"), *pages], [row("a", "w"), row("b", "x"), *pages])
    assert found == {
        "A>X": ("W", Cause.OTHER_RANKING),
        "A>W": ("X", Cause.OTHER_RANKING),
        "B>Y": ("X", Cause.OTHER_RANKING),
        "B>X": ("A -> X", Cause.IN_LINKS),
    }


@pytest.mark.parametrize("cause", Cause)
def test_causes_are_counted_however_they_are_worded(cause: Cause, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = [row("a", "x"), row("b", "x")], [row("a", ""), row("c", "x")]

    def counted() -> Counter[Reason[Cause]]:
        return Counter(one.why for one in differences(BEFORE, AFTER, before, after, lambda *_: None))

    found = counted()
    assert found == Counter(map(Reason, (Cause.OTHER_RANKING, Cause.ROW_GONE, Cause.NEW_ROW)))
    monkeypatch.setattr(cause, "message", "a new row")
    assert counted() == found
