"""The site of a brief: the new page takes its place among the pages, links and redirects."""

from dataclasses import replace

from internal_linker.core.briefs import Brief
from internal_linker.core.canonical_hosts import CanonicalHosts
from internal_linker.core.records import Collected, ExistingLink
from internal_linker.pipeline.brief_page import planned
from tests.support.builders import collected, page, url


def site() -> Collected:
    pages = page("a", "Tea in pots."), page("b", "Pots for tea.")
    moved = {url("new"): url("a"), url("old"): url("b")}
    return replace(collected(pages), aliases=moved)


def test_the_new_page_no_longer_redirects() -> None:
    """Only the redirect at the new page's own URL ends; the others are followed in its links."""
    brief = Brief("Tea", "Pots.", url=url("new"), links=(("/old", "pots"),))
    plan = planned(site(), brief)
    assert plan.collected.aliases == {url("old"): url("b")}
    assert plan.collected.links == (ExistingLink(url("new"), url("b"), "pots"),)


def test_an_invalid_address_in_the_draft_is_no_link() -> None:
    """An address that is not a URL is left out, whatever comes before it."""
    brief = Brief("Tea", "Pots.", url=url("new"), links=(("/a", "tea"), ("https://[", "broken")))
    assert [link.target for link in planned(site(), brief).collected.links] == [url("a")]


def test_the_draft_may_write_the_host_in_another_form() -> None:
    """A draft with http:// or without www. replaces its page, and its links lead to the site's pages."""
    hosts = CanonicalHosts({}, {"shop.example": "https://shop.example"})
    brief = Brief("Tea", "Pots.", url="http://www.shop.example/a", links=(("http://shop.example/b", "pots"),))
    plan = planned(replace(site(), hosts=hosts), brief)
    assert [one.url for one in plan.collected.pages] == [url("a"), url("b")]
    assert plan.notes[0] == "http://www.shop.example/a already exists: the draft replaces it in this brief."
    assert plan.collected.links == (ExistingLink(url("a"), url("b"), "pots"),)
