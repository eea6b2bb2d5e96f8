"""Review at the terminal: the queue offers links in order, stores decisions, and a desk can still change them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import Anchoring
from internal_linker.model.edges import Anchor, Cells, Edge, Verdict
from internal_linker.model.evidence import Evidence
from internal_linker.model.records import ExistingLink, Page
from internal_linker.model.sections import Sections
from internal_linker.model.wordings import warning
from internal_linker.review.session import EdgeQueue, ReviewFilter
from internal_linker.review.transitions import heard
from internal_linker.store.edges import EdgeStore
from internal_linker.store.engine import open_database
from tests.support.builders import collected

LINK = Edge("s", "t", "S", "T", rank=1, strength=0.5, anchors=(Anchor("tea", "Tea draws."),))


@pytest.fixture
def store(tmp_path: Path) -> EdgeStore:
    return EdgeStore(open_database("sqlite:///cache.sqlite3", tmp_path), "a.example")


def test_what_waits_for_approval_comes_first_then_the_strongest(store: EdgeStore) -> None:
    """Held links come first, then links in the text, then the others; of each, the strongest, and poor pages last.

    Decided links, live links and near-duplicates are not offered.
    """
    late = {"evidence": Evidence(last_resort=2)}
    names = {
        **{"strong": {"strength": 0.9}, "none": {"strength": float("nan")}, "held": {"rank": 0}},
        **{"late": {"strength": 0.95, **late}, "in late text": {"tier": "inline", "strength": 0.4, **late}},
        "in text": {"tier": "inline", "strength": 0.3},
    }
    others = {"live": {"status": "live"}, "copy": {"kind": "canonical"}}
    store.put([replace(LINK, target=name, **more) for name, more in {**names, **others}.items()])  # type: ignore[arg-type]
    store.put([LINK])
    ids = {replace(LINK, target=name).id: name for name in [*names, *others, "t"]}
    assert [ids[link.edge.id] for link in EdgeQueue(store).pending()] == [
        *("held", "in text", "in late text", "strong", "t", "none", "late"),
    ]


def test_a_word_at_the_terminal_is_kept(store: EdgeStore) -> None:
    store.put([LINK])
    queue = EdgeQueue(store)
    queue.decide(Verdict(LINK.id, "proposed", "tea", "ask Bob", "Ann"))
    (edge,) = store.each()
    assert (edge.status, edge.notes, edge.verdict) == ("proposed", "ask Bob", "")
    queue.decide(Verdict(LINK.id, "edited", "green tea", "ask Bob", "Ann"))
    (edge,) = store.each()
    assert (edge.status, edge.anchor, edge.by, edge.notes) == ("edited", "green tea", "Ann", "ask Bob")
    assert not list(queue.pending())


def test_a_sheet_that_was_not_touched_since_does_not_overrule_the_terminal(store: EdgeStore) -> None:
    """An untouched Sheet row doesn't overrule a decision at the terminal; a touched one does."""
    store.put([replace(LINK, cells=Cells("proposed", "tea"))])
    EdgeQueue(store).decide(Verdict(LINK.id, "rejected", "tea", "", "Ann"))
    (edge,) = store.each()
    assert heard(edge, Verdict(LINK.id, "proposed", "tea"), "later") == edge
    assert heard(edge, Verdict(LINK.id, "accepted", "tea"), "later").verdict == "accepted"


def test_a_queue_with_the_pages_knows_titles_and_places(store: EdgeStore) -> None:
    store.put([LINK])
    page = Page("s", "S", "A source", content="It fits here. Here it is linked.")
    site = collected([page], [ExistingLink("s", "x", "linked")])
    queue = EdgeQueue(store, Anchoring(CountedSite(site)))
    (shown,) = queue.pending()
    assert (shown.source_title, shown.target_title, warning(shown.edge)) == ("A source", "", "")
    assert [queue.warning(LINK.id, text) for text in ("fits", "linked", "absent")] == [
        *("", "anchor only in a link or heading", "anchor not in the text"),
    ]
    queue.decide(Verdict(LINK.id, "edited", "linked", "", "Ann"))
    (edge,) = store.each()
    assert warning(edge) == "anchor only in a link or heading"
    assert edge.chosen.sentence == "Here it is linked."


def test_undo_restores_what_was_decided_and_nothing_else(store: EdgeStore) -> None:
    store.put([LINK, replace(LINK, target="u")])
    queue = EdgeQueue(store)
    queue.decide(Verdict(LINK.id, "proposed", "tea", "ask Bob", "Ann"))
    queue.decide(Verdict(LINK.id, "edited", "green tea", "ask Bob", "Ann"))
    (edge,) = store.each("edited")
    store.put([replace(edge, score=9.0, last_run="2")])
    queue.undo(LINK.id)
    queue.undo(LINK.id)
    assert store.by_id([LINK.id])[LINK.id] == replace(LINK, score=9.0, last_run="2")
    assert len(list(queue.pending())) == 2


def test_only_some_links_are_reviewed(store: EdgeStore) -> None:
    a, b = "https://a.example/milk/a", "http://www.a.example/b"
    links = [replace(LINK, source=source) for source in (a, b, "green tea")]
    links.append(replace(LINK, source=a, target="u", tier="inline"))
    store.put(links)

    def taken(**only: Any) -> set[tuple[str, str]]:
        found = EdgeQueue(store, only=ReviewFilter(**only)).pending()
        known = store.by_id(link.edge.id for link in found)
        return {(edge.source, edge.target) for edge in known.values()}

    assert taken(sections=Sections(["/milk"])) == {(a, "t"), (a, "u")}
    assert taken(source="https://a.example/b") == {(b, "t")}
    assert taken(source="green tea") == {("green tea", "t")}
    assert taken(sections=Sections(["/milk"]), tier="inline") == {(a, "u")}
    assert len(taken()) == 4
