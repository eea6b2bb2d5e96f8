"""A development site, or the sample -> its pages without the anchors of its editors' links, which are all hidden."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from internal_linker.evaluating import Hidden, hide
from internal_linker.ranking import LinkRules, Ranking
from internal_linker.records import Collected, ExistingLink, Page, Source, Targets, Vectors
from internal_linker.searching import Searched
from internal_linker.steps.text import page_text
from internal_linker.urls import normal_form

ROOT = Path(__file__).parents[2]
CORPORA = ROOT.parent / "shared" / "corpora"
DEVELOPMENT = ("18f-blog", "vue-fa-ar")
ABSENT = "shared/corpora isn't here: the development sites can't be measured"


def present(name: str) -> bool:
    """Whether the site's files are on this computer; the sample's are part of the project."""
    return name not in DEVELOPMENT or CORPORA.is_dir()


def site(name: str) -> Hidden:
    """The site with all links between its pages hidden and their anchors cut from the texts."""
    csv.field_size_limit(2**30)
    if name in DEVELOPMENT:
        table = _rows(CORPORA / name / "pages.csv")
        found = [row for row in _rows(CORPORA / name / "links.csv") if row["Kind"] == "body"]
        target = "Target"
    else:
        table = _rows(ROOT / "files" / "urls_rawdata.csv")
        found = _rows(ROOT / "files" / "existing_links.csv")
        target = "Destination"
    pages = tuple(map(_page, table))
    links = (
        ExistingLink(normal_form(row["Source"]), normal_form(row[target]), row["Anchor"]) for row in found
    )
    return hide(Collected(pages, (), (), 0, tuple(links)), half=False, cut_anchors=True)


def ranking(pages: Iterable[Page], vectors: Vectors, rules: LinkRules) -> Ranking:
    """All pages as sources and as targets, without search results; `vectors` has one row for each."""
    pages = tuple(pages)
    sources = tuple(Source(page.key, page.url, "", page, in_sheet=False) for page in pages)
    targets = Targets({page.key: page.url for page in pages}, {})
    texts = [page_text(page) for page in pages]
    return Ranking(Collected(pages, sources, (), 0), sources, targets, Searched(), texts, vectors, rules)


def no_vectors(pages: Sequence[Page]) -> Vectors:
    """Rows that say nothing: words alone rank."""
    return np.zeros((len(pages), 1), np.float32)


def _page(row: Mapping[str, str]) -> Page:
    content = row.get("Content") or row.get("Main Content") or ""
    title, h1, lang = (row.get(name) or "" for name in ("Title", "H1", "Lang"))
    return Page(normal_form(row["URL"]), row["URL"], title, h1, content, lang)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
