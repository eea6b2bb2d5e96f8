"""What editors decide after a run is what the ranker of the next one learns from."""

from pathlib import Path

import pytest

from internal_linker.project.options.links import RunOptions
from internal_linker.project.project import open_project
from internal_linker.project.review import LinkDecision, decide, waiting_links
from internal_linker.project.run import run
from tests.project.pipeline.test_stable_lists import HEAD, LINKS, PAGES, TOPICS, site
from tests.support.builders import Told
from tests.support.small_project import HEADER, SITE, write_csv, write_settings

# Another link from each page.
MORE = [
    (f"{SITE}/{number % TOPICS}/{number}/", f"{SITE}/{number % TOPICS}/{(number + 36) % PAGES}/", "there")
    for number in range(PAGES)
]


@pytest.mark.long
def test_accepted_and_rejected_links_are_learned_from(tmp_path: Path) -> None:
    """Accepted links count with the known links, and rejected ones beside them, as the line `Ranker` says."""
    write_csv(tmp_path / "files/urls_rawdata.csv", [HEADER, *site()])
    write_csv(tmp_path / "files/existing_links.csv", [HEAD, *LINKS, *MORE])
    write_settings(tmp_path, {})
    project = open_project(tmp_path)
    first = dict(run(project, RunOptions(), Told()).summary)
    assert "120 links" in first["Ranker"] and "rejected" not in first["Ranker"]
    words = ("accepted", "accepted", "accepted", "rejected", "rejected")
    decided = zip(waiting_links(project).links, words, strict=False)
    decide(project, [LinkDecision(one.id, word) for one, word in decided])
    second = dict(run(project, RunOptions(), Told()).summary)
    assert "123 links and 2 rejected ones" in second["Ranker"]
