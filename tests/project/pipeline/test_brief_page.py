"""The site of a brief: the new page takes its place among the pages, links and redirects."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import pytest

from internal_linker.model.briefs import Brief
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.reasons import NoTarget, Reason
from internal_linker.model.records import Collected, ExistingLink
from internal_linker.project.pipeline.brief_page import plan_page
from internal_linker.project.pipeline.columns import from_columns, to_columns
from tests.support.builders import collected, page, source, url


def site() -> Collected:
    pages = page("a", "Tea in pots."), page("b", "Pots for tea.")
    moved = {url("new"): url("a"), url("old"): url("b")}
    return replace(collected(pages), aliases=moved)


def test_the_new_page_no_longer_redirects() -> None:
    """Only the redirect at the new page's own URL ends; the others are followed in its links."""
    brief = Brief("Tea", "Pots.", url=url("new"), links=(("/old", "pots"),))
    plan = plan_page(site(), brief)
    assert plan.collected.aliases == {url("old"): url("b")}
    assert [*plan.collected.links] == [ExistingLink(url("new"), url("b"), "pots")]


def test_an_invalid_address_in_the_draft_is_no_link() -> None:
    """An address that is not a URL is left out, whatever comes before it."""
    brief = Brief("Tea", "Pots.", url=url("new"), links=(("/a", "tea"), ("https://[", "broken")))
    assert [link.target for link in plan_page(site(), brief).collected.links] == [url("a")]


def test_the_draft_may_write_the_host_in_another_form() -> None:
    """A draft with http:// or without www. replaces its page, and its links lead to the site's pages."""
    hosts = CanonicalHosts({}, {"shop.example": "https://shop.example"})
    brief = Brief("Tea", "Pots.", url="http://www.shop.example/a", links=(("http://shop.example/b", "pots"),))
    plan = plan_page(replace(site(), hosts=hosts), brief)
    assert [one.url for one in plan.collected.pages] == [url("a"), url("b")]
    assert plan.notes[0] == "http://www.shop.example/a already exists: the draft replaces it in this brief."
    assert [*plan.collected.links] == [ExistingLink(url("a"), url("b"), "pots")]


@pytest.mark.parametrize("address", ["", "new", "in the queries", "links already"])
def test_a_new_page_is_added_to_what_is_known(address: str) -> None:
    pages = page("a", "Tea.", lang="en"), page("b", "Pots."), page("c", issue=Reason(NoTarget.NOINDEX))
    sources = source("in the queries", "leaves"), *(source(of=one) for one in pages)
    links = ExistingLink(url("a"), url("b"), "pots"), ExistingLink(url("links already"), url("a"), "tea")
    known = from_columns(to_columns(collected(pages, links, sources)))
    brief = Brief("Tea pots", "Tea and pots.", query="tea pots", url=url(address) if address else "")
    plan = plan_page(known, replace(brief, links=((url("b"), "the pots"), (url("a"), ""))))
    site = plan.collected
    others = [one for one in links if one.source != plan.page.key]
    rebuilt = collected(
        (*known.pages, plan.page),
        (*others, *plan.links),
        (plan.source, *(one for one in known.sources if one.key != plan.page.key)),
    )
    for name in ("pages", "sources", "links"):
        assert [*getattr(site, name)] == [*getattr(rebuilt, name)], name
    for name in (name for name, kind in vars(Collected).items() if isinstance(kind, cached_property)):
        found, expected = getattr(site, name), getattr(rebuilt, name)
        shape = dict if isinstance(expected, Mapping) else type(expected)
        assert shape(found) == shape(expected), name
