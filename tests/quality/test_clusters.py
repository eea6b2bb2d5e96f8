"""What clusters of the development sites have in common: editors' links and languages."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.corpora import ABSENT, present, whole_site
from tests.support.small_project import command, write_csv, write_settings

# By site: how many times as many of the editors' links are within clusters as by chance.
FLOORS = {"18f-blog": {"content": 4.5, "title": 3.0}, "vue-fa-ar": {"content": 1.5, "title": 1.0}}


def clustered(
    folder: Path, name: str, by: str, capsys: pytest.CaptureFixture[str]
) -> tuple[dict[str, Any], Any]:
    """Return the result of `clusters` on a development site, by words alone, and the site."""
    site = whole_site(name)
    rows = [(page.url, page.title, page.h1, str(page.content), page.lang) for page in site.pages]
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "H1", "Main Content", "Lang"), *rows])
    write_settings(folder, {})
    assert command("clusters", "--project", str(folder), "--by", by, "--json") == 0
    return json.loads(capsys.readouterr().out), site


@pytest.mark.long
@pytest.mark.parametrize("by", ["content", "title"])
@pytest.mark.parametrize("name", ["18f-blog", "vue-fa-ar"])
def test_editors_link_within_clusters(
    name: str, by: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not present(name):
        pytest.skip(ABSENT)
    answer, site = clustered(tmp_path, name, by, capsys)
    place = {page.key: told["cluster"] for page, told in zip(site.pages, answer["pages"], strict=True)}
    links = [link for link in site.links if link.source in place and link.target in place]
    within = np.mean([place[link.source] == place[link.target] for link in links])
    # The share of the other pages in a source's language that are in its cluster.
    spoken = Counter(page.lang for page in site.pages)
    languages = {page.key: page.lang for page in site.pages}
    sizes = Counter(place.values())
    chance = np.mean(
        [(sizes[place[link.source]] - 1) / (spoken[languages[link.source]] - 1) for link in links]
    )
    assert within > FLOORS[name][by] * chance
    if (name, by) != ("vue-fa-ar", "content"):
        return
    spoken_in: dict[int, set[str]] = {}
    for page, told in zip(site.pages, answer["pages"], strict=True):
        spoken_in.setdefault(told["cluster"], set()).add(page.lang)
    assert all(len(each) == 1 for each in spoken_in.values()) and len(spoken_in) > 5
