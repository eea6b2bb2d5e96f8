"""Bad input gets an answer, not a crash; `python -m tests.research.hostile` tries a thousand inputs."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from internal_linker.model.errors import ExitCode
from tests.support.small_project import command, make_project

PAGES, QUERIES, LINKS = "files/urls_rawdata.csv", "files/main_queries.csv", "files/existing_links.csv"
SETTINGS, PATTERNS, REVIEW, CACHE = (
    *("config/settings.toml", "config/excluded_urls.txt"),
    *("files/review.xlsx", "files/cache.sqlite3"),
)
HEADER = "URL,Title,Main Content\n"
ROW = "https://www.tiny.example/green-tea/,Green tea,Green tea leaves are steamed and taste fresh.\n"
# Whatever happens, a run ends with one of these.
ANSWERS = (ExitCode.SUCCESS, ExitCode.CONFIGURATION, ExitCode.INPUT, ExitCode.SERVICE, ExitCode.GAPS)


def folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def foreign_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (a)")


def empty_workbook(path: Path) -> None:
    openpyxl.Workbook().save(path)


INPUTS: dict[str, tuple[str, bytes | Callable[[Path], None]]] = {
    "an empty table": (PAGES, b""),
    "a table of other columns": (PAGES, b"x,y\n1,2\n"),
    "only a header": (PAGES, HEADER.encode()),
    "a picture": (PAGES, b"\x89PNG\r\n\x1a\n" + bytes(range(256))),
    "zero bytes": (PAGES, bytes(5_000)),
    "UTF-16 cut in half": (PAGES, (HEADER + ROW).encode("utf-16")[:-1]),
    "an encoding that nobody uses": (PAGES, (HEADER + ROW).encode("utf-7") + b"+2AA-"),
    "quotation marks that never end": (PAGES, (HEADER + '"' + ROW * 50).encode()),
    "a cell of a megabyte": (PAGES, (HEADER + ROW.replace("Green tea,", "x" * 2**20 + ",")).encode()),
    "thousands of columns": (PAGES, (",".join(f"c{at}" for at in range(5_000)) + ",URL\n").encode()),
    "odd URLs": (PAGES, (HEADER + "http://[::1,a,b\nhttps://xn--0.example/,a,b\n//,a,b\n\x00,a,b\n" + ROW).encode()),
    "formulas and control characters": (PAGES, (HEADER + ROW.replace("Green", "=1+1\x07\x1b[2J")).encode()),
    "a folder": (PAGES, folder),
    "queries with a lone quotation mark": (QUERIES, b'URL,Main Query\n"a,b\n'),
    "queries of no page": (QUERIES, b"URL,Main Query\nhttps://other.example/,tea\n,\n"),
    "links to themselves": (LINKS, b"Source,Destination\nhttps://a.example/,https://a.example/\n"),
    "links in no table": (LINKS, b"\xff\xfe\x00"),
    "settings that are no TOML": (SETTINGS, b"links_per_page = = 5"),
    "settings out of range": (SETTINGS, b"links_per_page = -1\nno_such_setting = 1\n"),
    "settings in another encoding": (SETTINGS, "location = 'Köln'".encode("latin-1")),
    "a pattern that is none": (PATTERNS, b"(((\n"),
    "a pattern that takes forever elsewhere": (PATTERNS, b"(a+)+$\n"),
    "a workbook of somebody else": (REVIEW, empty_workbook),
    "a workbook that is a text": (REVIEW, b"Status,Anchor\n"),
    "a cache of another program": (CACHE, foreign_database),
    "a cache that is a text": (CACHE, b"no database " * 1_000),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("what", INPUTS)
def test_bad_input_gets_an_answer(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run ends with a documented exit code; a failure is a sentence with the file's name, which stays as it was."""
    project = make_project(tmp_path)
    name, content = INPUTS[what]
    path = project / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        content(path)
    before = path.read_bytes() if path.is_file() else b""
    code = command("run", "--project", str(project))
    said = capsys.readouterr()
    assert code in ANSWERS, said.err
    assert "Traceback" not in said.out + said.err + (project / "logfile.txt").read_text("utf-8")
    if code in (ExitCode.CONFIGURATION, ExitCode.INPUT):
        assert path.name in said.err
        assert not path.is_file() or path.read_bytes() == before
