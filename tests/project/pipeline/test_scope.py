"""Sections: which pages get links, where links may lead, and what happens if a section has no page."""

import json
import shutil
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import pytest

from internal_linker.project.audit import audit
from internal_linker.project.options.evaluation import AuditOptions
from internal_linker.project.project import open_project
from tests.standins import SerperStandIn
from tests.support.builders import Told
from tests.support.crawls import crawl, empty_project, imported, pages
from tests.support.sites import read_csv, use_standins
from tests.support.small_project import command, write_csv, write_settings

SITE = "https://www.tiny.example"
MAG = [f"{SITE}/mag/{number}" for number in range(4)]
SHOP = [f"{SITE}/shop/{number}" for number in range(4)]
OLD = [f"{SITE}/mag/old/{number}" for number in range(2)]
OUTSIDE = "outside the sections that links may lead to"


@pytest.fixture(autouse=True)
def _run_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two runs in one second would have one id.
    numbers = count(1)
    for module in ("run", "history"):
        monkeypatch.setattr(
            f"internal_linker.project.{module}.new_run_id", lambda: f"20300101-{next(numbers):06}"
        )


def make_site(folder: Path, queries: Sequence[Sequence[str]] = (), **settings: object) -> Path:
    words = "kettle water steam spout lid handle boil gas".split()
    rows = [
        (url, f"{words[at % 8]} {at}", " ".join([*words[at % 8 :], f"own{at}"]))
        for at, url in enumerate([*MAG, *SHOP, *OLD])
    ]
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *rows])
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), *queries])
    write_settings(folder, settings)
    return folder


def run(folder: Path, *options: str, code: int = 0) -> dict[str, list[str]]:
    """Run and return the links by page; a page without a row is missing."""
    assert command("run", "--project", str(folder), *options) == code
    return {} if code else output(folder)


def output(folder: Path) -> dict[str, list[str]]:
    return {
        row["URL"]: [cell for name, cell in row.items() if name.startswith("Link ") and cell]
        for row in read_csv(folder / "files/Output.csv")
    }


def targets(found: dict[str, list[str]]) -> set[str]:
    return {link for links in found.values() for link in links}


def reasons(folder: Path) -> dict[str, str]:
    return {row["Target"]: row["Reason"] for row in read_csv(folder / "files/excluded_targets.csv")}


# -- a path in the search template -----------------------------------------------------------------


def test_a_path_in_the_template_is_where_the_program_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Settings widen it again; a misspelled path ends the run, since no page would be a target, unless they do."""
    template = "site:www.tiny.example/mag {main_query}"
    folder = make_site(tmp_path, [[SHOP[0], "kettle"]], search_query_template=template)
    found = run(folder)
    assert set(found) == {*MAG, *OLD, SHOP[0]} and all(found.values())
    assert targets(found) <= {*MAG, *OLD}
    assert {reasons(folder)[url] for url in SHOP} == {OUTSIDE}
    wider = {"target_include": ["/"], "source_include": ["/"]}
    found = run(make_site(tmp_path, search_query_template=template, **wider), "--accept-drift")
    assert set(found) == {*MAG, *SHOP, *OLD} and targets(found) & set(SHOP)
    template = "site:www.tiny.example/magg {main_query}"
    run(make_site(tmp_path, search_query_template=template), code=2)
    assert "search_query_template: no page is in /magg." in capsys.readouterr().err
    assert run(make_site(tmp_path, search_query_template=template, **wider))


# -- only these, all but these ----------------------------------------------------------------------


def test_settings_name_sources_and_targets(tmp_path: Path) -> None:
    """Sources and targets can be some sections, and all but some; a row outside says that it gets no links."""
    folder = make_site(
        tmp_path,
        [[SHOP[1], "kettle"], ["", "steam"]],
        source_include=["mag"],
        source_exclude=["/mag/old/"],
        target_exclude=["/mag/old", "/shop/3"],
    )
    found = run(folder)
    assert set(found) == {*MAG, SHOP[1], ""}
    assert not found[SHOP[1]] and found[""], "a query is in no section"
    assert targets(found) <= {*MAG, *SHOP[:3]} and targets(found) & set(SHOP)
    (note,) = [row["Note"] for row in read_csv(folder / "files/Output.csv") if row["URL"] == SHOP[1]]
    assert note == "0 of 5 links: the page gets none (outside the sections whose pages get links)"


def test_options_name_the_targets_of_a_run(tmp_path: Path) -> None:
    """--target-include replaces the setting for one run, --target-exclude adds to it."""
    folder = make_site(tmp_path, target_include=["/mag"], target_exclude=["/shop/0"])
    assert targets(run(folder)) <= {*MAG, *OLD}
    found = run(folder, "--target-include", "shop", "--target-exclude", "/shop/1", "--accept-drift")
    assert targets(found) == set(SHOP[2:])


def test_only_a_section_gets_new_links(tmp_path: Path) -> None:
    """--section renews the links of its pages; all others keep those of the last run, in every result."""
    folder = make_site(tmp_path, [["", "steam"]])
    before = run(folder)
    write_settings(folder, {"links_per_page": 1})
    found = run(folder, "--section", "mag", "--section", "/mag/old=off")
    assert set(found) == set(before)
    assert all(len(found[url]) == 1 for url in MAG)
    assert all(found[url] == before[url] for url in (*SHOP, *OLD, ""))
    listed = {row["Source"] for row in read_csv(folder / "files/links.csv")}
    assert listed == {*MAG, *SHOP, *OLD}
    assert command("rollback", "20300101-000001", "--section", "/mag", "--project", str(folder)) == 0
    assert output(folder) == before


# -- a section without a page -----------------------------------------------------------------------

NO_PAGE = "no page is in /nope"
COMMANDS = (
    ("run", "--section", "nope"),
    ("run", "--section", "/nope=off"),
    ("run", "--section", "/mag", "--section", "/nope"),
    ("run", "--target-include", "/nope"),
    ("run", "--target-exclude", "/nope"),
    ("run", "--dry-run", "--section", "/nope"),
    ("diff", "20300101-000001", "20300101-000002", "--section", "nope"),
    ("rollback", "20300101-000001", "--section", "/nope"),
    ("pairs", "--section", "nope"),
    ("clusters", "--section", "/nope=off"),
    ("audit", "--section", "/nope"),
)


def test_a_section_without_a_page_is_said_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command ends with code 2, names the section and the largest ones, and changes nothing."""
    folder = make_site(tmp_path / "site")
    run(folder)
    # Without the index, nobody knows that nothing changed.
    shutil.rmtree(folder / "files/index")
    before = run(folder)
    capsys.readouterr()
    for case in COMMANDS:
        assert command(*case, "--project", str(folder)) == 2, case
        error = capsys.readouterr().err
        assert NO_PAGE in error and "The largest sections are /mag (6), /shop (4)." in error, case
    assert output(folder) == before
    assert command("history", "--project", str(folder)) == 0
    assert capsys.readouterr().out.count("20300101-") == 2


def test_a_setting_without_a_page_warns_or_stops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run warns of a section without a page, and stops if no target would be left; check tells of both."""
    folder = make_site(tmp_path, target_include=["/mag", "/nope"], approval_sections=["/nix"])
    run(folder)
    told = capsys.readouterr().out
    assert f"target_include: {NO_PAGE}." in told and "approval_sections: no page is in /nix." in told
    make_site(tmp_path, target_include=["/nope"])
    run(folder, code=2)
    assert f"Error: target_include: {NO_PAGE}." in capsys.readouterr().err
    assert command("check", "--project", str(folder)) == 2
    assert NO_PAGE in capsys.readouterr().out


@pytest.fixture
def blog(tmp_path: Path) -> tuple[Path, str]:
    """Return an empty project and a crawl of two sections."""
    return empty_project(tmp_path / "project"), crawl(tmp_path / "p.csv", ("URL",), (MAG[0],), (SHOP[0],))


@pytest.mark.parametrize("option", ["--source-include", "--target-exclude", "--include", "--exclude"])
def test_an_import_names_a_section_without_a_page(
    option: str, blog: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An import ends with code 2 and writes nothing if one of its sections has no page."""
    project, file = blog
    assert imported(project, file, option, "nope") == 2
    assert f"{option}: {NO_PAGE}. The largest sections are /mag (1), /shop (1)." in capsys.readouterr().err
    assert not (project / "files/urls_rawdata.csv").exists()
    assert imported(project, file, option, "mag") == 0
    assert len(pages(project)) > 1


# -- a wrong host in the search template ---------------------------------------------------------------


@pytest.fixture
def serper() -> Iterator[SerperStandIn]:
    with SerperStandIn(lambda words, site: []) as server:
        yield server


def test_a_wrong_host_stops_before_the_first_search(
    tmp_path: Path, serper: SerperStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    """No command pays for searches in a site that none of the pages is in; without the search it works."""
    folder = make_site(tmp_path, [[MAG[0], "kettle"]])
    use_standins(folder, serper=serper, settings={"search_query_template": "site:other.example {main_query}"})
    brief = ("content-brief", "Kettles", "--query", "kettle")
    for arguments in (("run",), ("run", "--dry-run"), ("lookup", "kettle"), brief):
        assert command(*arguments, "--project", str(folder)) == 2
        told = "none of your 10 URLs is in site:other.example, so nothing was searched."
        assert told in capsys.readouterr().err
    assert serper.ledger == []
    assert command("run", "--no-serp", "--project", str(folder)) == 0


def test_a_brief_keeps_to_the_sections(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The new page links only to target sections; only pages of source sections link to it."""
    folder = make_site(tmp_path, source_include=["/shop"], target_include=["/mag"])
    arguments = ("content-brief", "Kettle water lid handle boil gas", "--json", "--project", str(folder))
    capsys.readouterr()
    assert command(*arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert {link["target"] for link in found["links_to"]} <= {*MAG, *OLD} and found["links_to"]
    assert {link["source"] for link in found["links_from"]} <= set(SHOP) and found["links_from"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"target_exclude": ["/"]}, "10 outside the sections that links may lead to. Correct target_include"),
        ({"source_exclude": ["/"]}, "Correct source_include and source_exclude"),
    ],
)
def test_no_links_because_of_sections_is_no_success(
    settings: dict[str, list[str]], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sections that leave no source or no target end a run with code 6 and name the settings."""
    folder = make_site(tmp_path, [[MAG[0], "kettle"]], **settings)
    assert command("run", "--project", str(folder)) == 6
    assert told in capsys.readouterr().out


# -- commands that compare pages or audit links ----------------------------------------------------------


def pairs(folder: Path, *options: str) -> set[frozenset[str]]:
    """Return the pairs of similar pages."""
    options = ("--min-similarity", "0.1", "--max-per-page", "0", *options)
    assert command("pairs", "--project", str(folder), *options) == 0
    return {frozenset((row["Page"], row["Match"])) for row in read_csv(folder / "files/pairs.csv")}


def test_one_page_of_a_pair_can_link_to_the_other(tmp_path: Path) -> None:
    folder = make_site(tmp_path)
    everything = pairs(folder)
    assert frozenset(MAG[:2]) in everything and frozenset(SHOP[:2]) in everything
    make_site(folder, source_include=["/shop"], target_include=["/mag"], target_exclude=["/mag/old"])
    found = pairs(folder)
    assert found and all(len(pair & set(MAG)) == len(pair & set(SHOP)) == 1 for pair in found)


def test_roles_count_like_sections(tmp_path: Path) -> None:
    folder = make_site(tmp_path)
    header, *rows = read_rows(folder)
    role = dict.fromkeys(MAG, "source") | dict.fromkeys((*SHOP, *OLD), "target")
    write_csv(folder / "files/urls_rawdata.csv", [(*header, "Role"), *((*row, role[row[0]]) for row in rows)])
    found = pairs(folder)
    assert found and all(len({role[url] for url in pair}) == 2 for pair in found)
    assert command("clusters", "--k", "1", "--project", str(folder)) == 0
    missing = read_csv(folder / "files/cluster_links.csv")
    assert missing
    assert all((role[row["Source"]], role[row["Target"]]) == ("source", "target") for row in missing)


def read_rows(folder: Path) -> list[tuple[str, ...]]:
    rows = read_csv(folder / "files/urls_rawdata.csv")
    return [tuple(rows[0]), *(tuple(row.values()) for row in rows)]


def test_only_a_section_is_compared(tmp_path: Path) -> None:
    """With --section, pairs and clusters compare only these pages."""
    folder = make_site(tmp_path)
    found = pairs(folder, "--section", "/mag", "--section", "/mag/old=off")
    assert found and all(pair <= set(MAG) for pair in found)
    assert command("clusters", "--section", "shop", "--k", "1", "--project", str(folder)) == 0
    assert {row["URL"] for row in read_csv(folder / "files/clusters.csv")} == set(SHOP)


def findings(folder: Path, *options: str) -> set[tuple[str, str]]:
    """Return the findings of an audit: rule and page."""
    found = audit(open_project(folder), AuditOptions(sections=options), Told(), write=False).audit.findings
    return {(str(one.rule), one.page) for one in found}


def test_an_audit_is_about_the_pages_that_links_are_for(tmp_path: Path) -> None:
    """Pages that no link may lead to are no orphans, pages that get no links no dead ends; all count as ways."""
    folder = make_site(tmp_path)
    ends = [(MAG[0], MAG[1]), (MAG[1], SHOP[0]), (SHOP[0], SHOP[1])]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination"), *ends])
    every = findings(folder)
    assert {("orphan", MAG[2]), ("orphan", SHOP[2]), ("dead-end", SHOP[1]), ("dead-end", MAG[2])} <= every
    make_site(folder, source_include=["/mag"], target_include=["/shop"])
    some = findings(folder)
    assert {("orphan", SHOP[2]), ("dead-end", MAG[2])} <= some <= every
    assert not {("orphan", MAG[2]), ("dead-end", SHOP[1])} & some
    make_site(folder)
    section = {one for one in findings(folder, "/shop") if one[0] in ("orphan", "dead-end")}
    assert section == {one for one in every if one[0] in ("orphan", "dead-end") and one[1] in SHOP}
    header, *rows = read_rows(folder)
    role = {MAG[2]: "target", MAG[3]: "source"}
    roles = [(*header, "Role"), *((*row, role.get(row[0], "")) for row in rows)]
    write_csv(folder / "files/urls_rawdata.csv", roles)
    found = findings(folder)
    assert ("dead-end", MAG[2]) not in found and ("orphan", MAG[2]) in found
    assert ("dead-end", MAG[3]) in found and ("orphan", MAG[3]) not in found
