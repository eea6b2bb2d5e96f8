"""Errors, redirects, noindex pages and queries without a page: they use up nothing that live pages need."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import openpyxl
import pytest

from internal_linker.model.edges import edge_id
from internal_linker.model.records import Collected, ExistingLink
from internal_linker.project.project import open_project
from internal_linker.sources.collect import collect
from tests.support.builders import GONE, MOVED, page, queries_table, url
from tests.support.sites import read_csv
from tests.support.small_project import command, summary, write_csv, write_settings

SITE = "https://www.tiny.example"
COLUMNS = ("URL", "Title", "Main Content", "Status Code", "Redirect URL", "Indexability")
LIVE = [f"{SITE}/live/{number}" for number in range(20)]
NEW = f"{SITE}/new"
DEAD = [f"{SITE}/dead/{number}" for number in range(6)]
# 404, 301 and noindex.
STATES = [("404", "", ""), ("301", f"{SITE}/elsewhere", ""), ("200", "", "Non-Indexable")] * 2
REASONS = ["status 404", "status 301", "not indexable"] * 2


@pytest.fixture(autouse=True)
def _run_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two runs in one second would have one id.
    numbers = count(1)
    monkeypatch.setattr("internal_linker.project.run.new_run_id", lambda: f"20300101-{next(numbers):06}")


def text(about: str, *more: str) -> str:
    """Return forty words of a topic, always the same for the same arguments."""
    chance = random.Random(about)
    words = [f"{about[:4]}word{chance.randrange(30)}" for _ in range(40)]
    return " ".join([*words, *more])


def rows() -> list[Sequence[str]]:
    """Return 20 live pages, a new page, and six dead pages of the new page's topic."""
    live = [(each, each[-6:], text(f"live{each}", "kettle"), "200", "", "") for each in LIVE]
    new = (NEW, "New kettle", text("newtopic", "kettle"), "200", "", "")
    dead = [
        (each, f"Old kettle {at}", text(f"newtopic{at}", "kettle"), *STATES[at])
        for at, each in enumerate(DEAD)
    ]
    return [*live, new, *dead]


def make_site(
    folder: Path, queries: Sequence[Sequence[str]], pages: Sequence[Sequence[str]] | None = None
) -> Path:
    write_csv(folder / "files/urls_rawdata.csv", [COLUMNS, *(rows() if pages is None else pages)])
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), *queries])
    write_settings(folder, {"min_inlinks": 2, "links_per_page": 3})
    return folder


def run(folder: Path, *options: str) -> list[dict[str, str]]:
    """Run and return the rows of Output.csv."""
    assert command("run", "--project", str(folder), *options) == 0
    return read_csv(folder / "files/Output.csv")


def links(row: Mapping[str, str]) -> list[str]:
    return [cell for name, cell in row.items() if name.startswith("Link ") and cell]


def review_sources(folder: Path) -> Counter[str]:
    """Return how many rows each page has in the review workbook."""
    sheet = openpyxl.load_workbook(folder / "files/review.xlsx").active
    assert sheet is not None
    header, *lines = sheet.iter_rows(values_only=True)
    at = header.index("Source")
    return Counter(str(line[at]) for line in lines if line[at])


def test_live_pages_link_to_a_new_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queries = [*([each, f"kettle {at}"] for at, each in enumerate(DEAD)), ["", "kettle newtword1"]]
    found = run(make_site(tmp_path, queries))
    from_pages = [row for row in found if row["URL"]]
    assert {row["URL"] for row in from_pages if NEW in links(row)} <= set(LIVE)
    assert sum(NEW in links(row) for row in from_pages) >= 2
    assert [(row["URL"], row["Note"]) for row in found[:6]] == [
        (each, f"0 of 3 links: the page gets none ({reason})")
        for each, reason in zip(DEAD, REASONS, strict=True)
    ]
    assert not any(links(row) for row in found[:6])
    assert "6 rows of the main queries get no links: Note in Output.csv says why." in capsys.readouterr().out
    reasons = {row["Target"]: row["Reason"] for row in read_csv(tmp_path / "files/excluded_targets.csv")}
    assert [reasons[each] for each in DEAD] == REASONS


def test_suggestions_for_a_query_count_for_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A query without a page has suggestions in Output.csv; they are in no other list and are nobody's inlinks."""
    folder = make_site(tmp_path, [["", f"kettle newtword{at}"] for at in range(8)], rows()[:21])
    every = run(folder)
    suggested = [row for row in every if not row["URL"]]
    found = [row for row in every if row["URL"]]
    assert sum(NEW in links(row) for row in found) >= 2
    assert len(suggested) == 8 and all(len(links(row)) == 3 for row in suggested)
    assert all(row["Source"] for row in read_csv(folder / "files/links.csv"))
    assert set(review_sources(folder)) == {*LIVE, NEW}
    with open_project(folder).graph() as (edges, _):
        assert {edge.source for edge in edges.each()} == {*LIVE, NEW}
    told = capsys.readouterr().out
    assert "63 links for 21 pages, 24 suggestions for 8 queries without a page" in told
    assert summary(folder)["Suggestions for queries without a page"] == "24"


def test_a_url_outside_the_crawl_is_a_query_without_a_page(tmp_path: Path) -> None:
    """As far as is known, a URL that the crawl does not have is no page yet: it gets suggestions and a note."""
    unknown = [[f"{SITE}/unknown/{at}", f"kettle newtword{at}"] for at in range(6)]
    folder = make_site(tmp_path, unknown)
    found = {row["URL"]: row for row in run(folder)}
    for each, _ in unknown:
        assert len(links(found[each])) == 3
        assert found[each]["Note"].startswith("only suggestions: this URL is not in files/urls_rawdata.csv")
    assert sum(NEW in links(found[each]) for each in LIVE) >= 2
    assert (
        set(review_sources(folder))
        == {*LIVE, NEW}
        == {row["Source"] for row in read_csv(folder / "files/links.csv")}
    )


def test_without_a_crawl_every_url_is_a_page() -> None:
    (one,) = collect(queries_table([NEW, "kettle"]), None, queries_in_sheet=True).sources
    assert one.is_page and not one.unlisted


def test_a_page_that_died_leaves_the_review(tmp_path: Path) -> None:
    """When a page dies, its links are withdrawn, accepted ones too; they are back when it is."""
    folder = make_site(tmp_path, [])
    first = {row["URL"]: links(row) for row in run(folder)}
    page_url, target = LIVE[3], first[LIVE[3]][0]
    key = edge_id(page_url, target)
    workbook = openpyxl.load_workbook(folder / "files/review.xlsx")
    sheet = workbook.active
    assert sheet is not None
    header = [cell.value for cell in sheet[1]]
    for line in sheet.iter_rows(min_row=2):
        if line[header.index("Link ID")].value == key:
            line[header.index("Status")].value = "accepted"
    workbook.save(folder / "files/review.xlsx")
    healthy = rows()
    dead = [(*row[:3], "404", "", "") if row[0] == page_url else row for row in healthy]
    make_site(folder, [], dead)
    assert page_url not in {row["URL"] for row in run(folder)}
    # An editor's word is never deleted.
    assert review_sources(folder)[page_url] == 1
    with open_project(folder).graph() as (edges, _):
        assert edges.by_id([key])[key].status == "withdrawn"
    make_site(folder, [], healthy)
    again = {row["URL"]: links(row) for row in run(folder)}
    assert again[page_url][0] == target
    with open_project(folder).graph() as (edges, _):
        assert edges.by_id([key])[key].status == "accepted"


MOVED_ROW = f"{SITE}/moved"


def moved() -> list[Sequence[str]]:
    """Return the live pages and a redirect to the first of them."""
    return [*rows()[:20], (MOVED_ROW, "", "", "301", LIVE[0], "")]


def test_a_redirected_row_gets_the_links_of_its_page(tmp_path: Path) -> None:
    """The row keeps its own URL and says where it leads; what the final page links to already is not proposed."""
    folder = make_site(tmp_path / "plain", [], moved())
    first = {row["URL"]: links(row) for row in run(folder)}
    assert MOVED_ROW not in first
    linked = first[LIVE[0]][:2]
    folder = make_site(tmp_path / "rows", [[MOVED_ROW, "kettle"]], moved())
    # A link that the crawler found at the old address is one of the page, too.
    ends = [(LIVE[0], linked[0]), (MOVED_ROW, linked[1]), (LIVE[5], LIVE[1])]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination"), *ends])
    row, *others = run(folder)
    assert row["URL"] == MOVED_ROW and len(links(row)) == 3
    assert not {LIVE[0], *linked} & set(links(row))
    assert row["Note"].split("; ")[0] == f"the links are for {LIVE[0]}, where this URL leads"
    assert LIVE[0] not in {each["URL"] for each in others}
    sources = {each["Source"] for each in read_csv(folder / "files/links.csv")}
    assert LIVE[0] in sources and MOVED_ROW not in sources
    assert MOVED_ROW not in review_sources(folder)


def test_a_part_of_the_rows_replaces_a_redirected_row(tmp_path: Path) -> None:
    """A run for one URL finds the redirected row by either address, and replaces it in Output.csv."""
    folder = make_site(tmp_path, [[MOVED_ROW, "kettle"]], moved())
    before = run(folder)
    for address in (MOVED_ROW, LIVE[0]):
        assert [row["URL"] for row in run(folder, "--only", address)] == [row["URL"] for row in before]


def test_a_rejection_outlives_a_redirect(tmp_path: Path) -> None:
    folder = make_site(tmp_path, [], rows()[:20])
    first = {row["URL"]: links(row) for row in run(folder)}
    target = next(one for one in first[LIVE[0]] if one != LIVE[1])
    project = open_project(folder)
    with project.graph(read_only=False) as (edges, _):
        edge = edges.by_id([edge_id(LIVE[0], target)])[edge_id(LIVE[0], target)]
        edges.put([replace(edge, verdict="rejected", status="rejected")])
    gone = [(LIVE[0], "", "", "301", MOVED_ROW, ""), (MOVED_ROW, *rows()[0][1:]), *rows()[1:20]]
    make_site(folder, [], gone)
    now = {row["URL"]: links(row) for row in run(folder)}
    assert LIVE[0] not in now and target not in now[MOVED_ROW]


@pytest.mark.parametrize(
    ("address", "note"),
    [
        (DEAD[0], "the page gets none (status 404)"),
        (DEAD[2], "the page gets none (not indexable)"),
    ],
)
def test_a_lookup_says_why_a_page_gets_no_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], address: str, note: str
) -> None:
    """A lookup of a dead page prints the reason instead of links, and is not a success."""
    folder = make_site(tmp_path, [])
    assert command("lookup", address, "--project", str(folder)) == 6
    assert note in " ".join(capsys.readouterr().out.split())


def test_links_of_dead_pages_make_no_page_linked() -> None:
    """Links from errors don't count; those from a redirect or a copy count for the page that it leads to."""
    live, other = page("a"), page("b")
    gone, old = page("gone", issue=GONE), page("old", issue=MOVED)
    ends = [("gone", "a"), ("old", "b"), ("old", "a"), ("a", "b"), ("a", "elsewhere"), ("elsewhere", "a")]
    found = Collected(
        (live, other, gone, old),
        (),
        (),
        0,
        links=tuple(ExistingLink(url(one), url(two), start=3) for one, two in ends),
        aliases={url("old"): url("a")},
    )
    assert [(link.source, link.target, link.start) for link in found.live_links] == [
        (url("a"), url("b"), -1),
        (url("a"), url("b"), 3),
        (url("a"), url("elsewhere"), 3),
        (url("elsewhere"), url("a"), 3),
    ]
    assert replace(found, pages=(live, other)).live_links is found.links
