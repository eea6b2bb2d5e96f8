"""Eligible targets from search results: queries are plain words, and no credit is wasted."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.records import SerpHit, Targets
from internal_linker.model.urls import normal_form
from internal_linker.project.settings.exclusions import Exclusions
from internal_linker.sources.serp.search import eligible_targets, search_text, wants_another_page
from tests.support.builders import MOVED, SITE, TEMPLATE, nothing_excluded, source, targets, url


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("green tea", "green tea"),
        ('"green tea" leaves', "green tea leaves"),
        ("“green” „tea“", "green tea"),
        ("burr-grinder for espresso", "burr-grinder for espresso"),
        ("c++ vs c", "c++ vs c"),
        ("-decaf +strong tea", "decaf strong tea"),
        ("tea - the basics", "tea - the basics"),
        ("site:other.example tea", "other.example tea"),
        ("-site:other.example intitle:tea", "other.example tea"),
        ("allintitle:tea filetype:pdf", "tea pdf"),
        ("cache: how it works", "cache: how it works"),
        ("website: which one", "website: which one"),
        ("grinder | Brand", "grinder Brand"),
        ("قهوه دمی چیست؟", "قهوه دمی چیست؟"),
        ("نمی‌خواهم", "نمی‌خواهم"),
        ("tea\n \tpot", "tea pot"),
        ("what's 50% {main_query}", "what's 50% {main_query}"),
    ],
)
def test_a_query_is_searched_as_its_words(query: str, words: str) -> None:
    """Quotes and operators are removed so that they can't narrow the search; every word stays, in any script."""
    assert search_text(TEMPLATE, query) == f"site:{SITE} {words}"


@given(st.lists(st.from_regex(r"[a-zöم0-9][a-zöم0-9+'.%-]*", fullmatch=True), min_size=1, max_size=6))
def test_words_without_operators_are_never_touched(words: list[str]) -> None:
    assert search_text(TEMPLATE, " ".join(words)) == " ".join([f"site:{SITE}", *words])


def eligible(
    *links: str,
    of: str = "me",
    any_on_site: bool = False,
    site: str = SITE,
    among: Targets | None = None,
    excluded: Callable[..., str] = nothing_excluded,
) -> list[tuple[str, int]]:
    """Return URL and rank of the targets; each key is the normal form of its URL."""
    found = eligible_targets(
        source(of, "tea"),
        [SerpHit(link, rank) for rank, link in enumerate(links, 1)],
        site=site,
        targets=among or targets("me", "a", "b", "mag/c", any_on_site=any_on_site),
        excluded=excluded,
    )
    assert all(target.key == normal_form(target.url) for target in found)
    return [(target.url, target.rank) for target in found]


A, B = url("a"), url("b")
NO_TARGETS = (
    url("me") + "/?srsltid=x",
    "https://elsewhere.example/a",
    "https://shop.example.evil.example/a",
    url("unknown"),
    "not a url",
    "",
    "https://shop.example/\ud83d",
    f"https://{SITE}:99999/a",
)


@pytest.mark.parametrize(
    ("links", "options", "found"),
    [
        pytest.param(
            [B, *NO_TARGETS, A + "/?srsltid=AfmBO1#top"], {}, [(B, 1), (A, 10)], id="in the user's spelling"
        ),
        pytest.param(
            [A + "?srsltid=1", B, A + "/?srsltid=2", "HTTPS://SHOP.example/a"],
            {},
            [(A, 1), (B, 2)],
            id="a page found twice",
        ),
        pytest.param([A, url("mag/c")], {"site": f"{SITE}/mag"}, [(url("mag/c"), 2)], id="below a path"),
        # The URL keeps its slash, to avoid a redirect, and loses tracking.
        pytest.param(
            [url("new/?srsltid=x&id=1#top")],
            {"any_on_site": True},
            [(url("new/?id=1"), 1)],
            id="outside the lists",
        ),
        pytest.param([url("me"), A], {"of": ""}, [(url("me"), 1), (A, 2)], id="a query without a page"),
        pytest.param(
            [A], {"among": Targets({}, {A: MOVED}, any_on_site=True)}, [], id="barred with the site open"
        ),
        pytest.param(
            [A, B],
            {"among": Targets({A: A, B: B}, {}, linked={url("me"): [A]})},
            [(B, 2)],
            id="linked already",
        ),
        pytest.param(
            [A, B],
            {"among": Targets({A: A, B: B}, {}, linked={url("me"): [A]}), "of": "you"},
            [(A, 1), (B, 2)],
            id="linked by another page",
        ),
        pytest.param(
            [f"http://www.{SITE}/{name}" for name in ("me", "a", "new/")],
            {
                "among": replace(
                    targets("me", "a", any_on_site=True),
                    hosts=CanonicalHosts({}, {SITE: f"https://{SITE}"}),
                )
            },
            [(A, 2), (url("new/"), 3)],
            id="another form of the host",
        ),
    ],
)
def test_eligible_results(links: list[str], options: dict[str, Any], found: list[tuple[str, int]]) -> None:
    assert eligible(*links, **options) == found


def test_a_result_that_redirects_stands_for_its_page() -> None:
    """A redirect or copy of a listed page counts as that page, at the better rank; others aren't targets."""
    aliases = {url("old"): A, url("copy"): url("me"), url("lost"): "https://o.example/"}
    among = Targets({url(name): url(name) for name in ("me", "a", "b")}, {url("old"): MOVED}, aliases=aliases)
    links = map(url, ("copy", "old", "lost", "b", "a"))
    assert eligible(*links, among=among) == [(A, 2), (B, 4)]


@pytest.mark.parametrize("pattern", ["/a$", "srsltid=bad", r"^https://shop\.example/a"])
def test_a_pattern_bars_a_result_in_either_writing(pattern: str) -> None:
    """An exclusion applies if it matches the URL as found or as it would be written."""
    excluded = Exclusions([(1, pattern)]).match
    assert eligible(A + "/?srsltid=bad", B, excluded=excluded) == [(B, 2)]


LINKS = st.sampled_from(
    [url("me"), url("a"), url("a/"), url("b?utm_x=1"), url("mag/c"), "x", "https://o.example/a"]
)


@given(st.lists(LINKS, max_size=12), st.booleans())
def test_targets_are_distinct_known_and_in_order(links: list[str], any_on_site: bool) -> None:
    found = eligible(*links, any_on_site=any_on_site)
    assert len({normal_form(target) for target, _ in found}) == len(found)
    assert [rank for _, rank in found] == sorted({rank for _, rank in found})
    for target, rank in found:
        assert normal_form(links[rank - 1]) == normal_form(target) != url("me")


@given(
    st.lists(st.tuples(st.integers(0, 10), st.floats(0, 1)), min_size=12, max_size=12),
    st.integers(1, 8),
    st.integers(1, 10),
    st.integers(0, 10),
)
def test_no_page_is_paid_for_in_vain(
    answers: list[tuple[int, float]], wanted: int, max_pages: int, short: int
) -> None:
    found = pages = 0
    last = math.inf
    while wants_another_page(found, wanted, pages, max_pages, last, short):
        assert found < wanted and pages < max_pages and last > 0 and last >= short
        last, share = answers[pages]
        found, pages = found + int(last * share), pages + 1
    assert found >= wanted or pages == max_pages or last == 0 or last < short
    assert 1 <= pages <= max_pages
