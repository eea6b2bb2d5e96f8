"""Clusters are kept with their map, and the names that people give them survive another grouping."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openpyxl
import pytest

from internal_linker.model.errors import ConfigurationError, InputError, Interrupted
from internal_linker.project.clusters import (
    ClusterView,
    clusters,
    group_pages,
    grouped_pages,
    rename_cluster,
    write_clusters,
)
from internal_linker.project.options.similarity import ClustersOptions
from internal_linker.project.project import Project, open_project
from tests.support.builders import Told
from tests.support.small_project import SITE, make_project, write_csv

TITLES = (
    *("cold brew", "cold brew at home", "cold brew ratio", "cold brew in a jar", "cold brew or iced"),
    *("green tea leaves", "black tea leaves", "white tea leaves", "tea leaves in a tin"),
    *("tax return for beginners", "tax return online", "tax return of last year"),
)
OPTIONS = ClustersOptions(by="title", k=3)


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_project(tmp_path_factory.mktemp("clusters") / "site")
    with_pages(folder, TITLES)
    group_pages(open_project(folder), OPTIONS, Told())
    return folder


@pytest.fixture
def project(grouped: Path, tmp_path: Path) -> Project:
    """Return a copy of a project whose pages were grouped."""
    return open_project(shutil.copytree(grouped, tmp_path / "site"))


def with_pages(folder: Path, titles: tuple[str, ...]) -> None:
    rows = [(f"{SITE}/{title.replace(' ', '-')}/", title, "") for title in titles]
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *rows])


def names(view: ClusterView | None) -> list[str]:
    assert view is not None
    return [*view.found.clusters["name"]]


def test_the_result_is_kept_with_map_tree_and_table(project: Project) -> None:
    """What was computed can be shown later: every page on the map, in the tree and in the table."""
    made = group_pages(project, OPTIONS, Told())
    loaded = grouped_pages(project)
    assert loaded and (loaded.charts(), loaded.tables()) == (made.charts(), made.tables())
    charts = loaded.charts()
    assert len(charts["dots"]) == len(TITLES) and len(charts["branches"]) == 3
    assert sorted(leaf["name"] for branch in charts["branches"] for leaf in branch["leaves"]) == sorted(
        TITLES
    )
    assert [*loaded.found.clusters["pages"]] == [5, 4, 3]
    assert loaded.to_frame("pages").shape[0] == len(TITLES)


def test_a_name_is_kept_when_the_site_is_grouped_again(project: Project) -> None:
    computed = names(grouped_pages(project))
    renamed = rename_cluster(project, 2, " Tea ")
    assert names(renamed) == names(grouped_pages(project)) == [computed[0], "Tea", computed[2]]
    with_pages(project.root, (*TITLES[2:], "oolong tea leaves", "tea leaves and water", "rooibos tea leaves"))
    again = group_pages(project, OPTIONS, Told())
    assert names(again)[0] == "Tea" and again.found.clusters["pages"][0] == 7
    clusters(project, OPTIONS, Told())
    assert "Tea" in (project.root / "files/clusters.csv").read_text(encoding="utf-8-sig")


def test_people_rename_at_once(project: Project) -> None:
    for turn in range(2):
        wanted = [f"{topic} {turn}" for topic in ("Coffee", "Tea", "Tax")]
        with ThreadPoolExecutor(3) as people:
            list(people.map(lambda at, name: rename_cluster(project, at, name), (1, 2, 3), wanted))
        assert names(grouped_pages(project)) == wanted
    assert names(group_pages(project, OPTIONS, Told())) == wanted


def test_a_name_given_while_pages_are_grouped_is_kept(project: Project) -> None:
    computed = names(grouped_pages(project))
    rename_cluster(project, 1, "Coffee")

    class Renaming(Told):
        def start(self, step: str, total: int, unit: str) -> None:
            super().start(step, total, unit)
            if step == "Map":
                rename_cluster(project, 1, "")
                rename_cluster(project, 2, "Tea")

    view = group_pages(project, OPTIONS, Renaming())
    assert names(view) == names(grouped_pages(project)) == [computed[0], "Tea", computed[2]]


def test_a_topic_that_is_gone_gives_its_name_to_no_other(project: Project) -> None:
    rename_cluster(project, 1, "Coffee")
    with_pages(project.root, (*TITLES[4:], "iced tea leaves"))
    assert "Coffee" not in names(group_pages(project, ClustersOptions(by="title", k=2), Told()))


@pytest.mark.parametrize(
    ("number", "name", "words"),
    [(1, "x" * 81, "80 characters, not 81"), (9, "x", "no cluster 9"), (0, "x", "no cluster 0")],
)
def test_a_wrong_name_is_refused(project: Project, number: int, name: str, words: str) -> None:
    before = names(grouped_pages(project))
    with pytest.raises((ConfigurationError, InputError), match=words):
        rename_cluster(project, number, name)
    assert names(grouped_pages(project)) == before


def test_two_clusters_cannot_have_one_name(project: Project) -> None:
    """A name that another cluster has would make the chart ambiguous."""
    other = names(grouped_pages(project))[1]
    with pytest.raises(ConfigurationError, match="Another cluster is named"):
        rename_cluster(project, 1, other.upper())


def test_names_that_cannot_be_read_are_not_lost(project: Project) -> None:
    """A damaged file of names stops the grouping instead of being overwritten."""
    (project.root / "files/cluster_names.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"cluster_names\.json can't be read"):
        rename_cluster(project, 1, "Coffee")
    assert (project.root / "files/cluster_names.json").read_text(encoding="utf-8") == "{"


def test_the_workbook_has_the_chosen_names(project: Project, tmp_path: Path) -> None:
    write_clusters(rename_cluster(project, 1, "Coffee"), tmp_path / "c.xlsx")
    book = openpyxl.load_workbook(tmp_path / "c.xlsx")
    assert book.sheetnames == ["Clusters", "Pages", "Missing links"]
    assert book["Clusters"]["B2"].value == book["Pages"]["B2"].value == "Coffee"


def test_grouping_can_be_cancelled(project: Project) -> None:
    made = grouped_pages(project)
    with pytest.raises(Interrupted, match="earlier result stays"):
        group_pages(project, ClustersOptions(by="title", k=2), Told(), lambda: True)
    loaded = grouped_pages(project)
    assert made is not None and loaded is not None and loaded.charts() == made.charts()
    json.dumps(loaded.charts(), allow_nan=False)
