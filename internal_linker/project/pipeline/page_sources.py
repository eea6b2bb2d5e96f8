"""The pages that should link to a page: the lookup with `--to`."""

from dataclasses import replace

import numpy as np

from internal_linker.model.edges import beside, score_for, strengths
from internal_linker.model.errors import InputError
from internal_linker.model.ports import Progress
from internal_linker.model.records import Collected, Link, Recommendation, RowSelection, Searched, Source
from internal_linker.model.sequences import counted
from internal_linker.model.urls import is_address
from internal_linker.project.pipeline.context import Rules, RunContext
from internal_linker.project.pipeline.deliver import Publication
from internal_linker.project.pipeline.report import Report
from internal_linker.project.pipeline.run import recall
from internal_linker.project.pipeline.run_input import RunInput, known_key, named, read_input
from internal_linker.project.pipeline.site_index import SiteIndex
from internal_linker.project.pipeline.site_places import site_places
from internal_linker.project.pipeline.site_ranking import embed_site, rank_site
from internal_linker.rank.evidence import Explainer
from internal_linker.rank.rank import Ranking
from internal_linker.rank.recommend import counting
from internal_linker.rank.reverse_candidates import best_sources
from internal_linker.rank.rules import LinkRules
from internal_linker.review.link_memory import Memory


def page_sources(
    context: RunContext, rules: Rules, page: str, run_id: str, progress: Progress
) -> tuple[Source, Report]:
    """Find the pages that should link to a page, at most `links_per_page`; search results don't count.

    Args:
        context: without sinks.
        page: its URL, with or without https://, or its path.

    Returns:
        The page, and a report that has a recommendation for each source, best first: its link to the page.

    Raises:
        InputError: the input can't be used, or has no such page.
        ServiceError: the input can't be read from its service.
    """
    index = SiteIndex(context, progress)
    run_input = read_input(context, rules, RowSelection(), progress, index=index)
    target = _target(run_input.collected, page)
    memory, gaps = recall(context, rules, run_id, run_input.collected, progress)
    run_input = _linking_pages(run_input.without_rejected(memory))
    collected, targets = run_input.collected, run_input.targets
    comparison = index.comparison(collected, targets, rules.linking)
    embedded, notes = embed_site(run_input, comparison, context, progress)
    progress.start("Matching", 1, "pages")
    ranking, state, found = None, "", list[Recommendation]()
    if target.key in targets.known and target.key in collected.rows:
        ranking, _, state = rank_site(
            run_input,
            Searched(),
            embedded,
            rules.linking,
            notes=notes,
            accepted=memory.decided.accepted_links() if memory else [],
            index=index,
            comparison=comparison,
        )
        ranking.site.forget()
        found = _links_to(ranking, collected.rows[target.key], rules.linking, memory)
    progress.finish(f"{counted(len(found), 'page')} should link to it")
    report = Report(run_id, collected, Searched(), embedded, found, memory=memory)
    report.gaps += filter(None, [*gaps, embedded.problem])
    if not found:
        report.gaps.append(_without_sources(target, run_input))
    with site_places(collected, index, context, rules.linking, progress) as places:
        publication = Publication(
            context, rules, report, run_input, places=places, progress=progress, partial=True
        )
        publication.publish()
    index.keep_counted()
    if ranking:
        index.keep_hubness(ranking.site, state)
    # The score that people read counts the anchor, which is only known now.
    report.recommendations = sorted(found, key=lambda one: -_strength(report, one))
    for sentence in report.gaps:
        progress.warn(sentence)
    return target, report


def _target(collected: Collected, page: str) -> Source:
    """Return the page that links should lead to, or raise `InputError` if there is no such page."""
    key = named(collected, page)
    if not key and not is_address(page):
        raise InputError(f"{page} is no page: --to takes a page's URL, or its path such as /blog/a/.")
    key = key or known_key(collected, page)
    return next(source for source in collected.sources if source.key == key)


def _linking_pages(run_input: RunInput) -> RunInput:
    """Return the input with each page that can link as one row."""
    counts = counting(run_input.sources)
    pages = [one for one, first in zip(run_input.sources, counts, strict=True) if first and one.page]
    return replace(run_input, sources=pages, without=())


def _links_to(ranking: Ranking, row: int, rules: LinkRules, memory: Memory | None) -> list[Recommendation]:
    """Return the links to a page that score highest, each as the recommendation of its source."""
    best = best_sources(ranking, row, range(len(ranking.sources)), rules.links_per_page)
    found = []
    for position, candidate, place in best:
        source = ranking.sources[position]
        waits = memory is not None and not memory.approved(source)(candidate.key)
        pages = beside(rules.least_place) * strengths(np.array(candidate.score))
        target = replace(candidate, score=float(score_for(pages)))
        link = Link(target, 0 if waits else place, "semantic")
        found.append((position, Recommendation(source, (link,))))
    return list(Explainer(ranking).add_evidence(found))


def _strength(report: Report, item: Recommendation) -> float:
    """Return the strength of the only link of a source, 0 where it is unknown."""
    return float(np.nan_to_num(report.edge_of(item.source, item.links[0]).strength))


def _without_sources(target: Source, run_input: RunInput) -> str:
    """Return why no page should link to a page."""
    url = target.url
    if barred := run_input.targets.barred.get(target.key):
        return f"No link may lead to {url}: {barred}."
    if target.key not in run_input.collected.rows:
        return f"{url} is not in files/urls_rawdata.csv, so there is no text to compare with other pages."
    return (
        f"No page was found that should link to {url}: the others already link to it, may get no links, or are not "
        "similar enough."
    )
