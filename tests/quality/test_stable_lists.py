"""Stable lists on a development site: three decisions on 400 pages move at most ten other links."""

import random
from pathlib import Path

import pytest

from internal_linker.project.history import diff
from internal_linker.project.options.decisions import DiffOptions
from internal_linker.project.options.links import RunOptions
from internal_linker.project.project import open_project
from internal_linker.project.review import LinkDecision, decide, waiting_links
from internal_linker.project.run import run
from tests.support.builders import Told
from tests.support.corpora import ABSENT, present, whole_site
from tests.support.small_project import write_csv, write_settings

PAGES = 400
MOST = 10


@pytest.mark.long
def test_three_decisions_move_at_most_ten_other_links(tmp_path: Path) -> None:
    if not present("18f-blog"):
        pytest.skip(ABSENT)
    site = whole_site("18f-blog")
    pages = [(page.url, page.title, str(page.content), page.lang) for page in site.pages[:PAGES]]
    links = [(link.source, link.target, link.anchor) for link in site.links[::2]]
    write_csv(tmp_path / "files/urls_rawdata.csv", [("URL", "Title", "Main Content", "Lang"), *pages])
    write_csv(tmp_path / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *links])
    # Every change of a text or a page changes all vectors of LSA.
    write_settings(
        tmp_path, {"embedding_provider": "lsa", "search_query_template": "site:18f.gsa.gov {main_query}"}
    )
    project, chance = open_project(tmp_path), random.Random(0)
    assert not run(project, RunOptions(), Told()).failure
    for _ in range(3):
        chosen = chance.sample(waiting_links(project).links, 3)
        words = ("accepted", "rejected", "rejected")
        decide(project, [LinkDecision(one.id, word) for one, word in zip(chosen, words, strict=True)])
        assert not run(project, RunOptions(), Told()).failure
        found = diff(project, DiffOptions(before="last-1", after="last"), write=False).differences
        decided = {(one.source_url, one.target_url) for one in chosen}
        others = [one for one in found if (one.source, one.target) not in decided]
        elsewhere = [one for one in others if one.source not in {source for source, _ in decided}]
        print(f"{len(others)} other links moved, {len(elsewhere)} of them on other pages")
        assert len(others) <= MOST
        assert all(one.other for one in found)
