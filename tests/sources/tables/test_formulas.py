"""In every output of a run, foreign formulas stay text and control characters break no file."""

import csv
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import openpyxl
import pytest

from internal_linker.model.errors import ExitCode
from internal_linker.model.urls import normal_form
from tests.standins import GoogleStandIn
from tests.support.sites import read_csv, use_standins
from tests.support.small_project import SITE, TOPICS, command, write_csv, write_settings

# OWASP's signs for CSV injection with their full-width forms, and characters that may precede them.
SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
BEFORE = ("", " ", '"', "\u201c", "\u200f", "\u202e", "\ufeff", "\xa0")
CONTROLS = "".join(map(chr, [*range(1, 32), 0x7F, 0x85, 0x2028, 0xFFFE]))
STARTS = [*(("", sign) for sign in SIGNS), *((before, "=") for before in BEFORE[1:])]
FORMULAS = [f'{before}{sign}HYPERLINK("http://x.example","tea")' for before, sign in STARTS]
# Characters that a spreadsheet program or its import skips.
SKIPPED = ' \t\r\n\xa0"\u201c\u201d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff'


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project, run and audited, with each formula as a title, query, anchor, sentence and invalid URL."""
    folder = tmp_path_factory.mktemp("formulas")
    texts, many = list(TOPICS.values()), len(FORMULAS)
    urls = [f"{SITE}/page-{at}" for at in range(many)]
    contents = [
        f"{texts[at // 2 % 6]}\n\n{formula} {texts[at // 2 % 5]}\n\n{CONTROLS[at::many]} {texts[at // 2 % 4]}"
        for at, formula in enumerate(FORMULAS)
    ]
    pages = [(*page, "en") for page in zip(urls, FORMULAS, contents, strict=True)]
    rejected = [(formula, "Tea", "Tea.", "en") for formula in FORMULAS]
    write_csv(
        folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content", "Lang"), *pages, *rejected]
    )
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), *zip(urls, FORMULAS, strict=True)])
    links = zip(urls, urls[1:], FORMULAS, strict=False)
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *links])
    write_settings(folder, {})
    assert command("run", "--project", str(folder)) == ExitCode.SUCCESS
    assert command("audit", "--project", str(folder)) == ExitCode.SUCCESS
    return folder


def test_no_cell_of_a_csv_file_runs(project: Path) -> None:
    """In every CSV file of a run or an audit, an apostrophe precedes whatever could begin a formula."""
    seen = 0
    for name in ("Output", "links", "rejected_rows", "orphans", "excluded_targets", "duplicates"):
        with (project / f"files/{name}.csv").open(encoding="utf-8-sig", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        seen += sum("HYPERLINK" in cell for cell in cells)
        cells = [cell for cell in cells if not re.fullmatch(r"-\d+\.\d+", cell)]
        assert [cell for cell in cells if cell.strip() and cell.lstrip(SKIPPED)[:1] in SIGNS] == []
        assert not [cell for cell in cells if cell[:1] in {"\t", "\r", "\n"}]
    assert seen > 2 * len(FORMULAS)
    rows = read_csv(project / "files/Output.csv")
    assert {row["URL"] for row in rows} == {f"{SITE}/page-{at}" for at in range(len(FORMULAS))}
    links = [row[f"Link {rank}"] for row in rows for rank in range(1, 6)]
    assert any(links) and all(normal_form(link) for link in links if link)


def test_no_cell_of_a_workbook_runs(project: Path) -> None:
    for name in ("review.xlsx", "audit.xlsx"):
        book = openpyxl.load_workbook(project / "files" / name, read_only=True)
        cells = [
            cell for sheet in book for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)
        ]
        assert any("HYPERLINK" in str(cell.value) for cell in cells)
        assert {cell.data_type for cell in cells} == {"s"}
    assert ET.parse(project / "files/audit.graphml").getroot() is not None


def test_no_cell_of_the_sheet_runs(tmp_path: Path) -> None:
    """Every write to both tabs is RAW or typed as text, and the texts stay unchanged."""
    pages = [(f"{SITE}/{at}", *page) for at, page in enumerate(zip(FORMULAS, TOPICS.values(), strict=False))]
    write_csv(tmp_path / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *pages])
    write_settings(tmp_path, {})
    rows = [[url, formula] for url, formula, _ in pages]
    with GoogleStandIn({"Main": [["URL", "Main Query"], *rows]}, writes_per_minute=1000) as google:
        use_standins(
            tmp_path, google=google, settings={"embedding_provider": "lsa", "search_query_template": ""}
        )
        sheet = {"google_sheet_id": google.spreadsheet_id, "google_api_url": google.url}
        write_settings(tmp_path, {**sheet, "review": "auto"})
        assert command("run", "--project", str(tmp_path)) == ExitCode.SUCCESS
        assert [row[1] for row in google.grid("Main")[1:]] == [formula for _, formula in rows]
        writes = [
            call.body for call in google.ledger if call.method == "POST" and isinstance(call.body, dict)
        ]
        assert {body["valueInputOption"] for body in writes if "valueInputOption" in body} == {"RAW"}
        assert "formulaValue" not in str(writes)
        assert any("HYPERLINK" in cell for row in google.grid("Review") for cell in row)
