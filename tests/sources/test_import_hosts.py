"""Forms of a host and mapped hosts in an import: one row a page, and the live site's URLs in the tables."""

import json
from pathlib import Path

import pytest

from tests.support.sites import read_csv
from tests.support.small_project import command, make_project, write_csv, write_settings

HEADER = ("URL", "Title", "Main Content", "Status Code", "Redirect URL", "Canonical Link Element 1")
MAP = "staging.e.example=www.e.example"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def imported(project: Path, capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    capsys.readouterr()
    assert command("import", *map(str, arguments), "--project", str(project)) == code
    printed = capsys.readouterr()
    return " ".join((printed.out + printed.err).split())


def test_forms_of_a_page_are_one_row(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The http:// rows that redirect are merged into their pages, and a canonical in another form is the page's own."""
    rows = [
        ("http://e.example/a", "", "", "301", "https://www.e.example/a", ""),
        ("https://www.e.example/a", "A", "text a", "200", "", "http://www.e.example/a/index.html"),
        ("https://www.e.example/b/", "B", "text b", "200", "", "https://www.e.example/a"),
    ]
    write_csv(tmp_path / "crawl.csv", [HEADER, *rows])
    told = imported(project, capsys, tmp_path / "crawl.csv", "--no-canonicalised", "--json", "--yes")
    counts = json.JSONDecoder().raw_decode(told, told.index('{"files"'))[0]
    assert (counts["pages"], counts["merged"]) == (1, 1)
    assert counts["left_out"] == {"canonicalised to another page": 1}
    assert counts["facts"] == {
        "URLs in another form than the site's (http, www, another host or index.html)": 1
    }
    assert [row["URL"] for row in read_csv(project / "files/urls_rawdata.csv")] == ["https://www.e.example/a"]


def crawl_staging(folder: Path) -> tuple[Path, Path]:
    site, live = "https://staging.e.example", "https://www.e.example"
    anchors = f'<a href="{site}/b">b</a> and //staging.e.example.com/x and <a href="//www.staging.e.example/c">c</a>'
    html = f"<p>Tea {anchors}</p>"
    pages = [(f"{site}/{name}", name, html, "200", "", f"{live}/{name}") for name in "abc"]
    pages[2] = (f"{site}/c", "c", "", "301", f"{site}/a", "")
    write_csv(folder / "crawl.csv", [HEADER, *pages])
    write_csv(
        folder / "links.csv",
        [("Source", "Destination"), (f"{site}/a", f"{live}/b"), (f"{site}/b", f"{site}/a")],
    )
    return folder / "crawl.csv", folder / "links.csv"


@pytest.mark.parametrize("by_setting", [True, False])
def test_a_mapped_host_is_written_as_the_live_one(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], by_setting: bool
) -> None:
    """Pages, redirects, links and addresses in HTML get the live host, by option or by setting."""
    if by_setting:
        write_settings(project, {"map_hosts": [MAP]})
    options = [] if by_setting else ["--map-host", MAP]
    told = imported(project, capsys, *crawl_staging(tmp_path), "--yes", "--no-canonicalised", *options)
    assert "3 pages" in told and "where no page was crawled" not in told
    pages = read_csv(project / "files/urls_rawdata.csv")
    assert [page["URL"][-25:] for page in pages] == [f"https://www.e.example/{name}"[-25:] for name in "abc"]
    assert pages[2]["Redirect URL"] == "https://www.e.example/a"
    assert pages[0]["Main Content"] == (
        '<p>Tea <a href="https://www.e.example/b">b</a> and //staging.e.example.com/x and '
        '<a href="//www.e.example/c">c</a></p>'
    )
    links = read_csv(project / "files/existing_links.csv")
    assert [(row["Source"], row["Destination"]) for row in links] == [
        ("https://www.e.example/a", "https://www.e.example/b"),
        ("https://www.e.example/b", "https://www.e.example/a"),
    ]


def test_a_staging_crawl_is_recognised(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hint = f"If staging.e.example is a copy of www.e.example, import it with --map-host {MAP}."
    crawl = crawl_staging(tmp_path)[0]
    assert hint in imported(project, capsys, crawl, "--yes")
    assert hint in imported(project, capsys, crawl, "--yes", "--no-canonicalised", "--only-200", code=3)


def test_a_wrong_mapping_changes_nothing(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl, before = crawl_staging(tmp_path)[0], (project / "files/urls_rawdata.csv").read_bytes()
    told = imported(project, capsys, crawl, "--map-host", "staging.e.example", code=2)
    assert "Error: --map-host 'staging.e.example': write two hosts, as in" in told
    write_settings(project, {"map_hosts": ["a.example=b.example/mag"]})
    told = imported(project, capsys, crawl, code=2)
    assert "config/settings.toml: map_hosts: 'a.example=b.example/mag': leave out the path" in told
    assert (project / "files/urls_rawdata.csv").read_bytes() == before
