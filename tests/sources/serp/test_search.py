"""The search step searches every query once, wastes no credit and explains every gap in its row."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.errors import FINAL, ServiceError
from internal_linker.model.records import Searched, SerpPage, Source
from internal_linker.sources.serp.search import (
    FAILURES_IN_A_ROW,
    SearchCost,
    SearchRules,
    search_all,
    search_cost,
)
from tests.support.builders import (
    SITE,
    TEMPLATE,
    Engine,
    MemorySerp,
    Told,
    nothing_excluded,
    source,
    targets,
    url,
)

NAMES = "abcdefgh"


def rules(*, max_pages: int = 2, wanted: int = 2, in_flight: int = 1, short_page: int = 0) -> SearchRules:
    return SearchRules(TEMPLATE, SITE, max_pages, wanted, in_flight, nothing_excluded, short_page)


def q(query: str, page: int = 1) -> tuple[str, int]:
    return f"site:{SITE} {query}", page


def search(
    sources: Sequence[Source], engine: Engine, cache: MemorySerp | None = None, how: SearchRules | None = None
) -> Searched:
    kept = MemorySerp() if cache is None else cache
    return search_all(sources, engine, kept, targets(*NAMES), how or rules(), progress=Told())


def found(result: Searched, place: int) -> list[str]:
    return [target.key.rsplit("/", 1)[1] for target in result.targets[place]]


def links(names: str) -> list[str]:
    return [url(name) for name in names]


@pytest.mark.parametrize(
    ("names", "pages", "asked", "targets"),
    [
        ("x", ["abc", "d"], 1, ["abc"]),
        ("ab", ["ab", "c"], 2, ["bc", "ac"]),
        ("xa", ["ab", "c"], 2, ["abc", "bc"]),
    ],
)
def test_a_query_is_paid_for_once_until_each_of_its_pages_has_enough(
    names: str, pages: list[str], asked: int, targets: list[str]
) -> None:
    rows = [source(name, query) for name, query in zip(names, ("Green tea", "green  TEA"), strict=False)]
    engine = Engine({q("Green tea", at): links(page) for at, page in enumerate(pages, 1)})
    result = search([*rows, source("a")], engine)
    assert engine.asked == [q("Green tea", page) for page in range(1, asked + 1)]
    assert ["".join(found(result, at)) for at in range(len(rows))] == targets
    assert (result.calls, result.credits, result.problem, result.notes) == (asked, asked, "", {})
    assert len(result.targets) == len(rows), "a page without a query is not searched"


@pytest.mark.parametrize(
    ("first", "hits", "pages"), [("a", 1, 1), ("a", 5, 1), ("a", 6, 2), ("a", 8, 2), ("ab", 2, 0)]
)
def test_a_short_page_is_the_last_one(first: str, hits: int, pages: int) -> None:
    """Where the first page has enough targets (0), no second one would have been bought, so none is saved."""
    others = [url(f"other-{at}") for at in range(hits - len(first))]
    answers = {q("tea"): [*links(first), *others], q("tea", 2): links("b")}
    engine, cache, how = Engine(answers), MemorySerp(), rules(short_page=6)
    result = search([source("x", "tea")], engine, cache, how)
    assert (result.calls, result.saved_pages) == ((pages, 2 - pages) if pages else (1, 0))
    # A page that the cache answers saves nothing again.
    assert search([source("x", "tea")], engine, cache, how).saved_pages == 0


def test_the_cost_is_what_old_results_suggest() -> None:
    cache = MemorySerp(old={q("old")[0], q("long")[0]})
    for key, names in ((q("old"), "ab"), (q("long"), "a"), (q("long", 2), "bc"), (q("kept"), "ab")):
        cache.put(*key, Engine.market, SerpPage(tuple(links(names)), 1))
    queries = [source("x", query) for query in ("old", "long", "kept", "new", "newer")]
    how = replace(rules(), per_second=2.0, in_flight=8)
    cost = search_cost(queries, Engine.market, cache, targets(*NAMES), how)
    # One page for "old", two for "long", one and a half for each new one; at most two, and an empty first one again.
    assert cost == SearchCost(5, least=4, expected=6, most=12, seconds=3.0)
    capped = search_cost(queries, Engine.market, cache, targets(*NAMES), replace(how, max_credits=5))
    assert (capped.least, capped.expected, capped.most) == (4, 5, 5)
    engine = Engine({key: links("ab") for key in (q("old"), q("long"), q("new"), q("newer"))})
    assert cost.least == search(queries, engine, cache, how).credits


def test_the_worst_case_costs_the_maximum() -> None:
    for answers in ({}, {q("tea"): links("x"), q("tea", 2): links("x")}):
        engine, cache = Engine(answers), MemorySerp()
        most = search_cost([source("x", "tea")], engine.market, cache, targets(*NAMES), rules()).most
        assert search([source("x", "tea")], engine, cache).credits <= most == 3


def test_ranks_go_on_over_the_pages() -> None:
    engine = Engine({q("tea"): [url("a"), url("x")], q("tea", 2): links("ab")})
    result = search([source("x", "tea")], engine)
    assert [(target.key, target.rank) for target in result.targets[0]] == [(url("a"), 1), (url("b"), 4)]


def test_an_empty_first_page_is_asked_for_once_more() -> None:
    class Hesitant(Engine):
        def search(self, query: str, page: int) -> SerpPage:
            answer = super().search(query, page)
            return answer if len(self.asked) > 1 else SerpPage((), 1)

    engine, cache, tea = Hesitant({q("tea"): links("ab")}), MemorySerp(), source("x", "tea")
    result = search([tea], engine, cache)
    assert engine.asked == [q("tea"), q("tea")]
    assert (found(result, 0), result.credits) == (["a", "b"], 2)
    assert cache.get([q("tea")[0]], engine.market)[q("tea")].links == tuple(links("ab"))


def test_nothing_found_is_believed_after_two_tries() -> None:
    engine, cache = Engine({q("rare"): links("a")}), MemorySerp()
    result = search([source("x", "none"), source("x", "rare")], engine, cache)
    assert engine.asked == [q("none"), q("none"), q("rare"), q("rare", 2)]
    assert (result.notes, result.problem) == ({}, "")
    search([source("x", "none"), source("x", "rare")], engine, cache)
    assert len(engine.asked) == 4


@pytest.mark.parametrize("error", FINAL)
def test_a_final_error_stops_every_further_call(error: type[ServiceError]) -> None:
    """No credits, a bad key or a closed budget stop all calls; each row says so, and the cache still answers."""
    engine = Engine({q("one"): links("ab"), q("two"): error("Serper", "the account is empty.")})
    cache = MemorySerp()
    cache.put(*q("four"), engine.market, SerpPage(tuple(links("cd")), 1))
    result = search([source("x", query) for query in ("one", "two", "three", "four")], engine, cache)
    assert engine.asked == [q("one"), q("two")]
    assert result.problem == "Serper: the account is empty."
    assert [found(result, place) for place in range(4)] == [["a", "b"], [], [], ["c", "d"]]
    assert result.notes == dict.fromkeys((1, 2), "no search: Serper: the account is empty.")


def test_one_failure_costs_one_query_only() -> None:
    """A failed query is noted in its own rows and searched again by the next run; what was found before stays."""
    failed = ServiceError("Serper", "broken.")
    answers: dict[tuple[str, int], Sequence[str] | ServiceError] = {
        q("one"): failed,
        q("two"): links("ab"),
        q("half"): links("a"),
        q("half", 2): failed,
    }
    engine, cache = Engine(answers), MemorySerp()
    rows = [source(name, query) for name, query in zip("xyxx", ("one", "one", "two", "half"), strict=True)]
    result = search(rows, engine, cache)
    assert [found(result, place) for place in range(4)] == [[], [], ["a", "b"], ["a"]]
    assert set(result.notes) == {0, 1, 3} and "broken." in result.notes[3]
    assert result.problem == ""
    search(rows, engine, cache)
    assert engine.asked == [q("one"), q("two"), q("half"), q("half", 2), q("one"), q("half", 2)]


def test_a_service_that_is_down_is_left_alone() -> None:
    """After a number of consecutive failures no call follows; a success in between resets the count."""
    down = ServiceError("Serper", "no answer.")
    answers: dict[tuple[str, int], Sequence[str] | ServiceError] = {q(f"w{n}"): down for n in range(30)}
    before = FAILURES_IN_A_ROW - 1
    answers[q(f"w{before}")] = links("ab")
    engine = Engine(answers)
    rows = [source("x", f"w{n}") for n in range(30)]
    result = search(rows, engine)
    assert len(engine.asked) == before + 1 + FAILURES_IN_A_ROW
    assert "in a row" in result.problem
    assert set(result.notes) == set(range(30)) - {before}


QUERIES = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(["q1", "q2", "Q2", "q3"])), max_size=8)
PAGES = st.lists(st.text("abcdefghz", max_size=4).map(links), min_size=3, max_size=3)


@given(QUERIES, st.fixed_dictionaries(dict.fromkeys(("q1", "q2", "Q2", "q3"), PAGES)), st.integers(1, 3))
def test_a_second_run_costs_nothing(
    rows: list[tuple[str, str]], pages: Mapping[str, list[list[str]]], in_flight: int
) -> None:
    """A second run makes no call and gives the same targets; no query exceeds its cap."""
    answers = {
        q(name, number): page for name, all_of in pages.items() for number, page in enumerate(all_of, 1)
    }
    engine, cache = Engine(answers), MemorySerp()
    sources = [source(name, query) for name, query in rows]
    how = rules(max_pages=3, wanted=3, in_flight=in_flight)
    first = search(sources, engine, cache, how)
    paid = len(engine.asked)
    again = search(sources, engine, cache, how)
    assert len(engine.asked) == paid == first.calls
    assert (again.calls, again.credits) == (0, 0)
    assert again.targets == first.targets
    texts = {text for text, _ in engine.asked}
    assert len(texts) == len({query.casefold() for _, query in rows})
    # At most one more than the cap: the second try of an empty first page.
    assert all(len([text for text, _ in engine.asked if text == each]) <= 4 for each in texts)


@pytest.mark.parametrize("in_flight", [1, 3])
def test_as_many_calls_are_under_way_as_allowed(in_flight: int) -> None:
    class Together(Engine):
        under_way = most = 0
        lock, all_there = threading.Lock(), threading.Barrier(in_flight)

        def search(self, query: str, page: int) -> SerpPage:
            with self.lock:
                self.under_way += 1
                self.most = max(self.most, self.under_way)
            self.all_there.wait(timeout=30)
            with self.lock:
                self.under_way -= 1
            return super().search(query, page)

    names = [f"w{n}" for n in range(12)]
    engine = Together({q(name): links("ab") for name in names})
    result = search([source("x", name) for name in names], engine, how=rules(in_flight=in_flight))
    assert engine.most == in_flight
    assert result.calls == 12


def test_an_unexpected_error_ends_the_step_with_its_own_face() -> None:
    """A programming error isn't treated as a failing service: it ends the run unchanged, and no call follows."""

    class Broken(Engine):
        def search(self, query: str, page: int) -> SerpPage:
            super().search(query, page)
            raise ZeroDivisionError

    engine = Broken()
    with pytest.raises(ZeroDivisionError):
        search([source("x", f"w{n}") for n in range(20)], engine)
    assert len(engine.asked) < 20
