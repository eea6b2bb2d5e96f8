"""Search data name pages: words in a text that people search for to find a page become a place for a link to it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from internal_linker.project.options.links import LookupOptions, RunOptions
from internal_linker.project.project import open_project
from internal_linker.project.run import lookup, run
from tests.support.builders import Told
from tests.support.sites import read_csv
from tests.support.small_project import HEADER, SITE, command, write_csv, write_settings

CRUSTS, NOTES = f"{SITE}/crusts/", f"{SITE}/notes/0/"
QUERY = "clean the kettle with vinegar"
FILLER = "Our shop opens at nine in the morning and closes late. "


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a site with a page on limescale, and notes that speak of it only in words that its names lack."""
    root = tmp_path / "project"
    pages = [
        (CRUSTS, "White crusts", "White crusts in pots come off with an acid such as vinegar. " + FILLER),
        (f"{SITE}/green/", "Green tea", "Green tea is steamed after the harvest. " + FILLER * 3),
        (f"{SITE}/black/", "Black tea", "Black tea is oxidised after the harvest. " + FILLER * 3),
    ]
    for number in range(4):
        text = (
            f"Many people drink tea number {number} in the afternoon. {FILLER}"
            f"Once a month we {QUERY}, and rinse it. {FILLER} Leaves are kept in a dry tin."
        )
        pages.append((f"{SITE}/notes/{number}/", f"Notes {number}", text))
    write_csv(root / "files/urls_rawdata.csv", [HEADER, *pages])
    write_settings(root, {"links_per_page": 3, "min_inlinks": 0})
    return root


def import_clicks(root: Path, *rows: Sequence[str]) -> None:
    """Import an export of search data: page, query and clicks of one day."""
    header = ("Date", "Page", "Query", "Clicks", "Impressions", "Position")
    export = root.parent / "export.csv"
    write_csv(export, [header, *(("2026-11-01", *row, "900", "3") for row in rows)])
    assert command("import", str(export), "--project", str(root)) == 0


def anchors(root: Path) -> dict[str, tuple[str, str]]:
    """Run, and return anchor and reason of each link in the text to the page on limescale, by its source."""
    assert not run(open_project(root), RunOptions(), Told()).failure
    rows = read_csv(root / "files/links.csv")
    return {
        row["Source"]: (row["Anchor"], row["Why"])
        for row in rows
        if row["Target"] == CRUSTS and row["Tier"] == "inline"
    }


def test_imported_queries_are_places_in_the_next_run(project: Path) -> None:
    """Pages that did not change get the place, too, and the reason says that the words are a search query."""
    assert QUERY not in {words for words, _ in anchors(project).values()}
    import_clicks(project, (CRUSTS, QUERY, "40"), (f"{SITE}/green/", QUERY, "4"))
    words, why = anchors(project)[NOTES]
    assert words == QUERY
    assert f"The text says “{QUERY}”, a search query of the target" in why
    found = lookup(open_project(project), LookupOptions(page=NOTES), Told())
    assert QUERY in {link.anchor for link in found.links}
