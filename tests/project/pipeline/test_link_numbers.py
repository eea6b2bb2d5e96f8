"""Numbers of links that differ say what was counted and what was subtracted, in every command."""

import re
from pathlib import Path

import openpyxl
import pytest

from internal_linker.model.edges import TIER_NAMES
from tests.support.sites import read_csv
from tests.support.small_project import (
    SITE,
    TOPICS,
    URLS,
    command,
    make_project,
    summary,
    write_csv,
)

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a site where one page has two queries, a query has no page, and one section waits for approval."""
    folder = make_project(tmp_path, {"approval_sections": [URLS[4].removeprefix(SITE)]})
    queries = [*zip(URLS, TOPICS, strict=True), (URLS[0], "a cup of tea"), (f"{SITE}/new/", "tea pots")]
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), *queries])
    links = [
        (URLS[0], URLS[1], "black tea"),
        (URLS[0], URLS[1], "more"),
        (URLS[2], "https://other.example/", "x"),
    ]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *links])
    return folder


def told(project: Path, capsys: Capture, *arguments: str) -> dict[str, str]:
    """Run a command and return what it says by name."""
    capsys.readouterr()
    assert command(*arguments, "--project", str(project)) == 0
    lines = (line.strip().partition(": ") for line in capsys.readouterr().out.splitlines())
    return {name: value for name, _, value in lines}


def summed(text: str) -> int:
    """Return the left side of a sum such as "5 = 8 links - 3 lost", after checking it against the right side."""
    left, _, right = text.partition(" = ")
    numbers = re.findall(r"(?:^|([-+]) )(\d[\d,]*) (?=[a-z])", right or left)
    total = sum(int(number.replace(",", "")) * (-1 if sign == "-" else 1) for sign, number in numbers)
    assert not right or total == int(left.replace(",", "")), text
    return total


def in_output(project: Path) -> int:
    rows = read_csv(project / "files/Output.csv")
    return sum(bool(row[f"Link {at}"]) for row in rows for at in range(1, 6))


def test_the_numbers_of_a_run_are_those_of_its_files(project: Path, capsys: Capture) -> None:
    shown, rows = told(project, capsys, "run"), summary(project)
    assert all(shown[name] == rows[name] for name in ("Links by tier", "Links in the review"))
    listed = len(read_csv(project / "files/links.csv"))
    assert summed(rows["Links"].partition(", one per row")[0]) == listed
    assert f"{listed} = {in_output(project)} in files/Output.csv - " in rows["Links"]
    assert "suggestions for queries without a page" in rows["Links"]
    tiers = "|".join(TIER_NAMES.values())
    counts = [int(count) for count in re.findall(rf"(\d+) (?:{tiers})", rows["Links by tier"])]
    by_tier = rows["Links by tier"].partition("(")[2].rstrip(")")
    assert summed(by_tier) == sum(counts) and f"= {listed} links - " in by_tier
    assert "that several rows of a page have in common + " in by_tier and "waiting for approval" in by_tier
    sheet = openpyxl.load_workbook(project / "files/review.xlsx").worksheets[0]
    assert summed(rows["Links in the review"]) == sum(counts) == sheet.max_row - 1
    assert rows["Existing links / rows left out"] == (
        "2 / 0 (2 = 3 links in the pages' texts - 1 to or from other pages)"
    )
    assert rows["Excluded targets"].startswith("1 already linked pairs of pages")


def test_the_numbers_of_two_runs_add_up(project: Path, capsys: Capture) -> None:
    """`diff` says how the links of one run follow from those of another; `history` says which links it counts."""
    told(project, capsys, "run")
    first = in_output(project)
    write_csv(
        project / "files/existing_links.csv",
        [("Source", "Destination", "Anchor"), *((URLS[0], url, "") for url in URLS[1:4])],
    )
    told(project, capsys, "run", "--accept-drift")
    links = told(project, capsys, "diff", "last-1", "last")["Links"].partition(", suggestions")[0]
    assert summed(links) == in_output(project) and f" = {first} links in the rows of run " in links
    assert " gone" in links
    capsys.readouterr()
    assert command("history", "--project", str(project)) == 0
    table = capsys.readouterr()
    assert "all rows" in table.out and "without suggestions for queries without a page" in table.err
    assert len(read_csv(project / "files/links.csv")) == int(
        table.out.splitlines()[-1].split("all rows")[1].split()[1]
    )


def test_the_audits_numbers_follow_from_those_of_the_run(project: Path, capsys: Capture) -> None:
    told(project, capsys, "run")
    rows = told(project, capsys, "audit", "--after", "all")
    assert rows["Links today"] == (
        "1 = 3 links in the pages' texts - 1 with an end that is none of the audited pages "
        "- 1 repeated between the same two pages"
    )
    new = rows["New links after adoption"]
    assert f" = {in_output(project)} links of run " in new and summed(new) > 0
    assert "suggestions for queries without a page" in new
    assert "repeated between the same two pages" in new
