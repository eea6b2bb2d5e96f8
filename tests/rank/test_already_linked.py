"""Existing links, from the file and the pages' HTML, and their effect on links and excluded targets."""

from pathlib import Path

import pytest

from tests.support.sites import read_csv
from tests.support.small_project import (
    HEADER,
    TOPICS,
    URLS,
    command,
    make_project,
    snapshot,
    summary,
    write_csv,
)

GREEN, BLACK, WHITE, POTS, WATER, STORAGE = URLS
EXCLUDED = "files/excluded_targets.csv"


def run(folder: Path, *options: str) -> dict[str, list[str]]:
    assert command("run", "--project", str(folder), *options) == 0
    return {
        row["URL"]: [link for name, link in row.items() if name.startswith("Link ") and link]
        for row in read_csv(folder / "files/Output.csv")
    }


def excluded(folder: Path) -> list[tuple[str, str, str]]:
    return [(row["Source"], row["Target"], row["Reason"]) for row in read_csv(folder / EXCLUDED)]


def existing(folder: Path, *links: tuple[str, ...]) -> None:
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *links])


def test_a_linked_page_is_not_suggested_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_project(tmp_path, {"links_per_page": 2})
    best = run(folder)[GREEN][0]
    assert excluded(folder) == []
    existing(folder, (GREEN + "?utm_source=x", best, "tea"), (GREEN, GREEN, "self"))
    found = run(folder)
    assert len(found[GREEN]) == 2 and best not in found[GREEN]
    assert any(best in links for page, links in found.items() if page != GREEN)
    assert excluded(folder) == [(GREEN, best, "already linked")]
    out, log = capsys.readouterr().out, (folder / "logfile.txt").read_text(encoding="utf-8")
    assert ", 1 existing link, 0 rows rejected" in out and "Excluded targets: none\n" in log
    figures = summary(folder)
    assert figures["Existing links / rows left out"] == "1 / 1"
    assert figures["Excluded targets"] == "1 already linked pairs of pages (files/excluded_targets.csv)"
    existing(folder, (GREEN, "black-tea", "x"), (GREEN, best, "x"))
    assert best not in run(folder)[GREEN]
    (row,) = read_csv(folder / "files/rejected_rows.csv")
    assert (row["Table"], row["Row"], row["URL"]) == ("files/existing_links.csv", "2", "black-tea")
    assert row["Reason"].startswith("Destination: not a full URL")


def test_pages_in_other_languages_are_told_once_each(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    languages = ["fa", "en", "de", "en", "", "en"]
    rows = [(url, slug, "?", lang) for url, slug, lang in zip(URLS, TOPICS, languages, strict=True)]
    write_csv(folder / "files/urls_rawdata.csv", [(*HEADER, "Lang"), *rows])
    existing(folder, (GREEN, BLACK, "x"))
    found = run(folder)
    assert excluded(folder) == [
        ("", GREEN, "in fa: only for pages in fa"),
        ("", WHITE, "in de: only for pages in de"),
        (GREEN, BLACK, "already linked"),
    ]
    assert GREEN not in found[BLACK]
    assert (
        "1 in de: only for pages in de, 1 in fa: only for pages in fa (files"
        in summary(folder)["Excluded targets"]
    )


def test_a_file_that_cant_be_read_ends_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_project(tmp_path)
    (folder / "files/existing_links.csv").write_text("Source,Anchor\na,b\n", encoding="utf-8")
    assert command("run", "--project", str(folder)) == 3
    assert "files/existing_links.csv: the header row has no column 'Destination'" in capsys.readouterr().err
    assert not (folder / "files/Output.csv").exists() and not (folder / EXCLUDED).exists()
    assert command("check", "--project", str(folder)) == 2
    assert "FAIL Existing links: files/existing_links.csv" in capsys.readouterr().out
    folder = make_project(tmp_path)
    existing(folder, (GREEN.replace("www.", "blog."), BLACK.replace("www.", "blog."), "x"))
    run(folder)
    assert "Note: files/existing_links.csv: 1 link, but none" in capsys.readouterr().out
    assert command("check", "--project", str(folder)) == 2
    assert "FAIL Existing links: files/existing_links.csv: 1 link, but none" in capsys.readouterr().out


def test_excluded_targets_always_tell_of_the_whole_input(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    existing(folder, (GREEN, BLACK, "x"), (STORAGE, BLACK, "x"))
    (folder / "config/excluded_urls.txt").write_text("/water\n", encoding="utf-8")
    run(folder)
    whole = excluded(folder)
    assert whole == [
        ("", WATER, "excluded by /water"),
        (GREEN, BLACK, "already linked"),
        (STORAGE, BLACK, "already linked"),
    ]
    run(folder, "--limit", "1", "--publish")
    assert excluded(folder) == whole
    existing(folder, (WHITE, BLACK, "x"))
    before = snapshot(folder)
    assert command("run", "--project", str(folder), "--dry-run") == 0
    assert command("lookup", WHITE, "--project", str(folder)) == 0
    after = snapshot(folder)
    assert after[EXCLUDED] == before[EXCLUDED]
    run(folder, "--only", POTS)
    assert excluded(folder) == [("", WATER, "excluded by /water"), (WHITE, BLACK, "already linked")]


def test_the_sample_sites_links_are_its_own() -> None:
    repository = Path(__file__).parents[2] / "files"
    texts = {page["URL"]: page["Main Content"] for page in read_csv(repository / "urls_rawdata.csv")}
    listed = {row["URL"] for row in read_csv(repository / "main_queries.csv")} | texts.keys()
    links = read_csv(repository / "existing_links.csv")
    assert len(links) > 50
    for link in links:
        assert link["Anchor"] in texts[link["Source"]]
        assert link["Destination"] in listed - {link["Source"]}
