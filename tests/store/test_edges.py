"""The store of the link graph returns every edge unchanged, even from a database that several sites share."""

import math
import sqlite3
from dataclasses import fields, replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, event, text

from internal_linker.model.edges import Anchor, Cells, Edge
from internal_linker.model.evidence import NO_EVIDENCE, Evidence
from internal_linker.store.edges import EdgeStore
from internal_linker.store.engine import open_database

ODD = 'a "quoted" \0 \ud800 متن 日本 line\nline'
FULL = Edge(
    "https://a.example/s",
    "https://a.example/t",
    "https://A.example/s/",
    ODD,
    query="a query",
    rank=3,
    origin="serp",
    kind="contextual",
    tier="inline",
    score=4.5,
    similarity=0.5,
    lexical=0.25,
    probability=0.125,
    serp_rank=2,
    strength=0.9,
    inline=0.8,
    sidebar=0.65,
    encoder="local/x, recipe y",
    source_hash="h1",
    target_hash="h2",
    anchors=(
        Anchor("green tea", "We drink green tea.", 9, model="openai/x, prompt v1", confidence=0.5),
        Anchor("tea", is_query=True),
        Anchor(ODD, "", 0, verbatim=False),
    ),
    formerly=("tea", ODD),
    first_run="1",
    last_run="2",
    status="edited",
    verdict="edited",
    by="Ann",
    at="2026-01-04T03:00:00+00:00",
    anchor="fresh tea",
    notes=ODD,
    placed=Anchor("fresh tea", "We drink fresh tea.", 12, verbatim=False),
    cells=Cells("edited", "fresh tea", ODD),
    evidence=Evidence(4, 15, 12, 30, 0, 1, 3, "tea", 2),
)


@pytest.fixture
def engine(store_url: str, tmp_path: Path) -> Engine:
    return open_database(store_url, tmp_path)


def bare(target: str, source: str = "https://a.example/s") -> Edge:
    return Edge(source, target, source, target, last_run="1")


def same(one: Edge, other: Edge) -> None:
    for field in fields(Edge):
        mine, yours = getattr(one, field.name), getattr(other, field.name)
        both_none = isinstance(mine, float) and math.isnan(mine) and math.isnan(yours)
        assert mine == yours or both_none, field.name


def test_an_edge_comes_back_as_it_was(engine: Engine) -> None:
    """Every field survives, including unknown figures, NUL and lone surrogates, whether read by source or by id."""
    store = EdgeStore(engine, "a.example")
    for edge in (FULL, bare("https://a.example/u")):
        store.put([edge])
        same(store.by_id([edge.id, "0" * 20])[edge.id], edge)
    found = store.of_sources([FULL.source, "nobody"])
    assert {one.target for one in found[FULL.source]} == {FULL.target, "https://a.example/u"}
    assert "nobody" not in found


def test_a_changed_edge_replaces_the_old_one(engine: Engine) -> None:
    """A pair of ends has one edge: a changed edge replaces the old one."""
    store = EdgeStore(engine, "a.example")
    store.put([FULL])
    store.put([replace(FULL, status="live", anchors=())])
    (edge,) = store.each()
    assert (edge.status, edge.anchors) == ("live", ())


def test_edges_are_found_by_status_and_verdict(engine: Engine) -> None:
    """`each` yields all edges of a status or with a verdict, even while they change, and `counts` agrees."""
    store = EdgeStore(engine, "a.example")
    edges = [bare(f"t{n}", f"s{n % 40}") for n in range(1200)]
    edges = [replace(edge, status="live" if at % 3 else "proposed") for at, edge in enumerate(edges)]
    edges[0] = replace(edges[0], verdict="rejected", status="rejected")
    store.put(edges)
    seen = []
    for edge in store.each("proposed"):
        seen.append(edge.id)
        store.put([replace(edge, status="withdrawn")])
    assert sorted(seen) == sorted(edge.id for edge in edges if edge.status == "proposed")
    assert [edge.id for edge in store.each(judged=True)] == [edges[0].id]
    store.put([replace(edges[1], last_run="this run")])
    others = {edge.id for edge in store.each("live", besides="this run")}
    assert others == {edge.id for edge in store.each("live")} - {edges[1].id}
    store.put([replace(bare("copy"), kind="canonical")])
    assert store.counts() == {"live": 800, "withdrawn": 399, "rejected": 1}


def test_the_sites_of_a_team_do_not_mix(engine: Engine) -> None:
    one, other = EdgeStore(engine, "a.example"), EdgeStore(engine, "b.example")
    one.put([bare("t", "query")])
    other.put([replace(bare("t", "query"), status="live")])
    assert [edge.status for edge in one.each()] == ["proposed"]
    assert other.counts() == {"live": 1}
    assert not one.by_id([]) and not one.of_sources([])


def test_what_a_later_version_keeps_is_read_over(engine: Engine) -> None:
    store = EdgeStore(engine, "a.example")
    store.put([FULL])
    with engine.begin() as connection:
        connection.execute(text("UPDATE edges SET facts = replace(facts, '\"rank\"', '\"from_the_future\"')"))
        connection.execute(
            text("UPDATE edges SET facts = replace(facts, '\"tea\",2]', '\"tea\",2,0,0,0,-1,1]')")
        )
    (edge,) = store.each()
    same(edge, replace(FULL, rank=0))


def test_an_edge_of_a_version_without_evidence_is_read(engine: Engine) -> None:
    store = EdgeStore(engine, "a.example")
    store.put([FULL])
    with engine.begin() as connection:
        connection.execute(text("UPDATE edges SET facts = replace(facts, '\"evidence\"', '\"something\"')"))
    (edge,) = store.each()
    same(edge, replace(FULL, evidence=NO_EVIDENCE))


def test_the_state_shows_every_change_of_a_stored_edge(engine: Engine) -> None:
    """It is the same as long as nobody writes, and "" for a store beside which somebody else wrote."""
    store, other = EdgeStore(engine, "a.example"), EdgeStore(engine, "a.example")
    store.put([replace(bare(target), last_run="r1") for target in "tuv"])
    states = [store.state()]
    assert store.state() == other.state() == states[0]
    store.put([replace(bare("t"), last_run="r1")])
    states.append(store.state())
    store.confirm([edge.id for edge in store.each()], "r2")
    states.append(store.state())
    assert len({*states}) == 3
    assert {edge.last_run for edge in store.each()} == {"r2"}
    assert store.state() == EdgeStore(engine, "a.example").state() != ""
    assert other.state() == ""
    EdgeStore(engine, "b.example").put([bare("t")])
    assert store.state() == states[-1]


def test_a_trial_stores_nothing_and_a_rehearsal_has_no_links_of_earlier_runs(engine: Engine) -> None:
    EdgeStore(engine, "a.example").put([FULL])
    trial = EdgeStore(engine, "a.example", writes=False)
    for store in (trial, rehearsal := trial.rehearsing()):
        state = store.state()
        store.put([replace(FULL, status="withdrawn"), bare("u")])
        store.confirm([FULL.id], "r9")
        assert [*store.each()] == [*EdgeStore(engine, "a.example").each()]
        assert EdgeStore(engine, "a.example").state() == state
    assert trial.of_sources([FULL.source]) and not rehearsal.of_sources([FULL.source])


def test_decided_links_are_found_by_their_index(tmp_path: Path) -> None:
    engine = open_database("sqlite:///cache.sqlite3", tmp_path)
    EdgeStore(engine, "a").put([FULL, bare("https://a.example/u")])
    plans = list[str]()

    def explain(
        _: object, cursor: sqlite3.Cursor, statement: str, parameters: tuple[object, ...], *__: object
    ) -> None:
        if "verdict" in statement:
            plans.append(
                str(cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters).fetchall())
            )

    event.listen(engine, "before_cursor_execute", explain)
    assert [edge.id for edge in EdgeStore(engine, "a").each(judged=True)] == [FULL.id]
    assert plans and "edges_judged" in plans[0]
