"""A whole run gives no page more new links than `max_new_inlinks`; accepted links are none."""

from collections import Counter
from pathlib import Path

from internal_linker.project.options.links import RunOptions
from internal_linker.project.project import open_project
from internal_linker.project.review import LinkDecision, decide, waiting_links
from internal_linker.project.run import run
from tests.support.builders import Told
from tests.support.sites import read_csv
from tests.support.small_project import HEADER, SITE, write_csv, write_settings

PAGES, MOST = 30, 4


def links(root: Path) -> Counter[str]:
    """Run, and return how many links each page gets."""
    assert not run(open_project(root), RunOptions(), Told()).failure
    rows = read_csv(root / "files/Output.csv")
    return Counter(row[f"Link {rank}"] for row in rows for rank in range(1, 4) if row[f"Link {rank}"])


def test_only_accepted_links_make_room_for_more(tmp_path: Path) -> None:
    hub = (f"{SITE}/tea/", "Tea", " ".join(f"leaf{number} tea" for number in range(PAGES)))
    others = [(f"{SITE}/{n}/", f"Leaf{n}", f"leaf{n} tea leaf{n} {'tea ' * 5}") for n in range(PAGES)]
    write_csv(tmp_path / "files/urls_rawdata.csv", [HEADER, hub, *others])
    settings = {"links_per_page": 3, "min_inlinks": 0, "max_inlinks": 0, "both_directions": 0}
    write_settings(tmp_path, {**settings, "max_new_inlinks": 0})
    assert links(tmp_path)[hub[0]] > 2 * MOST
    write_settings(tmp_path, {**settings, "max_new_inlinks": MOST})
    found = links(tmp_path)
    assert found[hub[0]] == max(found.values()) == MOST
    project = open_project(tmp_path)
    to_hub = [link.id for link in waiting_links(project).links if link.target_url == hub[0]]
    decide(project, [LinkDecision(each, "accepted") for each in to_hub])
    found = links(tmp_path)
    assert found.pop(hub[0]) == 2 * MOST
    assert max(found.values()) <= MOST
