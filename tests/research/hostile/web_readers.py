"""Readers of a site's server's answers, as functions of bytes that fail if a promise is broken."""

import math
from contextlib import suppress

from internal_linker.sources.crawl import vector_cell
from internal_linker.sources.crawler_vocabulary import CONTENT
from internal_linker.sources.web.client import site_of
from internal_linker.sources.web.html_page import address_in, decode_page, read_page
from internal_linker.sources.web.site_files import NoSitemap, packed_sitemap, rules_of
from internal_linker.text.html import read_html
from tests.support.small_project import SITE

_POSITIONS = {CONTENT, "Navigation", "Header", "Footer", "Aside"}


def web_page(raw: bytes) -> None:
    """Assert that a page has a one-line head, lines without breaks, known positions and a re-readable content."""
    head, _, body = raw.partition(b"\n")
    said = head.decode("latin-1")
    html = decode_page(body, said)
    address_in(html)
    page = read_page(html, SITE, {"x-robots-tag": said, "link": said, "content-language": said})
    assert all(text == " ".join(text.split()) for text in (page.title, page.h1, page.lang))
    assert page.indexability in ("Indexable", "Non-Indexable")
    assert {link.position for link in page.links} <= _POSITIONS
    assert all(link.anchor == " ".join(link.anchor.split()) for link in page.links)
    read_html(page.content)


def sitemap(raw: bytes) -> None:
    """Assert that a sitemap gives URLs without surrounding white space, or the reason why it isn't one."""
    found = list[str](), list[str]()
    with suppress(NoSitemap):
        found = packed_sitemap(raw)
    for address in (*found[0], *found[1]):
        assert address and address == address.strip()
        site_of(address)


def robots(raw: bytes) -> None:
    """Assert that robots.txt gives yes or no for every URL, and a delay that a client can wait."""
    rules, delay = rules_of(raw)
    for path in ("/", "/a/b?c=d", "/%7Etea", "/ä", ""):
        assert rules.can_fetch(SITE + path, "InternalLinker") in (True, False)
    assert math.isfinite(delay) and delay >= 0
    list(rules.sitemaps)


def embedding(raw: bytes) -> None:
    """Assert that an embedding is a list of the right length that reads back unchanged, or a reason."""
    with suppress(ValueError):
        numbers, count = vector_cell(raw.decode("utf-8", "surrogateescape"))
        assert vector_cell(numbers) == (numbers, count)
