"""Collecting input rows as pages and sources: columns by name, one page per URL, and a reason for each reject."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.errors import InputError
from internal_linker.model.reasons import NoTarget, Reason
from internal_linker.model.records import Collected, Page, Table
from internal_linker.sources.collect import collect, without_queries
from tests.support.builders import GONE, MOVED, pages_table, queries_table

A, B = "https://e.example/a", "https://e.example/b"


def one_page(**cells: str) -> Page:
    """Return the page of a one-row table; column names have underscores for spaces."""
    header = ["URL", "Main Content", *(name.replace("_", " ") for name in cells)]
    found = collect(None, pages_table([A, "text", *cells.values()], header=header), queries_in_sheet=False)
    return found.pages[0]


def rejected(found: Collected) -> list[tuple[str, int, str]]:
    return [(reject.table, reject.row, reject.reason) for reject in found.rejects]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (["URL", "Main Content", "Title"], [A, "text", "Tea"]),
        (["Notes", "title", " main  CONTENT ", "Url"], ["x", "Tea", "text", A]),
        (["Address", "Page Title", "Text"], [A, "Tea", "text"]),
        (["\ufeffaddress", "title_1", "page-content"], [A, "Tea", "text"]),
        (["Adresse", "Titel 1", "Body"], [A, "Tea", "text"]),
        (["Title", "URL", "Main Content", "Link", "Title 1"], ["Tea", A, "text", B, "Other"]),
    ],
)
def test_columns_are_found_by_name(header: list[str], row: list[str]) -> None:
    """Column order, letter case, spacing, a BOM, synonyms and unknown columns don't change the result."""
    found = collect(None, pages_table(row, header=header), queries_in_sheet=False)
    assert found.pages == (Page(A, A, title="Tea", content="text"),)


def test_structure_in_html_is_known() -> None:
    """A page keeps the numbers of the lines that HTML has as headings, and as code, tables, quotes and the like."""
    html = "<h2>Tea</h2><p>Boil it.</p><pre>boil()</pre><blockquote>Hot!</blockquote><p>Drink it.</p>"
    later = ["https://e.example/b", html]
    found = collect(
        None, pages_table([A, html], [B, ""], later, header=["URL", "Main Content"]), queries_in_sheet=False
    )
    assert {(page.headings, page.closed) for page in found.pages} == {((0,), (2, 3))}
    assert str(found.pages[1].content).split("\n") == ["Tea", "Boil it.", "boil()", "Hot!", "Drink it."]


@pytest.mark.parametrize(
    ("pages", "queries", "name"),
    [
        (Table("pages.csv", ("URL", "Body Mass"), []), None, "pages.csv: .*'Main Content'.*URL, Body Mass"),
        (Table("pages.csv", (), []), None, "pages.csv: .*'URL'.*nothing"),
        (None, Table("My Sheet", ("Main Query",), []), "My Sheet: .*'URL'"),
    ],
)
def test_a_missing_column_is_named(pages: Table | None, queries: Table | None, name: str) -> None:
    with pytest.raises(InputError, match=name):
        collect(queries, pages, queries_in_sheet=False)


def test_urls_alone_are_rows_without_a_query() -> None:
    """A table of queries needs no column of queries; a table with other columns but none of queries is doubted."""
    table = Table("My Sheet", ("URL", "Link 1", "link_2"), [(2, (A, "x", "y")), (3, ("", "", ""))])
    found = collect(table, None, queries_in_sheet=True)
    assert [(source.url, source.query, source.in_sheet) for source in found.sources] == [(A, "", True)]
    assert without_queries(table) == ""
    volume = replace(table, header=("URL", "Search term", "Volume"))
    assert without_queries(volume) == (
        "My Sheet has no column 'Main Query' (it has: URL, Search term, Volume): its rows are pages without a query."
    )
    assert without_queries(replace(table, header=("URL", "Keyword", "Volume"))) == ""


def test_what_is_far_too_long_is_cut_and_told() -> None:
    """Overlong texts and titles are cut, overlong queries are dropped, and each gets a reason."""
    table = pages_table([A, "t" * 6_000_000, "T" * 20_000], header=["URL", "Main Content", "Title"])
    found = collect(queries_table([B, "q" * 2_000]), table, queries_in_sheet=True)
    (page,) = found.pages
    assert (len(str(page.content)), len(page.title)) == (1_000_000, 10_000)
    assert [source.query for source in found.sources] == [""]
    assert [(row, reason) for _, row, reason in rejected(found)] == [
        (2, "its Main Content is longer than 5,000,000 characters: the rest is left out"),
        (2, "its Title is longer than 10,000 characters: the rest is left out"),
        (2, "its text is longer than 1,000,000 characters: the rest is left out"),
        (2, "its Main Query is longer than 1,000 characters"),
    ]


def test_nothing_usable_still_says_why() -> None:
    found = collect(None, pages_table(["no url", "text"], ["", "text"]), queries_in_sheet=False)
    assert (found.pages, found.sources) == ((), ())
    assert [row for _, row, _ in rejected(found)] == [2, 3]
    assert collect(None, None, queries_in_sheet=False).sources == ()


def test_queries_and_pages_are_joined_by_the_normal_form() -> None:
    """A query joins its page whatever the spelling of the URL; both spellings are kept as the user wrote them."""
    found = collect(
        queries_table(["HTTPS://E.example/a/?utm_source=x", "green   tea"]),
        pages_table([A, "text"]),
        queries_in_sheet=True,
    )
    (source,) = found.sources
    assert (source.url, source.key, source.query) == ("HTTPS://E.example/a/?utm_source=x", A, "green tea")
    assert source.page == Page(A, A, content="text")
    assert source.in_sheet


def test_each_kind_of_source_is_kept_in_the_input_order() -> None:
    """Queries with a page, a URL alone or no URL come first in input order, followed by pages without a query."""
    found = collect(
        queries_table(["", "loose query"], [B, "b query"], ["https://e.example/new", "new"], [A, ""]),
        pages_table(["https://e.example/last", "text"], [A, "text"], [B, "text"]),
        queries_in_sheet=True,
    )
    kinds = [(source.url, source.query, source.page is not None, source.in_sheet) for source in found.sources]
    assert kinds == [
        ("", "loose query", False, True),
        (B, "b query", True, True),
        ("https://e.example/new", "new", False, True),
        (A, "", True, True),
        ("https://e.example/last", "", True, False),
    ]


def test_two_rows_of_one_wish_are_merged_and_counted() -> None:
    """A page and query in two spellings are one source; another query of the page is a source of its own."""
    found = collect(
        queries_table([A, "Green Tea"], [A + "/", "green  tea"], [A, "black tea"], ["", "x"], ["", "X"]),
        None,
        queries_in_sheet=False,
    )
    assert [(source.url, source.query) for source in found.sources] == [
        (A, "Green Tea"),
        (A, "black tea"),
        ("", "x"),
    ]
    assert found.merged_rows == 2


def test_rows_of_one_page_fill_each_other() -> None:
    header = ["URL", "Main Content", "Title", "H1", "Lang"]
    found = collect(
        None,
        pages_table([A, "", "Tea", "", ""], [A + "#x", "text", "Other", "Head", "en"], header=header),
        queries_in_sheet=False,
    )
    assert found.pages == (Page(A, A, title="Tea", h1="Head", content="text", lang="en"),)
    assert (found.merged_rows, found.rejects) == (1, ())


def test_another_content_of_the_same_page_is_reported() -> None:
    """If two rows of a page differ in content, the first is used and the other's reason names its number."""
    found = collect(None, pages_table([A, "one"], [B, "b"], [A + "/", "two"]), queries_in_sheet=False)
    assert found.pages[0].content == "one"
    assert rejected(found) == [
        ("pages.csv", 4, "the same page as row 2 with different content: row 2 is used")
    ]


def test_the_row_of_the_page_itself_counts_not_its_redirect() -> None:
    header = ["URL", "Main Content", "Status Code"]
    found = collect(
        None,
        pages_table(
            [A, "moved", "301"], [A + "/", "text", "200"], [A + "/?gclid=1", "", "404"], header=header
        ),
        queries_in_sheet=False,
    )
    assert found.pages == (Page(A, A + "/", content="text"),)
    assert found.merged_rows == 2
    assert rejected(found) == [
        ("pages.csv", 2, "the same page as row 3 with different content: row 3 is used")
    ]


def test_a_row_that_is_no_page_is_rejected_with_number_and_reason() -> None:
    """A row without a usable URL is rejected with its table, row number and reason."""
    found = collect(
        queries_table(["/relative", "q"], [A, "q"]),
        pages_table(["", "text"], [A, "text"], ["mailto:a@e.example", "text"]),
        queries_in_sheet=False,
    )
    assert [(reject.table, reject.row, reject.url) for reject in found.rejects] == [
        ("pages.csv", 2, ""),
        ("pages.csv", 4, "mailto:a@e.example"),
        ("queries.csv", 2, "/relative"),
    ]
    assert all(reject.reason for reject in found.rejects)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        *[(cell, None) for cell in ("", "200", "200.0", "200 OK", "OK", "published")],
        *[
            ("301", MOVED),
            ("404.0", GONE),
            ("404 Not Found", GONE),
            ("0", Reason(NoTarget.ERROR_STATUS, "0")),
        ],
    ],
)
def test_only_what_answers_with_200_is_a_target(status: str, reason: Reason[NoTarget] | None) -> None:
    """A numeric status other than 200 excludes a page as a target; a status in words doesn't."""
    assert one_page(Status_Code=status).issue == reason


@pytest.mark.parametrize(
    ("cell", "target"),
    [
        *[
            (cell, True)
            for cell in ("", "Indexable", "Indexierbar", "Indexabile", "Indicizzabile", "true", "1", "yes")
        ],
        *[(cell, False) for cell in ("Non-Indexable", "Nicht indexierbar", "No indexable", "Non indexable")],
        *[
            (cell, False)
            for cell in ("Non indicizzabile", "not indexable", "NOINDEX, follow", "FALSE", "0", "no")
        ],
    ],
)
def test_a_page_that_is_not_indexable_is_no_target_in_five_languages(cell: str, target: bool) -> None:
    assert one_page(Indexability=cell).issue == (None if target else Reason(NoTarget.NOINDEX))


@pytest.mark.parametrize(
    ("canonical", "reason"),
    [
        *[(cell, None) for cell in ("", A, A + "/", "/a", "a?utm_source=x", "//E.example/a", "#")],
        *[(cell, Reason(NoTarget.CANONICALISED)) for cell in (B, "/b", "a?page=2")],
        ("mailto:x", Reason(NoTarget.BAD_CANONICAL)),
    ],
)
def test_a_copy_of_another_page_is_no_target(canonical: str, reason: Reason[NoTarget] | None) -> None:
    assert one_page(Canonical=canonical).issue == reason


@pytest.mark.parametrize(
    ("cell", "code"), [("en-US", "en"), ("EN_gb", "en"), (" fa ", "fa"), ("", ""), ("x-default", "")]
)
def test_a_language_is_its_code(cell: str, code: str) -> None:
    assert one_page(Lang=cell).lang == code


CELLS = st.sampled_from(["", " ", A, A + "/", B, "https://E.example/b#x", "nonsense", "ftp://e.example"])
TEXTS = st.sampled_from(["", "  ", "green tea", "Green  Tea", "black tea"])
ROWS = st.lists(
    st.lists(st.one_of(CELLS, TEXTS), max_size=3) | st.tuples(CELLS, TEXTS).map(list), max_size=12
)


@given(ROWS, ROWS)
def test_no_row_is_lost(queries: list[list[str]], pages: list[list[str]]) -> None:
    found = collect(queries_table(*queries), pages_table(*pages), queries_in_sheet=False)
    filled = sum(any(cell.strip() for cell in row[:2]) for row in queries + pages)
    assert {page.key for page in found.pages} == {source.key for source in found.sources if source.page}
    wishes = _distinct_wishes(queries)
    alone = {page.key for page in found.pages} - {key for key, _ in wishes}
    assert {source.identity for source in found.sources} == wishes | {(key, "") for key in alone}
    unusable = [reject for reject in found.rejects if "different content" not in reject.reason]
    assert filled == len(found.pages) + len(wishes) + found.merged_rows + len(unusable)
    assert max(Counter((reject.table, reject.row) for reject in found.rejects).values(), default=1) == 1
    assert all(reject.reason for reject in found.rejects)


def _distinct_wishes(rows: list[list[str]]) -> set[tuple[str, str]]:
    """Return the distinct (key, folded query) pairs of the query rows, computed independently."""
    folded = {"": "", A: A, A + "/": A, B: B, "https://E.example/b#x": B}
    cells = [([cell.strip() for cell in row] + ["", ""])[:2] for row in rows]
    wishes = {(folded[url], " ".join(query.casefold().split())) for url, query in cells if url in folded}
    return wishes - {("", "")}
