"""Review at the terminal: the queue offers links in order, stores decisions, and a desk can still change them."""

from dataclasses import replace
from pathlib import Path

import pytest

from internal_linker.adapters.database.edges import EdgeStore
from internal_linker.adapters.database.engine import open_database
from internal_linker.core.edges import Anchor, Cells, Edge, Verdict
from internal_linker.review.session import EdgeQueue
from internal_linker.review.transitions import heard

LINK = Edge("s", "t", "S", "T", rank=1, strength=0.5, anchors=(Anchor("tea", "Tea draws."),))


@pytest.fixture
def store(tmp_path: Path) -> EdgeStore:
    return EdgeStore(open_database("sqlite:///cache.sqlite3", tmp_path), "a.example")


def test_what_waits_for_approval_comes_first_then_the_strongest(store: EdgeStore) -> None:
    """Held links come first, then the strongest; decided links, live links and near-duplicates are not offered."""
    names = {"strong": {"strength": 0.9}, "none": {"strength": float("nan")}, "held": {"rank": 0}}
    others = {"live": {"status": "live"}, "copy": {"kind": "canonical"}}
    store.put([replace(LINK, target=name, **more) for name, more in {**names, **others}.items()])  # type: ignore[arg-type]
    store.put([LINK])
    ids = {replace(LINK, target=name).id: name for name in [*names, *others, "t"]}
    assert [ids[row.id] for row in EdgeQueue(store).pending()] == ["held", "strong", "t", "none"]


def test_a_word_at_the_terminal_is_kept(store: EdgeStore) -> None:
    """A decision is stored with its author, an edited anchor is the editor's, and a note alone decides nothing."""
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
