"""The development sites, the sample, and the sites known at several dates: their pages and their editors' links."""

import csv
import gzip
import json
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from internal_linker.core.arrays import Vectors
from internal_linker.core.records import Collected, ExistingLink, Page, Targets
from internal_linker.core.urls import normal_form
from internal_linker.embeddings.embed import all_texts
from internal_linker.evaluation.holdout import HIDINGS, Hidden, Hides, hide, site_ranking
from internal_linker.evaluation.page_text import link_spans
from internal_linker.ranking.rank import Ranking
from internal_linker.ranking.rules import LinkRules
from tests.support.small_project import write_csv

ROOT = Path(__file__).parents[2]
CORPORA = ROOT.parent / "shared" / "corpora"
DEVELOPMENT = ("18f-blog", "vue-fa-ar")
# Sites as they stood at several dates; `LAST` names the last one.
HISTORY = (
    "bitcoinops", "cloudgov", "giantswarm", "govuk", "hugodocs", "railway", "react-es", "react-ja", "superfly", "tts",
    "vue-zh", "wsl",
)  # fmt: skip
LAST = "HEAD"
# Sites that share structure are left out together.
FAMILIES = {
    "react-es": "react",
    "react-ja": "react",
    "vue-zh": "vue",
    "vue-fa-ar": "vue",
    "tts": "18f",
    "18f-blog": "18f",
}
# Public repositories and their commits that the sites were read from.
COMMITS = {
    "18f-blog": "18F/18f.gsa.gov 0a55c75e",
    "vue-fa-ar": "vuejs-translations/docs-fa 7a05ce60, vuejs-translations/docs-ar be6d7872",
    "bitcoinops": "bitcoinops/bitcoinops.github.io 082bd77b",
    "cloudgov": "cloud-gov/cg-site 536b459f",
    "giantswarm": "giantswarm/docs d43379e0",
    "govuk": "alphagov/govuk-developer-docs 972d1b44",
    "hugodocs": "gohugoio/hugoDocs 1c613349",
    "railway": "railwayapp/docs c2a634f1",
    "react-es": "reactjs/es.react.dev e91a76a9",
    "react-ja": "reactjs/ja.react.dev 7f38231d",
    "superfly": "superfly/docs 5c22c8ce",
    "tts": "18F/handbook 1e495563",
    "vue-zh": "vuejs-translations/docs-zh-cn c2715ff7",
    "wsl": "MicrosoftDocs/WSL 8842def",
}
ABSENT = "shared/corpora isn't here: the development sites can't be measured"


def family(name: str) -> str:
    """Return the name of a site's family."""
    return FAMILIES.get(name, name)


def present(name: str) -> bool:
    """Return whether the site's files are on this computer; the sample's are part of the project."""
    return name not in (*DEVELOPMENT, *HISTORY) or CORPORA.is_dir()


def site(name: str, hides: Hides = HIDINGS["all"]) -> Hidden:
    """Return the site with links hidden, by default all; the anchors of all links between its pages are cut."""
    return hide(whole_site(name), hides, cut_anchors=True)


def drawn(hiding: str, number: int) -> Hides:
    """Return which links are hidden; draw 0 is that of the product's own commands."""
    salt = f"{number} " if number else ""
    return lambda source, target: HIDINGS[hiding](f"{salt}{source}", f"{salt}{target}")


def whole_site(name: str) -> Collected:
    """Return the site with all links between its pages, and their positions if known."""
    csv.field_size_limit(2**30)
    if name in DEVELOPMENT:
        table = _rows(CORPORA / name / "pages.csv")
        found = [row for row in _rows(CORPORA / name / "links.csv") if row["Kind"] == "body"]
        target = "Target"
    else:
        table = _rows(ROOT / "files" / "urls_rawdata.csv")
        found = _rows(ROOT / "files" / "existing_links.csv")
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


def dates(name: str) -> list[str]:
    """Return the dates at which a site of `HISTORY` is known, in order; `LAST` comes last."""
    return sorted(path.name.partition(".")[0] for path in (CORPORA / "history" / name).glob("*.json.gz"))


def snapshot(name: str, date: str) -> Collected:
    """Return a site of `HISTORY` as it stood at a date, with the links in its pages' text and their positions."""
    path = CORPORA / "history" / name / f"{date}.json.gz"
    known = json.loads(gzip.decompress(path.read_bytes()))

    def url(page: str) -> str:
        return f"https://{name}.example/{page.strip('/')}"

    pages = tuple(Page(normal_form(url(key)), url(key), *page[:4]) for key, page in known["pages"].items())
    links = tuple(
        ExistingLink(
            normal_form(url(source)),
            normal_form(url(target)),
            " ".join(anchor.split()),
            -1 if start is None else start,
        )
        for source, target, anchor, start, _, kind in known["links"]
        if kind == "body"
    )
    return Collected(pages, (), (), 0, links)


def without_link_texts(site: Collected) -> tuple[Page, ...]:
    """Return the pages without their links' anchors, each cut at its place only: other mentions stay in the text."""
    links = defaultdict[str, list[ExistingLink]](list)
    for link in site.links:
        links[link.source].append(link)
    found = []
    for page in site.pages:
        text, pieces, at = str(page.content), list[str](), 0
        for start, end in sorted(span for link in links[page.key] for span in link_spans(text, link)):
            if start >= at:
                pieces.append(text[at:start])
            at = max(at, end)
        found.append(replace(page, content=" ".join([*pieces, text[at:]])))
    return tuple(found)


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
        for row in _rows(corpus / "pages.csv")
    ]
    queries = [(row["URL"], row["Main Query"]) for row in _rows(corpus / "main_queries.csv")]
    links = [
        (row["Source"], row["Target"], row["Anchor"], row["Start"])
        for row in _rows(corpus / "links.csv")
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
    return ranked.knowing(site.visible, ranked.sources)


def no_vectors(pages: Sequence[Page]) -> Vectors:
    """Return zero rows, so that words alone determine the ranking."""
    return np.zeros((len(pages), 1), np.float32)


def _page(row: Mapping[str, str]) -> Page:
    content = row.get("Content") or row.get("Main Content") or ""
    title, h1, lang = (row.get(name) or "" for name in ("Title", "H1", "Lang"))
    return Page(normal_form(row["URL"]), row["URL"], title, h1, content, lang)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))
