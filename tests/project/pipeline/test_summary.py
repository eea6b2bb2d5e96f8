"""The summary that ends a run."""

from pathlib import Path

import pytest

from tests.support.sites import make_project
from tests.support.small_project import command, summary

ROWS = """Run, Pages, Main queries, Rows to find links for, Rows rejected / merged, Existing links / rows left out
SERP calls / credits, SERP pages from the cache, SERP pages saved after short ones
Search results below serp_floor / dropped
Texts embedded / from the cache, Tokens / cost, Links by search / by similarity, Links
Links by tier, Links in the graph, Links in the review
Pages compared, Rows with fewer than 5 links, Excluded targets
Pages of last resort, Weaker directions of pairs put last, Near-duplicates, Orphans, Ranker, Seconds"""


def test_the_log_has_the_whole_summary_in_order(tmp_path: Path) -> None:
    project = make_project(tmp_path, 12, {"embedding_provider": "local"})
    assert command("run", "--project", str(project)) == 0
    rows = summary(project)
    assert [*rows] == ROWS.replace("\n", ", ").removeprefix("Run, ").split(", ")
    assert all(rows.values())


def test_the_terminal_shows_what_matters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A quiet run has few lines; what needs attention has a line only where there is something, with its file."""
    project = make_project(tmp_path, 12, {"embedding_provider": "local"})
    quiet = ["Found", "Links by tier", "Links in the review", "Orphans", "Seconds", "Details"]
    assert command("run", "--project", str(project)) == 0
    rows = shown(capsys)
    assert [*rows] == quiet and rows["Orphans"] == "unknown without existing links"
    assert rows["Found"] == "60 links for 12 pages"
    assert float(rows["Seconds"]) >= 0 and rows["Details"].startswith("logfile.txt, run 2")
    with (project / "files/urls_rawdata.csv").open("a", encoding="utf-8") as file:
        file.write("no url,Odd,Odd words\n")
    assert command("run", "--project", str(project)) == 0
    assert shown(capsys)["Rows rejected"] == "1 (files/rejected_rows.csv)"


def shown(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    lines = capsys.readouterr().out.partition("Summary\n")[2].splitlines()
    return dict(line.strip().split(": ", 1) for line in lines if line.startswith("  "))
