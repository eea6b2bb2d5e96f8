"""The text of a page's known links is no reason for its other links."""

from pathlib import Path

import numpy as np
import pytest

from internal_linker.project.options.links import RunOptions
from internal_linker.project.project import open_project
from internal_linker.project.run import run
from tests.support.builders import Told
from tests.support.sites import read_csv
from tests.support.small_project import HEADER, SITE, write_csv, write_settings

PAGES, ONE, SAID, LINKED = 24, 0, 7, 20


@pytest.mark.long
@pytest.mark.parametrize("linked", [True, False])
def test_a_page_is_not_suggested_for_the_text_of_a_link_to_another(tmp_path: Path, linked: bool) -> None:
    """What the same words say outside a link counts: they name a page."""
    rng = np.random.default_rng(1)
    rows = []
    for number in range(PAGES):
        words = [f"w{word}" for word in rng.integers(0, 30, 40)]
        words += ["quince", "medlar"] if number == ONE else []
        title = "Quince medlar" if number == SAID else f"Page t{number}"
        rows.append((f"{SITE}/{number}/", title, " ".join(words)))
    link = (f"{SITE}/{ONE}/", f"{SITE}/{LINKED}/", "quince medlar" if linked else "w3")
    write_csv(tmp_path / "files/urls_rawdata.csv", [HEADER, *rows])
    write_csv(tmp_path / "files/existing_links.csv", [("Source", "Destination", "Anchor"), link])
    write_settings(tmp_path, {})
    run(open_project(tmp_path), RunOptions(), Told())
    links = [row for row in read_csv(tmp_path / "files/links.csv") if row["Source"] == f"{SITE}/{ONE}/"]
    assert len(links) == 5
    assert (links[0]["Target"] == f"{SITE}/{SAID}/") == (not linked)
