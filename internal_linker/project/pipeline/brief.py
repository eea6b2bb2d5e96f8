"""Links for a planned page: the pages that it should link to, and those that should link to it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import isfinite

import numpy as np

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import ANCHORS, Anchoring
from internal_linker.match.embed import all_texts, embed, encodable, page_text
from internal_linker.match.site_index import Guests
from internal_linker.model.arrays import Vectors, pairs_of
from internal_linker.model.briefs import Brief, BriefLink, BriefLinks, LikePage
from internal_linker.model.edges import Anchor, Decided, beside, score_of, strength
from internal_linker.model.errors import InputError
from internal_linker.model.evidence import Evidence, sentences
from internal_linker.model.ports import Progress
from internal_linker.model.records import (
    Candidate,
    Collected,
    Link,
    Page,
    Searched,
    Source,
    Targets,
    Text,
    addresses,
    fold_query,
)
from internal_linker.model.sequences import Lazy, counted
from internal_linker.project.pipeline.brief_page import NEW, NOWHERE, PlannedPage, plan_page
from internal_linker.project.pipeline.context import Rules, RunContext
from internal_linker.project.pipeline.run_input import RunInput, read_site, require_scope, site_targets
from internal_linker.project.pipeline.site_index import SiteIndex
from internal_linker.project.pipeline.site_places import SitePlaces
from internal_linker.project.pipeline.site_ranking import embed_guests, rank_site
from internal_linker.rank.evidence import Explainer
from internal_linker.rank.link_texts import without_links
from internal_linker.rank.promising_targets import with_places
from internal_linker.rank.rank import Ranking
from internal_linker.rank.reverse_candidates import best_sources
from internal_linker.rank.rules import LinkRules
from internal_linker.rank.selection import linked, select
from internal_linker.review.former_links import todays
from internal_linker.review.page_links import in_order
from internal_linker.review.transitions import decided
from internal_linker.sources.collect import require_rows
from internal_linker.sources.serp.search import search_all
from internal_linker.text.words import words

# A link to the new page: its source, and the link with its rank among all candidates of the source.
Inward = tuple[Source, Link]


def content_brief(
    context: RunContext, rules: Rules, brief: Brief, limit: int, progress: Progress
) -> BriefLinks:
    """Rank as a run does, with the new page as a guest; write nothing but the cache and the index.

    Args:
        context: the site's context; without a search service or a main query, the search step is skipped.
        limit: the maximum number of links each way, from 1 to 50.

    Raises:
        InputError: the site has no pages, or the new page's URL is not a URL.
        ServiceError: the input can't be read from its service.
    """
    index = SiteIndex(context, progress)
    collected = _gathered(index, context, progress)
    plan = plan_page(collected, brief)
    searching = context.serp is not None and bool(plan.source.query)
    require_scope(collected, rules, searching=searching, warn=progress.warn)
    judged = context.edges.each(judged=True) if context.edges else ()
    decisions = decided(todays(judged, collected.hosts))
    site = plan.collected if plan.exists else collected

    def whole() -> Targets:
        return site_targets(site, rules, site.addresses, site.linked)

    of_pages = whole() if plan.exists else index.targets(whole)
    # The planned page may rewrite a page for which editors have already rejected links.
    of_pages = replace(of_pages, rejected=decisions.rejected_at_ends(site.aliases))
    targets = of_pages if plan.exists else _with_planned(of_pages, plan, rules)
    searched = Searched()
    if context.serp and plan.source.query:
        searched = search_all(
            [plan.source], context.serp, context.serp_cache, targets, rules.search, progress=progress
        )
    # A site with a rewritten page is another site, whose index nobody would use again.
    ranking_index = SiteIndex(replace(context, index=None), progress) if plan.exists else index
    of_site, state, vectors, problem = _site_ranking(
        site, plan, of_pages, decisions, index=ranking_index, context=context, rules=rules, progress=progress
    )
    others = _others(plan, rules)
    rows = np.array([plan.row, *others], np.int64)
    linking, pages = rules.linking, map(plan.collected.pages.__getitem__, others)
    sources = [plan.source, *(Source(page.key, page.url, "", page, in_sheet=False) for page in pages)]
    ranking = of_site.proposing(sources, targets, searched, rows)
    if not plan.exists:
        ranking = ranking.with_guests(Guests([_own_text(plan)], vectors, [plan.page]))
    progress.finish(f"{counted(len(others), 'page')} may link to it")
    progress.start("Links", 2, "steps")
    if plan.exists:
        counted_site = CountedSite(plan.collected, page_queries=context.page_queries)
    else:
        counted_site = index.counted_site(collected).hosting(plan.collected, plan.page.key, plan.links)
    anchoring = Anchoring(counted_site)
    places = SitePlaces(plan.collected, anchoring, context.workers, progress.warn, linking.least_place)
    ranked, promising = next(ranking.ranked_with_promising([NEW]))
    quality = places.judge(np.full(len(promising.of), plan.row), promising)
    candidates = sorted(
        ranking.candidates(with_places(ranked, promising, quality, linking)),
        key=lambda one: ranking.comes_last(one.key),
    )
    chosen = select(plan.source, candidates, targets, limit, "")
    fits = {} if plan.exists else _fits(ranking, ranking.candidates(ranked))
    among = range(1, len(ranking.sources))
    # Nobody links to a page that has no URL.
    nobody = dict[int, list[int]]() if plan.page.key == NOWHERE else None
    best = best_sources(ranking, plan.row, among, limit, fits.get, linking=nobody)
    outward, inward = _explained(ranking, plan, chosen.links, best)
    progress.advance()
    none = "" if outward or inward else "No links were found, neither from the new page nor to it."
    if not plan.exists:
        index.keep_counted()
        index.keep_hubness(ranking.site, state)
    found = BriefLinks(
        brief.name,
        brief.url,
        plan.source.query,
        plan.page.lang,
        tuple(_like(ranking, plan)),
        _best_first(links_to(plan, places, outward, linking.least_place), linking),
        _best_first(links_from(plan, anchoring, inward, linking.least_place), linking),
        (*plan.notes, *_scarce(plan, targets, chosen.note, len(inward), limit)),
        tuple(filter(None, (none, searched.problem, problem))),
    )
    progress.finish(f"{len(found.links_to)} from the new page, {len(found.links_from)} to it")
    return found


def _gathered(index: SiteIndex, context: RunContext, progress: Progress) -> Collected:
    progress.start("Input", 0, "rows")
    for notice in context.notices:
        progress.warn(notice)
    collected = read_site(context, index)
    require_rows(collected, context.queries, context.pages)
    if not collected.pages:
        raise InputError(
            "There are no pages that could link to the new page. "
            "Put your pages into files/urls_rawdata.csv: URL, Title, Main Content."
        )
    progress.finish(
        f"{counted(len(collected.pages), 'page')}, {counted(collected.inner_links, 'existing link')}"
    )
    return collected


def _with_planned(targets: Targets, plan: PlannedPage, rules: Rules) -> Targets:
    """Return the targets with a page that does not exist yet, and the links in its draft."""
    key, site = plan.page.key, plan.collected
    own = site_targets(site, rules, addresses([plan.page], ()), linked([plan.source], plan.links))
    known = {other: url for other, url in targets.known.items() if other != key}
    known.update(own.known)
    barred = {**targets.barred, **own.barred}
    if key == NOWHERE:
        # A page without a URL is in no section yet, and no pattern excludes it.
        known[key] = key
        barred.pop(key, None)
    linked_too = {**targets.linked, **own.linked}
    return replace(targets, known=known, barred=barred, linked=linked_too, aliases=site.aliases)


def _others(plan: PlannedPage, rules: Rules) -> list[int]:
    """Return the rows of the pages that may link to the new page."""
    site, scope = plan.collected, rules.scope
    rows = [row for row in site.editable if row != plan.row]
    if not (rules.renewed or scope.sources or scope.default_sources):
        return rows
    queried = {source.key for source in site.sources if source.row_url} if scope.default_sources else ()
    keys = [*site.rows]
    return [
        row
        for row in rows
        if rules.renewed.hold(keys[row]) and scope.gives(keys[row], queried=keys[row] in queried)
    ]


def _own_text(plan: PlannedPage, *, whole: bool = False) -> Text:
    """Return the text of the new page, `whole` or without that of its links; no page that exists has it."""
    found = page_text(plan.page)
    links = [] if whole else [link for link in plan.links if link.anchor]
    return Text(found.title or plan.source.query, without_links(found.body, links))


def _site_ranking(
    site: Collected,
    plan: PlannedPage,
    targets: Targets,
    decisions: Decided,
    *,
    index: SiteIndex,
    context: RunContext,
    rules: Rules,
    progress: Progress,
) -> tuple[Ranking, str, Vectors, str]:
    """Return the adapted ranking of the site's pages, its state in the index, the new page's vector, and a problem."""
    encoder, texts = context.encoder, all_texts(site.pages, site.queries, ())
    guests = [] if plan.exists else [_own_text(plan, whole=True)]
    languages = [plan.page.lang] if encoder.pages is None else []
    own, _ = encodable(guests or [texts[plan.row]], languages, encoder)
    if not own[0].whole:
        progress.warn(
            f"The text is in {plan.page.lang}, which {encoder.name} does not support: "
            "only its words are compared."
        )
    comparison = index.comparison(site, targets, rules.linking)
    notes = list[str]()
    if comparison:
        embedded = embed_guests(texts, [*own], comparison, context=context, progress=progress)
    else:
        known, left_out = encodable(texts, [page.lang for page in site.pages], encoder)
        notes += filter(None, [left_out])
        every = Lazy(
            len(texts) + len(guests), lambda at: known[at] if at < len(texts) else own[at - len(texts)]
        )
        embedded = embed(every, encoder, context.vector_cache, progress)
    progress.start("Matching", 2, "steps")
    ranking, _, state = rank_site(
        RunInput(site, (), (), targets),
        Searched(),
        embedded,
        rules.linking,
        notes=notes,
        accepted=decisions.accepted_links(),
        index=index,
        comparison=comparison,
    )
    progress.advance()
    # What is compared from here on is the same whether the index had the site or not.
    ranking.site.forget()
    if guests:
        # It is compared with all pages more than once.
        ranking.site.hold_vectors()
    return ranking, state, embedded.vectors[len(embedded.vectors) - len(guests) :], embedded.problem


def _fits(ranking: Ranking, candidates: Iterable[Candidate]) -> dict[int, float]:
    """Return how well pages fit the topic of a page that does not exist yet: its candidates' scores, 0 for others.

    A page that can't be a candidate, for another reason than its topic, is left out.
    """
    fits = dict.fromkeys(np.flatnonzero(ranking.linkable).tolist(), 0.0)
    for row in ranking.old(NEW):
        fits.pop(row, None)
    return fits | {ranking.rows[one.key]: one.score for one in candidates if one.key in ranking.rows}


def _explained(
    ranking: Ranking, plan: PlannedPage, links: Sequence[Link], best: Sequence[tuple[int, Candidate, int]]
) -> tuple[list[Link], list[Inward]]:
    """Return the links from the new page and those to it, from `best_sources`, with the evidence for each."""
    explainer, key = Explainer(ranking), plan.page.key
    (outward,) = explainer.explain_links([NEW], [[link.target.key for link in links]])
    positions = [position for position, _, _ in best]
    inward = [one for (one,) in explainer.explain_links(positions, [[key]] * len(best))]
    if not plan.exists:
        # Nobody can link to a page that does not exist yet.
        inward = [Evidence(one.topic) for one in inward]
    found = [
        (ranking.sources[position], Link(signals, place, "semantic", evidence))
        for (position, signals, place), evidence in zip(best, inward, strict=True)
    ]
    return [replace(link, evidence=each) for link, each in zip(links, outward, strict=True)], found


def _scarce(plan: PlannedPage, targets: Targets, note: str, inward: int, limit: int) -> Iterator[str]:
    """Yield the reasons why there are fewer links than requested."""
    if note:
        yield f"Links from it: {note}."
    if why := targets.barred.get(plan.page.key):
        yield f"Links to it: no link may lead to {plan.page.url}: {why}."
    elif inward < limit:
        yield f"Links to it: only {inward} found; other pages already link to it or are not similar enough."


def _like(ranking: Ranking, plan: PlannedPage) -> Iterator[LikePage]:
    """Yield existing pages that may already cover the new page's topic, the most similar first."""
    site, same = ranking.site, dict(_same_names(ranking, plan))
    duplicates = {sum(pair) - plan.row for pair in site.near_duplicates if plan.row in pair}
    own = site.with_text.copy()
    own[[*plan.collected.issues]] = False
    asked = pairs_of([sorted({*same, *duplicates})])
    found = site.matches(np.array([plan.row]), own, ranking.rules.lexical_weight, asked)
    found = found.at(np.argsort(-np.nan_to_num(found.similarity), kind="stable"))
    signals = (found.rows, found.similarity, found.score)
    for other, similarity, score in zip(*(each.tolist() for each in signals), strict=True):
        page = site.pages[other]
        why = "the same text" if other in duplicates else same.get(other, "")
        if not why and similarity >= ranking.rules.near_duplicate and isfinite(score):
            why = "nearly the same meaning"
        if why:
            yield LikePage(page.url, page.title or page.h1, why, similarity)


def _same_names(ranking: Ranking, plan: PlannedPage) -> Iterator[tuple[int, str]]:
    """Yield the rows of pages with the new page's main query, then of those with its title, the stronger sign."""
    query = fold_query(plan.source.query or plan.page.title)
    rows = plan.collected.rows
    others = islice(zip(plan.collected.source_keys, plan.collected.source_queries, strict=True), 1, None)
    for key, theirs in others if query else ():
        if key in rows and fold_query(theirs) == query:
            yield rows[key], "the same main query"
    own = plan.row
    yield from ((row, "the same title") for row in ranking.titles.rows(words(plan.page.title)) if row != own)


def _best_first(links: Iterable[BriefLink], rules: LinkRules) -> tuple[BriefLink, ...]:
    found, filling = [*links], rules.fusion == "fill"
    stays = [filling and link.serp_rank > 0 for link in found]
    return in_order(found, [link.score or 0 for link in found], stays)


def links_to(
    plan: PlannedPage, places: SitePlaces, links: Sequence[Link], least: float
) -> Iterator[BriefLink]:
    """Yield the new page's links, with anchors that are in the draft or name the target.

    Args:
        least: the quality from which a place is good enough, 0 to 1.
    """
    names = _Names(plan, [link.target.key for link in links])
    (anchors,) = places.propose_each([(plan.page.key, [link.target.key for link in links], ())])
    for link, ours in zip(links, anchors, strict=True):
        target = link.target
        other, known = plan.collected.find(target.key), names.added(target.key, ours)
        pages = min(strength(target.score), beside(least))
        yield _link(_url(plan), target.url, other, link, known, pages=pages)


def links_from(
    plan: PlannedPage, anchoring: Anchoring, found: Sequence[Inward], least: float
) -> Iterator[BriefLink]:
    """Yield the links to the new page, with anchors that are in their sources or name the new page; see `links_to`."""
    key, names = plan.page.key, _Names(plan, [plan.page.key])
    for source, link in found:
        (ours,) = anchoring.propose(source.key, [key], least=least)
        known = names.added(key, ours)
        pages = beside(least) * strength(link.target.score)
        yield _link(source.url, _url(plan), source.page, link, known, pages=pages)


class _Names:
    """Names of some pages other than their titles: their main queries, then the anchors of the links to them."""

    def __init__(self, plan: PlannedPage, keys: Iterable[str]) -> None:
        self._site = site = plan.collected
        self._queries: dict[str, list[str]] = {key: [] for key in keys}
        for key, query in zip(site.source_keys, site.source_queries, strict=True):
            if query and key in self._queries:
                self._queries[key].append(query)

    def added(self, key: str, anchors: tuple[Anchor, ...]) -> tuple[Anchor, ...]:
        """Return the anchors of a link to a page, with other names of it if none of the anchors is in the source."""
        page = self._site.find(key)
        if any(anchor.verbatim for anchor in anchors) or page is None:
            return anchors
        known = {fold_query(anchor.text): anchor for anchor in anchors}
        place = anchors[0] if anchors else Anchor("")
        title_words = {*words(f"{page.title} {page.h1}")}
        anchored = Counter(link.anchor for link in self._site.anchored_to.get(key, ()))
        for name in (*self._queries[key], *(anchor for anchor, _ in anchored.most_common())):
            # "Read more" doesn't name a page.
            if title_words.isdisjoint(words(name)):
                continue
            known.setdefault(fold_query(name), Anchor(name, place.sentence, place.start, verbatim=False))
        return tuple(known.values())[:ANCHORS]


def _url(plan: PlannedPage) -> str:
    return "" if plan.page.key == NOWHERE else plan.page.url


def _link(
    source: str,
    target: str,
    other: Page | None,
    link: Link,
    anchors: tuple[Anchor, ...],
    *,
    pages: float,
) -> BriefLink:
    """Return a link of a brief; `pages` is its strength if no place in the text is good enough."""
    signals, best = link.target, anchors[0] if anchors else Anchor("", verbatim=False)
    mentions = best.text if best.verbatim else ""
    strong = best.quality if best.verbatim else pages
    return BriefLink(
        source,
        target,
        title=(other.title or other.h1) if other else "",
        rank=0,
        place=link.rank,
        score=score_of(strong),
        why=sentences(
            link.evidence,
            serp_rank=signals.serp_rank,
            score=signals.score,
            mentions=mentions,
            mentions_query=best.is_query,
        ),
        blend=signals.score,
        similarity=signals.similarity,
        lexical=signals.lexical,
        probability=signals.probability,
        serp_rank=signals.serp_rank,
        anchor=best.text,
        sentence=best.sentence,
        verbatim=best.verbatim,
        more_anchors=anchors[1:],
    )
