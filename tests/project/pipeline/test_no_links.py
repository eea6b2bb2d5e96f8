"""A run without any link says why and what to do, and is not a success unless nothing is left to link."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import internal_linker
from tests.support.sites import read_csv
from tests.support.small_project import SITE, TOPICS, command, make_project, write_csv, write_text

STAGING, HOST = "https://staging.tiny.example", "www.tiny.example"
MAP = "staging.tiny.example=www.tiny.example"
HEADER = ("URL", "Title", "Main Content")


def project_of(
    folder: Path,
    names: Sequence[str] = tuple(TOPICS),
    more: Sequence[tuple[str, str]] = (),
    *,
    site: str = SITE,
    settings: dict[str, object] | None = None,
) -> Path:
    """Make a project of these pages without queries; in `more`, columns with a cell of every page ({} is its path)."""
    make_project(folder, {"links_per_page": 2, **(settings or {})})
    (folder / "files/main_queries.csv").unlink()
    rows = [
        (
            f"{site}/{name}/",
            name.replace("-", " "),
            TOPICS[name],
            *(cell.format(f"/{name}/") for _, cell in more),
        )
        for name in names
    ]
    write_csv(folder / "files/urls_rawdata.csv", [(*HEADER, *(column for column, _ in more)), *rows])
    return folder


def run(project: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = command("run", "--project", str(project))
    return code, " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("names", "more", "words"),
    [
        (
            tuple(TOPICS),
            [("Indexability", "Non-Indexable")],
            "6 not indexable. If the crawl is of a staging site",
        ),
        (tuple(TOPICS), [("Status Code", "403")], "6 status 403. Check that the site lets your crawler in"),
        (tuple(TOPICS), [("Role", "source")], "no page is a possible target: 6 its Role is source."),
        (tuple(TOPICS), [("Role", "target")], "no page may get links (6 its Role is target)."),
        (("water",), [], f"No links were found: {SITE}/water/ is the only page, and a link needs two."),
        (
            tuple(TOPICS),
            [("Canonical Link Element 1", f"{SITE}/")],
            "6 canonicalised to another page. Correct the canonicals",
        ),
    ],
)
def test_the_cause_and_the_remedy_are_one_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    names: Sequence[str],
    more: Sequence[tuple[str, str]],
    words: str,
) -> None:
    """Whatever keeps all pages from links, the run names it and ends with exit code 6."""
    code, told = run(project_of(tmp_path, names, more), capsys)
    assert code == 6
    assert words in told
    assert told.endswith("Pipeline finished without links: see the notes above.")


def test_excluded_and_empty_pages_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pattern that excludes every page is quoted; pages without words are counted."""
    project = project_of(tmp_path)
    write_text(project / "config/excluded_urls.txt", "tiny\n")
    code, told = run(project, capsys)
    assert (code, "6 excluded by tiny. Correct the patterns in config/excluded_urls.txt." in told) == (
        6,
        True,
    )
    write_text(project / "config/excluded_urls.txt", "")
    write_csv(project / "files/urls_rawdata.csv", [HEADER, *((f"{SITE}/{at}", "", "") for at in range(3))])
    code, told = run(project, capsys)
    assert (code, "of 3 pages, 3 have no content. Import a crawl with the pages' text" in told) == (6, True)


def test_python_callers_get_the_sentence_too(tmp_path: Path) -> None:
    """The gaps of a run or a lookup have the sentence; so does the brief of a page that nothing is similar to."""
    project = project_of(tmp_path, more=[("Indexability", "Non-Indexable")])
    for found in (internal_linker.run(project), internal_linker.lookup(f"{SITE}/water/", project)):
        assert not found.links
        assert any("No links were found, because" in gap for gap in found.gaps)
    assert command("lookup", f"{SITE}/water/", "--project", str(project)) == 6


def test_a_tiny_site_is_a_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two pages get a link each; once both links exist, there is nothing to do, which is a success with a note."""
    project = project_of(tmp_path, ("black-tea", "tea-pots"))
    code, told = run(project, capsys)
    assert (code, told.endswith("Pipeline completed successfully!")) == (0, True)
    urls = [row["URL"] for row in read_csv(project / "files/Output.csv")]
    write_csv(project / "files/existing_links.csv", [("Source", "Destination"), urls, urls[::-1]])
    code, told = run(project, capsys)
    assert code == 0, told
    assert "No links were found that are new: every page links to all possible targets" in told
    assert "Pipeline finished without links" in told
    assert command("lookup", urls[0], "--project", str(project)) == 0


def test_links_that_wait_for_approval_are_a_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = run(project_of(tmp_path, settings={"approval_sections": ["/*"]}), capsys)
    assert code == 0
    assert "No links were found that need no approval; 12 wait for it in the review." in told


def test_a_staging_site_is_recognised_and_mapped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Canonicals that name production end in the setting to use; with it, run, audit and pairs take the pages."""
    canonical = [("Canonical Link Element 1", f"{SITE}{{}}")]
    project = project_of(tmp_path, more=canonical, site=STAGING)
    code, told = run(project, capsys)
    hint = (
        f"6 of 6 pages of staging.tiny.example name a canonical on {HOST}, where no page was crawled. "
        f'If staging.tiny.example is a copy of {HOST}, set map_hosts = ["{MAP}"] in config/settings.toml.'
    )
    assert code == 6
    assert f"because no page is a possible source or target: 6 canonicalised to another page. {hint}" in told
    assert command("audit", "--project", str(project)) == 3
    assert hint in " ".join(capsys.readouterr().err.split())
    project_of(tmp_path, more=canonical, site=STAGING, settings={"map_hosts": [MAP]})
    write_csv(
        project / "files/existing_links.csv",
        [("Source", "Destination"), (f"{STAGING}/water/", f"{SITE}/storage/")],
    )
    code, told = run(project, capsys)
    assert (code, "1 existing link," in told, hint in told) == (0, True, False)
    rows = read_csv(project / "files/Output.csv")
    assert all(cell.startswith(SITE) for row in rows for cell in (row["URL"], row["Link 1"], row["Link 2"]))
    assert [row["Link 1"] for row in rows if row["URL"] == f"{SITE}/water/"] != [f"{SITE}/storage/"]
    assert command("audit", "--no-report", "--project", str(project)) == 0
    assert command("pairs", "--project", str(project)) == 0


def test_queries_of_another_host_are_recognised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = project_of(tmp_path, site=STAGING)
    queries = [(f"{SITE}/{name}/", name) for name in TOPICS]
    write_csv(project / "files/main_queries.csv", [("URL", "Main Query"), *queries])
    _, told = run(project, capsys)
    assert f"6 of 6 main queries are for pages of {HOST}, where no page was crawled" in told
    assert f'set map_hosts = ["{MAP}"]' in told
