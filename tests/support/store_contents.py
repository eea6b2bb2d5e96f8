"""Rows in every store, and the check that they are still there, for tests of whole databases.

    python -m tests.support.store_contents tests/released/N.sqlite3

makes the file of a version that is about to be released; it is never made again.
"""

import sqlite3
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import Engine

from internal_linker.model.arrays import Nearest, Neighbourhood, Vectors
from internal_linker.model.edges import Anchor, Cells, Edge
from internal_linker.model.records import Candidate, Link, Recommendation, SerpMarket, SerpPage, Source
from internal_linker.model.runs import Version, VersionRow
from internal_linker.model.search_data import SearchTable, typed
from internal_linker.store.answers import SerpResultCache, StoredAnswers
from internal_linker.store.edges import EdgeStore
from internal_linker.store.embeddings import EmbeddingCache
from internal_linker.store.engine import open_database
from internal_linker.store.neighbours import StoredJoins
from internal_linker.store.runs import RunStore
from internal_linker.store.search_days import SearchDays
from tests.support.builders import Letters

SITE = "a.example"
TEXTS = [f"{number:064x}" for number in range(20)]
QUERY, MARKET, PROMPT = "دم کردن چای", SerpMarket("serper", "us"), "f" * 64
EDGE = Edge(
    "https://a.example/s",
    "https://a.example/t",
    "https://a.example/s",
    "https://a.example/t",
    rank=1,
    score=3.5,
    strength=0.75,
    anchors=(Anchor("green tea", "We drink green tea.", 9),),
    first_run="1",
    last_run="1",
    status="rejected",
    verdict="rejected",
    by="Review tab",
    notes="not this one",
    cells=Cells("rejected", "green tea", "not this one"),
)
VERSION = Version("1", "2026-01-04T03:00:00+00:00", "all rows", "local/x, recipe y", 1, 1)
ROW = VersionRow(
    Recommendation(
        Source("https://a.example/s", "https://a.example/s", "tea", None, in_sheet=True),
        (Link(Candidate("https://a.example/t", "https://a.example/t", 3.5, 0.5, 0.25), 1, "semantic"),),
    ),
    "h",
)


DAY = date(2026, 11, 1)
EARNED = pd.DataFrame(
    {"date": [DAY], "page": ["https://a.example/s"], "clicks": [2], "impressions": [9], "position": [3.5]}
)


def joined() -> Neighbourhood:
    """Return twenty texts with three neighbours each."""
    rows = np.add.outer(np.arange(20), np.arange(1, 4)).astype(np.int32) % 20
    scores = np.linspace(1, 0, 60, dtype=np.float32).reshape(20, 3)
    digests = np.arange(320, dtype=np.uint32).astype(np.uint8).reshape(20, 16)
    return Neighbourhood(digests, Nearest(rows, scores, scores[:, -1].copy()))


def vectors() -> dict[str, Vectors]:
    """Return a vector for each text."""
    return {text: np.eye(26, dtype=np.float32)[number] for number, text in enumerate(TEXTS)}


def fill(engine: Engine) -> None:
    EmbeddingCache(engine, "float16").put(Letters(), vectors())
    SerpResultCache(engine, 7).put(QUERY, 1, MARKET, SerpPage(("https://a.example/t",), 1))
    StoredAnswers(engine, "model", "v1").put(PROMPT, '{"1": "green tea"}')
    StoredJoins(engine).put("join", joined())
    StoredJoins(engine).put_block("other", "block", joined().nearest)
    EdgeStore(engine, SITE).put([EDGE])
    RunStore(engine, SITE).put(VERSION, [ROW])
    SearchDays(engine, SITE, f"sc-domain:{SITE}").put(
        SearchTable.PAGES, DAY, typed(SearchTable.PAGES, EARNED)
    )


def check(engine: Engine) -> None:
    """Assert that all rows are there."""
    found = EmbeddingCache(engine, "float32").get(Letters(), TEXTS)
    assert {text: vector.tolist() for text, vector in found.items()} == {
        text: vector.tolist() for text, vector in vectors().items()
    }
    kept = SerpResultCache(engine, 365_000).get([QUERY], MARKET)
    assert kept == {(QUERY, 1): SerpPage(("https://a.example/t",), 0)}
    assert StoredAnswers(engine, "model", "v1").get(PROMPT) == '{"1": "green tea"}'
    whole = StoredJoins(engine).get("join")
    assert whole is not None and whole.nearest.rows.tolist() == joined().nearest.rows.tolist()
    blocks = StoredJoins(engine).blocks("other")
    assert blocks["block"].scores.tolist() == joined().nearest.scores.tolist()
    (edge,) = EdgeStore(engine, SITE).each()
    assert (edge.id, edge.verdict, edge.anchors, edge.notes) == (
        EDGE.id,
        "rejected",
        EDGE.anchors,
        EDGE.notes,
    )
    assert RunStore(engine, SITE).versions() == [VERSION]
    (row,) = RunStore(engine, SITE).rows("1")
    assert [link.target.url for link in row.recommendation.links] == ["https://a.example/t"]


def main() -> None:
    path = Path(sys.argv[1])
    engine = open_database(f"sqlite:///{path.resolve()}", Path())
    fill(engine)
    engine.dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("VACUUM")


if __name__ == "__main__":
    main()
