"""Find links: for all pages of a project, for one page or query, or for a page that does not exist yet."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from internal_linker.model.briefs import BriefLinks
from internal_linker.model.edges import Tier, score_of, why
from internal_linker.model.errors import (
    ConfigurationError,
    InputError,
    InternalLinkerError,
    OutputError,
    ServiceError,
)
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Tracker
from internal_linker.model.records import Origin, Recommendation, RowSelection, Source
from internal_linker.model.results import Columns, Result, columns_of
from internal_linker.model.sequences import Lazy
from internal_linker.model.urls import is_address
from internal_linker.model.version import __version__
from internal_linker.project.capabilities import capability
from internal_linker.project.log import LOGGED, LOGGER, new_run_id, run_log
from internal_linker.project.options.links import BriefOptions, LookupOptions, RunOptions
from internal_linker.project.pipeline.context import Rules, RunContext
from internal_linker.project.pipeline.page_sources import page_sources
from internal_linker.project.pipeline.plan import Plan, plan_run
from internal_linker.project.pipeline.report import Report, highlights, summary_rows
from internal_linker.project.pipeline.run import Run
from internal_linker.project.project import Project


@dataclass(frozen=True, slots=True)
class PageLink:
    """A proposed link."""

    source: str  # the page's URL, "" for a query without a page
    source_title: str  # its title
    query: str  # its main query
    target: str  # where the link leads
    target_title: str  # that page's title
    # its position among the source's links, from 1; in a list of the best sources, the position there
    rank: int
    origin: (
        Origin  # "serp" for a search result, "semantic" for a similar page, "rule" for a rule of the house
    )
    score: int | None  # from 0 to 100; None where it is unknown
    tier: Tier  # "inline" (in the text), "sidebar" (related box) or "review" (needs a look)
    why: str  # the reason for the link
    # blend, similarity, lexical, probability: as in links.csv; NaN where unknown
    blend: float
    similarity: float
    lexical: float
    probability: float
    serp_rank: int  # the target's rank in the search results, 0 if it is not among them
    anchor: str  # words to link; "" if there are none
    sentence: str  # the source's sentence around the anchor, or the paragraph in which it could be written
    verbatim: bool  # whether the source's text contains the anchor
    anchor_model: str  # the language model and prompt that chose the anchor or a new wording; "" for none
    anchor_confidence: float | None  # how sure it is of its wording, 0 to 1; None where unknown


@dataclass(frozen=True, repr=False)
class PageLinks(Result):
    """The links that a run or a lookup found."""

    report: Report  # all that the run did
    summary: Sequence[tuple[str, str]] = field(default=())  # names and values for people; empty for a lookup
    highlights: Sequence[tuple[str, str]] = field(default=())  # those that matter after each run
    trial: bool = False  # whether the links are in files/trial only
    # the page whose best sources were looked up; None: the links are those of their sources
    to: Source | None = None

    @property
    def run(self) -> str:
        """The run's id."""
        return self.report.run_id

    @property
    def recommendations(self) -> Sequence[Recommendation]:
        """The links of each source, with a note if they are fewer than wanted."""
        return self.report.recommendations

    @property
    def links(self) -> Sequence[PageLink]:
        """All links, source by source, best first; of the best sources of a page, the best source first."""
        pairs = [(each, rank) for each in self.recommendations for rank in range(len(each.links))]
        if self.to:
            return Lazy(len(pairs), lambda at: _page_link(*pairs[at], self.report, rank=at + 1))
        return Lazy(len(pairs), lambda at: _page_link(*pairs[at], self.report))

    @property
    def notes(self) -> Sequence[tuple[str, str]]:
        """(source, why it has fewer links than wanted or no search results)."""
        return [(each.source.name, each.note) for each in self.recommendations if each.note]

    @property
    def gaps(self) -> Sequence[str]:
        """What is missing this time, one sentence each."""
        return self.report.gaps

    @property
    def failure(self) -> ServiceError | OutputError | None:
        """Why a place did not take its links, if one did not."""
        return self.report.failure

    def tables(self) -> dict[str, Columns]:
        """`links`, source by source, best first; `notes` on sources with fewer links than wanted."""
        return {
            "links": columns_of(self.links, *PageLink.__dataclass_fields__),
            "notes": {name: [note[at] for note in self.notes] for at, name in enumerate(("source", "note"))},
        }


@capability()
def run(
    project: Project,
    options: RunOptions,
    progress: Progress,
    *,
    should_stop: Callable[[], bool] = lambda: False,  # asked between two steps; True ends the run
) -> PageLinks:
    """Find links for every page and deliver them, as the command `run` does.

    logfile.txt gets steps, notes and summary. If config/notify.txt has addresses, a run over all rows sends them what
    it has to report, see `alerts`.

    Returns:
        `.links`, `.notes` and `.gaps`, and the DataFrames `.frames["links"]` and `.frames["notes"]`. A place that
        did not take its links is in `.failure`, which Python's function raises.

    Raises:
        InternalLinkerError: the run could not be done; logged, too.
    """
    # Lookups start without it.
    from internal_linker.project.alerts import announce

    run_id = new_run_id()
    try:
        found = _run(project, options, progress, run_id, should_stop)
    except Exception as error:
        announce(project, options, progress, run_id, error=error)
        raise
    announce(project, options, progress, run_id, report=found.report, summary=found.summary)
    return found


def _run(
    project: Project, options: RunOptions, progress: Progress, run_id: str, should_stop: Callable[[], bool]
) -> PageLinks:
    rules, choice = project.rules(options), RowSelection(options.limit, tuple(options.only))
    timed = Tracker(progress)
    with project.lock(), run_log(project.root, run_id, project.settings.secrets):
        LOGGER.info("Run starts: internal-linker %s", __version__)
        try:
            keeps = _keeps(rules, choice)
            with project.context(
                timed,
                serp=options.search,
                trial=options.trial,
                keeps=None if options.trial else keeps,
                figures=options.figures,
            ) as context:
                if not options.trial:
                    _back_up(project, timed)
                steps = Run(context, rules, choice, timed, should_stop)
                report = steps.execute(run_id)
                if project.settings.write_vectors == "always" and not (options.trial or report.unchanged):
                    _write_vectors(project, timed, report)
                steps.keep(report)
        except (InternalLinkerError, KeyboardInterrupt) as error:
            LOGGER.error("%s", error if isinstance(error, InternalLinkerError) else "Interrupted.")
            error.add_note(LOGGED)
            raise
        except Exception as error:
            LOGGER.exception("The run ended unexpectedly")
            error.add_note(LOGGED)
            raise
        summary = summary_rows(report, timed.seconds, project.settings.links_per_page)
        shown = highlights(report, timed.seconds, project.settings.links_per_page)
        found = PageLinks(report, summary, shown, options.trial)
        for name, value in found.summary:
            LOGGER.info("Summary: %s: %s", name.strip(), value)
        LOGGER.info("%s", closing_line(found))
        return found


def _write_vectors(project: Project, progress: Progress, report: Report) -> None:
    """Write files/vectorized_urls.csv; a run that can't has delivered its links all the same."""
    # Lookups start without it.
    from internal_linker.project.export_vectors import export_vectors

    try:
        result = export_vectors(project, progress)
        progress.finish(f"{result.found} vectors in files/{result.file}, {result.missing} pages without one")
        for remark in result.remarks:
            progress.warn(remark)
    except (ConfigurationError, InputError) as error:
        progress.warn(f"write_vectors: {error}")
    except OutputError as error:
        report.gaps.append(str(error))


def _back_up(project: Project, progress: Progress) -> None:
    """Back up the cache before the run changes it, if a backup is due; a run goes on without one."""
    try:
        if made := project.databases.back_up_weekly():
            LOGGER.info("The cache was backed up to %s", made)
    except (InputError, OutputError) as error:
        progress.warn(f"The weekly backup of the cache was not made: {error}")


def _keeps(rules: Rules, choice: RowSelection) -> Callable[[str], bool] | None:
    """Return a function that says whether a page's rows of earlier runs stay; None: no row does."""
    if choice.partial:
        return lambda _: True
    return (lambda key: not rules.renewed.hold(key)) if rules.renewed else None


def closing_line(found: PageLinks) -> str:
    """Return the sentence that a run ends with, on the terminal and in the log."""
    if found.failure:
        return "Pipeline finished, but links could not be written everywhere: see the notes above."
    if found.report.unchanged:
        return f"Nothing changed since run {found.run}: its links, files and review are up to date."
    if found.report.no_links:
        return "Pipeline finished without links: see the notes above."
    if found.gaps:
        return "Pipeline finished with gaps: see the notes above."
    if found.trial:
        return (
            "Trial finished: its links are in files/trial only. To publish links, run without --limit, "
            "or with --publish."
        )
    return "Pipeline completed successfully!"


@capability()
def plan(project: Project, options: RunOptions, progress: Progress) -> Plan:
    """Return what a run would fetch, embed and cost, as `run --dry-run` does; nothing is spent or written.

    Raises:
        InternalLinkerError: the run could not be done.
    """
    rules, choice = project.rules(options), RowSelection(options.limit, tuple(options.only))
    with project.context(progress, serp=options.search, deliver=False, read_only=True) as context:
        return plan_run(context, rules, choice, progress)


@capability(tables=("links", "queries"))
def lookup(project: Project, options: LookupOptions, progress: Progress) -> PageLinks:
    """Find the best links for one page, by its URL, or for any query, as the command `lookup` does.

    Returns:
        `.links` and the DataFrame `.to_frame()`.

    Raises:
        InternalLinkerError: it could not be done.
    """
    with project.context(progress, serp=options.search and not options.to, deliver=False) as context:
        return look_up(project, context, options, progress)


def look_up(project: Project, context: RunContext, options: LookupOptions, progress: Progress) -> PageLinks:
    """Do what `lookup` does in a context that is open."""
    page = options.page.strip()
    if not page:
        raise ConfigurationError("URL-OR-QUERY is empty: write a page's URL, or a query in quotation marks.")
    rules = project.rules()
    if options.limit:
        rules = replace(rules, linking=replace(rules.linking, links_per_page=options.limit))
    if options.to:
        target, report = page_sources(context, rules, page, new_run_id(), progress)
        return PageLinks(report, to=target)
    choice = RowSelection(only=(page,)) if is_address(page) else RowSelection(query=page)
    return PageLinks(Run(context, rules, choice, progress).execute(new_run_id()))


@capability()
def content_brief(
    project: Project,
    options: BriefOptions,
    progress: Progress,
    *,
    stdin: Callable[[], BinaryIO] = io.BytesIO,  # opens standard input, for the draft "-"
) -> BriefLinks:
    """Find the links of a page that does not exist yet, to it and from it, as the command `content-brief` does.

    Returns:
        `.links_to`, `.links_from` and `.like`, each a DataFrame in `.frames`, too.

    Raises:
        InternalLinkerError: it could not be done.
    """
    with project.context(progress, serp=options.search, deliver=False) as context:
        return write_brief(project, context, options, progress, stdin=stdin)


def write_brief(
    project: Project,
    context: RunContext,
    options: BriefOptions,
    progress: Progress,
    *,
    stdin: Callable[[], BinaryIO] = io.BytesIO,
) -> BriefLinks:
    """Do what `content_brief` does in a context that is open."""
    # Runs and lookups start without them.
    from internal_linker.project.pipeline.brief import content_brief as brief_links
    from internal_linker.sources.drafts import read_brief

    draft = str(options.draft) if isinstance(options.draft, Path) else options.draft
    brief = replace(
        read_brief(draft, stdin, options.title), query=options.query, url=options.url, lang=options.lang
    )
    wanted = options.limit or project.settings.links_per_page
    return brief_links(context, project.rules(), brief, wanted, progress)


def _page_link(recommendation: Recommendation, at: int, report: Report, *, rank: int = 0) -> PageLink:
    link, source, site = recommendation.links[at], recommendation.source, report.collected
    edge = report.edge_of(source, link)
    anchor = edge.chosen
    return PageLink(
        source=source.url,
        source_title=site.title(source.key),
        query=source.query,
        target=link.target.url,
        target_title=site.title(link.target.key),
        rank=rank or link.rank,
        origin=link.origin,
        score=score_of(edge.strength),
        tier=edge.tier,
        why=why(edge),
        blend=link.target.score,
        similarity=link.target.similarity,
        lexical=link.target.lexical,
        probability=link.target.probability,
        serp_rank=link.target.serp_rank,
        anchor=anchor.text,
        sentence=anchor.sentence,
        verbatim=bool(anchor.text) and anchor.verbatim,
        anchor_model=anchor.model,
        anchor_confidence=anchor.confidence,
    )
