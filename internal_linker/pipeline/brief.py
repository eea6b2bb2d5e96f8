"""Links for a planned page: the pages that it should link to, and those that should link to it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite

import numpy as np

from internal_linker.anchors.finder import Anchoring
from internal_linker.core.arrays import pairs_of
from internal_linker.core.briefs import Brief, BriefLinks, LikePage
from internal_linker.core.edges import Decided
from internal_linker.core.errors import InputError
from internal_linker.core.evidence import Evidence
from internal_linker.core.ports import Progress
from internal_linker.core.records import Candidate, Collected, Link, Searched, Source, Targets, fold_query
from internal_linker.core.sequences import counted
from internal_linker.embeddings.embed import all_texts, embed, encodable
from internal_linker.ingest.collect import gather
from internal_linker.pipeline.brief_anchors import Inward, links_from, links_to
from internal_linker.pipeline.brief_page import NEW, NOWHERE, Planned, planned
from internal_linker.pipeline.context import Rules, RunContext
from internal_linker.pipeline.prepared import Prepared
from internal_linker.pipeline.rows import require_scope
from internal_linker.ranking.adaptation import adapted
from internal_linker.ranking.evidence import Explainer
from internal_linker.ranking.link_texts import without_link_texts
from internal_linker.ranking.rank import Ranking
from internal_linker.ranking.reverse_candidates import best_sources
from internal_linker.ranking.selection import link_targets, select
from internal_linker.review.former_links import todays
from internal_linker.review.transitions import decided
from internal_linker.serp.search import search_all
from internal_linker.text.words import words


def content_brief(
    context: RunContext, rules: Rules, brief: Brief, limit: int, progress: Progress
) -> BriefLinks:
    """Rank as a run does, with the new page among the others; write nothing but the cache and the index.

    Args:
        context: the site's context; without a search service or a main query, the search step is skipped.
        rules: how links are chosen.
        brief: what is known of the new page.
        limit: the maximum number of links each way, from 1 to 50.
        progress: the display of the steps.

    Raises:
        InputError: the site has no pages, or the new page's URL is not a URL.
        ServiceError: the input can't be read from its service.
    """
    collected = _gathered(context, progress)
    plan = planned(collected, brief)
    searching = context.serp is not None and bool(plan.source.query)
    require_scope(collected, rules, searching=searching, warn=progress.warn)
    judged = context.edges.each(judged=True) if context.edges else ()
    decisions = decided(todays(judged, collected.hosts))
    targets = _targets(plan, decisions, rules)
    searched = Searched()
    if context.serp and plan.source.query:
        searched = search_all(
            [plan.source], context.serp, context.serp_cache, targets, rules.search, progress=progress
        )
    ranking, problem = _ranked(
        plan, targets, searched, decisions, context=context, rules=rules, progress=progress
    )
    progress.start("Links", 2, "steps")
    candidates = sorted(next(ranking.of([NEW])), key=lambda one: ranking.comes_last(one.key))
    chosen = select(plan.source, candidates, targets, limit, "")
    fits = {} if plan.exists else _fits(ranking, candidates)
    best = best_sources(ranking, NEW, range(1, len(ranking.sources)), limit, fits.get)
    outward, inward = _explained(ranking, chosen.links, best, exists=plan.exists)
    progress.advance()
    none = "" if outward or inward else "No links were found, neither from the new page nor to it."
    anchoring = Anchoring(plan.collected)
    found = BriefLinks(
        brief.name,
        brief.url,
        plan.source.query,
        plan.page.lang,
        tuple(_like(ranking, plan)),
        tuple(links_to(plan, anchoring, outward)),
        tuple(links_from(plan, anchoring, inward)),
        (*plan.notes, *_scarce(plan, targets, chosen.note, len(inward), limit)),
        tuple(filter(None, (none, searched.problem, problem))),
    )
    progress.finish(f"{len(found.links_to)} from the new page, {len(found.links_from)} to it")
    return found


def _gathered(context: RunContext, progress: Progress) -> Collected:
    progress.start("Input", 0, "rows")
    for notice in context.notices:
        progress.warn(notice)
    collected = Prepared(context, progress).collected(
        lambda noted: gather(
            context.queries,
            context.pages,
            context.links,
            None,
            queries_in_sheet=context.queries_in_sheet,
            progress=noted,
            keep=context.keep,
            hosts=context.hosts,
        )
    )
    if not collected.pages:
        raise InputError(
            "There are no pages that could link to the new page. "
            "Put your pages into files/urls_rawdata.csv: URL, Title, Main Content."
        )
    progress.finish(
        f"{counted(len(collected.pages), 'page')}, {counted(collected.inner_links, 'existing link')}"
    )
    return collected


def _targets(plan: Planned, decisions: Decided, rules: Rules) -> Targets:
    def excluded(url: str, key: str) -> str:
        return "" if key == NOWHERE else rules.search.excluded(url, key)

    site = plan.collected
    targets = link_targets(
        site.pages,
        site.sources,
        excluded,
        any_on_site=rules.any_on_site,
        links=site.live_links,
        aliases=site.aliases,
        hosts=site.hosts,
        sections=rules.scope.targets,
    )
    if NOWHERE in targets.barred:
        # A page without a URL is in no section yet.
        barred = {key: why for key, why in targets.barred.items() if key != NOWHERE}
        targets = replace(targets, known={**targets.known, NOWHERE: NOWHERE}, barred=barred)
    # The planned page may rewrite a page for which editors have already rejected links.
    return replace(targets, rejected=decisions.rejected_at_ends(site.aliases))


def _ranked(
    plan: Planned,
    targets: Targets,
    searched: Searched,
    decisions: Decided,
    *,
    context: RunContext,
    rules: Rules,
    progress: Progress,
) -> tuple[Ranking, str]:
    """Return a ranking for the new page (the first source) and its possible sources, and why vectors are missing."""
    pages = plan.collected.pages
    texts = all_texts(pages, plan.collected.queries, ())
    known, _ = encodable(texts, [page.lang for page in pages], context.encoder)
    if not known[0].whole:
        progress.warn(
            f"The text is in {plan.page.lang}, which {context.encoder.name} does not support: "
            "only its words are compared."
        )
    embedded = embed(known, context.encoder, context.vector_cache, progress)
    progress.start("Matching", 2, "steps")
    queried = {source.key for source in plan.collected.sources if source.row_url}
    others = [
        Source(page.key, page.url, "", page, in_sheet=False)
        for page in pages[1:]
        if page.takes_links
        and rules.renewed.hold(page.key)
        and rules.scope.gives(page.key, queried=page.key in queried)
    ]
    ranking = Ranking(
        plan.collected,
        [plan.source, *others],
        targets,
        searched,
        texts=without_link_texts(texts, plan.collected),
        vectors=embedded.vectors,
        rules=rules.linking,
        planned=() if plan.exists else [NEW],
    )
    progress.advance()
    ranking, _ = adapted(ranking, [*plan.collected.live_links, *decisions.accepted_links()])
    progress.finish(f"{counted(len(others), 'page')} may link to it")
    return ranking, embedded.problem


def _fits(ranking: Ranking, candidates: Sequence[Candidate]) -> dict[int, float]:
    """Return how well pages fit the topic of a page that does not exist yet: its candidates' scores, 0 for others.

    A page that can't be a candidate, for another reason than its topic, is left out.
    """
    fits = dict.fromkeys(np.flatnonzero(ranking.linkable).tolist(), 0.0)
    for row in ranking.old(NEW):
        fits.pop(row, None)
    return fits | {ranking.rows[one.key]: one.score for one in candidates if one.key in ranking.rows}


def _explained(
    ranking: Ranking, links: Sequence[Link], best: Sequence[tuple[int, Candidate, int]], *, exists: bool
) -> tuple[list[Link], list[Inward]]:
    """Return the links from the new page and those to it, from `best_sources`, with the evidence for each."""
    explainer, key = Explainer(ranking), ranking.site.pages[NEW].key
    (outward,) = explainer.of([NEW], [[link.target.key for link in links]])
    positions = [position for position, _, _ in best]
    inward = [one for (one,) in explainer.of(positions, [[key]] * len(best))]
    if not exists:
        # Nobody can link to a page that does not exist yet.
        inward = [Evidence(one.topic) for one in inward]
    found = [
        (ranking.sources[position], Link(signals, place, "semantic", evidence))
        for (position, signals, place), evidence in zip(best, inward, strict=True)
    ]
    return [replace(link, evidence=each) for link, each in zip(links, outward, strict=True)], found


def _scarce(plan: Planned, targets: Targets, note: str, inward: int, limit: int) -> Iterator[str]:
    """Yield the reasons why there are fewer links than requested."""
    if note:
        yield f"Links from it: {note}."
    if why := targets.barred.get(plan.page.key):
        yield f"Links to it: no link may lead to {plan.page.url}: {why}."
    elif inward < limit:
        yield f"Links to it: only {inward} found; other pages already link to it or are not similar enough."


def _like(ranking: Ranking, plan: Planned) -> Iterator[LikePage]:
    """Yield existing pages that may already cover the new page's topic, the most similar first."""
    site, same = ranking.site, dict(_same_names(plan))
    duplicates = {sum(pair) - NEW for pair in site.near_duplicates if NEW in pair}
    own = site.with_text.copy()
    own[[page.issue is not None for page in site.pages]] = False
    asked = pairs_of([sorted({*same, *duplicates})])
    found = site.matches(np.array([NEW]), own, ranking.rules.lexical_weight, asked)
    found = found.at(np.argsort(-np.nan_to_num(found.similarity), kind="stable"))
    signals = (found.rows, found.similarity, found.score)
    for other, similarity, score in zip(*(each.tolist() for each in signals), strict=True):
        page = site.pages[other]
        why = "the same text" if other in duplicates else same.get(other, "")
        if not why and similarity >= ranking.rules.near_duplicate and isfinite(score):
            why = "nearly the same meaning"
        if why:
            yield LikePage(page.url, page.title or page.h1, why, similarity)


def _same_names(plan: Planned) -> Iterator[tuple[int, str]]:
    """Yield the rows of pages with the new page's main query, then of those with its title, the stronger sign."""
    query = fold_query(plan.source.query or plan.page.title)
    rows = plan.collected.rows
    for source in plan.collected.sources[1:]:
        if query and source.key in rows and fold_query(source.query) == query:
            yield rows[source.key], "the same main query"
    title = words(plan.page.title)
    for row, page in enumerate(plan.collected.pages[1:], 1):
        if title and title in (words(page.title), words(page.h1)):
            yield row, "the same title"
