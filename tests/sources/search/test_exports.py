"""Exported files of search data become rows by page, query and day; what can't be used is counted with its row."""

import zipfile
from datetime import date
from pathlib import Path

import pytest
import xlsxwriter

from internal_linker.model.errors import InputError
from internal_linker.model.search_data import SearchTable
from internal_linker.sources.search.exports import DAILY, period_source, search_exports
from tests.support.search_exports import FIRST, LANGUAGES, LAST, A, days, read, written, zipped

PERIOD = period_source((FIRST, LAST))
HEADER = "Date,Page,Query,Clicks,Impressions,CTR,Position"
# The same two rows as tools in five languages, BigQuery and Looker Studio write them.
TABLES = {
    "Search Analytics for Sheets": (
        f"{HEADER}\n2026-11-01,{A}/a,green tea,3,40,7.5%,2.5\n2026-11-02,{A}/a,green tea,1,10,10%,4\n"
    ),
    "German, semicolons": (
        "Klicks;Impressionen;Position;Suchanfrage;Seite;Datum\n"
        f"3;40;2,5;green tea;{A}/a;01.11.2026\n1;10;4,0;green tea;{A}/a;02.11.2026\n"
    ),
    "Spanish": (
        "Fecha,Consulta,Página,Clics,Impresiones,Posición media\n"
        f'2026-11-01,green tea,{A}/a,3,40,"2,5"\n2026-11-02,green tea,{A}/a,1,10,"4"\n'
    ),
    "French, tabs": (
        "Date\tRequête\tPage\tClics\tImpressions\tPosition moyenne\n"
        f"1 nov. 2026\tgreen tea\t{A}/a\t3\t40\t2,5\n2 nov. 2026\tgreen tea\t{A}/a\t1\t10\t4\n"
    ),
    "Italian": (
        "Data,Query,Pagina,Clic,Impressioni,Posizione\n"
        f'1/11/2026,green tea,{A}/a,3,40,"2,5"\n2/11/2026,green tea,{A}/a,1,10,4\n30/10/2026,green tea,{A}/a,0,0,0\n'
    ),
    "Looker Studio": (
        "Landing Page,Query,Date,Url Clicks,Impressions,Average Position\n"
        f'{A}/a,green tea,"Nov 1, 2026",3,40,2.5\n{A}/a,green tea,"Nov 2, 2026",1,10,4\n'
    ),
    "BigQuery, by country": (
        "data_date,site_url,url,query,is_anonymized_query,country,impressions,clicks,sum_position\n"
        f"2026-11-01,{A}/,{A}/a,green tea,false,jpn,30,2,45\n2026-11-01,{A}/,{A}/a,green tea,false,usa,10,1,15\n"
        f"2026-11-02,{A}/,{A}/a,green tea,false,jpn,10,1,30\n2026-11-02,{A}/,{A}/a,,true,jpn,10,1,30\n"
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_archives_of_search_console_are_read_in_five_languages(tmp_path: Path, language: str) -> None:
    path = zipped(tmp_path / "export.zip", language)
    assert search_exports([path]) == [path]
    found = read(path)
    pages, totals = found.frames[PERIOD, SearchTable.PAGES], found.frames[DAILY, SearchTable.TOTALS]
    assert pages.to_dict("records") == [
        {
            "date": pages["date"][0],
            "page": f"{A}/green-tea",
            "clicks": 1234,
            "impressions": 10_000,
            "position": 3.4,
        }
    ]
    assert pages["date"][0].date() == LAST
    assert [day.date() for day in totals["date"]] == days()
    assert totals["clicks"].sum() == 31 * 50 and (totals["position"] == 4.5).all()
    assert sum(found.noted.facts.values()) == 2, "the tables of queries and countries"
    assert any("which page each query led to" in remark for remark in found.noted.remarks)


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_other_tools_are_read(tmp_path: Path, name: str) -> None:
    """Columns may have any order and the names of five languages; parts by country are added up."""
    path = written(tmp_path, TABLES[name])
    assert search_exports([path]) == [path]
    frame = read(path).frames[DAILY, SearchTable.QUERIES]
    assert [row[1:] for row in frame.itertuples(index=False)] == [
        (f"{A}/a", "green tea", 3, 40, 2.5),
        (f"{A}/a", "green tea", 1, 10, 4.0),
    ]
    assert [day.date() for day in frame["date"]] == [date(2026, 11, 1), date(2026, 11, 2)]


def test_each_sheet_of_a_workbook_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "export.xlsx"
    book = xlsxwriter.Workbook(str(path), {"default_date_format": "yyyy-mm-dd"})
    for name, (_, header) in LANGUAGES["English"].items():
        sheet = book.add_worksheet(name)
        for row, line in enumerate(header.split("\n")):
            sheet.write_row(row, 0, line.split(","))
        if name == "pages":
            sheet.write_row(1, 0, [f"{A}/green-tea/", 1234, 10_000, 0.1234, 3.4])
        if name == "dates":
            for row, day in enumerate(days(), 1):
                sheet.write_datetime(row, 0, day)
                sheet.write_row(row, 1, [50, 400, 0.125, 4.5])
    book.close()
    assert search_exports([path]) == [path]
    found = read(path)
    assert found.frames[PERIOD, SearchTable.PAGES]["clicks"].tolist() == [1234]
    assert len(found.frames[DAILY, SearchTable.TOTALS]) == 31


def test_crawls_are_no_search_data(tmp_path: Path) -> None:
    """A crawl with clicks beside its columns is a crawl, and so is a list of pages; damaged files are nobody's."""
    crawl = written(tmp_path, f"Address,Status Code,Title 1,Clicks,Impressions,Position\n{A},200,T,1,2,3\n")
    pages = written(tmp_path, f"URL,Traffic\n{A},9\n", "pages.csv")
    damaged = written(tmp_path, "PK\x03\x04 no archive", "export.zip")
    assert search_exports([crawl, pages, damaged, tmp_path, tmp_path / "missing.csv"]) == []


def test_rows_that_cannot_be_used_are_listed(tmp_path: Path) -> None:
    """Each unusable row has its number, its page and a reason; the others are kept."""
    rows = [
        f"2026-11-01,{A}/a,tea,3,40,,2.5",
        f"2026-11-01,{A}/a,tea,3,40,,2.5",
        f"2026-11-01,{A}/b,tea,3,40,,0",
        f"2026-11-01,{A}/b,tea,50,40,,2",
        f"soon,{A}/b,tea,3,40,,2",
        f"2026-11-01,{A}/b,tea,many,40,,2",
        "2026-11-01,https://other.example/x,tea,3,40,,2",
        "2026-11-01,b,tea,3,40,,2",
        f"2026-11-01,{A}/b,tea,0,0,,0",
        f"2026-11-01,{A}/b,,3,40,,2",
        "Total,,,71,360,,2.5",
    ]
    noted = read(written(tmp_path, "\n".join([HEADER, *rows]) + "\n")).noted
    why = {reject.row: reject.reason for reject in noted.rejects}
    assert sorted(why) == [3, 4, 5, 6, 7, 8, 9]
    for row, words in {
        3: "same day, page and query",
        4: "position below 1",
        5: "more clicks than impressions",
        6: "day can't be read",
        7: "no number",
        8: "another site",
        9: "full URL",
    }.items():
        assert words in why[row]
    assert noted.reasons.total() == 7
    left_out = {reason: count for reason, count in noted.left_out.items() if count}
    assert left_out == {"without impressions": 1, "with an anonymised query": 1, "of totals": 1}
    assert noted.remarks == []


def test_forms_of_a_page_are_one(tmp_path: Path) -> None:
    """# and tracking parameters make no difference; http and www are counted, and made one where rows are used."""
    urls = [f"{A}/a", f"{A}/a/#part", f"{A}/a?utm_source=x", "http://tea.example/a"]
    rows = [f"2026-11-01,{url},tea,1,10,,{position}" for position, url in enumerate(urls, 1)]
    found = read(written(tmp_path, "\n".join([HEADER, *rows]) + "\n"))
    frame = found.frames[DAILY, SearchTable.QUERIES]
    assert frame[["page", "clicks", "impressions", "position"]].values.tolist() == [
        [f"{A}/a", 3, 30, 2.0],
        ["http://tea.example/a", 1, 10, 4.0],
    ]
    assert found.noted.facts["rows merged: a page with # or tracking parameters"] == 2
    assert found.noted.facts["pages under http and https, or with and without www, which count as one"] == 1


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"filters": ["Country,Japan"]}, "filtered by Country (Japan)"),
        ({"pages": ["https://other.example/,9,90,10%,3.1"]}, "none of its pages is of tea.example"),
    ],
)
def test_exports_of_something_else_are_refused(
    tmp_path: Path, rows: dict[str, list[str]], words: str
) -> None:
    """A filtered export, and one of another property, would pass for the whole site: nothing of them is read."""
    with pytest.raises(InputError) as caught:
        read(zipped(tmp_path / "export.zip", "English", **rows))
    assert words in str(caught.value)


def test_a_table_without_days_needs_a_period(tmp_path: Path) -> None:
    pages = written(tmp_path, f"Top pages,Clicks,Impressions,CTR,Position\n{A}/a,1,2,50%,3\n", "Pages.csv")
    with pytest.raises(InputError, match="no column of days.*--url-column"):
        read(pages)
    dates = written(tmp_path, "Date,Clicks,Impressions,CTR,Position\n2026-08-01,1,2,50%,3\n", "Dates.csv")
    found = read(pages, dates)
    assert [*found.frames] == [
        ("sums from 2026-08-01 to 2026-08-01", SearchTable.PAGES),
        (DAILY, SearchTable.TOTALS),
    ]


def test_days_that_can_be_read_in_two_ways_are_refused(tmp_path: Path) -> None:
    """The first of November or the eleventh of January: nobody guesses."""
    with pytest.raises(InputError, match="1/11/2026 can be read in two ways"):
        read(written(tmp_path, f"{HEADER}\n1/11/2026,{A}/a,tea,1,10,,2\n"))


def test_what_is_unusual_is_said(tmp_path: Path) -> None:
    rows = [
        f"{day}T00:00:00{zone},{A}/a,tea,1,10,,2"
        for day, zone in (("2026-11-01", "Z"), ("2026-11-04", "+02:00"))
    ]
    remarks = read(written(tmp_path, "\n".join([HEADER, *rows, "Total,,,90,900,,2", ""]))).noted.remarks
    for words in (
        "several time zones (+02:00, Z)",
        "says 90 clicks, but the rows add up to 2",
        "2026-11-02, 2026-11-03",
    ):
        assert any(words in remark for remark in remarks)
    pages = [f"{A}/{number},1,10,10%,3" for number in range(1000)]
    remarks = read(
        zipped(tmp_path / "export.zip", pages=pages, dates=["2026-08-01,10,90,11%,3"])
    ).noted.remarks
    assert any("1,000 rows, the most" in remark for remark in remarks)
    assert any("1,000 clicks together, but the table of dates has 10" in remark for remark in remarks)


def test_two_files_with_the_same_rows_count_once(tmp_path: Path) -> None:
    one = written(tmp_path, f"{HEADER}\n2026-11-01,{A}/a,tea,1,10,,2\n", "one.csv")
    two = written(
        tmp_path, f"{HEADER}\n2026-11-01,{A}/a,tea,1,10,,2\n2026-11-01,{A}/b,tea,1,10,,2\n", "two.csv"
    )
    found = read(one, two)
    assert found.frames[DAILY, SearchTable.QUERIES]["page"].tolist() == [f"{A}/a", f"{A}/b"]
    assert found.noted.facts["rows that an earlier file had"] == 1


def test_archives_with_one_name_are_two(tmp_path: Path) -> None:
    paths = []
    for folder, page in (("one", "a"), ("two", "b")):
        (tmp_path / folder).mkdir()
        rows = {"pages": [f"{A}/{page},9,90,10%,3.1"], "dates": ["2026-08-01,9,90,10%,3.1"]}
        paths.append(zipped(tmp_path / folder / "export.zip", "English", **rows))
    frames = read(*paths).frames
    pages = frames["sums from 2026-08-01 to 2026-08-01", SearchTable.PAGES]
    assert pages["page"].tolist() == [f"{A}/a", f"{A}/b"]


GA4 = """# ----------------------------------------
# Landing page
# Account: Tea, Pots
# ----------------------------------------
#
# All Users
# {start}: 20261001
# {end}: 20261031
{header}
,1000,500,10,Grand total
/a,600,300,5
/b?utm_source=x,200,100,5
/b,100,10,0
(not set),50,0,0

# All Users
# {start}: 20261001
# {end}: 20261031
Nth day,Sessions
0000,12
"""


@pytest.mark.parametrize(
    "header",
    [
        "Landing page + query string,Sessions,Engaged sessions,Key events",
        "Landingpage,Sitzungen,Sitzungen mit Interaktionen,Schlüsselereignisse",
        "Página de destino,Sesiones,Sesiones con interacción,Eventos clave",
        "Page de destination,Sessions,Sessions avec engagement,Événements clés",
        "Pagina di destinazione,Sessioni,Sessioni con coinvolgimento,Eventi chiave",
    ],
)
def test_exports_of_google_analytics_are_read(tmp_path: Path, header: str) -> None:
    path = written(tmp_path, GA4.format(start="Start date", end="End date", header=header))
    assert search_exports([path]) == [path]
    found = read(path)
    frame = found.frames["sums from 2026-10-01 to 2026-10-31", SearchTable.SESSIONS]
    assert [row[1:] for row in frame.itertuples(index=False)] == [
        (f"{A}/a", 600, 300, 5),
        (f"{A}/b", 300, 110, 5),
    ]
    assert any("hides rows of few users" in remark for remark in found.noted.remarks)
    assert found.noted.left_out["without a page, such as (not set) or (other)"] == 1


def test_sessions_by_day_are_days(tmp_path: Path) -> None:
    """A table with a column of days is stored by day, and columns that it lacks are said to count as 0."""
    found = read(written(tmp_path, f"Date,Landing page,Sessions\n20261101,/a,4\n20261102,{A}/a,5\n"))
    frame = found.frames[DAILY, SearchTable.SESSIONS]
    assert frame[["page", "sessions", "key_events"]].values.tolist() == [[f"{A}/a", 4, 0], [f"{A}/a", 5, 0]]
    assert sum("they count as 0" in remark for remark in found.noted.remarks) == 2


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("Total,,,71,360,,2.5", "of totals"),
        (",Grand total,,71,360,,2.5", "of totals"),
        (",,Gesamt,71,360,,2.5", "of totals"),
        (",,,71,360,,2.5,Grand total", "of totals"),
        (",,,71,360,,2.5,,,Grand total", "without a page, such as (not set) or (other)"),
        ("2026-11-01,,total,71,360,,2.5", "without a page, such as (not set) or (other)"),
        ("2026-11-01,,summe", "without a page, such as (not set) or (other)"),
        ("2026-11-01", "without a page, such as (not set) or (other)"),
    ],
)
def test_only_rows_of_totals_count_as_such(tmp_path: Path, row: str, reason: str) -> None:
    """A day without a page is none, though its query may be "total"; Google Analytics writes it beyond the header."""
    rows = [HEADER, f"2026-11-01,{A}/a,tea,3,40,,2", row, ""]
    noted = read(written(tmp_path, "\n".join(rows))).noted
    assert {why: count for why, count in noted.left_out.items() if count} == {reason: 1}


def test_cells_beyond_the_header_are_told(tmp_path: Path) -> None:
    """A row that is longer than the header is counted and named, however far its cells are beyond it."""
    row = f"2026-11-01,{A}/{{}},tea,3,40,,2"
    rows = [
        HEADER,
        row.format("a"),
        row.format("b") + ",,,note",
        row.format("c") + ",,",
        row.format("d") + ",x",
        "",
    ]
    found = read(written(tmp_path, "\n".join(rows)))
    assert len(found.frames[DAILY, SearchTable.QUERIES]) == 4
    assert found.noted.facts["rows with cells beyond the header's columns"] == 2
    told = "2 rows have cells beyond the header's columns, row 3 is the first"
    assert any(told in one for one in found.noted.remarks)
    found = read(written(tmp_path, "\n".join([HEADER, row.format("a") + ",x", ""])))
    assert any("1 row has cells beyond the header's columns" in one for one in found.noted.remarks)


MISNAMED = {
    "Clicks": f"Date,Page,Query,Klix,Impressions,Position\n2026-11-01,{A}/a,tea,1,10,2\n",
    "Impressions": f"Date,Page,Query,Clicks,Views in Google,Position\n2026-11-01,{A}/a,tea,1,10,2\n",
    "Position": f"Datum;Seite;Suchanfrage;Klicks;Impressionen;Rang\n2026-11-01;{A}/a;tea;1;10;2\n",
    "Page": f"Date,Seite im Web,Query,Clicks,Impressions,Position\n2026-11-01,{A}/a,tea,1,10,2\n",
    "Sessions": f"Date,Landing page,Visits,Engaged sessions,Key events\n2026-11-01,{A}/a,9,5,1\n",
}


@pytest.mark.parametrize("name", MISNAMED)
def test_a_table_with_a_misnamed_column_is_refused(tmp_path: Path, name: str) -> None:
    """It is search data all the same, neither a crawl nor left out: the missing column is named."""
    path = written(tmp_path, MISNAMED[name])
    assert search_exports([path]) == [path]
    with pytest.raises(
        InputError, match=rf"export\.csv: the header row has no column '{name}' \(it has: Dat"
    ):
        read(path)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Date,Seite im Web,Clicks,Impressions,CTR,Position", "Page"),
        ("Day of data,Page,Clicks,Impressions,CTR,Position", "no column of days"),
        ("Seite im Web,Clicks,Impressions,CTR,Position", "Page"),
    ],
)
def test_pages_in_an_unknown_column_are_no_totals(tmp_path: Path, header: str, name: str) -> None:
    """Without the column that tells rows apart, they would pass for one row of totals, or for nothing at all."""
    cells = ["2026-11-01"] * ("Da" in header[:2]) + [f"{A}/{{}}"] * ("Page" in header or "Seite" in header)
    row = ",".join([*cells, "1,10,10%,2"])
    path = written(tmp_path, "\n".join([header, row.format("a"), row.format("b"), ""]))
    with pytest.raises(InputError, match=name):
        read(path)


def test_queries_in_an_unknown_column_are_no_repetitions(tmp_path: Path) -> None:
    rows = [f"2026-11-01,{A}/a,{query},1,10,2" for query in ("tea", "pot", "cup")]
    path = written(tmp_path, "\n".join(["Date,Page,Asked for,Clicks,Impressions,Position", *rows, ""]))
    with pytest.raises(InputError, match="no column 'Query'.* 2 rows would count as a repetition"):
        read(path)


def test_an_archive_is_read_without_a_table_that_means_nothing(tmp_path: Path) -> None:
    path = zipped(tmp_path / "export.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("Looks.csv", "Looks,Clicks,Impressions,CTR,Position\nVideo,1,10,10%,2\n")
    found = read(path)
    assert len(found.frames) == 2
    assert any("Looks.csv: the header row has no column 'Page'" in one for one in found.noted.remarks)


def test_one_file_of_queries_says_why_nothing_is_left(tmp_path: Path) -> None:
    """A refusal because nothing is left gives the reasons that would be remarks otherwise."""
    path = written(tmp_path, "Top queries,Clicks,Impressions,CTR,Position\ntea,1,10,10%,2\n")
    with pytest.raises(InputError, match=r"queries without pages.*which page each query led to.*Nothing was"):
        read(path)


@pytest.mark.parametrize(
    "header",
    [
        "Address,Status Code,Title 1,Clicks,Impressions,CTR,Position",
        "URL,Page title,Organic traffic,Keyword,Position",
        "Page URL,HTTP Status Code,Clicks,Impressions",
        "Adresse,Statuscode,Titel 1,Klicks,Impressionen,CTR,Position",
        "URL,Word Count,Query,Clicks,Position",
        "URL,Keyword",
        "URL,Clicks",
        "URL,Conversions",
    ],
)
def test_crawls_with_some_search_data_stay_crawls(tmp_path: Path, header: str) -> None:
    assert search_exports([written(tmp_path, f"{header}\n{A}/a,200,1,1,1,1,1\n")]) == []
