"""Tables in the encodings of Excel's countries keep their letters, whichever table it is."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.crawls import empty_project, imported, table
from tests.support.small_project import SITE, command, write_settings

TEXTS = {
    "cp1250": ("Jak parzyć zieloną herbatę", "Najlepsze młynki do kawy", "Książki o podróżach"),
    "cp1251": ("Как заварить зелёный чай", "Лучшие кофемолки", "Книги о путешествиях"),
    "cp1256": ("طريقة تحضير الشاي الأخضر", "أفضل مطاحن القهوة", "كتب عن السفر"),
}
URLS = [f"{SITE}/{number}/" for number in range(3)]


def write(path: Path, encoding: str, *rows: Sequence[str]) -> str:
    """Write a table as Excel does in this country, and return its path."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";").writerows(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.getvalue().encode(encoding))
    return str(path)


@pytest.mark.parametrize("encoding", TEXTS)
def test_a_crawl_and_its_links_keep_their_letters(encoding: str, tmp_path: Path) -> None:
    """`import` reads pages and links in the encoding of their language."""
    project, texts = empty_project(tmp_path / "project"), TEXTS[encoding]
    pages = write(tmp_path / "p.csv", encoding, ("Address", "Title 1"), *zip(URLS, texts, strict=True))
    links = [(URLS[0], url, text) for url, text in zip(URLS, texts, strict=True)]
    inlinks = write(tmp_path / "l.csv", encoding, ("Source", "Destination", "Anchor"), *links)
    assert imported(project, pages, inlinks) == 0
    assert [row[1] for row in table(project, "urls_rawdata.csv")[1:]] == list(texts)
    assert [row[2] for row in table(project, "existing_links.csv")[1:]] == list(texts)


def test_a_projects_own_tables_keep_their_letters(tmp_path: Path) -> None:
    encoding, files = "cp1251", tmp_path / "files"
    texts = TEXTS[encoding]
    write_settings(tmp_path, {})
    pages = [(url, text, f"{text}. {' '.join(texts)}") for url, text in zip(URLS, texts, strict=True)]
    write(files / "urls_rawdata.csv", encoding, ("URL", "Title", "Main Content"), *pages)
    write(files / "main_queries.csv", encoding, ("URL", "Main Query"), *zip(URLS, texts, strict=True))
    assert command("run", "--project", str(tmp_path)) == 0
    assert {row[1] for row in table(tmp_path, "Output.csv")[1:]} == set(texts)
