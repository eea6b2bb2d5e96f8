"""A project folder -> imports, runs, pairs, clusters, briefs as records, for notebooks and scripts."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from internal_linker.core.briefs import BriefLinks
from internal_linker.core.errors import ConfigurationError
from internal_linker.core.records import Choice, Origin
from internal_linker.ingest.crawl_filters import Filters
from internal_linker.ingest.drafts import read_brief
from internal_linker.ingest.import_crawl import Imported, import_tables, recognise
from internal_linker.ingest.sources import crawl_tables, import_places, link_spool
from internal_linker.pipeline.report import Report
from internal_linker.usecases.clusters import Clustering, ClusterWish, find_clusters
from internal_linker.usecases.compare import Comparison
from internal_linker.usecases.console import Reporter, open_console
from internal_linker.usecases.pairs import PairWish, SimilarPages, find_pairs
from internal_linker.usecases.project import open_project
from internal_linker.usecases.run import brief_links, look_up, run_once


@dataclass(frozen=True, slots=True)
class PageLink:
    """A proposed link, as in links.csv.

    Attributes:
        source: the page's URL, "" for a query without a page.
        query: its main query.
        target: where the link leads.
        rank: its place among the source's links, from 1.
        origin, score, similarity, lexical, probability, serp_rank: as in links.csv; NaN (0 for the rank) where unknown.
    """

    source: str
    query: str
    target: str
    rank: int
    origin: Origin
    score: float
    similarity: float
    lexical: float
    probability: float
    serp_rank: int


@dataclass(frozen=True, slots=True)
class PageLinks:
    """What a run or a look-up found.

    Attributes:
        run: its id.
        links: source by source, best first.
        notes: (source, why it has fewer links than wanted or no search results).
        gaps: what could not be had this time, a sentence each.
    """

    run: str
    links: tuple[PageLink, ...]
    notes: tuple[tuple[str, str], ...]
    gaps: tuple[str, ...]


def run(
    project: str | Path = ".",
    *,
    limit: int = 0,
    only: Sequence[str] = (),
    search: bool = True,
    accept_drift: bool = False,
    progress: bool = False,
) -> PageLinks:
    """Find links for every page and deliver them, as the command `run` does.

    Args:
        project: the folder with config/ and files/.
        limit: links for the first rows only; 0: for all.
        only: links for these pages only, by their URLs.
        search: False leaves the search step out.
        accept_drift: publish links that moved far from the last run's.
        progress: whether steps, notes and the summary are shown on stderr; they are in logfile.txt in any case.

    Raises:
        InternalLinkerError: it could not be done, or a place did not take its links.
    """
    opened = open_project(Path(project))
    given = opened, Choice(_count("limit", limit), tuple(only)), opened.sections_off(), _reporter(progress)
    report = run_once(*given, no_serp=not search, accept_drift=accept_drift)
    if report.failure:
        raise report.failure
    return _found(report)


def lookup(page: str, project: str | Path = ".", *, search: bool = True, progress: bool = False) -> PageLinks:
    """The best links for one page, by its URL, or for any query, as the command `lookup` has them.

    Args:
        page: a URL or a query.
        project: the folder with config/ and files/.
        search: False leaves the search step out.
        progress: whether steps and notes are shown on stderr.

    Raises:
        InternalLinkerError: it could not be done.
    """
    return _found(look_up(open_project(Path(project)), page, _reporter(progress), no_serp=not search))


def content_brief(
    draft: str | Path,
    project: str | Path = ".",
    *,
    title: str = "",
    query: str = "",
    url: str = "",
    lang: str = "",
    limit: int = 0,
    search: bool = True,
    progress: bool = False,
) -> BriefLinks:
    """What a page that does not exist yet should link to, and what should link to it: the command `content-brief`.

    Args:
        draft: a title, an outline or a draft; as text, or the path of a .docx, .md, .html or .txt file.
        project: the folder with config/ and files/.
        title: the page's title; "": the first heading or line.
        query: its main query; with a Serper key it is searched for.
        url: where the page will be.
        lang: its language's code; "": that of the text.
        limit: so many links each way, at most 50; 0: links_per_page.
        search: False leaves the search step out.
        progress: whether steps and notes are shown on stderr.

    Raises:
        InternalLinkerError: it could not be done.
    """
    opened = open_project(Path(project))
    brief = replace(read_brief(str(draft), io.BytesIO, title), query=query, url=url, lang=lang)
    return brief_links(opened, brief, _count("limit", limit, 50), _reporter(progress), no_serp=not search)


def import_crawl(
    *files: str | Path,
    project: str | Path = ".",
    url_column: str = "",
    content_column: str = "",
    base_url: str = "",
    filters: Filters | None = None,
    progress: bool = False,
) -> Imported:
    """Make files/urls_rawdata.csv and existing_links.csv, as the command `import` does without asking.

    Args:
        files: a crawler's exports (.csv, .xlsx), HTML files and folders of them.
        project: the folder with config/ and files/.
        url_column: the name of the pages' column of URLs, where it isn't recognised.
        content_column: that of their main content, likewise.
        base_url: the address of a folder of HTML files, where the files don't say it themselves.
        filters: which pages are left out; None: none.
        progress: whether steps and notes are shown on stderr.

    Raises:
        InternalLinkerError: it could not be done.
    """
    opened, reporter = open_project(Path(project)), _reporter(progress)
    folder = opened.root / "files"
    with link_spool(folder) as links, opened.lock(), import_places(folder) as (places, _):
        sources = crawl_tables([Path(file) for file in files], base_url, links)
        tables = recognise(sources, url_column, content_column, reporter)
        return import_tables(tables, filters or Filters(), places, reporter)


def pairs(
    project: str | Path = ".",
    by: str = "content",
    *,
    min_similarity: float = 0.5,
    max_per_page: int = 0,
    encoder: str = "",
    words: float | None = None,
    matryoshka: int = 0,
    brands: Sequence[str] = (),
    keep_brands: bool = False,
    limit: int = 0,
    progress: bool = False,
) -> SimilarPages:
    """All pairs of similar pages, as the command `pairs` finds them; nothing is written but the cache.

    Args:
        project: the folder with config/ and files/.
        by: "title", "h1", "content", or several of them, with or without weights: "title=1,content=3".
        min_similarity: of a pair, 0 to 1.
        max_per_page: a pair must be among so many best matches of one of its pages; 0: all pairs.
        encoder: a name as embedding_provider has it; "": that of the settings.
        words: how much the words count beside the encoder, 0 to 1; None: fully, and alone for contents where no
            model was asked for.
        matryoshka: how many numbers of a vector count; 0: as the settings have it.
        brands: what stands at the end of titles, outermost first; empty: it is found.
        keep_brands: whether titles are left as they are.
        limit: only the first pages; 0: all.
        progress: whether steps and notes are shown on stderr.

    Returns:
        `.pairs` and `.orphaned`, and in `.compared.similarity.tiles()` all similarities.

    Raises:
        InternalLinkerError: it could not be done.
    """
    counts = _count("limit", limit), _count("matryoshka", matryoshka)
    comparison = Comparison(by, encoder, words, tuple(brands), keep_brands, *counts)
    wish = PairWish(comparison, min_similarity, _count("max_per_page", max_per_page))
    opened = open_project(Path(project))
    with opened.lock():
        return find_pairs(opened, wish, _reporter(progress))


def clusters(
    project: str | Path = ".",
    by: str = "content",
    *,
    k: int | str = "",
    method: str = "kmeans",
    min_similarity: float = 0.4,
    encoder: str = "",
    words: float | None = None,
    matryoshka: int = 0,
    brands: Sequence[str] = (),
    keep_brands: bool = False,
    limit: int = 0,
    progress: bool = False,
) -> Clustering:
    """Groups of similar pages with their names, as the command `clusters` finds them; nothing is written but the cache.

    Args:
        project: the folder with config/ and files/.
        by: as for `pairs`.
        k: 12 clusters, or as many between "5-40" as part the pages best; "": as suits the site.
        method: "kmeans", or "communities" of the graph of similar pages.
        min_similarity: of two pages that are joined; for communities only.
        encoder: as for `pairs`.
        words: likewise.
        matryoshka: likewise.
        brands: likewise.
        keep_brands: likewise.
        limit: likewise.
        progress: whether steps and notes are shown on stderr.

    Returns:
        `.clusters`, `.pages` and `.missing_links`.

    Raises:
        InternalLinkerError: it could not be done.
    """
    counts = _count("limit", limit), _count("matryoshka", matryoshka)
    comparison = Comparison(by, encoder, words, tuple(brands), keep_brands, *counts)
    wish = ClusterWish(comparison, method, str(k), min_similarity)
    opened = open_project(Path(project))
    with opened.lock():
        return find_clusters(opened, wish, _reporter(progress))


def _count(name: str, value: int, most: int | None = None) -> int:
    if value < 0 or (most is not None and value > most):
        upper = "" if most is None else f" and at most {most}"
        raise ConfigurationError(f"{name} = {value}: give a number from 0 on{upper}.")
    return value


def _reporter(shown: bool) -> Reporter:
    """Tells of the steps where that is wanted; the log has them in any case."""
    console = open_console(stderr=True)
    console.quiet = not shown
    return Reporter(console)


def _found(report: Report) -> PageLinks:
    links = tuple(
        PageLink(
            each.source.url,
            each.source.query,
            link.target.url,
            link.rank,
            link.origin,
            link.target.score,
            link.target.similarity,
            link.target.lexical,
            link.target.probability,
            link.target.serp_rank,
        )
        for each in report.recommendations
        for link in each.links
    )
    notes = tuple((each.source.name, each.note) for each in report.recommendations if each.note)
    return PageLinks(report.run_id, links, notes, tuple(report.gaps))
