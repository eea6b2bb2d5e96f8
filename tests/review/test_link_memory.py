"""After a run remembers its links, its memory has the same edges as the store."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from internal_linker.adapters.database.edges import EdgeStore
from internal_linker.adapters.database.engine import open_database
from internal_linker.core.edges import Anchor, Edge, Status, edge_id
from internal_linker.core.ports import Wanted
from internal_linker.core.records import Candidate, Link, Page, Recommendation, Source, Targets
from internal_linker.review.link_memory import EdgeRules, Memory
from tests.support.builders import Told, page, source, targets, url


class Names:
    """An `Anchors` that proposes the last letter of each target from "c" on, only "c" verbatim."""

    def propose_each(self, wanted: Iterable[Wanted]) -> Iterator[Sequence[tuple[Anchor, ...]]]:
        return (self.of(targets) for _, targets, _ in wanted)

    def of(self, targets: Sequence[str]) -> Sequence[tuple[Anchor, ...]]:
        found = [Anchor(one[-1], f"See {one}.", verbatim=one[-1] == "c") for one in targets]
        return [(one,) if one.text >= "c" else () for one in found]

    def placed(self, source: str, text: str) -> Anchor:
        return Anchor(text, verbatim=False)

    def quality(self, source: str, target: str, anchor: Anchor) -> float:
        return 1.0

    def settled(self, anchors: tuple[Anchor, ...]) -> bool:
        return bool(anchors)

    def varied(self, target: str, anchors: tuple[Anchor, ...], own: str = "") -> tuple[Anchor, ...]:
        return anchors

    def count(self, target: str, text: str) -> None:
        """Do nothing: no wording is too frequent."""


class Everywhere(Names):
    """An `Anchors` that proposes a perfect anchor for each target."""

    def of(self, targets: Sequence[str]) -> Sequence[tuple[Anchor, ...]]:
        return [(Anchor(one[-1], f"See {one}.", quality=1.0),) for one in targets]


PAGES: dict[str, Page] = {name: page(name, "some text") for name in "xyz"}


def item(of: Source, letters: str, score: float = 3.0, held: str = "") -> Recommendation:
    """Return a row with links to these pages, each weaker than the one before."""
    candidates = [
        Candidate(url(one), url(one), score - at, 0.5, 0.25) for at, one in enumerate(letters + held)
    ]
    links = [Link(each, rank, "semantic") for rank, each in enumerate(candidates, 1)]
    some = len(letters)
    return Recommendation(of, tuple(links[:some]), "", tuple(replace(one, rank=0) for one in links[some:]))


@pytest.fixture
def store(tmp_path: Path) -> EdgeStore:
    return EdgeStore(open_database("sqlite:///cache.sqlite3", tmp_path), "shop.example")


def remember(store: EdgeStore, run: str, items: Sequence[Recommendation], known: Targets) -> Memory:
    memory = Memory(store, EdgeRules(), run, "local/x")
    memory.recall(None, Told())
    memory.keep(items, known, Names(), (), Told(), gone=lambda _: True)
    return memory


def shown(edge: Edge) -> tuple[object, ...]:
    best = edge.anchors[0] if edge.anchors else Anchor("")
    return edge.id, edge.status, edge.kind, edge.tier, round(edge.strength, 9), edge.anchor, best


def test_each_link_has_the_edge_that_the_store_keeps(store: EdgeStore) -> None:
    items = [
        item(source(of=PAGES["x"]), "abcdz"),
        item(source(of=PAGES["y"], query="tea"), "abz"),
        item(source(of=PAGES["y"], query="pots"), "bad", score=1.0),
        item(source(query="kettle"), "ab", held="c"),
        item(source(of=PAGES["z"]), "yb"),
    ]
    remember(store, "1", items, targets(*"abcdxyz"))
    keys = [edge_id(url("x"), url(one)) for one in "abz"]
    accepted, edited, taken_back = (store.by_id([key])[key] for key in keys)
    store.put(
        [
            replace(accepted, verdict="accepted", status="accepted"),
            replace(edited, verdict="edited", status="edited", anchor="mine"),
            replace(taken_back, anchor="hers"),
        ]
    )
    live = replace(targets(*"abcdxyz"), linked={url("z"): [url("b")]})
    memory = remember(store, "2", items, live)
    links = [(each.source, link) for each in items for link in each.links if each.source.key]
    kept = store.by_id(edge_id(of.end, link.target.key) for of, link in links)
    assert [shown(memory.edge_of(*one)) for one in links] == [
        shown(kept[edge_id(of.end, link.target.key)]) for of, link in links
    ]
    assert {edge.status for edge in kept.values()} == {"accepted", "edited", "live", "proposed"}
    assert {edge.kind for edge in kept.values()} == {"contextual", "recommendation"}


@pytest.mark.parametrize(
    ("words", "links", "inline"),
    [(60, 0, "abcde"), (60, 3, "ab"), (60, 9, ""), (160, 3, "abcde"), (0, 9, "abcdefg")],
)
def test_a_text_gets_no_more_links_than_it_can_carry(
    store: EdgeStore, words: int, links: int, inline: str
) -> None:
    """Strong links beyond five, or five per 100 words, belong beside the text; accepted ones come first."""
    of = source(of=page("x", "word " * words))
    memory = Memory(store, EdgeRules(), "1", "local/x", text_links={url("x"): links})
    memory.recall(None, Told())
    items = [item(of, "abcdefg", score=12.0)]
    memory.keep(items, targets(*"abcdefg"), Everywhere(), (), Told(), gone=lambda _: True)
    tiers = {edge.target[-1]: edge.tier for edge in store.each()}
    assert "".join(name for name, tier in sorted(tiers.items()) if tier == "inline") == inline
    assert set(tiers.values()) <= {"inline", "sidebar"}
    assert {one.target.key[-1]: memory.edge_of(of, one).tier for one in items[0].links} == tiers
    last = edge_id(url("x"), url("g"))
    store.put([replace(store.by_id([last])[last], verdict="accepted", status="accepted")])
    memory = Memory(store, EdgeRules(), "2", "local/x", text_links={url("x"): links})
    memory.recall(None, Told())
    memory.keep(items, targets(*"abcdefg"), Everywhere(), (), Told(), gone=lambda _: True)
    assert store.by_id([last])[last].tier == "inline"
    assert memory.tiers["inline"] == max(1, len(inline))


def test_plain_links_take_no_room(store: EdgeStore) -> None:
    """The memory has no entry for a link whose edge follows from the link, because a site may have millions."""
    memory = remember(
        store, "1", [item(source(query=f"q{at}"), "abcd") for at in range(20)], targets(*"abcd")
    )
    assert not memory.differing


class Reviewed(EdgeStore):
    """A store in which an editor decides on all links right after a run has read them."""

    verdict: Any = None

    def of_sources(self, sources: Iterable[str]) -> Mapping[str, Sequence[Edge]]:
        found = super().of_sources(sources)
        if self.verdict is not None:
            self.put(
                [
                    replace(
                        edge,
                        verdict=self.verdict,
                        status=self.verdict or "proposed",
                        by="Anna",
                        notes="meanwhile",
                    )
                    for edges in found.values()
                    for edge in edges
                ]
            )
        return found


@pytest.mark.parametrize(("first", "then"), [(None, "rejected"), ("accepted", "rejected"), ("accepted", "")])
def test_a_decision_during_a_run_is_kept(tmp_path: Path, first: Status | None, then: Any) -> None:
    store = Reviewed(open_database("sqlite:///cache.sqlite3", tmp_path), "shop.example")
    here, known = source(of=PAGES["x"]), targets("yz")
    remember(store, "run1", [item(here, "yz")], known)
    if first:
        store.put([replace(edge, verdict=first, status=first, by="Ben") for edge in store.each()])
    store.verdict = then
    remember(store, "run2", [item(here, "yz", score=2.5)], known)
    edges = [*store.each()]
    assert len(edges) == 2 and all(edge.score < 3 for edge in edges)
    assert {(edge.verdict, edge.status, edge.by, edge.notes) for edge in edges} == {
        (then, then or "proposed", "Anna", "meanwhile")
    }
