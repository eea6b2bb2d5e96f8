"""Priorities from stored search data: runs that favour needy pages and stay stable, and the audit's opportunities."""

import csv
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from internal_linker.insight.audit.actions import GAIN_MEANS
from internal_linker.model.search_data import SearchTable
from internal_linker.project.audit import audit
from internal_linker.project.options.evaluation import AuditOptions
from internal_linker.project.options.links import RunOptions
from internal_linker.project.priorities import NO_DATA
from internal_linker.project.project import Project, open_project
from internal_linker.project.run import run
from tests.project.pipeline.test_stable_lists import LINKS, changes, site, write
from tests.support.builders import Told
from tests.support.simulated_search import search_rows
from tests.support.small_project import URLS, command, make_project, write_settings

LAST = date(2026, 11, 20)


def store(project: Project, rows: pd.DataFrame) -> None:
    """Store search rows by day."""
    with project.search_data("sc-domain:tiny.example", read_only=False) as days:
        for day, some in rows.groupby("date"):
            days.put(SearchTable.QUERIES, pd.Timestamp(str(day)).date(), some)


def searched() -> pd.DataFrame:
    """Return search data of all pages."""
    return search_rows([(url, title) for url, title, _ in site()], LAST)


def earning(numbers: Sequence[int], impressions: int) -> pd.DataFrame:
    """Return 28 days of these pages at position 8, under another spelling of their URLs."""
    days = pd.date_range(end=pd.Timestamp(LAST), periods=28)
    rows = [
        (day, site()[number][0].replace("https://www.", "http://"), "how to brew it", 0, impressions, 8.0)
        for day in days
        for number in numbers
    ]
    return pd.DataFrame(rows, columns=["date", "page", "query", "clicks", "impressions", "position"])


NEEDY = range(0, 60, 7)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project after a run without priorities, whose links are in none.csv, and one with them."""
    root = tmp_path_factory.mktemp("priorities") / "project"
    write(root, site(), LINKS)
    store(open_project(root), earning(NEEDY, 2000))
    for priority in ("none", "search"):
        write_settings(root, {"priority": priority})
        assert not run(open_project(root), RunOptions(), Told()).failure
        shutil.copy(root / "files/links.csv", root / f"{priority}.csv")
    return root


@pytest.fixture
def project(first: Path, tmp_path: Path) -> Project:
    """Return a copy of that project."""
    return open_project(shutil.copytree(first, tmp_path / "project"))


def links(project: Project, name: str = "files/links.csv") -> list[dict[str, str]]:
    with (project.root / name).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.long
def test_a_run_on_the_same_search_data_changes_nothing(project: Project) -> None:
    before = [(one["Source"], one["Target"], one["Why"]) for one in links(project)]
    assert changes(project) == []
    assert [(one["Source"], one["Target"], one["Why"]) for one in links(project)] == before


def test_other_search_data_change_lists_near_their_pages_only(project: Project) -> None:
    """A page that begins to earn many impressions may get in-links; lists without it as a candidate stay."""
    before = {(one["Source"], one["Target"]) for one in links(project)}
    store(project, pd.concat([earning(NEEDY, 2000), earning(range(1, 3), 5000)]))
    changes(project)
    after = {(one["Source"], one["Target"]) for one in links(project)}
    topics = {source.split("/")[3] for source, _ in before ^ after}
    assert topics <= {"0", "1", "2"}


def test_switching_it_on_favours_needy_pages_and_off_restores_the_lists(project: Project) -> None:
    """With the setting, in-links move to pages that need them, and reasons say so; without it, lists are as before."""
    needy = {site()[number][0] for number in NEEDY}
    before, ours = (links(project, f"{priority}.csv") for priority in ("none", "search"))
    plain, favoured = (sum(one["Target"] in needy for one in each) for each in (before, ours))
    assert favoured > plain
    chosen = [one["Why"] for one in ours if "hosen by priority" in one["Why"]]
    assert any("earns 56,000 impressions in 28 days at position 8" in why for why in chosen)
    write_settings(project.root, {"priority": "none"})
    assert not run(open_project(project.root), RunOptions(), Told()).failure
    after = links(project)
    assert [(one["Source"], one["Target"]) for one in after] == [
        (one["Source"], one["Target"]) for one in before
    ]
    assert not any("priority" in one["Why"] for one in after)


def test_without_search_data_a_run_says_so_and_goes_on(tmp_path: Path) -> None:
    make_project(tmp_path, {"priority": "search"})
    told = Told()
    assert not run(open_project(tmp_path), RunOptions(), told).failure
    assert NO_DATA in told.warnings
    assert links(open_project(tmp_path))


def test_the_audit_lists_opportunities(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    store(project, pd.concat([searched(), earning([4], 900)]))
    result = audit(project, AuditOptions(), Told())
    every = result.audit.opportunities
    assert every and [*every.values["gain"]] == sorted(every.values["gain"], reverse=True)
    top = result.frames["opportunities"].iloc[0]
    assert (top["page"], top["query"]) == (site()[4][0], "how to brew it")
    assert top["impressions"] == pytest.approx(900 * 28)
    linked = {(one[0], one[1]) for one in LINKS}
    proposed = {(one["Source"], one["Target"]) for one in links(project)}
    for row in result.frames["opportunities"].itertuples():
        sources = [one for one in (row.source_1, row.source_2, row.source_3) if one]
        assert len(set(sources)) == len(sources)
        for one in sources:
            assert (one, row.page) not in linked
            assert (one, row.page) in proposed
    book = openpyxl.load_workbook(project.root / "files/audit.xlsx")
    rows = list(book["Opportunities"].iter_rows(values_only=True))
    assert rows[0][:6] == ("Page", "Query", "Position", "Impressions", "Clicks", "Clicks to gain")
    notes = [cell.comment and cell.comment.text for cell in book["Opportunities"][1]]
    assert notes[3] == notes[4] == "In the last 28 days of the search data." and notes[5] == GAIN_MEANS
    summary = {row[0]: row[1] for row in book["Summary"].iter_rows(values_only=True)}
    assert summary["Opportunities"] == f"{len(every)}, on the sheet Opportunities. {GAIN_MEANS}"
    assert GAIN_MEANS in (project.root / "files/audit.html").read_text(encoding="utf-8")
    assert command("audit", "--no-report", "--project", str(project.root)) == 0
    told = "to earn more clicks at better positions: see the sheet Opportunities of files/audit.xlsx"
    assert f"{len(every)} opportunities {told}\n" in capsys.readouterr().out
    assert len(rows) == 1 + len(every)
    assert rows[1][:3] == (site()[4][0], "how to brew it", 8)
    report = (project.root / "files/audit.html").read_text(encoding="utf-8")
    assert 'id="opportunities"' in report
    assert "how to brew it" in report


def test_an_audit_without_search_data_has_no_opportunities(tmp_path: Path) -> None:
    result = audit(open_project(make_project(tmp_path)), AuditOptions(), Told())
    assert "opportunities" not in result.tables()
    assert "Opportunities" not in openpyxl.load_workbook(tmp_path / "files/audit.xlsx").sheetnames
    assert 'id="opportunities"' not in (tmp_path / "files/audit.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_commands_do_not_load_what_only_others_need(tmp_path: Path) -> None:
    """A lookup would take twice as long with what it has no use for; without search data a run loads no pandas."""
    make_project(tmp_path, {"embedding_provider": "auto"})
    code = (
        "import sys; from internal_linker.faces.cli import main\n"
        "def tried(*command):\n"
        "    try:\n"
        f"        main([*command, '--project', {str(tmp_path)!r}])\n"
        "    except SystemExit as ended: assert ended.code == 0, command\n"
        f"tried('lookup', '{URLS[0]}')\n"
        "own = ('project.alerts', 'project.pipeline.brief', 'faces.cli.audit')\n"
        "unused = {'xlsxwriter', 'filelock', 'rich.progress', *(f'internal_linker.{name}' for name in own)}\n"
        "assert not unused & {*sys.modules}, unused & {*sys.modules}\n"
        "tried('run')\n"
        "unused = {'pandas', 'scipy.stats', 'scipy.optimize', 'scipy.spatial', 'sklearn', 'apprise'}\n"
        "assert not unused & {*sys.modules}, unused & {*sys.modules}\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert URLS[0] in (tmp_path / "files/links.csv").read_text(encoding="utf-8")
