"""How many links a whole run puts into a text, and how many with the same words."""

from collections import Counter
from pathlib import Path

import pytest

from internal_linker.project.options.links import RunOptions
from internal_linker.project.project import open_project
from internal_linker.project.run import run
from tests.support.builders import Told
from tests.support.sites import read_csv
from tests.support.small_project import HEADER, SITE, write_csv, write_settings

FILLER = "Our shop opens at nine in the morning and closes late. "
DRINKS = ("Green tea", "Oolong tea", "Cocoa beans", "Orange juice", "Ginger beer", "Apple cider", "Rice milk")
GUIDE = f"{SITE}/guide/"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a guide of 1,600 words that names seven pages, and 20 pages of 400 words with one link each."""
    drinks = [
        (f"{SITE}/{name.split()[0].lower()}/", name, f"All about {name.lower()}. " * 30) for name in DRINKS
    ]
    named = [f"Then comes {name.lower()} for all who like it. " + FILLER * 20 for name in DRINKS]
    notes = [
        (f"{SITE}/notes/{at}/", f"Notes {at}", f"A short note. {f'note{at} ' * 397}") for at in range(20)
    ]
    guide = (GUIDE, "Guide to our drinks", "\n".join(named))
    write_csv(tmp_path / "files/urls_rawdata.csv", [HEADER, guide, *drinks, *notes])
    links = [(url, notes[at - 1][0], "short") for at, (url, *_) in enumerate(notes)]
    write_csv(tmp_path / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *links])
    return tmp_path


@pytest.mark.parametrize(("wanted", "count"), [("auto", 5), (5, 7), (1, 2), (0, 0)])
def test_the_guide_gets_its_links(project: Path, wanted: str | int, count: int) -> None:
    """The 20 pages have 2.5 links per 1,000 words, by which the guide gets the five that any text may have."""
    write_settings(
        project, {"links_per_page": 8, "anchors": "broad", "links_per_1000_words": wanted, "min_inlinks": 0}
    )
    assert not run(open_project(project), RunOptions(), Told()).failure
    rows = [row for row in read_csv(project / "files/links.csv") if row["Source"] == GUIDE]
    assert Counter(row["Tier"] for row in rows)["inline"] == count
    assert len(rows) == 8


@pytest.mark.parametrize(("settings", "same"), [({}, 3), ({"max_same_anchor": 4}, 4)])
def test_other_words_come_first_after_some_equal_ones(
    project: Path, settings: dict[str, int], same: int
) -> None:
    """A rule prefers the words, so each page would have them."""
    pages = [list(row.values()) for row in read_csv(project / "files/urls_rawdata.csv")]
    for name in ("amber", "birch", "coral", "dune"):
        text = f"The {name} {FILLER}In {name} comes ginger beer for friends. They serve cold ginger beer in {name}."
        pages.append([f"{SITE}/{name}/", f"To {name}", f"{text} {f'{name} ' * 99}"])
    write_csv(project / "files/urls_rawdata.csv", [HEADER, *pages])
    rule = ("cold ginger beer", f"{SITE}/ginger/", "prefer", "", "")
    write_csv(project / "config/link_rules.csv", [("Phrase", "URL", "Mode", "Max pages", "Section"), rule])
    write_settings(project, {"links_per_page": 1, "anchors": "broad", "min_inlinks": 0, **settings})
    assert not run(open_project(project), RunOptions(), Told()).failure
    rows = [row for row in read_csv(project / "files/links.csv") if row["Target"] == f"{SITE}/ginger/"]
    found = Counter(row["Anchor"] for row in rows if row["Tier"] == "inline" and row["Source"] != GUIDE)
    assert found == Counter({"cold ginger beer": same, "ginger beer": 4 - same})
