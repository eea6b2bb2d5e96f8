"""Pages whose links stay are neither read nor written, and a run shows of them what it would if it read all pages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from internal_linker.adapters.database.edges import EdgeStore
from internal_linker.adapters.database.engine import open_database
from internal_linker.core.edges import Edge, source_id
from internal_linker.core.records import Recommendation, Targets
from internal_linker.core.steady_pages import RowPlaces, SteadyPages
from internal_linker.review.link_memory import EdgeRules, Memory
from tests.review.test_link_memory import Names, item
from tests.support.builders import Told, page, source, targets, url

PAGES = {name: source(of=page(name, "some text")) for name in "pqrstxyz"}
ITEMS = [item(each, "abcde", score=3.0 - 0.1 * at) for at, each in enumerate(PAGES.values())]
STATES = {url(name): f"state of {name}" for name in PAGES}


class Watched(EdgeStore):
    """A store that notes which edges are read and put."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.read, self.stored = set[str](), set[str]()

    def of_sources(self, sources: Iterable[str]) -> Mapping[str, Sequence[Edge]]:
        found = super().of_sources(sources)
        self.read |= {edge.id for edges in found.values() for edge in edges}
        return found

    def by_id(self, ids: Iterable[str]) -> Mapping[str, Edge]:
        found = super().by_id(ids)
        self.read |= found.keys()
        return found

    def put(self, edges: Sequence[Edge]) -> None:
        self.stored |= {edge.id for edge in edges}
        super().put(edges)


def opened(folder: Path) -> Watched:
    folder.mkdir(exist_ok=True)
    return Watched(open_database("sqlite:///cache.sqlite3", folder), "shop.example")


class Counting(Names):
    """An `Anchors` that records the anchors that stay."""

    def __init__(self) -> None:
        self.counted = list[tuple[str, str]]()

    def count(self, target: str, text: str) -> None:
        self.counted.append((target, text))


def remember(
    store: EdgeStore,
    run: str,
    items: Sequence[Recommendation] = ITEMS,
    *,
    last: SteadyPages | None = None,
    states: Mapping[str, str] = STATES,
    anchors: Names | None = None,
    known: Targets | None = None,
    rules: EdgeRules | None = None,
) -> tuple[Memory, SteadyPages]:
    """Store the links of a run; return its memory, and what the next run needs."""
    # The times of two runs differ, and nothing else that depends on the clock.
    memory = Memory(store, rules or EdgeRules(), run, "local/x", at="2026-01-01")
    memory.expect(last)
    memory.recall(None, Told())
    memory.hashes = {url(name): f"text of {name}" for name in "abcdepqrstxyz"}
    memory.keep(
        items,
        known or targets(*"abcde"),
        anchors or Names(),
        (),
        Told(),
        gone=lambda _: True,
        again=Names(),
        states=states,
    )
    return memory, memory.unread.for_the_next(store, run, RowPlaces(), "")


def shown(memory: Memory, items: Sequence[Recommendation]) -> list[str]:
    """Return all that a run shows of its links, as text, in which any NaN equals another."""
    rows = memory.review_rows()
    links = [memory.edge_of(each.source, link) for each in items for link in each.links]
    told = [memory.shown(each) for each in items]
    counts = sorted(memory.tiers.items()), sorted(memory.statuses.items()), memory.reviewed
    return [*map(repr, (told, rows, links, memory.counted, *counts))]


def stored(store: EdgeStore) -> list[str]:
    return sorted(map(repr, store.each()))


CHANGES: dict[str, Callable[[EdgeStore], dict[str, object]]] = {
    "nothing": lambda _: {},
    "another link": lambda _: {"items": [*ITEMS[:2], item(PAGES["r"], "abced", score=2.8), *ITEMS[3:]]},
    "another score": lambda _: {"items": [*ITEMS[:2], item(PAGES["r"], "abcde", score=1.0), *ITEMS[3:]]},
    "fewer links": lambda _: {"items": [*ITEMS[:2], item(PAGES["r"], "ab", score=2.8), *ITEMS[3:]]},
    "a page that is gone": lambda _: {"items": ITEMS[1:]},
    "a new page": lambda _: {"items": [*ITEMS, item(source(of=page("w", "some text")), "abc")]},
    "a page twice": lambda _: {"items": [*ITEMS, item(replace(PAGES["r"], query="tea"), "abd")]},
    "another text": lambda _: {"states": {**STATES, url("s"): "another state"}},
    "a link that is there": lambda _: {
        "known": replace(targets(*"abcde"), linked={url("s"): [url("b")]}),
        "states": {**STATES, url("s"): "another state"},
    },
    "a decision": lambda store: decide(store, status="accepted", verdict="accepted"),
    "an editor's anchor": lambda store: decide(store, anchor="mine"),
    "notes": lambda store: decide(store, notes="later"),
    "a rejection": lambda store: decide(store, status="rejected", verdict="rejected"),
}


def decide(store: EdgeStore, **changes: str) -> dict[str, object]:
    edge = next(edge for edge in store.each() if edge.source == url("t"))
    store.put([replace(edge, **changes)])  # type: ignore[arg-type]
    return {}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("by_others", [False, True], ids=["by this program", "by another"])
def test_what_stays_shows_in_nothing(tmp_path: Path, change: str, by_others: bool) -> None:
    """Memory and store are the same as if all pages were read; most pages are not."""
    first, other = opened(tmp_path / "a"), opened(tmp_path / "b")
    _, last = remember(first, "1")
    remember(other, "1")
    store = opened(tmp_path / "a") if by_others else first
    options = CHANGES[change](store)
    CHANGES[change](other)
    items: Sequence[Recommendation] = options.get("items", ITEMS)  # type: ignore[assignment]
    store.read.clear()
    memory, _ = remember(store, "2", last=last, **options)  # type: ignore[arg-type]
    read = {key[:10] for key in store.read}
    full, _ = remember(other, "2", **options)  # type: ignore[arg-type]
    assert len(memory.unread.links) >= len(ITEMS) - 1
    assert read <= {source_id(url(name)) for name in "rstpw"}
    assert shown(memory, items) == shown(full, items)
    assert stored(store) == stored(other)


def test_nothing_is_read_or_written_of_pages_that_stay(tmp_path: Path) -> None:
    """Three runs with the same links: only the first one writes, and none reads but for the review."""
    store = opened(tmp_path)
    _, last = remember(store, "1")
    assert len(store.stored) == 40
    store.stored.clear()
    for run in "23":
        store.read.clear()
        memory, last = remember(store, run, last=last)
        assert not store.read and not store.stored
        assert {edge.last_run for edge in store.each()} == {run}
    assert len(memory.review_rows()) == 40


def test_a_damaged_or_missing_edge_is_stored_again(tmp_path: Path) -> None:
    """Where stored links are gone, nobody knows whose they were: all pages are read."""
    store = opened(tmp_path)
    _, last = remember(store, "1")
    before = [edge.id for edge in store.each()]
    with store._engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM edges WHERE id = ?", (before[7],))
    memory, _ = remember(store, "2", last=last)
    assert not memory.unread.links
    assert [edge.id for edge in store.each()] == before


def test_anchors_that_stay_are_counted(tmp_path: Path) -> None:
    """Whoever chooses the anchors of the other pages knows those that stay."""
    store = opened(tmp_path)
    _, last = remember(store, "1")
    anchors = Counting()
    remember(store, "2", last=last, states={**STATES, url("p"): "another state"}, anchors=anchors)
    assert sorted(anchors.counted) == sorted((url(one), one) for one in "cde" for _ in range(7))


def test_left_out_links_are_looked_at_again(tmp_path: Path) -> None:
    """A page with a link that is too weak does not stay: the link may return when no other page links to its target."""
    store = opened(tmp_path)
    rules = EdgeRules(min_strength=0.3)
    memory, last = remember(store, "1", rules=rules)
    assert memory.left_out
    assert not {end for end, _ in memory.left_out} & {*last.bases}


def test_without_a_state_no_page_stays(tmp_path: Path) -> None:
    """A run that does not know what a page's links depend on tells the next one nothing."""
    _, last = remember(opened(tmp_path), "1", states={})
    assert not last.bases
