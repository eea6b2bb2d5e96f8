"""The summary that ends a run."""

from pathlib import Path

import pytest

from internal_linker.pipeline.report import duration
from tests.support.sites import make_project
from tests.support.small_project import command, forget_settings

ROWS = """Run, Pages, Main queries, Rows to find links for, Rows rejected / merged, Existing links / rows left out
SERP calls / credits, SERP pages from the cache, SERP pages saved after short ones
Search results below serp_floor / dropped
Texts embedded / from the cache, Tokens / cost, Links by search / by similarity, Links
Links by tier, Links in the graph, Links in the review
Pages compared, Rows with fewer than 5 links, Excluded targets
Pages of last resort, Weaker directions of pairs put last, Near-duplicates, Orphans, Ranker, Seconds"""


def test_the_summary_has_its_rows_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each row has a name and a value, in the order of the steps."""
    forget_settings(monkeypatch)
    project = make_project(tmp_path, 12, {"embedding_provider": "local"})
    assert command("run", "--project", str(project)) == 0
    _, _, summary = capsys.readouterr().out.partition("Summary\n")
    rows = dict(line.strip().split(": ", 1) for line in summary.splitlines() if line.startswith("  "))
    print(list(rows))
    assert [*rows] == ROWS.replace("\n", ", ").split(", ")
    assert all(rows.values())


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (59, "59 s"), (60, "1 min"), (1262, "21 min"), (3600, "1 h 0 min"), (7500, "2 h 5 min")],
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    """A duration is in seconds, minutes, or hours and minutes."""
    assert duration(seconds) == text
