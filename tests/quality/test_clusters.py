"""What clusters of the development sites have in common: editors' links and languages."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.quality.corpora import ABSENT, present, whole_site
from tests.support.small_project import command, forget_settings, write_csv, write_settings

# By site: how many times as many of the editors' links are within clusters as by chance.
FLOORS = {"18f-blog": {"content": 4.5, "title": 3.0}, "vue-fa-ar": {"content": 1.5, "title": 1.0}}


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_settings(monkeypatch)


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


@pytest.mark.parametrize("by", ["content", pytest.param("title", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", [pytest.param("18f-blog", marks=pytest.mark.long), "vue-fa-ar"])
def test_editors_link_within_clusters(
    name: str, by: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Editors link within clusters far more often than chance would."""
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
    with capsys.disabled():
        print(
            f"{name} by {by}: {len(answer['clusters'])} clusters, {within:.3f} of the links, chance {chance:.3f}"
        )
    assert within > FLOORS[name][by] * chance


def test_languages_share_no_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No cluster of the Persian and Arabic site has pages of both languages."""
    if not present("vue-fa-ar"):
        pytest.skip(ABSENT)
    answer, site = clustered(tmp_path, "vue-fa-ar", "content", capsys)
    languages: dict[int, set[str]] = {}
    for page, told in zip(site.pages, answer["pages"], strict=True):
        languages.setdefault(told["cluster"], set()).add(page.lang)
    assert all(len(each) == 1 for each in languages.values()) and len(languages) > 5
