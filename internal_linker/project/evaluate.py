"""Measure relevance on editors' links: hidden ones, those added between two crawls, and their anchors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from internal_linker.insight.evaluation.anchors import (
    LENGTHS,
    Agreement,
    ProposedAnchors,
    agreement,
    proposals,
)
from internal_linker.insight.evaluation.backtest import LinkChanges, as_it_was, compare, placed
from internal_linker.insight.evaluation.backtest import backtest as backtest_site
from internal_linker.insight.evaluation.holdout import (
    HIDINGS,
    Hidden,
    Row,
    arrivals,
    hide,
    together,
)
from internal_linker.insight.evaluation.holdout import evaluate as evaluate_site
from internal_linker.match.embed import embed, encodable
from internal_linker.model.arrays import Bools, Vectors, unit_rows
from internal_linker.model.columns import BACKTEST
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.ports import Progress
from internal_linker.model.records import AddedLink, Collected, ExistingLink, Targets, Text
from internal_linker.model.results import Columns, Result, columns_of
from internal_linker.project.capabilities import capability
from internal_linker.project.options.evaluation import BacktestOptions, EvaluateOptions
from internal_linker.project.pipeline.context import RunContext
from internal_linker.project.pipeline.run import rehearse
from internal_linker.project.project import Project
from internal_linker.rank.adaptation import Adaptation
from internal_linker.rank.calibration import Range, reliability
from internal_linker.rank.metrics import Estimate
from internal_linker.rank.selection import link_targets, linked
from internal_linker.sources.collect import gather, with_links
from internal_linker.sources.serp.search import search_cached
from internal_linker.sources.tables.csv_reader import CsvTable
from internal_linker.sources.tables.lists_csv import ListCsv
from internal_linker.text.brands import found_brands

# What is looked for, as tables and headings name it.
HIDDEN, ARRIVALS, ADDED = "hidden links", "simulated arrivals", "added links"


@dataclass(frozen=True, slots=True)
class Measurement:
    """How well each way of ranking finds some links."""

    links: str  # what was looked for: `HIDDEN`, `ARRIVALS` or `ADDED`
    pairs: int  # count of these links; a link may be an arrival with its source and again with its target
    sources: int  # count of the pages that they start from
    rows: Sequence[Row]  # the figures of each way of ranking
    # what the ranker gains from the other links, with each group of new pages if there are several; None if there
    # were too few
    adaptations: Sequence[Adaptation | None] = ()
    # expected probabilities of pairs, with the observed shares of links; () if none were computed
    reliability: Sequence[Range] = ()


@dataclass(frozen=True, repr=False)
class Evaluation(Result):
    """Relevance measured on hidden links."""

    measurements: Sequence[Measurement]  # on simulated arrivals, and on all or half of the links
    encoder: str  # the encoder's name
    keep_anchors: bool  # whether the links' anchors stayed in the text

    def tables(self) -> dict[str, Columns]:
        """`figures`: means and 95% intervals of each way of ranking, 0 to 1."""
        return {"figures": _figures(self.measurements)}


@dataclass(frozen=True, repr=False)
class Backtest(Result):
    """Relevance measured on the links that were added between two dates."""

    measurement: Measurement  # on the added links
    # each of these links with its position in the source's ranking, 0 if it is not among the candidates
    added: Sequence[AddedLink]
    counts: Sequence[tuple[str, str]]  # what the two tables of links hold, by name
    encoder: str  # the encoder's name
    keep_anchors: bool  # whether the links' anchors stayed in the text
    remarks: Sequence[str] = ()  # what was unusual when files/backtest.csv was written, one sentence each

    def tables(self) -> dict[str, Columns]:
        """`figures` of each way of ranking, and the `links` that were added."""
        return {
            "figures": _figures([self.measurement]),
            "links": columns_of(self.added, *AddedLink.__dataclass_fields__),
        }


@dataclass(frozen=True, repr=False)
class AnchorEvaluation(Result):
    """How good the proposed anchors are."""

    # of the first anchors with the editors', on pairs of pages that are linked; None if no link of the editors has
    # its anchor in the main content
    agreement: Agreement | None
    proposals: ProposedAnchors  # the anchors of the links that a run proposes

    def tables(self) -> dict[str, Columns]:
        """`shares`, 0 to 1, with 95% intervals; `lengths` of anchors; `hygiene` counts with `examples`."""
        measured = {"": self.agreement, **self.agreement.by_language} if self.agreement else {}
        names = "f1", "exact", "found", "verbatim"
        shares = [
            (language, name, getattr(one, name)) for language, one in measured.items() for name in names
        ]
        lengths = [
            (language, whose, words, share)
            for language, one in measured.items()
            for whose, each in (("proposed", one.lengths), ("editors", one.editors_lengths))
            for words, share in zip(LENGTHS, each, strict=True)
        ]
        of_run = zip(LENGTHS, self.proposals.lengths, strict=True)
        lengths += [("", "run", words, share) for words, share in of_run]
        found = self.proposals.hygiene
        flaws = [(flaw.value, count, flaw.message) for flaw, count in found.counts.items()]
        examples = [(flaw.value, *one) for flaw, some in found.examples.items() for one in some]
        return {
            "shares": _shares(("language", "measure"), [*shares, ("", "proposed", self.proposals.found)]),
            "lengths": _shares(("language", "anchors", "words"), lengths),
            "hygiene": _columns(("flaw", "anchors", "meaning"), flaws),
            "examples": _columns(("flaw", "page", "anchor", "target"), examples),
        }


def _columns(names: Sequence[str], rows: Sequence[Sequence[object]]) -> dict[str, Sequence[object]]:
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def _shares(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
    """Return rows as columns; their last value is an estimate."""
    return _columns(names, rows) | intervals("share", [row[-1] for row in rows])


@capability()
def evaluate(project: Project, options: EvaluateOptions, progress: Progress) -> Evaluation:
    """Measure relevance on links that editors made, as the command `evaluate` does; only the cache changes.

    Returns:
        `.measurements`, and their figures as a DataFrame: `.to_frame()`.

    Raises:
        InputError: there are no pages, or no links to hide.
    """
    with project.context(progress, serp=False, deliver=False) as context:
        collected = known_site(context, progress)
        cut = not options.keep_anchors
        sites = {
            ARRIVALS: [*arrivals(collected, cut_anchors=cut)],
            HIDDEN: [hide(collected, HIDINGS[options.hide], cut_anchors=cut)],
        }
        found = [
            _measurement(name, each, collected, project, context=context, progress=progress)
            for name, each in sites.items()
        ]
        return Evaluation(found, context.encoder.name, options.keep_anchors)


def _measurement(
    links: str,
    sites: Sequence[Hidden],
    collected: Collected,
    project: Project,
    *,
    context: RunContext,
    progress: Progress,
) -> Measurement:
    """Measure every way of ranking on the hidden links of a site, or of several groups of its pages."""
    found, adaptations = list[tuple[Hidden, Sequence[Row]]](), list[Adaptation | None]()
    expected, rules = list[tuple[Vectors, Bools]](), project.rules()
    for site in sites:
        targets = targets_of(project, collected, site.visible)
        searched = search_cached(
            site.sources, project.clients.market, context.serp_cache, targets, rules.search
        )
        vectors = encoding(site, context, progress)
        rows, adaptation, pairs = evaluate_site(
            site, targets, vectors, rules.linking, searched=searched, progress=progress
        )
        found.append((site, rows))
        adaptations.append(adaptation)
        expected.append(pairs)
    sources = {source for site in sites for source in site.truth}
    count = sum(site.pairs for site in sites)
    ranges = reliability(*map(np.concatenate, zip(*expected, strict=True))) if expected else ()
    return Measurement(links, count, len(sources), together(found), adaptations, ranges)


@capability()
def evaluate_anchors(project: Project, progress: Progress) -> AnchorEvaluation:
    """Compare proposed anchors with the editors', and look for flaws in those of a run, as `evaluate --anchors` does.

    Nothing is searched for, and only the cache changes.

    Returns:
        `.agreement` and `.proposals`, and their figures as DataFrames: `.frames`.

    Raises:
        InputError: there are no pages.
    """
    with project.context(progress, serp=False, deliver=False) as context:
        collected, edges = rehearse(context, project.rules(), progress)
        brands = {
            language: found_brands([page.title for page in collected.pages if page.lang == language])
            for language in collected.languages
        }
        progress.start("Anchors", 0, "pairs")
        compared = agreement(collected)
        measured = proposals(collected, edges, brands)
        progress.finish(
            f"{compared.pairs if compared else 0} linked pairs of pages, {measured.pairs} proposed links"
        )
        return AnchorEvaluation(compared, measured)


@capability()
def backtest(
    project: Project, options: BacktestOptions, progress: Progress, *, write: bool = True
) -> Backtest:
    """Measure relevance on the links that were added between two crawls, as the command `backtest` does.

    Args:
        write: write the added links to files/backtest.csv; otherwise only the cache changes.

    Returns:
        The DataFrames `.frames["figures"]` and `.frames["links"]`.

    Raises:
        ConfigurationError: both tables are the same file.
        InputError: a table can't be read, there are no pages, or no links to look for.
        OutputError: the list can't be written.
    """
    before, after = options.before, options.after
    if before.resolve() == after.resolve():
        raise ConfigurationError(
            f"--before and --after are the same file ({before}). Give the links of two dates."
        )
    with project.context(progress, serp=False, deliver=False) as context:
        collected = known_site(replace(context, links=None), progress)
        # The links in the pages' own HTML may be newer than the earlier table, so the ranking must not know them.
        bare = replace(collected, links=())
        tables = [with_links(bare, CsvTable(path, str(path)), progress) for path in (before, after)]
        earlier, later = (table.links for table in tables)
        targets = targets_of(project, bare, earlier)
        changes = compare(bare, earlier, later, targets)
        site = as_it_was(bare, earlier, changes, cut_anchors=not options.keep_anchors)
        vectors = encoding(site, context, progress)
        rows, orders = backtest_site(site, targets, vectors, project.rules().linking, progress)
        added = list(placed(changes, bare.pages, orders))
        return Backtest(
            Measurement(ADDED, site.pairs, len(site.truth), rows),
            added,
            list(_counts(bare, tables, changes)),
            context.encoder.name,
            options.keep_anchors,
            remarks=ListCsv(project.file("backtest.csv"), BACKTEST).write(added) if write else (),
        )


def _figures(measurements: Sequence[Measurement]) -> Columns:
    rows = [(each, row) for each in measurements for row in each.rows]
    columns: dict[str, Sequence[object]] = {
        "links": [each.links for each, _ in rows],
        "ranked_by": [row.name for _, row in rows],
    }
    for name in ("hit", "recall", "ndcg", "mrr"):
        columns |= intervals(name, [getattr(row.measured, name) for _, row in rows])
    return columns | {"reach": [row.reach for _, row in rows]}


def intervals(name: str, estimates: Sequence[Estimate]) -> dict[str, Sequence[object]]:
    """Return estimates as columns: NAME, NAME_low and NAME_high."""
    return {
        name: [each.mean for each in estimates],
        f"{name}_low": [each.low for each in estimates],
        f"{name}_high": [each.high for each in estimates],
    }


def known_site(context: RunContext, progress: Progress) -> Collected:
    """Read pages, queries and existing links; rejected rows are counted but not listed.

    Raises:
        InputError: there are no pages, or a table can't be read.
    """
    return gather(
        context.queries,
        context.pages,
        context.links,
        queries_in_sheet=False,
        progress=progress,
        keep=context.keep,
        hosts=context.hosts,
    )


def targets_of(project: Project, collected: Collected, links: Sequence[ExistingLink]) -> Targets:
    """Return the pages that links may lead to, given these known links."""
    excluded = project.rules().search.excluded
    return link_targets(
        collected.addresses,
        excluded,
        any_on_site=False,
        linked=linked(collected.sources, links),
        aliases=collected.aliases,
        hosts=collected.hosts,
    )


def encoding(site: Hidden, context: RunContext, progress: Progress) -> Callable[[Sequence[Text]], Vectors]:
    """Return what gives the vectors of the site's texts: (n, d) unit rows, zeros for a text without one."""

    def vectors(texts: Sequence[Text]) -> Vectors:
        known, _ = encodable(texts, [page.lang for page in site.pages], context.encoder)
        embedded = embed(known, context.encoder, context.vector_cache, progress)
        if embedded.problem:
            progress.warn(f"{embedded.problem} Without all vectors, the figures differ from a run's.")
        return unit_rows(embedded.vectors)

    return vectors


def _counts(bare: Collected, tables: Sequence[Collected], changes: LinkChanges) -> Iterator[tuple[str, str]]:
    links = (len({(link.source, link.target) for link in table.links}) for table in tables)
    yield "Links in the pages' text, before / after", " / ".join(map(str, links))
    skipped = (table.skipped_links for table in tables)
    yield "Rows left out (menus, images, ...)", " / ".join(map(str, skipped))
    rejected = (len(table.rejects) - len(bare.rejects) for table in tables)
    yield "Rows rejected (no URL)", " / ".join(map(str, rejected))
    yield "Removed", str(changes.removed)
    yield "Added", str(changes.added)
    yield "  between two listed pages of one language", str(changes.inner)
    for reason, count in sorted(changes.left_out.items()):
        yield f"  left out: {reason}", str(count)
