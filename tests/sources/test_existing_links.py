"""The table of existing links: which rows count, which are rejected, and where redirected links lead."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.errors import InputError
from internal_linker.model.records import Collected, ExistingLink
from internal_linker.sources.existing_links import add_links, doubt
from internal_linker.sources.tables.columns import Kind
from tests.support.builders import links_table, page, source, url

A, B, C = url("a"), url("b"), url("c")
PAGES = tuple(page(name, "text") for name in "abc")
SITE = Collected(PAGES, tuple(source(of=each) for each in PAGES), (), 0)
# The columns of Screaming Frog's all_inlinks.csv.
CRAWL = (
    *("Type", "Source", "Destination", "Size (Bytes)", "Alt Text", "Anchor", "Status Code", "Status"),
    *("Follow", "Target", "Rel", "Path Type", "Link Path", "Link Position", "Link Origin"),
)


def crawled(source: str, target: str, kind: str = "Hyperlink", position: str = "Content") -> list[str]:
    """Return a crawl's row; the HTML attribute target, in the column Target, is _blank."""
    start = [kind, source, target, "1234", "", "tea", "200", "OK"]
    return [*start, "true", "_blank", "", "Absolute", "//body/p/a", position, "HTML"]


def pairs(found: Collected) -> list[tuple[str, str]]:
    """Return the links in short form: the last letters of source and target."""
    return [(link.source[-1], link.target[-1]) for link in found.links]


def test_a_crawls_export_is_read_as_it_comes() -> None:
    """In all_inlinks.csv Destination is the target, not the HTML attribute Target; anchors become one line."""
    found = add_links(SITE, links_table(crawled(A, B), crawled(B, C), header=CRAWL))
    assert found.links == (ExistingLink(A, B, "tea"), ExistingLink(B, C, "tea"))
    assert (found.inner_links, found.skipped_links, found.rejects) == (2, 0, ())


@pytest.mark.parametrize(
    "header",
    [
        ("Source", "Target", "Anchor"),
        ("from", "TO", "Anchor Text"),
        ("Source URL", "Link Target URL", "link_text"),
        ("Quelle", "Ziel", "Ankertext"),
        ("Origen", "Destino", "Texto de anclaje"),
        ("Source", "Destination", "Texte d'ancrage"),
        ("Origine", "Destinazione", "Testo di ancoraggio"),
    ],
)
def test_a_list_of_ones_own_will_do(header: tuple[str, str, str]) -> None:
    found = add_links(SITE, links_table([A + "/", B + "#top", " green\n  tea "], header=header))
    assert found.links == (ExistingLink(A, B, "green tea"),)


def test_two_columns_are_enough_and_one_is_not() -> None:
    """Links without anchors count; a missing destination column raises an error that names the column and the file."""
    assert pairs(add_links(SITE, links_table([A, B], header=("Source", "Destination")))) == [("a", "b")]
    with pytest.raises(InputError, match=r"links\.csv: .*'Destination'.*Source, Anchor"):
        add_links(SITE, links_table([A, B], header=("Source", "Anchor")))


@pytest.mark.parametrize(
    ("kind", "position", "counts"),
    [
        *[
            ("Hyperlink", place, True)
            for place in ("Content", "", "Inhalt", "Contenido", "CONTENU ", "contenuto")
        ],
        *[("Hyperlink", place, False) for place in ("Navigation", "Header", "Footer", "Aside", "Kopfzeile")],
        *[("", "Content", True), ("", "", True), ("Hipervínculo", "", True), ("Hyperlien", "", True)],
        *[(kind, "Content", False) for kind in ("Image", "CSS", "JavaScript", "Canonical", "Hreflang")],
        *[(kind, "", False) for kind in ("HTTP Redirect", "HTTP Canonical", "Meta Refresh", "iFrame")],
    ],
)
def test_only_links_in_the_text_count(kind: str, position: str, counts: bool) -> None:
    found = add_links(SITE, links_table(crawled(A, B, kind, position), header=CRAWL))
    assert (len(found.links), found.skipped_links, found.rejects) == (counts, not counts, ())


@pytest.mark.parametrize(
    ("follow", "rel", "followed"),
    [
        *(("true", rel, True) for rel in ("", "noopener noreferrer", "next", "my-nofollowers")),
        *(("true", rel, False) for rel in ("nofollow", "noopener UGC", "sponsored", "nofollow,noindex")),
        *(("false", "", False), ("Nein", "", False), ("", "", True), ("", "ugc", False)),
    ],
)
def test_nofollow_links_are_known_as_such(follow: str, rel: str, followed: bool) -> None:
    row = crawled(A, B)
    row[8], row[10] = follow, rel
    found = add_links(SITE, links_table(row, header=CRAWL))
    assert found.links == (ExistingLink(A, B, "tea", followed=followed),)
    again = add_links(SITE, links_table(row, crawled(A, B), header=CRAWL))
    assert again.links == (ExistingLink(A, B, "tea"),)


def test_a_link_leads_to_where_its_target_leads() -> None:
    """Links follow redirects and canonicals; a link that resolves to its own page is dropped."""
    site = replace(SITE, aliases={url("old"): B, url("copy"): A})
    found = add_links(site, links_table([A, url("old"), "x"], [A, url("copy"), "x"], [A, A, "x"]))
    assert found.links == (ExistingLink(A, B, "x"),)
    assert found.skipped_links == 2


def test_a_link_is_kept_once_with_each_of_its_anchors() -> None:
    """Repeated rows of a link, also one known from the pages' HTML, are merged; each different anchor is kept."""
    site = replace(SITE, links=(ExistingLink(A, B, "tea"),))
    found = add_links(site, links_table([A, B, "tea"], [A + "/?utm_source=x", B, "tea"], [A, B, "pots"]))
    assert found.links == (ExistingLink(A, B, "tea"), ExistingLink(A, B, "pots"))
    assert found.inner_links == 2


def test_links_of_other_pages_are_kept_and_not_counted() -> None:
    """Links from or to unlisted pages are kept; only links between listed pages are counted."""
    found = add_links(SITE, links_table([A, "https://o.example/", ""], [url("x"), A, ""], [A, B, ""]))
    assert (len(found.links), found.inner_links) == (3, 1)


def test_a_row_that_is_no_link_is_rejected_with_number_and_reason() -> None:
    """A reject's reason names the invalid column; mailto: and similar links are skipped, blank rows ignored."""
    found = add_links(
        SITE,
        links_table([A, "/b", "x"], ["", B, "x"], [A, "mailto:a@e.example", "x"], ["", " ", "x"], [A]),
    )
    assert [(reject.table, reject.row, reject.url) for reject in found.rejects] == [
        *(("links.csv", 2, "/b"), ("links.csv", 3, ""), ("links.csv", 6, "")),
    ]
    assert [reject.reason.partition(":")[0] for reject in found.rejects] == [
        *("Destination", "Source", "Destination"),
    ]
    assert (found.links, found.skipped_links) == ((), 1)


def test_a_table_that_tells_of_no_link_is_doubted() -> None:
    """A table with rows but no usable link, or none in a text, gets a warning; an empty table gets none."""
    menu = add_links(SITE, links_table(crawled(A, B, position="Navigation"), header=CRAWL))
    assert "1 row, but no link in a page's text" in doubt(menu, "links.csv")
    other = add_links(SITE, links_table(["http://x.example/a", "http://x.example/b", ""]))
    assert "1 link, but none from one of your pages" in doubt(other, "links.csv")
    for fine in (links_table([A, B, ""], [A, "http://x.example/", ""]), links_table(), None):
        assert doubt(add_links(SITE, fine), "links.csv") == ""


ENDS = st.sampled_from([A, B, A + "/", url("old"), "x", "", "mailto:a@e.example"])


@given(st.lists(st.tuples(ENDS, ENDS, st.sampled_from(["", "tea"])), max_size=12))
def test_no_row_is_lost(rows: list[tuple[str, str, str]]) -> None:
    found = add_links(replace(SITE, aliases={url("old"): B}), links_table(*rows))
    ends = [(each.rstrip("/"), other.rstrip("/").replace("/old", "/b")) for each, other, _ in rows]
    good = [(one, two, row[2]) for (one, two), row in zip(ends, rows, strict=True) if _url(one) and _url(two)]
    assert {(link.source, link.target, link.anchor) for link in found.links} == {
        link for link in good if link[0] != link[1]
    }
    blank = sum(not (one or two) for one, two in ends)
    assert blank + len(good) + len(found.rejects) + _mails(ends) == len(rows)
    assert found.skipped_links == sum(one == two for one, two, _ in good) + _mails(ends)


def _url(text: str) -> bool:
    return text.startswith("https:")


def _mails(ends: list[tuple[str, str]]) -> int:
    return sum(_url(one) and two.startswith("mailto:") for one, two in ends)


@pytest.mark.parametrize(
    ("cell", "start"), [("12", 12), (" 7 ", 7), ("", -1), ("no", -1), ("-3", -1), ("9" * 5000, -1), ("²", -1)]
)
def test_a_links_place_is_read_where_the_table_has_it(cell: str, start: int) -> None:
    """The column Start is the anchor's first position in the main content; invalid cells are ignored."""
    header = (Kind.SOURCE, Kind.DESTINATION, Kind.ANCHOR, Kind.START)
    table = links_table((url("a"), url("b"), "tea", cell), header=header)
    (link,) = add_links(Collected((), (), (), 0), table).links
    assert (link.anchor, link.start) == ("tea", start)
