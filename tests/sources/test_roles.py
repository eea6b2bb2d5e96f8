"""Source and target pages by the filters of an import and the column Role of a run."""

import json
from pathlib import Path

import pytest

from tests.support.crawls import crawl, imported, pages, table
from tests.support.sites import read_csv
from tests.support.small_project import (
    HEADER,
    SITE,
    TOPICS,
    URLS,
    command,
    make_project,
    write_csv,
)

BLOG, SHOP, INFO = (f"{SITE}/{path}" for path in ("blog/tea", "shop/pot", "info/us"))


FILTERS = {
    "sources and targets": (
        ("--source-include", "/blog", "--target-include", "/shop"),
        {BLOG: "source", SHOP: "target"},
        {"neither source nor target": 1},
    ),
    "no sources": (("--source-exclude", "/shop"), {BLOG: "", SHOP: "target", INFO: ""}, {}),
    "no targets": (
        ("--target-exclude", "/info", "--target-exclude", "/blog"),
        {BLOG: "source", SHOP: "", INFO: "source"},
        {},
    ),
    "beside the filter of pages": (
        ("--exclude", "/info", "--target-include", "/shop"),
        {BLOG: "source", SHOP: ""},
        {"in --exclude": 1},
    ),
}


@pytest.mark.parametrize("case", FILTERS)
def test_filters_give_roles(
    case: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page that may be both has no role; a page that may be neither is left out and counted."""
    options, roles, left_out = FILTERS[case]
    file = crawl(tmp_path / "p.csv", ("URL",), (BLOG,), (SHOP,), (INFO,))
    assert imported(project, file, *options, "--json") == 0
    assert pages(project) == [("URL", "Role"), *roles.items()]
    assert json.loads(capsys.readouterr().out)["left_out"] == left_out


def test_a_role_of_the_table_stays(project: Path, tmp_path: Path) -> None:
    """An imported role stays, also on a second import; filters can only restrict it."""
    file = crawl(tmp_path / "p.csv", ("URL", "Role"), (BLOG, "Source"), (SHOP, "target"), (INFO, "both"))
    assert imported(project, file) == 0
    ours = str(project / "files/urls_rawdata.csv")
    assert pages(project)[1:] == [(BLOG, "Source"), (SHOP, "target"), (INFO, "both")]
    assert imported(project, ours, "--target-exclude", "/blog", "--source-exclude", "/info") == 0
    assert pages(project)[1:] == [(BLOG, "source"), (SHOP, "target"), (INFO, "target")]
    assert imported(project, ours, "--target-exclude", "/shop") == 0
    assert pages(project)[1:] == [(BLOG, "source"), (INFO, "target")]


def test_roles_decide_on_links(tmp_path: Path) -> None:
    """A source gets links and none to it; a target gets none; an unknown role counts as both and is rejected.

    An orphan may be linked from a source, and not from a target.
    """
    project = make_project(tmp_path)
    rows = [
        (url, slug, text, role)
        for url, (slug, text), role in zip(
            URLS, TOPICS.items(), ("source", "Target", "hub", "", "", ""), strict=True
        )
    ]
    write_csv(project / "files/urls_rawdata.csv", [(*HEADER, "Role"), *rows])
    write_csv(project / "files/existing_links.csv", [("Source", "Destination"), (URLS[3], URLS[2])])
    assert command("run", "--project", str(project)) == 0
    output = {row["URL"]: row for row in read_csv(project / "files/Output.csv")}
    found = {url: [row[f"Link {number}"] for number in range(1, 6)] for url, row in output.items()}
    linked = {link for links in found.values() for link in links}
    assert len(found) == 6 and any(found[URLS[0]]) and URLS[0] not in linked
    excluded = read_csv(project / "files/excluded_targets.csv")
    assert {"Source": "", "Target": URLS[0], "Reason": "its Role is source"} in excluded
    assert not any(found[URLS[1]]) and URLS[1] in linked
    assert [*output[URLS[1]].values()][-1] == "0 of 5 links: the page gets none (its Role is target)"
    assert URLS[2] in linked
    (row,) = table(project, "rejected_rows.csv")[1:]
    assert row[2:] == (URLS[2], "its Role is not source, target or both: it counts as both")
    places = {url for row in table(project, "orphans.csv")[1:] for url in row[1:]}
    assert URLS[0] in places and URLS[1] not in places


def test_pages_of_the_same_text_are_left_out(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of pages with one text in any spacing and markup only the first stays; pages without text aren't copies."""
    rows = [
        *((BLOG, "green tea"), (SHOP, "<p>green\n tea</p>"), (INFO, "Green tea")),
        *((SITE + "/1", ""), (SITE + "/2", "")),
    ]
    file = crawl(tmp_path / "p.csv", ("URL", "Main Content"), *rows)
    assert imported(project, file, "--no-duplicates", "--json") == 0
    assert [row[0] for row in pages(project)[1:]] == [BLOG, INFO, SITE + "/1", SITE + "/2"]
    assert json.loads(capsys.readouterr().out)["left_out"] == {"the same text as an earlier page": 1}
