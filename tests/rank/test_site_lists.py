"""The lists that a whole run writes beside its links: near-duplicates and orphan pages."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.rank.test_already_linked import existing, run
from tests.support.sites import read_csv
from tests.support.small_project import HEADER, SITE, TOPICS, URLS, command, make_project, summary, write_csv

ROOT = Path(__file__).parents[2]
GREEN, BLACK, WHITE, *_ = URLS
COPY = f"{SITE}/green-tea-copy/"
DUPLICATES = "files/duplicates.csv"


def with_copy(folder: Path) -> Path:
    """Return the small project with a second page that has the green tea page's text."""
    make_project(folder)
    rows = [(url, slug, text) for url, (slug, text) in zip(URLS, TOPICS.items(), strict=True)]
    write_csv(folder / "files/urls_rawdata.csv", [HEADER, (COPY, *rows[0][1:]), *rows])
    return folder


def test_near_duplicates_are_listed_by_whole_runs_and_not_linked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = with_copy(tmp_path)
    found = run(folder)
    assert COPY not in found[GREEN] and GREEN not in found[COPY]
    assert COPY in found[BLACK] and len(found[GREEN]) == 5
    (row,) = read_csv(folder / DUPLICATES)
    assert list(row) == [
        "Page",
        "Canonical Candidate",
        "Embedding Similarity",
        "Lexical Score",
        "Shingle Overlap",
    ]
    assert list(row.values()) == [COPY, GREEN, "1.0000", "1.0000", "1.0000"]
    assert "  Near-duplicates: 1 pair (files/duplicates.csv)\n" in capsys.readouterr().out
    before = (folder / DUPLICATES).read_bytes()
    (folder / "config/excluded_urls.txt").write_text("copy", encoding="utf-8")
    capsys.readouterr()
    run(folder, "--limit", "2", "--publish")
    assert command("lookup", GREEN, "--project", str(folder)) == 0
    assert (folder / DUPLICATES).read_bytes() == before
    assert "Near-duplicates" not in capsys.readouterr().out
    run(folder)
    assert read_csv(folder / DUPLICATES) == []
    assert "Near-duplicates" not in capsys.readouterr().out
    assert summary(folder)["Near-duplicates"] == "none"


def orphans(folder: Path) -> dict[str, list[str]]:
    rows = [list(row.values()) for row in read_csv(folder / "files/orphans.csv")]
    listed = {page: [source for source in sources if source] for page, *sources in rows}
    assert all(sources[: len(listed[page])] == listed[page] for page, *sources in rows), "no gap among them"
    return listed


def test_orphans_are_listed_with_the_pages_to_link_from_if_links_are_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_project(tmp_path)
    existing(folder, (GREEN, WHITE), (WHITE, BLACK), (f"{SITE}/not-listed/", URLS[3]), (BLACK, BLACK))
    near = f"{SITE}/steaming/"
    with (folder / "files/urls_rawdata.csv").open("a", encoding="utf-8") as file:
        file.write(f"{near},Steaming green tea,Green tea leaves are steamed in baskets of bamboo\n")
    run(folder)
    listed = orphans(folder)
    assert list(listed) == [GREEN, URLS[4], URLS[5], near]
    assert all(1 <= len(sources) <= 5 for sources in listed.values())
    assert all(page not in sources and set(sources) < {*URLS, near} for page, sources in listed.items())
    assert listed[GREEN][0] == near and listed[near][0] == GREEN
    assert list(read_csv(folder / "files/orphans.csv")[0]) == [
        "Orphan",
        *(f"Source {n}" for n in range(1, 6)),
    ]
    assert "  Orphans: 4 pages (files/orphans.csv)\n" in capsys.readouterr().out
    (folder / "files/existing_links.csv").unlink()
    run(folder, "--limit", "1", "--publish")
    assert orphans(folder) == listed
    run(folder)
    assert orphans(folder) == {}
    assert "  Orphans: unknown without existing links\n" in capsys.readouterr().out


def test_sources_of_an_orphan_are_pages_that_can_take_the_link(tmp_path: Path) -> None:
    folder = make_project(tmp_path)
    text = TOPICS["green-tea"]
    write_csv(
        folder / "files/urls_rawdata.csv",
        [
            ("URL", "Title", "Main Content", "Lang", "Status Code", "Redirect URL"),
            *(
                (url, slug, words, "en", "200", "")
                for url, (slug, words) in zip(URLS, TOPICS.items(), strict=True)
            ),
            (COPY, "green-tea", text, "en", "200", ""),
            (f"{SITE}/gone/", "green tea", "Green tea leaves are steamed in baskets.", "en", "404", ""),
            (f"{SITE}/old/", "green tea", f"Fresh tea. {text}", "en", "301", GREEN),
            (f"{SITE}/de/", "green tea", f"Tea leaves. {text}", "de", "200", ""),
        ],
    )
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), ("", "green tea leaves")])
    existing(folder, (BLACK, URLS[4]))
    run(folder)
    listed = orphans(folder)
    assert f"{SITE}/gone/" not in listed and f"{SITE}/de/" in listed
    assert WHITE in listed[GREEN] and set(listed[GREEN]) < set(URLS)
    assert listed[f"{SITE}/de/"] == []


def test_nothing_that_a_run_writes_is_offered_to_git(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("this is no checkout, or git isn't there")
    folder = make_project(tmp_path)
    given = set((folder / "files").iterdir())
    assert command("run", "--project", str(folder)) == 0
    written = sorted(f"files/{path.name}" for path in set((folder / "files").iterdir()) - given)
    assert {"files/Output.csv", "files/duplicates.csv", "files/orphans.csv"} <= set(written)
    check = ["git", "check-ignore", "--no-index", *written]
    ignored = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ignored.stdout.split() == written
