"""Eligible targets from search results: queries are plain words, and no credit is wasted."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.core.canonical_hosts import CanonicalHosts
from internal_linker.core.records import SerpHit, SerpTarget, Targets
from internal_linker.core.urls import normal_form
from internal_linker.serp.search import eligible_targets, search_text, wants_another_page
from internal_linker.usecases.settings.exclusions import Exclusions
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
    *links: str, of: str = "me", any_on_site: bool = False, site: str = SITE
) -> tuple[SerpTarget, ...]:
    return eligible_targets(
        source(of, "tea"),
        [SerpHit(link, rank) for rank, link in enumerate(links, 1)],
        site=site,
        targets=targets("me", "a", "b", "mag/c", any_on_site=any_on_site),
        excluded=nothing_excluded,
    )


def test_results_keep_their_order_and_rank() -> None:
    """Eligible results keep the search's order and rank and have the user's spelling of the URL."""
    found = eligible(url("b"), "https://elsewhere.example/", url("a") + "/?srsltid=AfmBO1#top")
    assert found == (SerpTarget(url("b"), url("b"), 1), SerpTarget(url("a"), url("a"), 3))


@pytest.mark.parametrize(
    "link",
    [
        url("me") + "/?srsltid=x",
        "https://elsewhere.example/a",
        "https://shop.example.evil.example/a",
        url("unknown"),
        "not a url",
        "",
        "https://shop.example/\ud83d",
        f"https://{SITE}:99999/a",
    ],
)
def test_what_is_no_target_is_left_out(link: str) -> None:
    assert eligible(link) == ()


def test_a_page_found_twice_is_one_target() -> None:
    assert eligible(
        url("a") + "?srsltid=1", url("b"), url("a") + "/?srsltid=2", "HTTPS://SHOP.example/a"
    ) == (
        SerpTarget(url("a"), url("a"), 1),
        SerpTarget(url("b"), url("b"), 2),
    )


def test_a_path_in_the_template_bounds_the_targets() -> None:
    assert eligible(url("a"), url("mag/c"), site=f"{SITE}/mag") == (
        SerpTarget(url("mag/c"), url("mag/c"), 2),
    )


def test_a_result_outside_the_lists_is_written_as_it_was_found() -> None:
    """If any page of the site may be a target, the URL keeps its slash, to avoid a redirect, and loses tracking."""
    (found,) = eligible(url("new/?srsltid=x&id=1#top"), any_on_site=True)
    assert found == SerpTarget(url("new?id=1"), url("new/?id=1"), 1)


def test_a_query_without_a_page_has_no_page_to_leave_out() -> None:
    assert [target.key for target in eligible(url("me"), url("a"), of="")] == [url("me"), url("a")]


def test_a_result_that_redirects_stands_for_its_page() -> None:
    """A redirect or copy of a listed page counts as that page, at the better rank; others aren't targets."""
    aliases = {url("old"): url("a"), url("copy"): url("me"), url("lost"): "https://o.example/"}
    where = Targets({url(name): url(name) for name in ("me", "a", "b")}, {url("old"): MOVED}, aliases=aliases)
    hits = [SerpHit(url(name), rank) for rank, name in enumerate(("copy", "old", "lost", "b", "a"), 1)]
    found = eligible_targets(source("me"), hits, site=SITE, targets=where, excluded=nothing_excluded)
    assert found == (SerpTarget(url("a"), url("a"), 2), SerpTarget(url("b"), url("b"), 4))


def test_a_result_that_is_linked_already_is_no_target() -> None:
    """The next result replaces one that the source already links to; for another source it stays a target."""
    where = Targets({url(name): url(name) for name in "ab"}, {}, linked={url("me"): [url("a")]})
    hits = [SerpHit(url("a"), 1), SerpHit(url("b"), 2)]
    for me, names in (("me", "b"), ("you", "ab")):
        found = eligible_targets(source(me), hits, site=SITE, targets=where, excluded=nothing_excluded)
        assert [target.key for target in found] == [url(name) for name in names]


@pytest.mark.parametrize("pattern", ["/a$", "srsltid=bad", r"^https://shop\.example/a"])
def test_a_pattern_bars_a_result_in_either_writing(pattern: str) -> None:
    """An exclusion applies if it matches the URL as found or as it would be written."""
    hits = [SerpHit(url("a") + "/?srsltid=bad", 1), SerpHit(url("b"), 2)]
    found = eligible_targets(
        source("me", "tea"),
        hits,
        site=SITE,
        targets=targets("a", "b"),
        excluded=Exclusions([(1, pattern)]).match,
    )
    assert [target.key for target in found] == [url("b")]


def test_a_barred_page_is_no_target_even_with_the_whole_site_open() -> None:
    where = Targets({}, {url("a"): MOVED}, any_on_site=True)
    hits = [SerpHit(url("a"), 1)]
    assert eligible_targets(source("me"), hits, site=SITE, targets=where, excluded=nothing_excluded) == ()


LINKS = st.sampled_from(
    [url("me"), url("a"), url("a/"), url("b?utm_x=1"), url("mag/c"), "x", "https://o.example/a"]
)


@given(st.lists(LINKS, max_size=12), st.booleans())
def test_targets_are_distinct_known_and_in_order(links: list[str], any_on_site: bool) -> None:
    found = eligible(*links, any_on_site=any_on_site)
    assert len({target.key for target in found}) == len(found)
    assert [target.rank for target in found] == sorted({target.rank for target in found})
    for target in found:
        assert target.key == normal_form(links[target.rank - 1]) == normal_form(target.url) != url("me")


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


def test_results_in_another_form_are_the_site_pages() -> None:
    """A result with http:// or www. is the listed page; an unlisted one is written with the site's host."""
    hosts = CanonicalHosts({}, {SITE: f"https://{SITE}"})
    known = replace(targets("me", "a", any_on_site=True), hosts=hosts)
    hits = [SerpHit(f"http://www.{SITE}/{name}", rank) for rank, name in enumerate(("me", "a", "new/"), 1)]
    found = eligible_targets(source("me", "tea"), hits, site=SITE, targets=known, excluded=nothing_excluded)
    assert found == (SerpTarget(url("a"), url("a"), 2), SerpTarget(url("new"), url("new/"), 3))
