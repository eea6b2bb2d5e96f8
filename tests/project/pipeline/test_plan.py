"""The plan of a run: what it would spend and write, without spending or writing anything."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from internal_linker.model.records import EncodedBatch, RowSelection, SerpMarket, SerpPage, Text, Usage
from internal_linker.project.pipeline.plan import duration, plan_run
from internal_linker.project.pipeline.run import Run
from internal_linker.sources.serp.search import SearchCost
from tests.project.pipeline.test_run import GREEN, context, rules
from tests.support.builders import US, Engine, Kept, Letters, MemorySerp, MemoryVectors, Told, url


class Untouchable(Letters):
    """An encoder that must not be used."""

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        raise AssertionError("a text was encoded")


class Closed(Engine):
    """A search service that must not be used."""

    def search(self, query: str, page: int) -> SerpPage:
        raise AssertionError("a search was paid for")

    def check(self) -> str:
        raise AssertionError("the account was asked for")


class Sealed(MemorySerp):
    def put(self, query: str, page: int, market: SerpMarket, answer: SerpPage) -> None:
        raise AssertionError("the cache was written")


def test_a_plan_spends_and_writes_nothing() -> None:
    sink, rejects, kept = Kept(), Kept(), Sealed()
    MemorySerp.put(kept, *GREEN, US, SerpPage((), 1))
    of = context(sink, encoder=Untouchable(), rejects=rejects, serp=Closed())
    of = replace(of, delivers=False, serp_cache=kept)
    vectors = MemoryVectors()
    plan = plan_run(replace(of, vector_cache=vectors), rules(), RowSelection(), Told())
    assert (plan.sources, plan.search.searches, plan.sheet_rows) == (6, 3, 3)
    assert (plan.texts, plan.cached_texts) == (6, 0)
    assert plan.usage == Usage(30, 6.0)
    assert (plan.search.least, plan.search.expected, plan.search.most) == (2, 3, 6)
    assert (sink.writes, rejects.writes, vectors.hashes) == (0, 0, set())


def test_a_plan_after_the_run_has_nothing_left_to_do() -> None:
    of = context(serp=Engine({GREEN: [url("black"), url("pots")]}))
    Run(of, rules(), RowSelection(), Told()).execute("r1")
    plan = plan_run(of, rules(max_pages=1), RowSelection(), Told())
    assert (plan.texts, plan.cached_texts, plan.search) == (0, 6, SearchCost(3))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (59, "59 s"), (60, "1 min"), (1262, "21 min"), (3600, "1 h 0 min"), (7500, "2 h 5 min")],
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text
