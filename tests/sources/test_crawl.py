"""Exports of several crawlers are recognised in five languages."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import xlsxwriter

from internal_linker.sources.crawler_vocabulary import english
from internal_linker.sources.tables.columns import Kind
from tests.support.crawls import (
    LANGUAGES,
    LINKS,
    PAGES,
    A,
    B,
    crawl,
    imported,
    links,
    pages,
    screaming_frog,
    table,
    workbook,
)
from tests.support.small_project import SITE, write_text


@pytest.mark.parametrize("language", LANGUAGES)
def test_screaming_frog_in_each_language(
    language: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Headers and values become English; images are left out and counted."""
    assert imported(project, *screaming_frog(tmp_path, language)) == 0
    assert pages(project) == PAGES
    assert links(project) == LINKS
    out = capsys.readouterr().out
    assert "2 pages: URL, Title, H1, Indexability, Status Code" in out
    assert "3 links: Source, Destination, Anchor, Link Position, Type" in out
    assert "Left out: not an HTML page: 1" in out


def test_oncrawl(project: Path, tmp_path: Path) -> None:
    """Oncrawl's column names are recognised; `intern`, which a run doesn't need, is left out."""
    file = crawl(tmp_path / "p.csv", ("url", "title", "h1", "status_code"), (A, "Tea", "All tea", "200"))
    header = "origin,target,anchor,follow,origin_position,intern".split(",")
    more = crawl(tmp_path / "l.csv", header, (A, B, "pots", "true", "3", "true"))
    assert imported(project, file, more) == 0
    assert pages(project) == [("URL", "Title", "H1", "Status Code"), (A, "Tea", "All tea", "200")]
    assert links(project) == [("Source", "Destination", "Anchor", "Follow"), (A, B, "pots", "true")]


def test_sitebulb(project: Path, tmp_path: Path) -> None:
    header = ("URL", "HTTP Status Code", "Indexable", "Canonical URL", "Title", "Word Count")
    file = crawl(
        tmp_path / "p.csv", header, (A, "200", "Yes", A, "Tea", "9"), (B, "200", "No", A, "Pots", "9")
    )
    more = crawl(tmp_path / "l.csv", ("Referring URL", "Target URL", "Anchor Text"), (A, B, "pots"))
    assert imported(project, file, more) == 0
    assert pages(project) == [
        ("URL", "Title", "Indexability", "Status Code", "Canonical"),
        (A, "Tea", "Indexable", "200", A),
        (B, "Pots", "Non-Indexable", "200", A),
    ]
    assert links(project) == [("Source", "Destination", "Anchor"), (A, B, "pots")]


def test_title_line_semicolons_and_the_older_content_column(project: Path, tmp_path: Path) -> None:
    """Older exports with a title line above the header and the MIME type in the column Content are read."""
    header = ["Internal - All", "Address;Content;Title 1"]
    rows = [f"{B};;", f'{A};"text/html; charset=utf-8";Tea', f"{SITE}/x.css;text/css;"]
    write_text(tmp_path / "old.csv", "\n".join([*header, *rows]))
    assert imported(project, str(tmp_path / "old.csv")) == 0
    assert pages(project) == [("URL", "Title"), (B, ""), (A, "Tea")]


def test_columns_by_name(project: Path, tmp_path: Path) -> None:
    file = crawl(tmp_path / "any.csv", ("wo", "was", "Title"), (A, "Green tea.", "Tea"))
    assert imported(project, file, "--url-column", "WO", "--content-column", "was") == 0
    assert pages(project) == [("URL", "Title", "Main Content"), (A, "Tea", "Green tea.")]


def test_one_page_of_several_rows_and_files(project: Path, tmp_path: Path) -> None:
    """A page's facts come from its own row, not its redirect's, and its text from any file; rejects have reasons."""
    texts = crawl(tmp_path / "texts.csv", ("URL", "Main Content"), (A, "Green tea."), (A + "#x", "Other."))
    header = ("Address", "Title 1", "Status Code", "Redirect URL")
    crawled = crawl(
        tmp_path / "crawl.csv", header, (A[:-1], "", "301", A), (A, "Tea", "200", ""), ("/x", "", "200", "")
    )
    assert imported(project, texts, crawled) == 0
    assert pages(project) == [
        ("URL", "Title", "Main Content", "Status Code", "Redirect URL"),
        (A, "Tea", "Green tea.", "200", ""),
    ]
    rejected = table(project, "rejected_rows.csv")[1:]
    assert [row[1:3] for row in rejected] == [("3", A + "#x"), ("4", "/x")]
    assert "different content" in rejected[0][3] and "not a full URL" in rejected[1][3]


def test_a_workbook_with_a_title_line(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = ("Adresse", "Status-Code", "Titel 1", "Indexierbarkeit")
    rows = [["Intern - Alle"], header, (A, 200, 2024, True), [], ("/x", 200, 1.5, "")]
    assert imported(project, workbook(tmp_path / "crawl.xlsx", [], rows, [("Notes",)])) == 0
    assert pages(project) == [
        ("URL", "Title", "Indexability", "Status Code"),
        (A, "2024", "Indexable", "200"),
    ]
    assert [row[1:3] for row in table(project, "rejected_rows.csv")[1:]] == [("5", "/x")]
    assert "only the sheet Sheet2 is read, not Sheet3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "read"), [((), "Tea"), (("--sheet", "sheet1"), "Notes"), (("--sheet", "None"), "")]
)
def test_the_sheet_that_fits_is_read(
    options: tuple[str, ...],
    read: str,
    project: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of several sheets the first with pages or links is read, else the one that --sheet names."""
    notes = [("Name", "Title"), (A, "Notes")]
    pages_sheet = [("Internal - All",), ("Address", "Title 1"), (A, "Tea")]
    book = workbook(tmp_path / "crawl.xlsx", notes, pages_sheet, [("Address",), (B,)])
    code = imported(project, book, *options, *(("--url-column", "Name") if read == "Notes" else ()))
    told = capsys.readouterr().err
    if not read:
        assert code == 3
        assert "crawl.xlsx has no sheet None with cells (it has: Sheet1, Sheet2, Sheet3)" in told
        return
    assert code == 0
    assert pages(project)[1:] == [(A, read)]
    assert ("only the sheet Sheet2 is read, not Sheet1, Sheet3. To read another" in told) is not bool(options)


def test_several_sheets_of_a_workbook(project: Path, tmp_path: Path) -> None:
    """With --sheet repeated, one workbook gives pages and links."""
    book = workbook(tmp_path / "crawl.xlsx", PAGES, [("Notes",), ("none",)], LINKS)
    assert imported(project, book, "--sheet", "Sheet1", "--sheet", "Sheet3") == 0
    assert pages(project) == PAGES
    assert links(project) == LINKS


def test_exports_of_other_tools_are_recognised(project: Path, tmp_path: Path) -> None:
    """The pages of Ahrefs' exports are imported; it writes UTF-16 with tabs."""
    export = f"Keyword\tVolume\tCurrent URL\tPrevious URL\ntea\t90\t{A}\t{B}"
    (tmp_path / "export.csv").write_text(export, "utf-16")
    assert imported(project, str(tmp_path / "export.csv")) == 0
    assert pages(project) == [("URL",), (A,)]


def test_a_table_of_search_data_is_a_list_of_pages_on_request(project: Path, tmp_path: Path) -> None:
    table = f"Die häufigsten Seiten,Klicks,Impressionen,CTR,Position\n{A},9,90,10 %,3.1"
    (tmp_path / "export.csv").write_text(table, "utf-8")
    assert imported(project, str(tmp_path / "export.csv")) == 3
    assert not (project / "files/urls_rawdata.csv").exists()
    column = ("--url-column", "Die häufigsten Seiten")
    assert imported(project, str(tmp_path / "export.csv"), *column) == 0
    assert pages(project) == [("URL",), (A,)]


def test_a_misnamed_table_of_search_data_replaces_no_pages(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Search data without a column that they need are refused by its name; pages with their texts stay."""
    assert imported(project, crawl(tmp_path / "crawl.csv", *PAGES)) == 0
    header = "Date,Page,Query,Klix,Impressions,Position"
    (tmp_path / "export.csv").write_text(f"{header}\n2026-11-01,{A},tea,1,10,2\n", "utf-8")
    assert imported(project, str(tmp_path / "export.csv")) == 3
    assert "export.csv: the header row has no column 'Clicks' (it has: Date" in capsys.readouterr().err
    assert pages(project) == PAGES


def test_stored_rows_that_fewer_rows_replace_are_counted(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A day is replaced as a whole: lost rows are reported; a day with more rows, or as many, loses none."""
    days = [(datetime.now(UTC) - timedelta(days=number)).date() for number in (30, 29, 28)]

    def stored(*counts: int) -> str:
        rows = [
            f"{day},{A},tea {number},1,10,2"
            for day, count in zip(days, counts, strict=True)
            for number in range(count)
        ]
        table = "\n".join(["Date,Page,Query,Clicks,Impressions,Position", *rows, ""])
        (tmp_path / "export.csv").write_text(table, "utf-8")
        assert imported(project, str(tmp_path / "export.csv")) == 0
        told = capsys.readouterr()
        return " ".join((told.out + told.err).split())

    assert "replaced" not in stored(5, 4, 1)
    told = stored(3, 2, 1)
    assert "Queries (exported files): 6 rows of 3 days" in told
    assert "Replaced by fewer rows: queries (exported files): 9 rows of 2 days" in told
    assert "9 rows of 2 days replaced by fewer rows. A day is replaced as a whole" in told
    assert "replaced" not in stored(3, 3, 1)


def test_sums_of_a_period_are_told_as_such(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sums are of their period, not of the day on which they are stored; totals are of their days."""
    first, last = ((datetime.now(UTC) - timedelta(days=number)).date() for number in (30, 29))
    columns = "Clicks,Impressions,CTR,Position"
    pages_file, dates_file = tmp_path / "Pages.csv", tmp_path / "Chart.csv"
    dates_file.write_text(f"Date,{columns}\n{first},2,20,10%,2\n{last},2,20,10%,2\n", "utf-8")

    def told(*urls: str) -> str:
        rows = [f"{url},1,10,10%,2" for url in urls]
        pages_file.write_text("\n".join([f"Top pages,{columns}", *rows, ""]), "utf-8")
        assert imported(project, str(pages_file), str(dates_file)) == 0
        return " ".join(capsys.readouterr().out.split()).partition("Imported search data ")[2]

    sums = f"(sums from {first} to {last}):"
    totals = f"Totals (exported files): 2 rows of 2 days, {first} to {last}"
    assert told(A, B) == f"Pages {sums} 2 rows {totals}"
    assert told(A) == (f"Pages {sums} 1 row {totals} Replaced by fewer rows: pages {sums} 2 rows")


LONG = "Green tea is steamed soon after it was picked, which keeps the leaves green. " * 5


def test_a_custom_extraction_is_proposed_as_content(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = ("Address", "Title 1", "Meta Description 1", "Schema 1", "Article 1", "Author 1")
    rows = [
        (f"{SITE}/{number}/", "Tea", "d" * 160, '{"@type": "Article"}' * 40, LONG if number else "", "Ann")
        for number in range(4)
    ]
    file = crawl(tmp_path / "p.csv", header, *rows)
    assert imported(project, file) == 0
    told = capsys.readouterr()
    assert pages(project)[2][2] == LONG.strip()
    assert f"Article 1 (median {len(LONG.strip())} characters)" in told.out
    assert "the column Article 1 has the longest texts" in told.err and "--content-column" in told.err
    more = crawl(tmp_path / "texts.csv", ("URL", "Text"), (rows[1][0], "Another text."))
    assert imported(project, file, more) == 0
    assert pages(project)[2][2] == "Another text."
    assert "has the longest texts" not in capsys.readouterr().err


def test_a_crawl_without_long_texts_has_no_contents(project: Path, tmp_path: Path) -> None:
    header = ("Address", "Title 1", "Meta Description 1", "Schema 1", "Extract embeddings 1", "HTML 1")
    numbers = ",".join(["0.12345"] * 100)
    row = ("Tea", "d" * 200, '[{"@type": "Article"}]' * 40, numbers, f"<!DOCTYPE html><html>{LONG}")
    assert imported(project, crawl(tmp_path / "p.csv", header, (A, *row), (B, *row))) == 0
    assert pages(project) == [("URL", "Title"), (A, "Tea"), (B, "Tea")]


def test_a_workbook_without_pages_is_refused(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A workbook with one cell far out, an empty and a missing workbook each give one sentence and exit code 3."""
    with xlsxwriter.Workbook(tmp_path / "far.xlsx") as book:
        book.add_worksheet().write("XFD1048576", "x")
    workbook(tmp_path / "empty.xlsx", [])
    for name, sentence in {
        "far": "is empty: add a",
        "empty": "is empty: add a",
        "missing": "missing.xlsx not found: check the path",
    }.items():
        assert imported(project, str(tmp_path / f"{name}.xlsx")) == 3
        assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "cells", "word"),
    [
        (Kind.LINK_POSITION, "Content,Inhalt,Contenido,Contenu,Contenuto", "Content"),
        (Kind.LINK_POSITION, "Navigation,Navegación,Navigazione,nav", "Navigation"),
        (Kind.LINK_POSITION, "Header,Kopfzeile,Encabezado,En-tête,Intestazione", "Header"),
        (Kind.LINK_POSITION, "Footer,Fußzeile,FUSSZEILE,Pie de página,Pied de page,Piè di pagina", "Footer"),
        (Kind.LINK_POSITION, "Aside,Seitenleiste,Barra lateral,Barre latérale,Barra laterale", "Aside"),
        (Kind.LINK_TYPE, "Hyperlink,Hipervínculo,Hyperlien,Collegamento ipertestuale,AHREF", "Hyperlink"),
        (Kind.INDEXABILITY, "Indexable,Indexierbar,Indicizzabile,TRUE,yes", "Indexable"),
        (Kind.INDEXABILITY, "Non-Indexable,Nicht indexierbar,No indexable,Non indexable", "Non-Indexable"),
        (Kind.INDEXABILITY, "Non indicizzabile,false,0,x" + " " * 200 + "noindex", "Non-Indexable"),
        (Kind.LINK_POSITION, "Popup", "Popup"),
        (Kind.ANCHOR, "Inhalt", "Inhalt"),
    ],
)
def test_words_of_five_languages(kind: Kind, cells: str, word: str) -> None:
    """Each translation maps to one English word, which maps to itself; an unknown word stays unchanged."""
    assert {english(kind, cell) for cell in (*cells.split(","), f" {word} ")} == {word}


def test_tables_of_links_with_other_columns_are_joined(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link of a table without anchors has an empty one; a row without both URLs is no link and not rejected."""
    file = crawl(tmp_path / "p.csv", ("URL", "Title"), (A, "Tea"), (B, "Pots"))
    some = crawl(tmp_path / "l.csv", ("Source", "Destination", "Anchor"), (A, B, "pots"), ("", "", "none"))
    more = crawl(tmp_path / "m.csv", ("Source", "Destination"), (B, A))
    assert imported(project, file, some, more) == 0
    assert links(project) == [("Source", "Destination", "Anchor"), (A, B, "pots"), (B, A, "")]
    assert "Rows rejected / merged: 0 / 0" in capsys.readouterr().out
