"""After a run remembers its links, its memory has the same edges as the store."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from internal_linker.model.edges import Anchor, Edge, Status, edge_id, score_for, score_of
from internal_linker.model.ports import Wanted
from internal_linker.model.records import Candidate, Link, Page, Recommendation, Source, Targets
from internal_linker.review.link_memory import EdgeRules, Memory
from internal_linker.store.edges import EdgeStore
from internal_linker.store.engine import open_database
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

    def settled(self, source: str, target: str, anchors: tuple[Anchor, ...]) -> bool:
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


class Qualities(Names):
    """An `Anchors` that proposes an anchor of this quality for each target, and none below 0.33.

    Args:
        given: the quality for each target's letter.
    """

    def __init__(self, given: Mapping[str, float]) -> None:
        self._given = given

    def of(self, targets: Sequence[str]) -> Sequence[tuple[Anchor, ...]]:
        each = ((one[-1], self._given[one[-1]]) for one in targets)
        return [
            (
                Anchor(name, name, quality=quality)
                if quality >= 0.33
                else Anchor(name, verbatim=False, quality=0),
            )
            for name, quality in each
        ]


@pytest.mark.parametrize(
    ("rules", "origins", "found", "expected"),
    [
        ({}, {}, {}, "dbac"),
        ({"searched_first": True}, {}, {"c": 1}, "dbca"),
        ({"searched_first": True}, {}, {"a": 1, "c": 2}, "adcb"),
        ({}, {}, {"a": 1}, "dbac"),
        ({}, {"a": "rule"}, {}, "adbc"),
    ],
)
def test_rank_score_and_tier_of_a_pages_links_agree(
    store: EdgeStore, rules: Any, origins: Mapping[str, Any], found: Mapping[str, int], expected: str
) -> None:
    """Whatever the pages promised, what people read decides; only rules and search results keep their places."""
    links = [
        replace(
            one,
            origin=origins.get(name, "semantic"),
            target=replace(one.target, serp_rank=found.get(name, 0)),
        )
        for name, one in zip("abcd", item(source(of=PAGES["x"]), "abcd", score=9.0).links, strict=True)
    ]
    rows = [Recommendation(source(of=PAGES["x"]), tuple(links))]
    memory = Memory(store, EdgeRules(0.33, 0.23, **rules), "1", "local/x")
    memory.recall(None, Told())
    anchors = Qualities({"a": 0.1, "b": 0.5, "c": 0.2, "d": 0.9})
    memory.keep(rows, targets(*"abcd"), anchors, (), Told(), gone=lambda _: True)
    (shown_to_people,) = map(memory.shown, rows)
    assert "".join(one.target.key[-1] for one in shown_to_people.links) == expected
    edges = [memory.edge_of(rows[0].source, one) for one in shown_to_people.links]
    assert [edge.rank for edge in edges] == [1, 2, 3, 4] == [one.rank for one in shown_to_people.links]
    stored = [store.by_id([edge.id])[edge.id] for edge in edges]
    assert [(each.rank, shown(each)) for each in stored] == [(each.rank, shown(each)) for each in edges]
    scores = {edge.target[-1]: (score_of(edge.strength), edge.tier) for edge in edges}
    assert scores == {"a": (32, "sidebar"), "b": (50, "inline"), "c": (32, "sidebar"), "d": (90, "inline")}


@pytest.mark.parametrize(
    ("words", "links", "inline"),
    [(60, 0, "abcde"), (60, 3, "ab"), (60, 9, ""), (1600, 3, "abcde"), (400, 19, "a"), (0, 9, "abcdefg")],
)
def test_a_text_gets_no_more_links_than_it_can_carry(
    store: EdgeStore, words: int, links: int, inline: str
) -> None:
    """Links beyond five, five per 1,000 words or five per 100 belong beside the text; accepted ones come first."""
    of, rules = source(of=page("x", "word " * words)), EdgeRules(0.33, 0.23)
    memory = Memory(store, rules, "1", "local/x", text_links={url("x"): links})
    memory.recall(None, Told())
    items = [item(of, "abcdefg", score=12.0)]
    memory.keep(items, targets(*"abcdefg"), Everywhere(), (), Told(), gone=lambda _: True)
    tiers = {edge.target[-1]: edge.tier for edge in store.each()}
    assert "".join(name for name, tier in sorted(tiers.items()) if tier == "inline") == inline
    assert set(tiers.values()) <= {"inline", "sidebar"}
    assert {one.target.key[-1]: memory.edge_of(of, one).tier for one in items[0].links} == tiers
    assert all(edge.strength < rules.inline for edge in store.each() if edge.tier != "inline")
    last = edge_id(url("x"), url("g"))
    store.put([replace(store.by_id([last])[last], verdict="accepted", status="accepted")])
    memory = Memory(store, rules, "2", "local/x", text_links={url("x"): links})
    memory.recall(None, Told())
    memory.keep(items, targets(*"abcdefg"), Everywhere(), (), Told(), gone=lambda _: True)
    assert store.by_id([last])[last].tier == "inline"
    assert memory.tiers["inline"] == max(1, len(inline))


@pytest.mark.parametrize(
    ("wanted", "usual", "words", "links", "inline"),
    [
        (None, 2.0, 3000, 2, "abcd"),
        (None, 2.0, 3000, 6, "abc"),
        (None, 2.0, 299, 6, "ab"),
        (None, 2.0, 99, 6, ""),
        (None, 2.0, 100, 1, "abcd"),
        (2.0, 5.0, 3000, 2, "abcd"),
        (2.0, 5.0, 3000, 6, ""),
        (2.0, 5.0, 100, 0, "a"),
        (0.0, 5.0, 3000, 0, ""),
        (40.0, 5.0, 200, 1, "abcdefg"),
    ],
)
def test_a_text_gets_as_many_links_as_wanted_or_usual(
    store: EdgeStore, wanted: float | None, usual: float, words: int, links: int, inline: str
) -> None:
    """Those that it has count; with the site's usual number, a text gets some new ones at any rate."""
    rules, of = EdgeRules(per_1000_words=wanted), source(of=page("x", "word " * words))
    memory = Memory(store, rules, "1", "local/x", text_links={url("x"): links}, usual=lambda: usual)
    memory.recall(None, Told())
    items, known = [item(of, "abcdefg", score=12.0)], targets(*"abcdefg")
    memory.keep(items, known, Everywhere(), (), Told(), gone=lambda _: True)
    tiers = {edge.target[-1]: edge.tier for edge in store.each()}
    assert "".join(name for name, tier in sorted(tiers.items()) if tier == "inline") == inline
    assert len(tiers) == 7


@pytest.mark.parametrize(
    ("later", "strengths", "order"),
    [
        (0.27, [0.25, 0.26], "ba"),
        (0.3, [0.3, 0.26], "ab"),
        (0.5, [0.25, 0.26], "ba"),
        (0.1, [0.1, 0.26], "ba"),
    ],
)
def test_a_score_that_hardly_moves_stays(
    store: EdgeStore, later: float, strengths: list[float], order: str
) -> None:
    """So the list keeps its order; nobody knows how well pages fit whose link was to get a place and got none."""
    for run, fits in (("1", 0.25), ("2", later)):
        one, other = item(source(of=PAGES["x"]), "ab").links
        scores = zip((one, other), score_for(np.array([fits, 0.26])).tolist(), strict=True)
        links = tuple(replace(each, target=replace(each.target, score=score)) for each, score in scores)
        row = Recommendation(source(of=PAGES["x"]), links)
        memory = Memory(store, EdgeRules(0.33, 0.23), run, "local/x")
        memory.recall(None, Told())
        memory.keep([row], targets(*"ab"), Names(), (), Told(), gone=lambda _: True)
    assert "".join(each.target.key[-1] for each in memory.shown(row).links) == order
    stored = {edge.target: edge.strength for edge in store.each()}
    told = [memory.edge_of(row.source, each).strength for each in links]
    assert told == [stored[url(name)] for name in "ab"] == pytest.approx(strengths)


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
