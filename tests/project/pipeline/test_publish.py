"""What a run publishes and what it holds back: drift, sections that need approval, and editors' decisions."""

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pytest

from internal_linker.project.project import open_project
from tests.standins import GoogleStandIn, OpenAIStandIn
from tests.support.sites import make_project, read_csv, sample_pages, sample_queries, use_standins
from tests.support.small_project import command, environment, summary, write_csv

PAGES = 30
HEADER = ("URL", "Title", "Main Content")


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    rows = [["URL", "Main Query"], *sample_queries(sample_pages(PAGES))]
    with GoogleStandIn({"Main": rows}, rows=60, columns=8) as server:
        yield server


@pytest.fixture
def openai() -> Iterator[OpenAIStandIn]:
    with OpenAIStandIn(dimensions=64) as server:
        yield server


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project of 30 pages after its first run."""
    made = make_project(tmp_path_factory.mktemp("publish") / "site", PAGES, {"embedding_provider": "lsa"})
    assert do(made, "run") == 0
    return made


@pytest.fixture
def project(first: Path, tmp_path: Path) -> Path:
    """Return a copy of that project."""
    return shutil.copytree(first, tmp_path / "site")


def do(project: Path, *arguments: str) -> int:
    return command(*arguments, "--project", str(project))


def shown(project: Path) -> dict[str, set[str]]:
    rows = read_csv(project / "files/Output.csv")
    return {row["URL"]: {row[f"Link {rank}"] for rank in range(1, 6)} - {""} for row in rows}


def decide(project: Path, source: str, target: str, **cells: str) -> None:
    """Record an editor's decision in files/review.xlsx."""
    path = project / "files/review.xlsx"
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    at = {cell.value: number for number, cell in enumerate(sheet[1])}
    row = next(row for row in sheet if (row[at["Source"]].value, row[at["Target"]].value) == (source, target))
    for name, text in cells.items():
        row[at[name]].value = text
    book.save(path)


def review(project: Path) -> list[dict[str, str]]:
    book = openpyxl.load_workbook(project / "files/review.xlsx")
    header, *rows = book.worksheets[0].iter_rows(values_only=True)
    return [dict(zip(map(str, header), map(str, row), strict=True)) for row in rows]


@pytest.mark.long
def test_a_broken_crawl_does_not_reach_the_sheet(
    tmp_path: Path, google: GoogleStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(tmp_path, PAGES)
    use_standins(project, google=google, settings={"embedding_provider": "lsa"})
    assert do(project, "run") == 0
    before, tabs = google.grid("Main"), google.grid("Review")
    pages = sample_pages(PAGES)
    rows = [[page["URL"], page["Title"], page["Main Content"]] for page in pages]
    for row in rows[::2]:
        row[1:] = ["Just a moment", "Please wait while your browser is checked."]
    write_csv(project / "files/urls_rawdata.csv", [HEADER, *rows])
    capsys.readouterr()
    assert do(project, "run") == 6
    told = capsys.readouterr().out
    assert "changed although" in told and "The Sheet and the review keep the last run's links." in told
    assert "run again with --accept-drift" in told
    assert google.grid("Main") == before and google.grid("Review") == tabs
    assert do(project, "run") == 6, "an unpublished run isn't the new baseline"
    assert do(project, "run", "--accept-drift") == 0
    assert google.grid("Main") != before
    assert do(project, "run") == 0, "the accepted run is the new baseline"
    capsys.readouterr()
    assert do(project, "history") == 0
    assert [re.split(r"  +", line)[6] for line in capsys.readouterr().out.splitlines()] == [
        *("Published", "yes", "no", "no", "yes", "yes"),
    ]


@pytest.mark.long
def test_links_that_lack_embeddings_wait_for_the_service(
    tmp_path: Path, google: GoogleStandIn, openai: OpenAIStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(tmp_path, 12)
    use_standins(project, google=google, openai=openai)
    empty, openai.quota_tokens = google.grid("Main"), 10
    assert do(project, "run") == 6
    told = capsys.readouterr().out
    assert "Most links were chosen by words alone, because embeddings are missing." in told
    assert "The Sheet and the review get no links yet. A service failed during this run, so run again" in told
    assert google.grid("Main") == empty
    assert [tab.title for tab in google.spreadsheets[google.spreadsheet_id].tabs] == ["Main"]
    assert read_csv(project / "files/Output.csv")[0]["Link 5"]
    openai.quota_tokens = None
    assert do(project, "run") == 0
    published = google.grid("Main")
    assert published != empty
    # None of these texts has an embedding in the cache.
    rows = [[page["URL"], page["Title"], f"{page['Main Content']} Enjoy."] for page in sample_pages(12)]
    write_csv(project / "files/urls_rawdata.csv", [HEADER, *rows])
    openai.quota_tokens = 10
    capsys.readouterr()
    assert do(project, "run") == 6
    told = capsys.readouterr().out
    assert "The Sheet and the review keep the last run's links. A service failed during this run" in told
    assert google.grid("Main") == published
    assert do(project, "run", "--accept-drift") == 6
    assert google.grid("Main") != published


def test_a_workbook_that_waits_is_named(
    tmp_path: Path, openai: OpenAIStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(tmp_path, 12)
    use_standins(project, openai=openai)
    openai.quota_tokens = 10
    assert do(project, "run") == 6
    assert "review.xlsx gets no links yet." in capsys.readouterr().out
    assert not (project / "files/review.xlsx").exists()
    openai.quota_tokens = None
    assert do(project, "run") == 0
    before = (project / "files/review.xlsx").read_bytes()
    rows = [[page["URL"], page["Title"], "Please wait."] for page in sample_pages(12)]
    write_csv(project / "files/urls_rawdata.csv", [HEADER, *rows])
    assert do(project, "run") == 6
    told = capsys.readouterr().out
    assert "review.xlsx keeps the last run's links. Check files/Output.csv; if the links are good" in told
    assert (project / "files/review.xlsx").read_bytes() == before


@pytest.mark.long
def test_sections_that_need_approval_wait_in_the_review(project: Path) -> None:
    """No link from or to these sections is published before it is accepted; the notes name the waiting links."""
    settings = project / "config/settings.toml"
    settings.write_text(settings.read_text(encoding="utf-8") + '\napproval_sections = ["/espresso"]\n')
    assert do(project, "run", "--accept-drift") == 0
    links = shown(project)
    espresso = sorted(url for url in links if ".example/espresso/" in url)
    assert espresso and not any(links[url] for url in espresso)
    assert not any(set(espresso) & targets for targets in links.values())
    notes = {row["URL"]: row["Note"] for row in read_csv(project / "files/Output.csv")}
    assert notes[espresso[0]] == "0 of 5 links: 5 waiting for approval"
    waiting = [row for row in review(project) if " approval" in str(row)]
    target = next(row["Target"] for row in waiting if row["Source"] == espresso[0])
    decide(project, espresso[0], target, Status="accepted")
    assert do(project, "run") == 0
    assert shown(project)[espresso[0]] == {target}


@pytest.mark.long
def test_what_an_editor_decided_in_the_workbook_is_heeded(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rejected link goes, an accepted one keeps its rank and an edited anchor stays; the summary counts them."""
    rows = read_csv(project / "files/Output.csv")
    source, targets = rows[0]["URL"], [rows[0][f"Link {rank}"] for rank in range(1, 6)]
    decide(project, source, targets[0], Status="rejected")
    decide(project, source, targets[2], Status="accepted")
    decide(project, source, targets[4], Status="proposed", Anchor="my own words")
    capsys.readouterr()
    assert do(project, "run") == 0
    out = capsys.readouterr().out
    row = read_csv(project / "files/Output.csv")[0]
    now = [row[f"Link {rank}"] for rank in range(1, 6)]
    assert targets[0] not in now and now[2] == targets[2] and now[4] == targets[4]
    links = {(one["Source"], one["Target"]): one for one in read_csv(project / "files/links.csv")}
    link = links[source, targets[4]]
    assert (link["Status"], link["Anchor"]) == ("edited", "my own words")
    assert "Accepted by editors: 67% (2 of 3 decided)" in out
    assert "1 accepted, 1 edited" in summary(project)["Links in the graph"]
    excluded = read_csv(project / "files/excluded_targets.csv")
    assert {"Source": source, "Target": targets[0], "Reason": "rejected by an editor"} in excluded
    assert do(project, "lookup", source) == 0
    assert targets[0] not in capsys.readouterr().out


def test_a_run_of_some_rows_shows_editors_the_links_of_all(project: Path) -> None:
    whole = review(project)
    assert do(project, "run", "--limit", "3", "--publish") == 0
    ends = [[(row["Source"], row["Target"]) for row in rows] for rows in (whole, review(project))]
    assert len(whole) == 5 * PAGES and sorted(ends[1]) == sorted(ends[0])


@pytest.mark.long
def test_a_link_that_stands_on_the_site_turns_live(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A proposed link found on the site becomes live and counts as accepted; another link takes its rank."""
    link = read_csv(project / "files/links.csv")[0]
    write_csv(
        project / "files/existing_links.csv",
        [("Source", "Destination", "Anchor"), (link["Source"], link["Target"], "x")],
    )
    assert do(project, "run") == 0
    assert link["Target"] not in shown(project)[link["Source"]]
    assert {row["Link ID"]: row["Status"] for row in review(project)}[link["Link Id"]] == "live"
    assert "100% (1 of 1 decided)" in capsys.readouterr().out


def test_without_a_review_nothing_is_made(tmp_path: Path) -> None:
    """review = "none" writes no workbook; the links' states are still stored."""
    project = make_project(tmp_path, 12, {"embedding_provider": "lsa", "review": "none"})
    assert do(project, "run") == 0
    assert not (project / "files/review.xlsx").exists()
    assert read_csv(project / "files/links.csv")[0]["Status"] == "proposed"


def test_a_link_names_words_that_stand_in_its_source(first: Path) -> None:
    """An inline anchor occurs in its sentence, and the sentence in the page; the type distinguishes other anchors.

    Each stored link has the hashes of its source's and its target's text.
    """
    contents = {page["URL"]: page["Main Content"] for page in sample_pages(PAGES)}
    links = read_csv(first / "files/links.csv")
    found = [link for link in links if link["Type"] == "contextual"]
    assert 5 < len(found) < len(links)
    for link in found:
        assert link["Anchor"] in link["Sentence"]
        assert link["Sentence"] in contents[link["Source"]]
    texts = [(link["Source"], link["Anchor"].casefold()) for link in found]
    assert len(set(texts)) == len(texts), "no anchor of a page leads to two targets"
    with open_project(first).graph() as (edges, _):
        stored = [edge for edge in edges.each("proposed") if edge.rank]
    assert stored and all(len(edge.source_hash) == len(edge.target_hash) == 16 for edge in stored)
    assert all(edge.source_hash != edge.target_hash for edge in stored)


@pytest.mark.long
def test_words_at_the_terminal_are_heeded_by_the_next_run(project: Path) -> None:
    """`review` reads keys line by line without a terminal; the next run follows the acceptance and the rejection."""
    done = subprocess.run(
        [sys.executable, "-m", "internal_linker", "review", "--by", "Ann", "--project", str(project)],
        input="a\nr\nq\n",
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
        encoding="utf-8",
    )
    assert "1 accepted, 1 rejected, 0 edited, 0 skipped" in done.stdout
    assert do(project, "run") == 0
    statuses = Counter(link["Status"] for link in read_csv(project / "files/links.csv"))
    assert statuses["accepted"] == 1 and statuses["rejected"] == 0
    reasons = Counter(row["Reason"] for row in read_csv(project / "files/excluded_targets.csv"))
    assert reasons["rejected by an editor"] == 1
