"""Decisions on stored links: saved at once, by the workbook's rules, by several people, with undo."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from internal_linker.model.edges import Edge
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.progress import Tracker as Notes
from internal_linker.project.link_decisions import Decisions, NothingToUndo, RequestedDecision
from internal_linker.project.link_lists import LinkFilter
from internal_linker.project.project import open_project
from internal_linker.project.review import LinkDecision, decide
from internal_linker.project.stored_links import StoredLinks
from tests.support.linked_site import EDGES, key, make_linked, url
from tests.support.small_project import write_text

FIRST, SECOND = EDGES[0].id, EDGES[1].id


@pytest.fixture
def decisions(tmp_path: Path) -> Decisions:
    return Decisions(StoredLinks(make_linked(tmp_path / "site"), Notes()))


def stored(decisions: Decisions, link: str = FIRST) -> Edge:
    with open_project(decisions.links.root).graph() as (edges, _):
        return edges.by_id([link])[link]


def seen(decisions: Decisions, link: str = FIRST) -> tuple[str, str, str]:
    row = decisions.links.detail(link).row
    return row.decided, row.anchor, row.notes


def test_a_decision_is_stored_at_once(decisions: Decisions) -> None:
    assert decisions.links.part(LinkFilter(status="waiting")).total == 7
    outcome = decisions.decide(
        [RequestedDecision(FIRST, "rejected", notes="Not relevant", seen=seen(decisions))], "Anna"
    )
    assert (outcome.changed, outcome.rows[0].status) == (1, "rejected")
    edge = stored(decisions)
    assert (edge.status, edge.verdict, edge.by, edge.notes) == (
        "rejected",
        "rejected",
        "Anna",
        "Not relevant",
    )
    assert decisions.links.part(LinkFilter(status="waiting")).total == 6


@pytest.mark.parametrize(
    ("status", "anchor"),
    [("accepted", None), ("accepted", "soft water"), ("edited", "green tea"), ("rejected", None), ("", None)],
)
def test_the_rules_are_those_of_decide(
    decisions: Decisions, tmp_path: Path, status: str, anchor: str | None
) -> None:
    """The app and the Python function `decide` leave the same edge."""
    other = make_linked(tmp_path / "other")
    decide(open_project(other), [LinkDecision(FIRST, status, anchor)], by="Anna")
    decisions.decide([RequestedDecision(FIRST, status, anchor)], "Anna")
    with open_project(other).graph() as (edges, _):
        theirs = edges.by_id([FIRST])[FIRST]
    ours = stored(decisions)
    assert replace(ours, at="", placed=theirs.placed) == replace(theirs, at="")
    # Beyond that, the next look at the link needs no search for the anchor.
    assert ours.placed.text == (anchor or "")


def test_two_people_never_overwrite_each_other_unseen(decisions: Decisions) -> None:
    """A decision on a link that somebody else decided since it was shown is a conflict; a second one counts."""
    first, second = seen(decisions), seen(decisions, SECOND)
    decisions.decide([RequestedDecision(FIRST, "rejected", seen=first)], "Anna")
    said = [
        RequestedDecision(FIRST, "accepted", seen=first),
        RequestedDecision(SECOND, "accepted", seen=second),
    ]
    outcome = decisions.decide(said, "Ben")
    assert outcome.changed == 1 and [one.row.by for one in outcome.conflicts] == ["Anna"]
    assert stored(decisions).verdict == "rejected" and stored(decisions, SECOND).verdict == "accepted"
    decisions.decide([RequestedDecision(FIRST, "accepted", seen=seen(decisions))], "Ben")
    assert (stored(decisions).verdict, stored(decisions).by) == ("accepted", "Ben")


def test_undo_restores_what_was_before(decisions: Decisions) -> None:
    before = stored(decisions)
    first = decisions.decide([RequestedDecision(FIRST, "accepted", "soft water", "good")])
    second = decisions.decide([RequestedDecision(SECOND, "rejected")])
    assert decisions.undo(first.undo).changed == 1
    assert stored(decisions) == before and stored(decisions, SECOND).verdict == "rejected"
    with pytest.raises(InputError, match="nothing to undo"):
        decisions.undo(first.undo)
    assert decisions.undo(second.undo).rows[0].status == "proposed"


def test_undo_leaves_later_decisions(decisions: Decisions) -> None:
    """What somebody else decided since then stays, and what a run changed does, too."""
    mine = decisions.decide(
        [RequestedDecision(FIRST, "accepted"), RequestedDecision(SECOND, "accepted")], "Anna"
    )
    decisions.decide([RequestedDecision(FIRST, "rejected")], "Ben")
    with open_project(decisions.links.root).graph(read_only=False) as (edges, _):
        edges.put([replace(stored(decisions, SECOND), last_run="later")])
    outcome = decisions.undo(mine.undo)
    assert outcome.changed == 1 and [one.row.by for one in outcome.conflicts] == ["Ben"]
    assert stored(decisions).by == "Ben"
    assert (stored(decisions, SECOND).verdict, stored(decisions, SECOND).last_run) == ("", "later")


def test_a_filter_decides_on_what_waits(decisions: Decisions) -> None:
    decisions.decide([RequestedDecision(FIRST, "rejected")], "Anna")
    outcome = decisions.decide_all(LinkFilter(section="/blog"), "accepted", by="Ben")
    assert outcome.changed == 4 and stored(decisions).by == "Anna"
    assert decisions.links.part(LinkFilter(status="waiting")).total == 2
    assert decisions.undo(outcome.undo).changed == 4
    assert decisions.links.part(LinkFilter(status="waiting")).total == 6
    assert decisions.decide_all(LinkFilter(), "").changed == 1
    assert decisions.links.part(LinkFilter(status="waiting")).total == 7


def test_no_change_is_no_undo(decisions: Decisions) -> None:
    """The same decision again changes nothing, so that there is nothing to undo."""
    decisions.decide([RequestedDecision(FIRST, "accepted")], "Anna")
    assert decisions.decide([RequestedDecision(FIRST, "accepted")], "Anna").undo == ""


def test_what_can_be_undone_is_bounded(decisions: Decisions) -> None:
    """Decisions on the last links can be taken back, and the last decision however many links it is on."""
    short = Decisions(decisions.links, most=2)
    names = [short.decide([RequestedDecision(SECOND, notes=str(number))]).undo for number in range(3)]
    with pytest.raises(NothingToUndo):
        short.undo(names[0])
    assert short.undo(names[2]).changed == 1
    many = short.decide_all(LinkFilter(), "accepted").undo
    with pytest.raises(NothingToUndo):
        short.undo(names[1])
    assert short.undo(many).changed == 7


@pytest.mark.parametrize("theirs", [{"notes": "Ben's"}, {"anchor": "soft water"}])
def test_what_somebody_wrote_is_not_replaced_unseen(decisions: Decisions, theirs: dict[str, Any]) -> None:
    """Two people see an accepted link: what the first one changes, be it a note, stays when the second decides."""
    decisions.decide([RequestedDecision(FIRST, "accepted")], "Anna")
    shown = seen(decisions)
    decisions.decide([RequestedDecision(FIRST, "accepted", seen=shown, **theirs)], "Ben")
    bens = stored(decisions)
    outcome = decisions.decide([RequestedDecision(FIRST, "rejected", notes="Anna's", seen=shown)], "Anna")
    assert outcome.changed == 0 and [one.row.id for one in outcome.conflicts] == [FIRST]
    assert stored(decisions) == bens
    assert decisions.decide([RequestedDecision(FIRST, "rejected", seen=seen(decisions))], "Anna").changed == 1


def test_words_that_stand_in_the_text_become_a_link_in_the_text(decisions: Decisions) -> None:
    """A link for the related box with words of the page is one in the text, at the place where they were selected."""
    mine = decisions.decide([RequestedDecision(SECOND, "accepted", anchor="it", near=55)], "Anna")
    edge = stored(decisions, SECOND)
    assert (edge.status, edge.tier, edge.placed.sentence) == ("edited", "inline", "A clay pot keeps it warm.")
    assert mine.rows[0].tier == "inline"
    assert decisions.undo(mine.undo).rows[0].tier == "sidebar"


@pytest.mark.parametrize("name", ["blog/persian", "blog/black"])
def test_words_get_another_target(decisions: Decisions, name: str) -> None:
    """The words of a link lead to another page, proposed or not, and both decisions are one to undo."""
    said = RequestedDecision(FIRST, "rejected", notes="Wrong target", seen=seen(decisions), instead=url(name))
    outcome = decisions.decide([said], "Anna")
    by_target = {row.target: row for row in outcome.rows}
    now, before = by_target[key(name)], by_target[key("shop/pot")]
    assert outcome.changed == 2 and (before.status, before.notes) == ("rejected", "Wrong target")
    assert (now.status, now.anchor, now.tier, now.by) == ("edited", "clay pot", "inline", "Anna")
    edge = stored(decisions, now.id)
    assert edge.placed.sentence == "A clay pot keeps it warm." and edge.target_url == url(name)
    undone = {row.target: row.status for row in decisions.undo(outcome.undo).rows}
    unknown = "withdrawn" if name == "blog/persian" else "proposed"
    assert undone == {key("shop/pot"): "proposed", key(name): unknown}


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (url("nowhere"), "check its spelling"),
        (url("blog/green"), "is the page itself"),
        (url("shop/pot"), "link to .* already"),
        (url("shop/tin"), "has a link to .* already"),
        (url("blog/black"), "nearly the same text"),
        ("/blog/persian/", "excluded_urls.txt has persian"),
    ],
)
def test_what_is_no_target_is_refused(decisions: Decisions, address: str, message: str) -> None:
    """A target that no run could keep is refused with its reason, and nothing changes."""
    write_text(decisions.links.root / "config/excluded_urls.txt", "persian")
    with open_project(decisions.links.root).graph(read_only=False) as (edges, _):
        edges.put([replace(EDGES[1], kind="duplicate")])
    before = stored(decisions)
    with pytest.raises(InputError, match=message):
        decisions.decide([RequestedDecision(FIRST, "rejected", instead=address)], "Anna")
    assert stored(decisions) == before


def test_undo_keeps_what_a_run_found(decisions: Decisions) -> None:
    decisions.decide([RequestedDecision(FIRST, "rejected")], "Anna")
    mine = decisions.decide([RequestedDecision(FIRST, "accepted")], "Ben")
    live = replace(stored(decisions), status="live", by="", at="later")
    with open_project(decisions.links.root).graph(read_only=False) as (edges, _):
        edges.put([live])
    assert decisions.undo(mine.undo).changed == 1
    assert stored(decisions) == replace(live, verdict="rejected")


def test_an_undo_that_failed_can_be_tried_again(decisions: Decisions) -> None:
    """An undo that fails because the project can't be opened is not used up."""
    mine = decisions.decide([RequestedDecision(FIRST, "accepted")], "Anna")
    settings = decisions.links.root / "config/settings.toml"
    working = settings.read_text(encoding="utf-8")
    settings.write_text("broken = [", encoding="utf-8")
    with pytest.raises(ConfigurationError):
        decisions.undo(mine.undo)
    settings.write_text(working, encoding="utf-8")
    assert decisions.undo(mine.undo).changed == 1 and stored(decisions).verdict == ""
