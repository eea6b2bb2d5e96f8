"""The summary and `check` say if search results should not come first."""

import csv
import shutil
from pathlib import Path

import pytest

from internal_linker.project.check import check
from tests.standins import SerperStandIn
from tests.support.sites import use_standins
from tests.support.small_project import REPOSITORY, command

ADVICE = 'set fusion = "blend": on '


def linked() -> dict[str, list[str]]:
    """Return the targets of the sample site's links, by the main query of their source."""
    with (REPOSITORY / "files/main_queries.csv").open(encoding="utf-8-sig", newline="") as file:
        queries = {row["URL"]: row["Main Query"].casefold() for row in csv.DictReader(file)}
    found: dict[str, list[str]] = {}
    with (REPOSITORY / "files/existing_links.csv").open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(queries.get(row["Source"], ""), []).append(row["Destination"])
    return found


@pytest.mark.parametrize(
    ("good", "fusion", "advised", "large"),
    [
        (False, "fill", True, False),
        pytest.param(False, "fill", True, True, marks=pytest.mark.long),
        pytest.param(True, "fill", False, False, marks=pytest.mark.long),
        pytest.param(False, "blend", False, False, marks=pytest.mark.long),
    ],
)
def test_poor_search_results_are_told(
    good: bool,
    fusion: str,
    advised: bool,
    large: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The advice is only given where search results come first and miss the known links, and costs no search.

    On a large site, other processes have the texts.
    """
    if large:
        monkeypatch.setattr("internal_linker.match.site_index.SHARED_FROM", 1)
        monkeypatch.setattr("os.cpu_count", lambda: 2)
    (tmp_path / "files").mkdir()
    for name in ("urls_rawdata.csv", "main_queries.csv", "existing_links.csv"):
        shutil.copy(REPOSITORY / "files" / name, tmp_path / "files" / name)
    links = linked()
    same = [url for urls in links.values() for url in urls][:6]
    with SerperStandIn(
        lambda words, site: [*links.get(words.casefold(), ()), *same] if good else same
    ) as server:
        use_standins(tmp_path, serper=server, settings={"fusion": fusion, "embedding_provider": "lsa"})
        assert command("run", "--project", str(tmp_path)) == 0
        calls = len(server.calls("POST /search"))
        told = [line for line in capsys.readouterr().out.splitlines() if "Search results first" in line]
        facts = {fact.name: fact for fact in check(tmp_path).facts}
        assert len(server.calls("POST /search")) == calls > 0
    if advised:
        assert len(told) == 1 and ADVICE in told[0]
        assert facts["Search results first"].ok and ADVICE in facts["Search results first"].text
    else:
        assert not told and "Search results first" not in facts
