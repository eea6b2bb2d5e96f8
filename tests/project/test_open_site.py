"""A site that stays open answers as the functions do, and notices every change."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import internal_linker
from internal_linker.project.open_site import OpenSite
from tests.support.sites import make_project, sample_pages
from tests.support.small_project import write_csv

PAGES = [row["URL"] for row in sample_pages(50)]
QUERY = "how to froth milk"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A site of 50 pages with 150 links, after a run."""
    folder = make_project(tmp_path / "site", 50, {"embedding_provider": "fast"})
    links = [
        (url, PAGES[(at + step) % 50], f"page {at}") for at, url in enumerate(PAGES) for step in (1, 2, 5)
    ]
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *links])
    internal_linker.run(folder, search=False)
    return folder


@pytest.fixture
def site(folder: Path) -> Iterator[OpenSite]:
    with internal_linker.open_site(folder) as opened:
        yield opened


@pytest.mark.long
def test_it_answers_as_the_functions_do(folder: Path, site: OpenSite) -> None:
    asked: list[tuple[str, dict[str, Any]]] = [
        (PAGES[3], {}),
        (QUERY, {}),
        (PAGES[3], {"to": True}),
        (PAGES[9], {"limit": 9}),
        (QUERY, {"limit": 2}),
    ]
    expected = [internal_linker.lookup(page, folder, **options).links for page, options in asked]
    brief = internal_linker.content_brief("Oat milk for latte art", folder)
    for _ in range(2):
        for (page, options), links in zip(asked, expected, strict=True):
            assert repr(list(site.lookup(page, **options).links)) == repr(list(links))
        found = site.content_brief("Oat milk for latte art")
        assert brief.links_to and brief.links_from
        for name in ("links_to", "links_from", "like"):
            assert repr(getattr(found, name)) == repr(getattr(brief, name))


@pytest.mark.long
def test_what_it_read_serves_the_next_lookups(
    folder: Path, site: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.lookup(PAGES[3])
    monkeypatch.setattr("internal_linker.store.files.index_folder.IndexFolder.read", None)
    monkeypatch.setattr("internal_linker.project.index_inputs.FileDigests", None)
    assert site.lookup(PAGES[4]).links and site.lookup(QUERY).links


@pytest.mark.long
@pytest.mark.parametrize("name", ["files/existing_links.csv", "config/settings.toml"])
def test_it_notices_changes(folder: Path, site: OpenSite, name: str) -> None:
    """After a change of a table or a setting, it answers as a new process would."""
    before = site.lookup(PAGES[3]).links
    if name.startswith("files"):
        write_csv(folder / name, [("Source", "Destination"), (PAGES[3], before[0].target)])
    else:
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write("\nlinks_per_page = 3\n")
    after = site.lookup(PAGES[3]).links
    assert [link.target for link in after] != [link.target for link in before]
    assert repr(list(after)) == repr(list(internal_linker.lookup(PAGES[3], folder).links))


@pytest.mark.long
def test_several_threads_may_ask(site: OpenSite) -> None:
    asked = [*PAGES[:4], QUERY, "oat milk"] * 3
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda page: repr(list(site.lookup(page).links)), asked)]
    assert found == [repr(list(site.lookup(page).links)) for page in asked]


def test_a_closed_site_opens_again(site: OpenSite) -> None:
    """`close` gives up what is open, not the object."""
    before = repr(list(site.lookup(QUERY).links))
    site.close()
    assert repr(list(site.lookup(QUERY).links)) == before
