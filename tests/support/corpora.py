"""The development sites and the sample: their pages and their editors' links."""

import csv
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from internal_linker.insight.evaluation.holdout import HIDINGS, Hidden, Hides, hide, site_ranking
from internal_linker.match.embed import all_texts
from internal_linker.model.arrays import Vectors
from internal_linker.model.records import Collected, ExistingLink, Page, Targets
from internal_linker.model.urls import normal_form
from internal_linker.rank.rank import Ranking
from internal_linker.rank.rules import LinkRules
from tests.support.sites import read_csv
from tests.support.small_project import write_csv

ROOT = Path(__file__).parents[2]
CORPORA = ROOT.parent / "shared" / "corpora"
DEVELOPMENT = ("18f-blog", "vue-fa-ar")
ABSENT = "shared/corpora isn't here: the development sites can't be measured"


def present(name: str) -> bool:
    """Return whether the site's files are on this computer; the sample's are part of the project."""
    return name == "sample" or CORPORA.is_dir()


def site(name: str, hides: Hides = HIDINGS["all"]) -> Hidden:
    """Return the site with links hidden, by default all; the anchors of all links between its pages are cut."""
    return hide(whole_site(name), hides, cut_anchors=True)


def whole_site(name: str) -> Collected:
    """Return the site with all links between its pages, and their positions if known."""
    csv.field_size_limit(2**30)
    if name in DEVELOPMENT:
        table = read_csv(CORPORA / name / "pages.csv")
        found = [row for row in read_csv(CORPORA / name / "links.csv") if row["Kind"] == "body"]
        target = "Target"
    else:
        table = read_csv(ROOT / "files" / "urls_rawdata.csv")
        found = read_csv(ROOT / "files" / "existing_links.csv")
        target = "Destination"
    links = (
        ExistingLink(
            normal_form(row["Source"]),
            normal_form(row[target]),
            " ".join(row["Anchor"].split()),
            int(row.get("Start") or -1),
        )
        for row in found
    )
    return Collected(tuple(map(_page, table)), (), (), 0, tuple(links))


def make_project(name: str, folder: Path, settings: str = "") -> Path:
    """Write a project with the site's pages, main queries and existing links, and these settings; return its folder."""
    csv.field_size_limit(2**30)
    (folder / "files").mkdir(parents=True)
    (folder / "config").mkdir()
    (folder / "config" / "settings.toml").write_text(settings, encoding="utf-8")
    if name not in DEVELOPMENT:
        for table in ("urls_rawdata.csv", "main_queries.csv", "existing_links.csv"):
            shutil.copy(ROOT / "files" / table, folder / "files" / table)
        return folder
    corpus = CORPORA / name
    pages = [
        (row["URL"], row["Title"], row["H1"], row["Content"], row["Lang"])
        for row in read_csv(corpus / "pages.csv")
    ]
    queries = [(row["URL"], row["Main Query"]) for row in read_csv(corpus / "main_queries.csv")]
    links = [
        (row["Source"], row["Target"], row["Anchor"], row["Start"])
        for row in read_csv(corpus / "links.csv")
        if row["Kind"] == "body"
    ]
    header = ("URL", "Title", "H1", "Main Content", "Lang")
    write_csv(folder / "files/urls_rawdata.csv", [header, *pages])
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), *queries])
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination", "Anchor", "Start"), *links])
    return folder


def ranking(site: Hidden, vectors: Vectors, rules: LinkRules) -> Ranking:
    """Return the ranking of all pages as sources and targets, with the visible links; `vectors` has a row per page."""
    targets = Targets({page.key: page.url for page in site.pages}, {})
    ranked = site_ranking(site, targets, all_texts(site.pages, {}, ()), vectors, rules)
    return ranked.with_links(site.visible, ranked.sources)


def no_vectors(pages: Sequence[Page]) -> Vectors:
    """Return zero rows, so that words alone determine the ranking."""
    return np.zeros((len(pages), 1), np.float32)


def _page(row: Mapping[str, str]) -> Page:
    content = row.get("Content") or row.get("Main Content") or ""
    title, h1, lang = (row.get(name) or "" for name in ("Title", "H1", "Lang"))
    return Page(normal_form(row["URL"]), row["URL"], title, h1, content, lang)
