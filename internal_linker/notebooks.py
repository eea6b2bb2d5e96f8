"""A project folder -> runs, look-ups and briefs as records, for notebooks and scripts; `import internal_linker`."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from internal_linker.brief_files import read_brief
from internal_linker.brief_records import BriefLinks
from internal_linker.errors import ConfigurationError
from internal_linker.records import Choice, Origin
from internal_linker.reports import Report
from internal_linker.running import brief_links, look_up, run_once
from internal_linker.terminal import Reporter, open_console
from internal_linker.wiring import open_project


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
