"""`audit` as a user or a scheduler calls it: the table, the findings, exit codes, paths, and no costs."""

import csv
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from internal_linker.analysis.audit.audit import Material, inspect
from internal_linker.analysis.audit.links import Proposals
from internal_linker.analysis.audit.page_clusters import by_vectors, ordered, title_vectors
from internal_linker.analysis.audit.records import Audit, Limits, Rule
from internal_linker.api.decisions import decide, waiting_links
from internal_linker.core.records import Collected, ExistingLink
from internal_linker.core.sections import MOST_SECTIONS, grouped, sections_of
from internal_linker.text.stop_words import stop_words
from internal_linker.usecases.project import open_project
from internal_linker.usecases.review import LinkDecision
from tests.support.audits import audited
from tests.support.builders import nothing_excluded, page, url
from tests.support.sites import read_csv
from tests.support.small_project import (
    REPOSITORY,
    SITE,
    TOPICS,
    URLS,
    command,
    forget_settings,
    make_project,
    snapshot,
    write_csv,
)

Capture = pytest.CaptureFixture[str]
LINKS = [
    ("Source", "Destination", "Anchor"),
    (URLS[0], URLS[1], "black tea"),
    (URLS[1], URLS[2], "white tea"),
    (URLS[1], f"{SITE}/moved/", "an old page"),
    (URLS[1], f"{SITE}/gone/", "a lost page"),
    (URLS[3], URLS[4], "tea"),
]


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_settings(monkeypatch)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with six pages, one that moved and one that is gone, and some links."""
    folder = make_project(tmp_path)
    rows = [(at, slug, text, "200", "") for at, (slug, text) in zip(URLS, TOPICS.items(), strict=True)]
    rows += [(f"{SITE}/moved/", "", "", "301", URLS[2]), (f"{SITE}/gone/", "", "", "404", "")]
    header = ("URL", "Title", "Main Content", "Status Code", "Redirect URL")
    write_csv(folder / "files/urls_rawdata.csv", [header, *rows])
    write_csv(folder / "files/existing_links.csv", LINKS)
    return folder


def lines(capsys: Capture) -> dict[str, tuple[str, ...]]:
    """Return the printed before/after table."""
    rows = (line.rsplit(maxsplit=2) for line in capsys.readouterr().out.splitlines())
    return {row[0].strip(): tuple(row[1:]) for row in rows if len(row) == 3}


def test_todays_links_are_audited_without_a_run(project: Path, capsys: Capture) -> None:
    """Without a run the audit says so; figures follow redirects, findings name them, and only files/ changes."""
    before = snapshot(project)
    assert command("audit", "--project", str(project), "--home", URLS[0]) == 0
    told = capsys.readouterr()
    assert "The cache contains no run because it is new or was deleted, so only today's links" in told.err
    assert f"6 pages, home page {URLS[0]}" in told.out
    table = dict(line.rsplit(maxsplit=2)[::2] for line in told.out.splitlines() if line.startswith("Orphans"))
    assert table == {"Orphans": "2"}
    assert f"{URLS[1]}  {SITE}/moved/: The link's target: status 301. Link to {URLS[2]}." in told.out
    assert f"{URLS[1]}  {SITE}/gone/: The link's target: status 404." in told.out
    assert {name for name in snapshot(project).keys() - before.keys() if "tmp" not in name} == {
        f"files/audit{rest}" for rest in (".xlsx", ".html", ".graphml", "_nodes.csv", "_edges.csv")
    }
    assert all(snapshot(project)[name] == old for name, old in before.items())


def test_nofollow_links_are_no_inlinks(project: Path, capsys: Capture) -> None:
    """A page that only nofollow links lead to is an orphan; the links are counted, said, and lead visitors there."""
    rows = [(*LINKS[0], "Rel"), *((*link, "nofollow" if link[1] == URLS[4] else "") for link in LINKS[1:])]
    write_csv(project / "files/existing_links.csv", rows)
    assert command("audit", "--project", str(project), "--home", URLS[0]) == 0
    told = capsys.readouterr()
    assert "1 link has rel=nofollow, ugc or sponsored" in told.err
    table = dict(line.rsplit(maxsplit=2)[::2] for line in told.out.splitlines() if len(line.split()) > 2)
    assert (table["Orphans"], table["Links"], table["Links with nofollow, ugc or sponsored"]) == (
        "3",
        "3",
        "1",
    )
    assert command("clusters", "--project", str(project), "--by", "title", "--k", "2") == 0


def test_each_link_of_the_graph_files_says_where_it_comes_from(project: Path, capsys: Capture) -> None:
    """Links have type, anchor and rel; proposed ones model, run, thresholds and, if accepted, who accepted them."""
    rows = [(*LINKS[0], "Rel"), *((*link, "nofollow" if link[1] == URLS[4] else "") for link in LINKS[1:])]
    write_csv(project / "files/existing_links.csv", rows)
    assert command("run", "--project", str(project)) == 0
    waiting = waiting_links(project).links
    decide([LinkDecision(waiting[0].id, status="accepted")], project, by="Ann")
    assert command("audit", "--project", str(project)) == 0
    with (project / "files/audit_edges.csv").open(encoding="utf-8", newline="") as file:
        links = {(row[":START_ID"], row[":END_ID"]): row for row in csv.DictReader(file)}
    told = links[URLS[0], URLS[1]]
    assert (told["link_type"], told["anchor"], told["followed:boolean"]) == (
        "contextual",
        "black tea",
        "true",
    )
    assert (told["status"], told["run"], told["approver"]) == ("live", "", "")
    assert links[URLS[3], URLS[4]]["followed:boolean"] == "false"
    accepted = links[waiting[0].source, waiting[0].target]
    assert (accepted["state"], accepted["status"], accepted["approver"]) == ("proposed", "accepted", "Ann")
    assert accepted["approved_at"] and accepted["anchor"] == waiting[0].anchor
    others = [row for row in links.values() if row["state"] == "proposed" and row is not accepted]
    assert others and not any(row["approver"] for row in others)
    for row in [accepted, *others]:
        assert row["link_type"] and row["tier"] and row["model"] and row["run"]
        assert (row["inline_threshold:double"], row["sidebar_threshold:double"]) == ("0.7", "0.7")


def test_a_page_whose_links_multiply_is_told(project: Path, capsys: Capture) -> None:
    """A page with many more links than at the last run or the one before it is a finding; an edit's few are not."""
    where = ("--project", str(project), "--no-report")
    assert command("run", "--project", str(project)) == 0
    capsys.readouterr()
    assert command("audit", *where, "--fail-on", "multiplied-links") == 0
    more = [(URLS[1], f"https://elsewhere.example/{at}", "ad") for at in range(12)]
    few = [(URLS[0], f"https://elsewhere.example/{at}", "source") for at in range(5)]
    write_csv(project / "files/existing_links.csv", [*LINKS, *more, *few])
    assert command("audit", *where, "--fail-on", "multiplied-links") == 7
    told = f"  {URLS[1]}: 15 links in its text, 3 at an earlier run: check the template or the last edit."
    assert told in capsys.readouterr().out
    for code in (7, 0):
        assert command("run", "--project", str(project)) == 0
        assert command("audit", *where, "--fail-on", "multiplied-links") == code


def test_adoption_of_a_runs_links_mends(project: Path, capsys: Capture) -> None:
    """After a run the audit reads its links: no orphan remains, the site has more links, and findings say so."""
    where = ("--project", str(project))
    assert command("run", *where) == 0
    capsys.readouterr()
    assert command("audit", *where, "--after", "all") == 0
    told = lines(capsys)
    assert told["Orphans"][1] == "0"
    assert int(told["Links"][1]) > int(told["Links"][0]) == 3
    assert float(told["Gini of PageRank"][1]) < float(told["Gini of PageRank"][0])


def test_a_scheduler_gets_its_exit_code(project: Path, capsys: Capture) -> None:
    """From the given number of findings on, the exit code is 7, below it 0; the workbook is written either way."""
    where = ("audit", "--project", str(project), "--home", URLS[0])
    assert command(*where, "--fail-on", "orphan") == 7
    assert "--fail-on orphan=1: the audit failed with 2 findings." in capsys.readouterr().out
    assert command(*where, "--fail-on", "orphan=2", "--fail-on", "hub") == 7
    assert command(*where, "--fail-on", "orphan=3", "--fail-on", "hub") == 0
    assert (project / "files/audit.xlsx").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--fail-on", "orphans"), 2, "'orphans'. Did you mean orphan? Choose one of broken-target"),
        (("--fail-on", "Deadends=3"), 2, "'Deadends'. Did you mean dead-end=3? Choose one of"),
        (("--fail-on", "tiny"), 2, "unknown rule 'tiny'. Choose one of broken-target"),
        (("--fail-on", "orphan=many"), 2, "'many' is not a whole number of 1 or more, as in orphan=10"),
        (("--fail-on", "orphan=0"), 2, "'0' is not a whole number of 1 or more"),
        (("--home", "tiny"), 2, "--home tiny: not a full URL"),
        (("--home", f"{SITE}/other/"), 3, f"--home {SITE}/other/ not found: use the URL of a page"),
        (("--path", URLS[0], f"{SITE}/gone/"), 3, f"--path {SITE}/gone/ not found: use the URL of a page"),
    ],
)
def test_wrong_options_are_told(
    project: Path, capsys: Capture, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    """A wrong option ends with one sentence, the documented exit code, and no workbook."""
    assert command("audit", "--project", str(project), *arguments) == code
    assert sentence in capsys.readouterr().err
    assert not (project / "files/audit.xlsx").exists()


def test_the_shortest_path_is_printed_alone(project: Path, capsys: Capture) -> None:
    """A redirect costs one click to its target; a missing path is reported; no workbook is written."""
    where = ("audit", "--project", str(project), "--path")
    assert command(*where, URLS[0], f"{SITE}/moved/") == 0
    assert f"Today: clicks: 2\n  {URLS[0]}\n  {URLS[1]}\n  {URLS[2]}\n" in capsys.readouterr().out
    assert command(*where, URLS[2], URLS[0]) == 0
    assert "Today: there is no path of links." in capsys.readouterr().out
    assert not (project / "files/audit.xlsx").exists()


COPY = f"{SITE}/green-tea-again/"
SAME = f"  {COPY}  {URLS[0]}: "


@pytest.fixture
def with_copy(project: Path) -> Path:
    """Return the project with one more page, whose text is nearly that of the first."""
    pages = read_csv(project / "files/urls_rawdata.csv")
    pages.append(pages[0] | {"URL": COPY, "Main Content": pages[0]["Main Content"] + " And that is all."})
    write_csv(project / "files/urls_rawdata.csv", [tuple(pages[0]), *(tuple(row.values()) for row in pages)])
    return project


def test_proposed_links_and_duplicates_come_from_the_store(with_copy: Path, capsys: Capture) -> None:
    """Sorting, changing or deleting rows in files/ doesn't change the audit."""
    project = with_copy
    where = ("--project", str(project))
    assert command("run", *where) == 0
    results = [project / "files/audit_edges.csv", project / "files/audit.graphml"]
    capsys.readouterr()
    assert command("audit", *where) == 0
    told, before = capsys.readouterr().out, [path.read_bytes() for path in results]
    assert SAME in told and "of their phrases are the same" in told
    for name in ("links.csv", "duplicates.csv"):
        header, *rows = (project / "files" / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (project / "files" / name).write_text("".join([header, *sorted(rows)[1:], "no,link\n"]), "utf-8")
    assert command("audit", *where) == 0
    assert (capsys.readouterr().out, [path.read_bytes() for path in results]) == (told, before)
    (project / "files/cache.sqlite3").unlink()
    assert command("audit", *where) == 0
    without = capsys.readouterr()
    assert "The cache contains no run" in without.err and "No links are proposed." in without.out
    assert SAME not in without.out


def test_near_duplicates_stay_known_after_runs_that_look_for_none(with_copy: Path, capsys: Capture) -> None:
    """A run of some rows and a rollback keep the near-duplicates of the last whole run."""
    where = ("--project", str(with_copy))
    assert command("run", *where) == 0
    assert command("run", "--limit", "1", "--publish", *where) == 0
    with open_project(with_copy).graph() as (_, runs):
        first, second = runs.versions()
    capsys.readouterr()
    assert command("audit", *where) == 0
    told = capsys.readouterr().out
    assert SAME in told and f" links of run {second.run}" in told
    assert command("rollback", first.run, *where) == 0
    assert command("audit", *where) == 0
    assert SAME in capsys.readouterr().out


def test_without_pages_there_is_nothing_to_audit(project: Path, capsys: Capture) -> None:
    """Without pages, or with a list of errors only, the message names the file."""
    (project / "files/urls_rawdata.csv").unlink()
    assert command("audit", "--project", str(project)) == 3
    assert "files/urls_rawdata.csv not found" in capsys.readouterr().err
    header = ("URL", "Main Content", "Status Code")
    write_csv(project / "files/urls_rawdata.csv", [header, (URLS[0], "text", "404")])
    assert command("audit", "--project", str(project)) == 3
    assert "There is no page to audit" in capsys.readouterr().err


def sample(folder: Path) -> Path:
    """Copy the repository's sample without its cache into a folder, and return it."""
    for name in ("files", "config"):
        shutil.copytree(REPOSITORY / name, folder / name)
    (folder / "files/cache.sqlite3").unlink(missing_ok=True)
    return folder


def test_the_sample_site_is_audited(tmp_path: Path, capsys: Capture) -> None:
    """The audit finds the known weak spots of the repository's sample before any run."""
    assert command("audit", "--project", str(sample(tmp_path)), "--fail-on", "orphan=11") == 7
    told = capsys.readouterr()
    assert "50 pages" in told.out
    assert "The home page is not among the pages, so clicks from it are unknown" in told.out
    assert "grinders/best-hand-grinders-2024/" in told.out


def audit_of(*names: str, site: str = "shop.example", home: str = "", linked: bool = True) -> Audit:
    """Return the audit of these pages; the first links to the second."""
    pages = tuple(page(name) for name in names)
    links = (ExistingLink(url(names[0]), url(names[1])),) if linked else ()
    collected = Collected(pages, (), (), 0, links)
    return inspect(
        Material(collected, Proposals(), None, nothing_excluded, site, home, Limits(), lambda _: None)
    )


@pytest.mark.parametrize(
    ("names", "site", "asked", "home"),
    [
        (("a", "b", ""), "shop.example", "", 2),
        (("a", "b", ""), "www.shop.example", "", 2),
        (("a", "b", ""), "", "", 2),
        (("a", "b", ""), "other.example", "", 2),
        (("a", "b", ""), "shop.example/a", "", 0),
        (("a", "b", ""), "shop.example", url("a"), 0),
        (("a", "b", "index.html"), "shop.example", "", 2),
        (("a", "b", "Default.aspx"), "shop.example", "", 2),
        (("a", "index.php", ""), "shop.example", "", 2),
        (("a", "b", "mag/index.htm"), "shop.example/mag", "", 2),
        (("a", "b", "mag/index.html"), "shop.example", "", -1),
        (("a", "b"), "shop.example", "", -1),
    ],
)
def test_the_home_page_is_the_sites_address(names: tuple[str, ...], site: str, asked: str, home: int) -> None:
    """The home page is the option's, else the page or index file at the site's address, and never an orphan."""
    made = audit_of(*names, site=site, home=asked)
    assert made.home == home
    assert home not in made.before.orphans


def test_without_a_home_page_clicks_are_unknown(tmp_path: Path) -> None:
    """Without a home page no click figure is made up, and no page is called deep or unreachable."""
    made = audit_of("a", "b", "c")
    told = {one.name: (one.before, one.after) for one in made.summary}
    clicks = [name for name in told if "lick" in name or "home page" in name]
    assert len(clicks) == 4 and all(np.isnan(told[name]).all() for name in clicks)
    assert told["Orphans"] == (2, 2)
    assert not {one.rule for one in made.findings} & {Rule.UNREACHABLE, Rule.DEEP}
    assert made.unknown == {Rule.UNREACHABLE, Rule.DEEP}


@pytest.mark.parametrize(
    ("site", "named"),
    [
        *(("", "shop.example"), ("other.example", "shop.example"), ("other.example/mag", "shop.example")),
        *(("shop.example", "shop.example"), ("shop.example/a", "shop.example/a")),
    ],
)
def test_the_audit_is_named_after_the_pages_host(site: str, named: str) -> None:
    """An audit has the name in the search template if that is the pages' site, else the pages' host."""
    assert audit_of("a", "b", "a/c", site=site).site == named


def test_a_new_project_is_not_named_after_the_example(project: Path, capsys: Capture) -> None:
    """With the placeholder of a new project's search template, the audit is named after the pages' host."""
    (project / "config/settings.toml").unlink()
    assert command("audit", "--project", str(project)) == 0
    told = capsys.readouterr().out
    assert f"Audit of {SITE.partition('://')[2]}: " in told and "yoursite" not in told


def test_without_known_links_orphans_are_unknown(project: Path, capsys: Capture) -> None:
    """Without existing links, `audit` calls orphans unknown as `run` does, and a check of them fails as such."""
    (project / "files/existing_links.csv").unlink()
    where = ("--project", str(project))
    assert command("run", *where) == 0
    assert "Orphans: unknown without existing links" in capsys.readouterr().out
    assert command("audit", *where, "--fail-on", "orphan", "--fail-on", "duplicate") == 6
    told = capsys.readouterr()
    table = {line[:42].strip(): line[42:].split() for line in told.out.splitlines()}
    assert table["Orphans"] == table["Links"] == table["Gini of PageRank"] == ["unknown", "unknown"]
    assert table["Pages"] == ["6", "6"]
    assert "--fail-on orphan: unknown, because no links between your pages are known." in told.out
    assert "orphan (error)" not in told.out and "so orphans and all other figures" in told.err
    assert "no links between your pages are known" in (project / "files/audit.html").read_text("utf-8")


def test_sections_are_the_first_part_of_paths() -> None:
    """A page without subpages belongs to the root; if there are many sections, the small ones are merged."""
    keys = [url(name) for name in ("", "about", "blog", "blog/a", "blog/b?page=2", "shop/x", "blog?page=2")]
    assert sections_of(keys) == ["/", "/", "/blog", "/blog", "/blog", "/shop", "/blog"]
    names, labels = grouped([f"/{at % 40}" for at in range(100)])
    assert len(names) == MOST_SECTIONS
    assert names[-1] == "other"
    assert [names[label] for label in labels[:40].tolist()].count("other") == 40 - MOST_SECTIONS + 1


def test_a_folder_with_most_pages_is_split() -> None:
    """The sub-folders of a folder with most of the pages are sections; tiny ones stay in it, and so on downwards."""
    names = [f"mag/{folder}/{at}" for folder in ("milk", "beans") for at in range(20)]
    names += [
        *(f"mag/post-{at}" for at in range(8)),
        "mag/rare/1",
        "mag",
        "",
        *(f"shop/{at}" for at in range(9)),
    ]
    sections = Counter(sections_of([url(name) for name in names]))
    assert sections == {"/mag/milk": 20, "/mag/beans": 20, "/mag": 10, "/shop": 9, "/": 1}
    deep = [url(f"en/mag/{folder}/{at}") for folder in ("milk", "beans", "cups") for at in range(10)]
    assert set(sections_of(deep)) == {"/en/mag/milk", "/en/mag/beans", "/en/mag/cups"}
    assert set(sections_of(deep[:12])) == {"/en"}


def test_clusters_of_titles_are_what_they_share() -> None:
    """Titles of three subjects form unmixed groups."""
    subjects = [["kettle", "boils", "water"], ["grinder", "burrs", "dose"], ["filter", "paper", "rinse"]]
    titles = [[*subjects[at % 3], f"number{at}", "guide"] for at in range(60)]
    labels = ordered(by_vectors(title_vectors(titles)))
    for label in range(labels.max() + 1):
        assert len({at % 3 for at in np.flatnonzero(labels == label).tolist()}) == 1


def test_pages_without_words_are_in_no_cluster() -> None:
    """Titles that share nothing and empty titles raise no error."""
    assert by_vectors(title_vectors([[], ["one"], ["two"]])).tolist() == [-1, -1, -1]
    assert ordered(np.array([-1, -1])).tolist() == [-1, -1]
    assert ordered(np.array([0, 0, 1, 2, 2, 2, 2])).tolist() == [-1, -1, -1, 0, 0, 0, 0]


def test_clusters_of_a_large_site_are_communities_where_most_pages_are_linked() -> None:
    """On a site too large to compare, links group pages if nine pages of ten have some, else titles do."""
    urls = [f"https://www.slowkettle.example/{at}/" for at in range(20)]
    titles = [("Kettle water", "Grinder burrs")[at % 2] for at in range(20)]
    ring = [(at, (at + 1) % 18) for at in range(18)]
    assert audited(urls, titles, ring).clusters_by == "links"
    few = audited(urls, titles, ring[:16])
    assert few.clusters_by == "title" and all(few.clusters)


def test_audit_and_clusters_have_the_same_clusters(tmp_path: Path, capsys: Capture) -> None:
    """`audit` shows each page in the cluster that `clusters` gives it, under the same name, before and after."""
    where = ("--project", str(sample(tmp_path)))

    def of_audit() -> dict[str, str]:
        assert command("audit", *where) == 0
        return {row["url:ID"]: row["cluster:string"] for row in read_csv(tmp_path / "files/audit_nodes.csv")}

    before = of_audit()
    assert command("clusters", *where) == 0
    found = {row["URL"]: row["Name"] for row in read_csv(tmp_path / "files/clusters.csv")}
    assert before == found == of_audit() and len(set(found.values())) > 3


@pytest.mark.parametrize("field", ["Title", "Main Content"])
def test_clusters_are_not_named_by_function_words(tmp_path: Path, capsys: Capture, field: str) -> None:
    """No name of a cluster begins or ends with a stop word, in German as in English, by titles or contents."""
    made = {
        "de": "Warum ist der {0} {1} für die besten {2} wichtig",
        "en": "Why the {0} {1} is what you need for {2}",
        "fa": "چرا {0} {1} برای {2} مهم است",
    }
    words = {
        "de": (("Mahlgrad", "Mühle", "Bohnen"), ("Milchschaum", "Kännchen", "Kühe")),
        "en": (("grinder", "burr", "beans"), ("milk", "foam", "pitcher")),
        "fa": (("آسیاب", "تیغه", "دانه"), ("شیر", "فوم", "پیچر")),
    }
    rows = [
        (f"{SITE}/{lang}/{at}/", made[lang].format(*words[lang][at % 2]) + f" {at}", lang)
        for lang in made
        for at in range(8)
    ]
    folder = make_project(tmp_path)
    (folder / "files/main_queries.csv").unlink(missing_ok=True)
    write_csv(folder / "files/urls_rawdata.csv", [("URL", field, "Lang"), *rows])
    assert command("audit", "--project", str(folder)) == 0
    for row in read_csv(folder / "files/audit_nodes.csv"):
        lang = row["url:ID"].removeprefix(SITE)[1:3]
        for term in row["cluster:string"].split(", "):
            assert not {term.split()[0].casefold(), term.split()[-1].casefold()} & stop_words(lang), term
