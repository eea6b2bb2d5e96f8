"""Forms of one URL in the input tables: recognised as one page, counted, and shown as the site writes them."""

import pytest

from internal_linker.model.canonical_hosts import CanonicalHosts, host_map
from internal_linker.model.records import Collected
from internal_linker.sources.collect import collect, other_forms
from internal_linker.sources.existing_links import add_links
from internal_linker.sources.tables.columns import Kind
from tests.support.builders import links_table, pages_table, queries_table

HEADER = (Kind.URL, Kind.CONTENT, Kind.STATUS, Kind.REDIRECT, Kind.CANONICAL)


def read(*pages: tuple[str, ...], queries: tuple[tuple[str, str], ...] = (), maps: str = "") -> Collected:
    rows = [(*row, *[""] * (len(HEADER) - len(row))) for row in pages]
    return collect(
        queries_table(*queries) if queries else None,
        pages_table(*rows, header=HEADER) if pages else None,
        queries_in_sheet=False,
        hosts=CanonicalHosts(host_map([maps] if maps else [])),
    )


def test_a_row_of_the_sheet_in_another_form_is_its_page() -> None:
    """A query's URL with http:// or without www. belongs to the crawled page, and has its URL."""
    found = read(
        ("https://www.e.example/a/", "text a"),
        ("https://www.e.example/b/", "text b"),
        queries=(("http://e.example/a", "query a"), ("https://www.e.example/b/index.html", "query b")),
    )
    assert [(source.url, source.page) for source in found.sources] == [
        ("https://www.e.example/a/", found.pages[0]),
        ("https://www.e.example/b/", found.pages[1]),
    ]
    assert found.variants.count == 2


def test_a_crawl_with_its_redirects_to_https_has_each_page_once() -> None:
    """The http:// row that redirects to its https:// page is that page, which stays a target."""
    found = read(
        ("http://e.example/a", "", "301", "https://www.e.example/a"),
        ("http://www.e.example/b", "", "301", "https://www.e.example/b"),
        ("https://www.e.example/a", "text a", "200"),
        ("https://www.e.example/b", "text b", "200", "", "https://www.e.example/b"),
    )
    assert [(page.key, page.url, page.issue) for page in found.pages] == [
        ("https://www.e.example/a", "https://www.e.example/a", None),
        ("https://www.e.example/b", "https://www.e.example/b", None),
    ]
    assert found.merged_rows == 2 and not found.aliases


def test_the_first_form_gives_way_to_the_site_own() -> None:
    found = read(
        ("http://e.example/a", '<p>See <a href="http://www.e.example/b">b</a> and <a href="/old">c</a>.</p>'),
        ("http://e.example/old", "", "301", "http://e.example/c"),
        *((f"https://www.e.example/{name}", f"text {name}", "200") for name in "bcd"),
    )
    assert [page.url for page in found.pages][:2] == ["https://www.e.example/a", "https://www.e.example/old"]
    assert [(link.source[-2:], link.target) for link in found.links] == [
        ("/a", "https://www.e.example/b"),
        ("/a", "https://www.e.example/c"),
    ]
    assert found.aliases == {"https://www.e.example/old": "https://www.e.example/c"}
    assert found.rows["https://www.e.example/a"] == 0


def test_a_canonical_in_another_form_is_the_page_itself() -> None:
    found = read(
        ("http://e.example/a", "a", "200", "", "https://www.e.example/a"),
        ("http://e.example/b/index.html", "b", "200", "", "https://www.e.example/b/"),
        ("http://e.example/c", "c", "200", "", "https://www.e.example/a"),
    )
    assert [(page.url, str(page.issue or "")) for page in found.pages] == [
        ("https://www.e.example/a", ""),
        ("https://www.e.example/b/", ""),
        ("https://www.e.example/c", "canonicalised to another page"),
    ]


def test_existing_links_in_another_form_are_known() -> None:
    """A link with http:// or to index.html is a link to the page; a link of a page to its own other form is none."""
    found = read(("https://www.e.example/a", "a"), ("https://www.e.example/b/", "b"))
    found = add_links(
        found,
        links_table(
            ("https://www.e.example/a", "http://e.example/b/index.html", "b"),
            ("http://e.example/a", "https://e.example/a/", "self"),
            ("https://www.e.example/a", "http://blog.e.example/b", "other"),
        ),
    )
    assert [(link.source, link.target) for link in found.links] == [
        ("https://www.e.example/a", "https://www.e.example/b"),
        ("https://www.e.example/a", "http://blog.e.example/b"),
    ]
    assert found.inner_links == 1 and found.skipped_links == 1
    assert found.variants.count == 3


@pytest.mark.parametrize("order", [1, -1])
def test_a_role_under_another_form_is_kept(order: int) -> None:
    """A table of roles with http:// addresses gives the crawled pages their roles, before or after their rows."""
    rows = [
        ("http://e.example/a", "", "target"),
        ("http://e.example/b", "", "source"),
        ("https://e.example/a", "text a", ""),
        ("https://e.example/b", "text b", ""),
        ("https://e.example/c", "text c", ""),
    ]
    table = pages_table(*rows[::order], header=(Kind.URL, Kind.CONTENT, Kind.ROLE))
    found = collect(None, table, queries_in_sheet=False)
    assert {
        page.url[-1]: (page.target_only, str(page.issue or ""), page.content) for page in found.pages
    } == {
        "a": (True, "", "text a"),
        "b": (False, "its Role is source", "text b"),
        "c": (False, "", "text c"),
    }


def test_without_a_crawl_the_queries_tell_the_form() -> None:
    found = read(
        queries=(
            ("http://e.example/a", "one"),
            *((f"https://e.example/{name}", name) for name in "abc"),
        )
    )
    assert [source.url for source in found.sources] == [
        f"https://e.example/{name}" for name in ("a", "a", "b", "c")
    ]


def test_the_note_counts_the_forms_and_shows_one() -> None:
    found = read(
        ("https://www.e.example/a", "a"),
        ("http://www.e.example/a", "a"),
        queries=(("e.example/a", "no URL"), ("https://e.example/a", "a")),
    )
    assert other_forms(found) == (
        "2 URLs are written in another form than the site's (http, www, another host or index.html): "
        "http://www.e.example/a counts as https://www.e.example/a."
    )


@pytest.mark.parametrize("canonical", ["https://www.e.example/a/", ""])
def test_a_mapped_host_is_the_site(canonical: str) -> None:
    found = read(
        ("https://staging.e.example/a/", "a", "200", "", canonical),
        queries=(("https://www.e.example/a", "query"),),
        maps="staging.e.example=www.e.example",
    )
    (page,) = found.pages
    assert (page.url, page.issue) == ("https://www.e.example/a/", None)
    assert [source.page for source in found.sources] == [page]
