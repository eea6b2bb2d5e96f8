"""`import` loses no existing data, counts what it leaves out, and asks for confirmation at a terminal."""

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from internal_linker.store.files.locks import folder_lock
from tests.support.crawls import A, B, C, crawl, imported, links, pages, table
from tests.support.small_project import (
    REPOSITORY,
    SITE,
    TOPICS,
    URLS,
    command,
    environment,
    write_settings,
    write_text,
)


def test_an_import_imports_again_to_the_same(project: Path, tmp_path: Path) -> None:
    header = ("URL", "Title", "Main Content", "Lang")
    texts = "a, \"b\"\nسبز 緑茶 🍵;\t'x'", "=1+1", "- one\n- two"
    file = crawl(
        tmp_path / "p.csv",
        header,
        *([url, "@t", text, "en"] for url, text in zip((A, B, C), texts, strict=True)),
    )
    ends = crawl(tmp_path / "l.csv", ("Source", "Destination", "Anchor", "Start"), (A, B, "+1", "7"))
    assert imported(project, file, ends) == 0
    before = {path: path.read_bytes() for path in (project / "files").glob("*.csv")}
    ours = [str(project / "files" / name) for name in ("urls_rawdata.csv", "existing_links.csv")]
    assert imported(project, *ours) == 0
    assert {path: path.read_bytes() for path in (project / "files").glob("*.csv")} == before
    assert pages(project)[1][2] == texts[0]
    assert links(project)[1] == (A, B, "'+1", "7")


def test_files_that_are_there_are_copied_aside(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The old pages are copied beside the new ones; the links stay if no imported file contains links."""
    write_text(project / "files/urls_rawdata.csv", "my own pages")
    write_text(project / "files/existing_links.csv", "my own links")
    assert imported(project, crawl(tmp_path / "p.csv", ("URL",), (A,)), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    (copy,) = (project / "files").glob("urls_rawdata *.csv")
    assert copy.read_text(encoding="utf-8") == "my own pages"
    assert (project / "files/existing_links.csv").read_text(encoding="utf-8") == "my own links"
    assert pages(project) == [("URL",), (A,)]
    assert (told["pages"], told["links"], told["copies"]) == (1, None, [copy.name])
    columns = {"file": str(tmp_path / "p.csv"), "rows_are": "pages", "columns": {"URL": "URL"}}
    assert told["files"] == [{**columns, "content_median_length": 0}]


def test_filters_are_counted(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = ("URL", "Status Code", "Indexability", "Canonical", "Main Content")
    rows = [
        (SITE + "/a", "200", "Indexable", SITE + "/a/", "one two three"),
        (SITE + "/a/page/2", "200", "Indexable", "", "one two three"),
        (SITE + "/a?sort=up", "200", "Indexable", "", "one two three"),
        (SITE + "/b", "200", "Non-Indexable", "", "one two three"),
        (SITE + "/c", "404", "", "", "one two three"),
        (SITE + "/d", "200", "", SITE + "/a", "one two three"),
        (SITE + "/tag/tea", "200", "", "", "one two three"),
        (SITE + "/shop/tea", "200", "", "", "one two three"),
        (SITE + "/e", "200", "", "", "one"),
        (SITE + "/f", "", "", "", "one two three"),
    ]
    file = crawl(tmp_path / "p.csv", header, *rows)
    options = "--no-pagination --no-parameters --only-indexable --only-200 --no-canonicalised --min-words 3"
    more = "--include /* --exclude /tag --exclude /*op/* --limit 1 --json"
    assert imported(project, file, *options.split(), *more.split()) == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == {
        **{"pagination": 1, "URL with parameters": 1, "not indexable": 1, "status is not 200": 1},
        **{"canonicalised to another page": 1, "in --exclude": 2, "fewer than 3 words": 1},
        "beyond --limit": 1,
    }
    assert [row[0] for row in pages(project)[1:]] == [SITE + "/a"]
    assert imported(project, file) == 0
    assert len(pages(project)) == 1 + len(rows)


def test_the_terminal_names_rejected_rows(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first five rejected rows are shown with row number, URL and reason; the last line counts all of them."""
    bad = ("https://tea pots.example/", "https://tea,pots.example/", "/tea", "", "https://tea.example:x/")
    path = tmp_path / "crawl.csv"
    write_text(path, "\n".join(["URL,Title", f"{A},Tea", *(f'"{url}",Tea' for url in bad), ""]))
    assert imported(project, str(path)) == 0
    out = capsys.readouterr().out
    assert "Rejected: row 3 (https://tea pots.example/): the host name contains a space\n" in out
    assert "Rejected: row 5 (/tea): not a full URL" in out and "Rejected: row 6: the URL is empty\n" in out
    assert out.count("Rejected: ") == 5 and "rejected_rows.csv" not in out
    write_text(path, path.read_text(encoding="utf-8") + "/cups,Cups\n/pots,Pots\n")
    assert imported(project, str(path)) == 0
    out = capsys.readouterr().out
    assert out.count("Rejected: ") == 5
    assert "All 7 rejected rows are in files/rejected_rows.csv: 3 because not a full URL" in out
    assert len(table(project, "rejected_rows.csv")) == 8
    assert imported(project, str(path), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rejected"] == 7 and [row["row"] for row in told["rejected_examples"]] == [3, 4, 5, 6, 7]


ERRORS = {
    "no URLs": ("Name,Price\n1,2\n", (), "has no column 'URL' (it has: Name, Price). Use --url-column"),
    "no such column": (f"URL\n{A}\n", ("--url-column", "wo"), "--url-column wo: no file has a column with"),
    "no usable row": ("URL\n/x\n", (), "no rows left to import (rejected: 1 because not a full URL"),
    "no row": (
        "URL,Title\n",
        (),
        "no rows left to import: there is no row below the header. Nothing was written.",
    ),
    "all filtered": (
        f"URL\n{A}\n",
        ("--exclude", "/a"),
        "(left out: 1 in --exclude). Nothing was written.",
    ),
    "damaged row": (f'URL,Title\n{A},"Tea\n', (), "the file ends inside a cell"),
    "no file": ("", (), "crawl.csv not found"),
    "no workbook": ("PK", (), "can't be read: it is damaged or not an Excel file"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_bad_input_is_a_sentence(
    case: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bad input ends with one sentence, a remedy and exit code 3; the existing tables stay unchanged."""
    text, options, sentence = ERRORS[case]
    path = tmp_path / ("crawl.xlsx" if case == "no workbook" else "crawl.csv")
    if text:
        write_text(path, text)
    write_text(project / "files/urls_rawdata.csv", "my own pages")
    assert imported(project, str(path), *options) == 3
    assert sentence in capsys.readouterr().err
    assert (project / "files/urls_rawdata.csv").read_text(encoding="utf-8") == "my own pages"
    assert list((project / "files").glob("urls_rawdata?*.csv")) == []


def test_a_run_that_is_active_keeps_its_tables(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with folder_lock(project):
        assert imported(project, crawl(tmp_path / "p.csv", ("URL",), (A,))) == 5
    assert "already active" in capsys.readouterr().err
    assert not (project / "files/urls_rawdata.csv").exists()


def test_pages_without_texts_are_told_of(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An import without a text column warns at once, because a run needs one."""
    assert imported(project, crawl(tmp_path / "p.csv", ("URL",), (A,))) == 0
    assert "name the column with --content-column" in capsys.readouterr().err


def test_a_run_reads_what_was_imported(project: Path, tmp_path: Path) -> None:
    """A run needs only a German crawl: it proposes links for its pages and knows its links."""
    pages = [(url, "200", "Indexierbar", text) for url, text in zip(URLS, TOPICS.values(), strict=True)]
    crawled = crawl(tmp_path / "p.csv", ("Adresse", "Status-Code", "Indexierbarkeit", "Content 1"), *pages)
    inlinks = [
        ("Hyperlink", URLS[0], URLS[1], "x", "Inhalt"),
        ("Hyperlink", URLS[0], URLS[2], "x", "Kopfzeile"),
    ]
    header = ("Typ", "Quelle", "Ziel", "Ankertext", "Linkposition")
    assert imported(project, crawled, crawl(tmp_path / "l.csv", header, *inlinks)) == 0
    write_settings(project, {})
    assert command("run", "--project", str(project)) == 0
    first = table(project, "Output.csv")[1]
    assert first[0] == URLS[0] and URLS[2] in first and URLS[1] not in first


@pytest.mark.skipif(os.name != "posix", reason="a terminal as POSIX has it")
@pytest.mark.parametrize(
    ("answer", "options", "done"),
    [
        ("n", (), 0),
        pytest.param("", (), 1, marks=pytest.mark.long),
        pytest.param(None, ("--yes",), 1, marks=pytest.mark.long),
    ],
)
def test_a_person_is_asked(
    answer: str | None, options: tuple[str, ...], done: bool, project: Path, tmp_path: Path
) -> None:
    """At a terminal the import shows the columns and asks; Enter means yes, and --yes skips the question."""
    file = crawl(tmp_path / "p.csv", ("Adresse",), (A,))
    ours, theirs = os.openpty()
    arguments = ["-m", "internal_linker", "import", file, "--project", str(project), *options]
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=REPOSITORY, env=environment(), stdin=theirs, stdout=theirs
    )
    os.close(theirs)
    out, patience = "", time.monotonic() + 30
    while answer is not None and "[Y/n]" not in out:
        assert time.monotonic() < patience, out
        if select.select([ours], [], [], 0.05)[0]:
            out += os.read(ours, 4096).decode("utf-8", "replace")
    if answer is not None:
        assert "Adresse" in out
        os.write(ours, f"{answer}\n".encode())
    assert process.wait(timeout=30) == 0
    os.close(ours)
    assert (project / "files/urls_rawdata.csv").exists() == bool(done)
