"""`audit` as a user or a scheduler calls it: the table, the findings, exit codes, paths, and no costs."""

import csv
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from internal_linker import decide, waiting_links
from internal_linker.insight.audit.audit import AuditInput, inspect
from internal_linker.insight.audit.links import Proposals
from internal_linker.insight.audit.page_clusters import by_vectors, ordered, title_vectors
from internal_linker.insight.audit.records import Audit, Limits, Rule
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.reasons import NoTarget, Reason
from internal_linker.model.records import Collected, ExistingLink, Page
from internal_linker.model.sections import MOST_SECTIONS, grouped, sections_of
from internal_linker.project.audit import failure_bounds
from internal_linker.project.project import open_project
from internal_linker.project.review import LinkDecision
from tests.support.audits import audited
from tests.support.builders import nothing_excluded, page, url
from tests.support.sites import read_csv
from tests.support.small_project import (
    REPOSITORY,
    SITE,
    TOPICS,
    URLS,
    command,
    make_project,
    snapshot,
    write_csv,
)

Capture = pytest.CaptureFixture[str]
LINKS = [
    ("Source", "Destination", "Anchor", "Rel"),
    (URLS[0], URLS[1], "black tea", ""),
    (URLS[1], URLS[2], "white tea", ""),
    (URLS[1], f"{SITE}/moved/", "an old page", ""),
    (URLS[1], f"{SITE}/gone/", "a lost page", ""),
    (URLS[3], URLS[4], "tea", "nofollow"),
]


COPY = f"{SITE}/green-tea-again/"
SAME = f"  {COPY}  {URLS[0]}: "


@pytest.fixture(scope="module")
def before_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with six pages, a copy of one, one that moved and one that is gone, and some links."""
    folder = make_project(tmp_path_factory.mktemp("audit") / "site")
    rows = [(at, slug, text, "200", "") for at, (slug, text) in zip(URLS, TOPICS.items(), strict=True)]
    rows.append((COPY, "green-tea", f"{TOPICS['green-tea']} And that is all.", "200", ""))
    rows += [(f"{SITE}/moved/", "", "", "301", URLS[2]), (f"{SITE}/gone/", "", "", "404", "")]
    header = ("URL", "Title", "Main Content", "Status Code", "Redirect URL")
    write_csv(folder / "files/urls_rawdata.csv", [header, *rows])
    write_csv(folder / "files/existing_links.csv", LINKS)
    return folder


@pytest.fixture(scope="module")
def after_run(before_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the project after a run, with one accepted link."""
    folder = shutil.copytree(before_run, tmp_path_factory.mktemp("audit") / "site")
    assert command("run", "--project", str(folder)) == 0
    decide([LinkDecision(waiting_links(folder).links[0].id, status="accepted")], folder, by="Ann")
    return folder


@pytest.fixture
def project(before_run: Path, tmp_path: Path) -> Path:
    return shutil.copytree(before_run, tmp_path / "site")


@pytest.fixture
def ran(after_run: Path, tmp_path: Path) -> Path:
    return shutil.copytree(after_run, tmp_path / "site")


def test_todays_links_are_audited_without_a_run(project: Path, capsys: Capture) -> None:
    before = snapshot(project)
    assert command("audit", "--project", str(project), "--home", URLS[0]) == 0
    told = capsys.readouterr()
    assert "The cache contains no run because it is new or was deleted, so only today's links" in told.err
    assert "1 link has rel=nofollow, ugc or sponsored" in told.err
    assert f"7 pages, home page {URLS[0]}" in told.out
    table = dict(line.rsplit(maxsplit=2)[::2] for line in told.out.splitlines() if len(line.split()) > 2)
    figures = table["Orphans"], table["Links"], table["Links with nofollow, ugc or sponsored"]
    assert figures == ("4", "3", "1")
    assert f"{URLS[1]}  {SITE}/moved/: The link's target: status 301. Link to {URLS[2]}." in told.out
    assert f"{URLS[1]}  {SITE}/gone/: The link's target: status 404." in told.out
    assert {name for name in snapshot(project).keys() - before.keys() if "tmp" not in name} == {
        f"files/audit{rest}" for rest in (".xlsx", ".html", ".graphml", "_nodes.csv", "_edges.csv")
    }
    assert all(snapshot(project)[name] == old for name, old in before.items())


def test_a_runs_links_mend_and_each_says_where_it_comes_from(ran: Path, capsys: Capture) -> None:
    where = "audit", "--project", str(ran), "--after", "all"
    assert command(*where) == 0
    told = capsys.readouterr().out
    rows = (line.rsplit(maxsplit=2) for line in told.splitlines())
    table = {row[0].strip(): tuple(row[1:]) for row in rows if len(row) == 3}
    assert table["Orphans"][1] == "0"
    assert int(table["Links"][1]) > int(table["Links"][0]) == 3
    assert SAME in told and "of their phrases are the same" in told
    with (ran / "files/audit_edges.csv").open(encoding="utf-8", newline="") as file:
        links = {(row[":START_ID"], row[":END_ID"]): row for row in csv.DictReader(file)}
    today = links[URLS[0], URLS[1]]
    facts = [today[name] for name in ("link_type", "anchor", "followed:boolean", "status", "run", "approver")]
    assert facts == ["contextual", "black tea", "true", "live", "", ""]
    assert links[URLS[3], URLS[4]]["followed:boolean"] == "false"
    (accepted,) = (row for row in links.values() if row["approver"])
    assert (accepted["state"], accepted["status"], accepted["approver"]) == ("proposed", "accepted", "Ann")
    assert accepted["approved_at"] and accepted["anchor"]
    proposed = [row for row in links.values() if row["state"] == "proposed"]
    assert len(proposed) > 1
    for row in proposed:
        assert row["link_type"] and row["tier"] and row["model"] and row["run"]
        assert (row["inline_threshold:double"], row["sidebar_threshold:double"]) == ("0.33", "0.23")
    before = [(ran / f"files/audit{name}").read_bytes() for name in ("_edges.csv", ".graphml")]
    for name in ("links.csv", "duplicates.csv"):
        header, *lines = (ran / "files" / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (ran / "files" / name).write_text("".join([header, *sorted(lines)[1:], "no,link\n"]), "utf-8")
    assert command(*where) == 0
    assert capsys.readouterr().out == told
    assert [(ran / f"files/audit{name}").read_bytes() for name in ("_edges.csv", ".graphml")] == before
    (ran / "files/cache.sqlite3").unlink()
    assert command(*where, "--no-report") == 0
    without = capsys.readouterr()
    assert "The cache contains no run" in without.err and "No links are proposed." in without.out
    assert SAME not in without.out


def test_a_page_whose_links_multiply_is_told(ran: Path, capsys: Capture) -> None:
    where = ("audit", "--project", str(ran), "--no-report", "--fail-on", "multiplied-links")
    assert command(*where) == 0
    more = [(URLS[1], f"https://elsewhere.example/{at}", "ad", "") for at in range(12)]
    few = [(URLS[0], f"https://elsewhere.example/{at}", "source", "") for at in range(5)]
    write_csv(ran / "files/existing_links.csv", [*LINKS, *more, *few])
    assert command("run", "--project", str(ran)) == 0
    assert command(*where) == 7
    told = f"  {URLS[1]}: 15 links in its text, 3 at an earlier run: check the template or the last edit."
    assert told in capsys.readouterr().out


def test_a_scheduler_gets_its_exit_code(project: Path, capsys: Capture) -> None:
    where = ("audit", "--project", str(project), "--home", URLS[0], "--no-report")
    assert command(*where, "--fail-on", "orphan=4", "--fail-on", "hub") == 7
    assert "--fail-on orphan=4: the audit failed with 4 findings." in capsys.readouterr().out
    assert command(*where, "--fail-on", "orphan=5", "--fail-on", "hub") == 0
    assert (project / "files/audit.xlsx").exists()


def test_bounds_are_read_and_a_wrong_one_is_told() -> None:
    assert failure_bounds([f"{rule.value}=2" for rule in Rule]) == dict.fromkeys(Rule, 2)
    for bound, sentence in (
        ("orphans", "'orphans'. Did you mean orphan? Choose one of broken-target"),
        ("Deadends=3", "'Deadends'. Did you mean dead-end=3? Choose one of"),
        ("tiny", "unknown rule 'tiny'. Choose one of broken-target"),
        ("orphan=many", "'many' is not a whole number of 1 or more, as in orphan=10"),
        ("orphan=0", "'0' is not a whole number of 1 or more"),
    ):
        with pytest.raises(ConfigurationError, match=re.escape(sentence)):
            failure_bounds([bound])


def test_a_wrong_option_or_a_path_alone_writes_no_workbook(project: Path, capsys: Capture) -> None:
    for arguments, code, sentence in (
        (("--fail-on", "tiny"), 2, "unknown rule 'tiny'"),
        (("--home", "tiny"), 2, "--home tiny: not a full URL"),
        (("--path", URLS[0], f"{SITE}/gone/"), 3, f"--path {SITE}/gone/ not found: use the URL of a page"),
    ):
        assert command("audit", "--project", str(project), *arguments) == code
        assert sentence in capsys.readouterr().err
    where = ("audit", "--project", str(project), "--path")
    assert command(*where, URLS[0], f"{SITE}/moved/") == 0
    assert f"Today: clicks: 2\n  {URLS[0]}\n  {URLS[1]}\n  {URLS[2]}\n" in capsys.readouterr().out
    assert command(*where, URLS[2], URLS[0]) == 0
    assert "Today: there is no path of links." in capsys.readouterr().out
    assert not (project / "files/audit.xlsx").exists()


@pytest.mark.long
def test_near_duplicates_stay_known_after_runs_that_look_for_none(ran: Path, capsys: Capture) -> None:
    where = ("--project", str(ran))
    assert command("run", "--limit", "1", "--publish", *where) == 0
    with open_project(ran).graph() as (_, runs):
        first, second = runs.versions()
    capsys.readouterr()
    assert command("audit", "--no-report", *where) == 0
    told = capsys.readouterr().out
    assert SAME in told and f" links of run {second.run}" in told
    assert command("rollback", first.run, *where) == 0
    assert command("audit", "--no-report", *where) == 0
    assert SAME in capsys.readouterr().out


def test_without_pages_there_is_nothing_to_audit(project: Path, capsys: Capture) -> None:
    (project / "files/urls_rawdata.csv").unlink()
    assert command("audit", "--project", str(project)) == 3
    assert "files/urls_rawdata.csv not found" in capsys.readouterr().err
    with pytest.raises(InputError, match="There is no page to audit"):
        inspect(material(page("a", issue=Reason(NoTarget.ERROR_STATUS, "404"))))


def test_without_known_links_orphans_are_unknown(project: Path, capsys: Capture) -> None:
    (project / "files/existing_links.csv").unlink()
    where = ("--project", str(project))
    assert command("audit", *where, "--fail-on", "orphan", "--fail-on", "duplicate") == 6
    told = capsys.readouterr()
    table = {line[:42].strip(): line[42:].split() for line in told.out.splitlines()}
    assert table["Orphans"] == table["Links"] == table["Gini of PageRank"] == ["unknown", "unknown"]
    assert table["Pages"] == ["7", "7"]
    assert "--fail-on orphan: unknown, because no links between your pages are known." in told.out
    assert "orphan (error)" not in told.out and "so orphans and all other figures" in told.err
    assert "no links between your pages are known" in (project / "files/audit.html").read_text("utf-8")


@pytest.mark.long
def test_the_sample_site_has_the_clusters_of_the_command(tmp_path: Path, capsys: Capture) -> None:
    for name in ("files", "config"):
        shutil.copytree(REPOSITORY / name, tmp_path / name)
    (tmp_path / "files/cache.sqlite3").unlink(missing_ok=True)
    where = ("--project", str(tmp_path))
    assert command("audit", *where, "--fail-on", "orphan=11") == 7
    told = capsys.readouterr().out
    assert "50 pages" in told and "grinders/best-hand-grinders-2024/" in told
    assert "The home page is not among the pages, so clicks from it are unknown" in told
    assert command("clusters", *where) == 0
    found = {row["URL"]: row["Name"] for row in read_csv(tmp_path / "files/clusters.csv")}
    nodes = read_csv(tmp_path / "files/audit_nodes.csv")
    assert {row["url:ID"]: row["cluster:string"] for row in nodes} == found and len(set(found.values())) > 3


def material(
    *pages: Page, links: tuple[ExistingLink, ...] = (), site: str = "", home: str = ""
) -> AuditInput:
    collected = Collected(pages, (), (), 0, links)
    return AuditInput(collected, Proposals(), None, nothing_excluded, site, home, Limits(), lambda _: None)


def audit_of(*names: str, site: str = "shop.example", home: str = "") -> Audit:
    """Return the audit of these pages; the first links to the second."""
    links = (ExistingLink(url(names[0]), url(names[1])),)
    return inspect(material(*map(page, names), links=links, site=site, home=home))


@pytest.mark.parametrize(
    ("names", "site", "asked", "home", "named"),
    [
        ("a b /", "shop.example", "", 2, "shop.example"),
        ("a b /", "www.shop.example", "", 2, "www.shop.example"),
        ("a b /", "", "", 2, "shop.example"),
        ("a b /", "other.example", "", 2, "shop.example"),
        ("a b /", "other.example/mag", "", 2, "shop.example"),
        ("a b /", "shop.example/a", "", 0, "shop.example/a"),
        ("a b /", "shop.example", url("a"), 0, "shop.example"),
        ("a b index.html", "shop.example", "", 2, "shop.example"),
        ("a b Default.aspx", "shop.example", "", 2, "shop.example"),
        ("a index.php /", "shop.example", "", 2, "shop.example"),
        ("a b mag/index.htm", "shop.example/mag", "", 2, "shop.example/mag"),
        ("a b mag/index.html", "shop.example", "", -1, "shop.example"),
        ("a b", "shop.example", "", -1, "shop.example"),
    ],
)
def test_home_page_and_name_are_the_sites_address(
    names: str, site: str, asked: str, home: int, named: str
) -> None:
    """The home page is the option's, else the page or index file at the site's address, and never an orphan."""
    made = audit_of(*(name.strip("/") for name in names.split()), site=site, home=asked)
    assert (made.home, made.site) == (home, named)
    assert home not in made.before.orphans


def test_without_a_home_page_clicks_are_unknown() -> None:
    made = audit_of("a", "b", "c")
    told = {one.name: (one.before, one.after) for one in made.summary.itertuples()}
    clicks = [name for name in told if "lick" in name or "home page" in name]
    assert len(clicks) == 4 and all(np.isnan(told[name]).all() for name in clicks)
    assert told["Orphans"] == (2, 2)
    assert not {one.rule for one in made.findings} & {Rule.UNREACHABLE, Rule.DEEP}
    assert made.unknown == {Rule.UNREACHABLE, Rule.DEEP}


def test_sections_are_the_first_part_of_paths() -> None:
    keys = [url(name) for name in ("", "about", "blog", "blog/a", "blog/b?page=2", "shop/x", "blog?page=2")]
    assert sections_of(keys) == ["/", "/", "/blog", "/blog", "/blog", "/shop", "/blog"]
    names, labels = grouped([f"/{at % 40}" for at in range(100)])
    assert len(names) == MOST_SECTIONS
    assert names[-1] == "other"
    assert [names[label] for label in labels[:40].tolist()].count("other") == 40 - MOST_SECTIONS + 1


def test_a_folder_with_most_pages_is_split() -> None:
    names = [f"mag/{folder}/{at}" for folder in ("milk", "beans") for at in range(20)]
    names += [
        "mag/rare/1",
        "mag",
        "",
        *(f"mag/post-{at}" for at in range(8)),
        *(f"shop/{at}" for at in range(9)),
    ]
    sections = Counter(sections_of([url(name) for name in names]))
    assert sections == {"/mag/milk": 20, "/mag/beans": 20, "/mag": 10, "/shop": 9, "/": 1}
    deep = [url(f"en/mag/{folder}/{at}") for folder in ("milk", "beans", "cups") for at in range(10)]
    assert set(sections_of(deep)) == {"/en/mag/milk", "/en/mag/beans", "/en/mag/cups"}
    assert set(sections_of(deep[:12])) == {"/en"}


def test_clusters_of_titles_are_what_they_share() -> None:
    subjects = [["kettle", "boils", "water"], ["grinder", "burrs", "dose"], ["filter", "paper", "rinse"]]
    titles = [[*subjects[at % 3], f"number{at}", "guide"] for at in range(60)]
    labels = ordered(by_vectors(title_vectors(titles)))
    for label in range(labels.max() + 1):
        assert len({at % 3 for at in np.flatnonzero(labels == label).tolist()}) == 1
    assert by_vectors(title_vectors([[], ["one"], ["two"]])).tolist() == [-1, -1, -1]
    assert ordered(np.array([-1, -1])).tolist() == [-1, -1]
    assert ordered(np.array([0, 0, 1, 2, 2, 2, 2])).tolist() == [-1, -1, -1, 0, 0, 0, 0]


def test_clusters_of_a_large_site_are_communities_where_most_pages_are_linked() -> None:
    urls = [f"https://www.slowkettle.example/{at}/" for at in range(20)]
    titles = [("Kettle water", "Grinder burrs")[at % 2] for at in range(20)]
    ring = [(at, (at + 1) % 18) for at in range(18)]
    assert audited(urls, titles, ring).clusters_by == "links"
    few = audited(urls, titles, ring[:16])
    assert few.clusters_by == "title" and all(few.clusters)
