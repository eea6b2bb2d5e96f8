"""What a whole run tells of the site beside its links: near-duplicates."""

from pathlib import Path

import pytest

from tests.sites import read_csv
from tests.small_project import HEADER, SITE, TOPICS, URLS, command, make_project, write_csv

GREEN, BLACK, WHITE, *_ = URLS
COPY = f"{SITE}/green-tea-copy/"
DUPLICATES = "files/duplicates.csv"


def run(folder: Path, *options: str) -> dict[str, list[str]]:
    """A run's links by page, as Output.csv has them."""
    assert command("run", "--project", str(folder), *options) == 0
    return {
        row["URL"]: [link for name, link in row.items() if name.startswith("Link ") and link]
        for row in read_csv(folder / "files/Output.csv")
    }


def with_copy(folder: Path) -> Path:
    """The small project with a second page of the green tea's text."""
    make_project(folder)
    rows = [(url, slug, text) for url, (slug, text) in zip(URLS, TOPICS.items(), strict=True)]
    write_csv(folder / "files/urls_rawdata.csv", [HEADER, (COPY, *rows[0][1:]), *rows])
    return folder


def existing(folder: Path, *links: tuple[str, str]) -> None:
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination"), *links])


def test_near_duplicates_are_listed_and_not_linked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each pair stands in duplicates.csv once, with its figures; neither page links to the other."""
    found = run(with_copy(tmp_path))
    assert COPY not in found[GREEN] and GREEN not in found[COPY]
    assert COPY in found[BLACK] and len(found[GREEN]) == 5
    (row,) = read_csv(tmp_path / DUPLICATES)
    assert list(row) == ["Page", "Canonical Candidate", "Similarity", "Lexical Score", "Shingle Overlap"]
    assert list(row.values()) == [COPY, GREEN, "1.0000", "1.0000", "1.0000"]
    assert "  Near-duplicates: 1 pairs (files/duplicates.csv)\n" in capsys.readouterr().out


def test_the_page_with_more_inlinks_is_kept(tmp_path: Path) -> None:
    """Pages that link to it count before the length of its URL, each page once."""
    folder = with_copy(tmp_path)
    existing(folder, (BLACK, GREEN), (BLACK, COPY), (WHITE, COPY))
    run(folder)
    assert [row["Canonical Candidate"] for row in read_csv(folder / DUPLICATES)] == [COPY]


def test_only_a_whole_run_tells_of_near_duplicates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A part of the rows leaves the list as it is; a whole run replaces it, by the header alone if there are none."""
    folder = with_copy(tmp_path)
    run(folder)
    before = (folder / DUPLICATES).read_bytes()
    (folder / "config/excluded_urls.txt").write_text("copy", encoding="utf-8")
    capsys.readouterr()
    run(folder, "--limit", "2")
    assert command("lookup", GREEN, "--project", str(folder)) == 0
    assert (folder / DUPLICATES).read_bytes() == before
    assert "Near-duplicates" not in capsys.readouterr().out
    run(folder)
    assert read_csv(folder / DUPLICATES) == []
    assert "  Near-duplicates: none\n" in capsys.readouterr().out
