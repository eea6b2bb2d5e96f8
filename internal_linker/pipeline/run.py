"""One run, top to bottom: collect, recall, search, embed, match, fuse, select, remember and deliver."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from internal_linker.anchors.finder import Anchoring
from internal_linker.core.arrays import Vectors
from internal_linker.core.canonical_hosts import CanonicalHosts
from internal_linker.core.errors import InputError, Interrupted
from internal_linker.core.needs import PageNeeds
from internal_linker.core.ports import Encoder, Progress, Workers
from internal_linker.core.reasons import NoTarget, Reason
from internal_linker.core.records import (
    Choice,
    Collected,
    Link,
    Recommendation,
    Searched,
    Source,
    Targets,
    Text,
)
from internal_linker.core.sequences import Lazy, counted
from internal_linker.core.urls import is_address
from internal_linker.core.version import program_digest
from internal_linker.embeddings.embed import (
    Embedded,
    all_texts,
    embed,
    embedding_seconds,
    encodable,
    plan_embedding,
)
from internal_linker.ingest.collect import gather
from internal_linker.matching.candidates import SERVED, language_codes
from internal_linker.matching.neighbours.incremental import digests
from internal_linker.matching.neighbours.knn_join import Joined, join
from internal_linker.matching.site_index import Guests, Site
from internal_linker.pipeline.context import Rules, RunContext
from internal_linker.pipeline.deliver import compact
from internal_linker.pipeline.last_lists import Bases, bases, earlier_lists
from internal_linker.pipeline.last_matching import Matched, MatchingInput, last_matched, last_whole, packed
from internal_linker.pipeline.no_links import why_no_links
from internal_linker.pipeline.prepared import Prepared, Remarked, Stored
from internal_linker.pipeline.publish import Publication
from internal_linker.pipeline.report import Plan, Report, matched
from internal_linker.pipeline.rows import Rows, known_key, misspelled, named, require_scope, rows_of
from internal_linker.pipeline.site_vectors import embed_guests
from internal_linker.pipeline.unchanged import Unchanged, is_untouched, scope_of
from internal_linker.ranking.adaptation import Adaptation
from internal_linker.ranking.evidence import Explainer
from internal_linker.ranking.fusion_choice import fusion_evidence, pages_to_compare
from internal_linker.ranking.link_texts import without_link_texts
from internal_linker.ranking.rank import Ranking
from internal_linker.ranking.recommend import counting, recommend
from internal_linker.ranking.reverse_candidates import best_sources
from internal_linker.ranking.rules import LinkRules
from internal_linker.ranking.selection import link_targets
from internal_linker.ranking.site_lists import list_site
from internal_linker.ranking.stability import Earlier
from internal_linker.ranking.weighed import History
from internal_linker.review.link_memory import Memory
from internal_linker.serp.search import SearchCost, search_all, search_cached, search_cost


class Run:
    """One run in `context`; it calls `should_stop` between two steps."""

    def __init__(
        self,
        context: RunContext,
        rules: Rules,
        choice: Choice,
        progress: Progress,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.context, self.rules, self.choice, self.progress = context, rules, choice, progress
        self._should_stop = should_stop
        self._bases: Bases | None = None
        self._left_out: Sequence[str] = ()
        # A run over some rows, such as a trial, leaves no index behind.
        indexed = not (context.sinks and choice.partial)
        self._prepared = Prepared(context if indexed else replace(context, index=None), progress)
        self._indexed: tuple[Site, str] | None = None
        self._digest = self._outcome = ""
        # Whether the stored links and the editors' cells are those that the last run left.
        self._untouched = False
        self._needs: PageNeeds | None = None

    def execute(self, run_id: str) -> Report:
        """Run all steps.

        Raises:
            InputError: the input can't be used.
            ServiceError: the input can't be read from its service.
            Interrupted: `should_stop` returned true between two steps.
        """
        collected, rows, targets = self._collect(keep_rejects=bool(self.context.sinks))
        sources = rows.sources
        self._needs = self._read_needs(collected)
        memory, gaps = self._recall(run_id, collected.hosts)
        if memory:
            memory.text_links = collected.text_links
            targets = replace(targets, rejected=memory.decided.rejected_at_ends(collected.aliases))
        # A run needs the vectors themselves, and says what it cost to get them.
        stored = None if self.context.sinks else self._stored(collected, targets)
        with self.context.turn(self.progress, self._step):
            searched = self._search(sources, targets)
            texts, embedded = self._embed(collected, sources, stored)
        joined = self._join(collected, sources, embedded)
        matched = self._matched(
            collected,
            rows,
            targets,
            searched,
            texts=texts,
            embedded=embedded,
            joined=joined,
            memory=memory,
            stored=stored,
        )
        recommendations = matched.recommendations
        report = Report(run_id, collected, searched, embedded, recommendations, matched.listed, memory=memory)
        report.below_floor = matched.below_floor
        report.dropped = matched.below_floor if self.rules.linking.fusion == "blend" else 0
        report.adaptation, report.joined, report.bases = matched.adaptation, joined, matched.bases
        report.last, report.one_way, report.fusion = matched.last, matched.one_way, matched.evidence
        report.reused, report.outcome = matched.reused, self._outcome
        if self._digest:
            same = matched.unchanged
            report.matched = same.matched if same else packed(matched, self._digest)
        report.gaps += [gap for gap in (*gaps, searched.problem, embedded.problem) if gap]
        if searched.notes and not searched.problem:
            some = counted(len(searched.notes), "query", "queries")
            where = ": the column Note of Output.csv says why" if self.context.sinks else ""
            report.gaps.append(f"{some} could not be searched{where}.")
        if not matched.unchanged:
            report.no_links = why_no_links(
                collected, recommendations, targets, scope=self.rules.scope, partial=self.choice.partial
            )
        if report.no_links and not report.no_links.complete:
            report.gaps.append(report.no_links.sentence)
        self._step()
        self._publish(report, targets, sources, partial=self.choice.partial, unchanged=matched.unchanged)
        if self.context.sinks and not self.choice.partial:
            self.context.tidy(self.context.encoder, embedded.hashes)
        note, gap = self.context.damage()
        report.gaps += filter(None, [gap])
        none = report.no_links
        done = none.sentence if none and none.complete else ""
        for sentence in filter(None, [note, *report.gaps, done]):
            self.progress.warn(sentence)
        return report

    def best_sources(self, page: str, run_id: str) -> tuple[Source, Report]:
        """Find the pages that should link to a page, at most `links_per_page`; search results don't count.

        Args:
            page: its URL, with or without https://, or its path.
            run_id: the id of this run.

        Returns:
            The page, and a report that has a recommendation for each source, best first: its link to the page.

        Raises:
            InputError: the input can't be used, or has no such page.
            ServiceError: the input can't be read from its service.
        """
        collected, rows, targets = self._collect(keep_rejects=False)
        key = named(collected, page)
        if not key and not is_address(page):
            raise InputError(f"{page} is no page: --to takes a page's URL, or its path such as /blog/a/.")
        key = key or known_key(collected, page)
        memory, gaps = self._recall(run_id, collected.hosts)
        if memory:
            memory.text_links = collected.text_links
            targets = replace(targets, rejected=memory.decided.rejected_at_ends(collected.aliases))
        counts = counting(rows.sources)
        sources = [one for one, first in zip(rows.sources, counts, strict=True) if first and one.page]
        stored = self._stored(collected, targets)
        texts, embedded = self._embed(collected, sources, stored)
        self._step()
        self.progress.start("Matching", 1, "pages")
        found = list[Recommendation]()
        if key in targets.known and key in collected.rows:
            ranking, _ = self._ranking(
                collected,
                sources,
                targets,
                Searched(),
                texts=texts,
                embedded=embedded,
                stored=stored,
                memory=memory,
                rules=self.rules.linking,
            )
            found = _links_to(ranking, collected.rows[key], self.rules.linking.links_per_page, memory)
        self.progress.finish(f"{counted(len(found), 'page')} should link to it")
        report = Report(run_id, collected, Searched(), embedded, found, None, memory=memory)
        report.gaps += filter(None, [*gaps, embedded.problem])
        target = next(source for source in collected.sources if source.key == key)
        if not found:
            listed = key in collected.rows
            report.gaps.append(_without_sources(target.url, targets.barred.get(key), listed=listed))
        self._publish(report, targets, sources, partial=True)
        # The score that people read counts the anchor, which is only known now.
        report.recommendations = sorted(found, key=lambda one: -_strength(report, one))
        for sentence in report.gaps:
            self.progress.warn(sentence)
        return target, report

    def plan(self) -> Plan:
        """Return what `execute` would fetch, embed and write, without spending or writing anything."""
        collected, rows, targets = self._collect(keep_rejects=False)
        sources = rows.sources
        context, cost = self.context, SearchCost()
        if context.serp:
            cost = search_cost(sources, context.serp.market, context.serp_cache, targets, self.rules.search)
        texts = self._encodable(self._texts(collected, sources), collected)
        todo = plan_embedding(texts, context.encoder, context.vector_cache)
        places = list(todo.missing.values())
        fresh = Lazy(len(places), lambda at: texts[places[at]])
        usage = context.encoder.estimate(fresh)
        return Plan(
            collected,
            sources=len(sources),
            search=cost,
            texts=len(todo.missing),
            cached_texts=todo.cached,
            usage=usage,
            embedding_seconds=embedding_seconds(fresh, context.encoder, usage),
            sheet_rows=sum(source.in_sheet for source in sources)
            + sum(item.source.in_sheet for _, item in rows.without),
        )

    def _collect(self, *, keep_rejects: bool) -> tuple[Collected, Rows, Targets]:
        self._step()
        self.progress.start("Input", 0, "rows")
        context = self.context
        rejects = Remarked(context.rejects) if keep_rejects else None
        collected = self._prepared.collected(
            lambda progress: gather(
                context.queries,
                context.pages,
                context.links,
                rejects,
                queries_in_sheet=context.queries_in_sheet,
                progress=progress,
                keep=context.keep,
                hosts=context.hosts,
            ),
            rejects,
        )
        require_scope(collected, self.rules, searching=context.serp is not None, warn=self.progress.warn)
        targets = self._prepared.targets(
            lambda: link_targets(
                collected.addresses,
                self.rules.search.excluded,
                any_on_site=self.rules.any_on_site,
                linked=collected.linked,
                aliases=collected.aliases,
                hosts=collected.hosts,
                sections=self.rules.scope.targets,
            )
        )
        rows = rows_of(
            collected,
            self.choice,
            renewed=self.rules.renewed,
            scope=self.rules.scope,
            wanted=self.rules.linking.links_per_page,
        )
        queried = sum(map(bool, collected.source_queries))
        self.progress.finish(
            f"{counted(len(collected.pages), 'page')}, {counted(queried, 'query', 'queries')}, "
            f"{counted(len(targets.known), 'possible target')}, "
            f"{counted(collected.inner_links, 'existing link')}, "
            f"{counted(len(collected.rejects), 'row')} rejected, {collected.merged_rows} merged"
        )
        # A lookup tells of its own URL only.
        misspelt = misspelled(rows.sources, collected.pages) if context.sinks else ""
        for notice in filter(None, [*context.notices, misspelt]):
            self.progress.warn(notice)
        if (count := len(rows.without)) and not self.choice.only:
            many = f"{count} rows of the main queries get" if count > 1 else "1 row of the main queries gets"
            self.progress.warn(f"{many} no links: Note in Output.csv says why.")
        return collected, rows, targets

    def _recall(self, run_id: str, hosts: CanonicalHosts) -> tuple[Memory | None, list[str]]:
        """Return the stored links and what could not be read; read editors' decisions first if this run writes."""
        if self.context.edges is None:
            return None, []
        self._step()
        encoder = f"{self.context.encoder.name}, recipe {self.context.encoder.recipe}"
        memory = Memory(self.context.edges, self.rules.edges, run_id, encoder, hosts=hosts)
        desk = self.context.desk if self.context.sinks else None
        if self.context.sinks and self.context.past:
            last = last_whole(self.context.past)
            self._untouched = last is not None and is_untouched(last[1].get("heard"), self.context, memory)
        gaps = memory.recall(None if self._untouched else desk, self.progress)
        if self.context.sinks:
            memory.recalled = memory.recalled or memory.store.state()
        return memory, gaps

    def _read_needs(self, collected: Collected) -> PageNeeds | None:
        """Return how much pages need links; a lookup goes by relevance alone."""
        if self.context.needs is None or not self.context.sinks:
            return None
        self._step()
        self.progress.start("Search data", 0, "rows")
        needs, told = self.context.needs(collected)
        self.progress.finish(told if needs else "none")
        if needs is None:
            self.progress.warn(told)
        return needs

    def _is_same(self, kept: Mapping[str, Any]) -> bool:
        """Return whether nothing that a run publishes changed since the one that keeps this about itself."""
        same = kept["inputs"] == self._prepared.inputs and kept["scope"] == scope_of(self.rules)
        return self._untouched and same and self.context.runs is not None

    def _search(self, sources: Sequence[Source], targets: Targets) -> Searched:
        self._step()
        if self.context.serp is None:
            return Searched()
        return search_all(
            sources,
            self.context.serp,
            self.context.serp_cache,
            targets,
            self.rules.search,
            progress=self.progress,
        )

    def _texts(self, collected: Collected, sources: Sequence[Source]) -> Sequence[Text]:
        """Return the text of every page, then of every source without a page."""
        return all_texts(
            collected.pages, collected.queries, [source.query for source in sources if source.page is None]
        )

    def _encodable(self, texts: Sequence[Text], collected: Collected) -> Sequence[Text]:
        encoder, languages = self.context.encoder, [page.lang for page in collected.pages]
        known, left_out = encodable(texts, languages, encoder)
        if left_out:
            self.progress.warn(left_out)
            if len(texts) > len(languages):
                _, left_out = encodable(texts[: len(languages)], languages, encoder)
        # Notes on the pages alone belong to the index.
        self._left_out = list(filter(None, [left_out]))
        return known

    def _stored(self, collected: Collected, targets: Targets) -> Stored | None:
        """Return the comparison of the pages from the index."""
        return self._prepared.stored(collected, targets, self.rules.linking)

    def _publish(
        self,
        report: Report,
        targets: Targets,
        sources: Sequence[Source],
        *,
        partial: bool,
        unchanged: Unchanged | None = None,
    ) -> None:
        """Publish the links; without a sink for links, keep for the next lookup what finding anchors took."""
        sites: list[Anchoring] = []

        def anchoring(collected: Collected) -> Anchoring:
            sites.append(self._prepared.anchoring(collected))
            return sites[-1]

        publication = Publication(
            self.context,
            self.rules,
            report,
            targets,
            partial,
            self.progress,
            anchoring=anchoring,
            inputs=self._prepared.inputs,
            unchanged=unchanged,
        )
        publication.publish(sources)
        for site in sites:
            self._prepared.keep_anchoring(site)
        if self._indexed:
            self._prepared.keep_hubness(*self._indexed)

    def _embed(
        self, collected: Collected, sources: Sequence[Source], stored: Stored | None
    ) -> tuple[Sequence[Text], Embedded]:
        """Return the texts for the ranking, and the vectors of the whole texts; not those of pages in the index."""
        self._step()
        texts = self._texts(collected, sources)
        if stored:
            pages = len(collected.pages)
            guests, left_out = encodable(texts[pages:], (), self.context.encoder)
            for note in filter(None, (*stored.notes, left_out)):
                self.progress.warn(note)
            embedded = embed_guests(
                texts[:pages], [*guests], stored, context=self.context, progress=self.progress
            )
            return without_link_texts(texts, collected), embedded
        embedded = embed(
            self._encodable(texts, collected), self.context.encoder, self.context.vector_cache, self.progress
        )
        return without_link_texts(texts, collected), embedded

    def _join(self, collected: Collected, sources: Sequence[Source], embedded: Embedded) -> Joined | None:
        self._step()
        context, vectors = self.context, embedded.vectors
        if context.compute is None or self.choice.partial or not vectors.any():
            return None
        names = [page.key for page in collected.pages]
        languages = [page.lang for page in collected.pages]
        own = ["\n".join(source.identity) for source in sources if source.page is None]
        targets = np.any(vectors, axis=1)
        targets[len(names) :] = False
        return join(
            _join_name(context.encoder, names, vectors),
            vectors,
            digests([*names, *own], embedded.hashes, [*languages, *([""] * len(own))]),
            language_codes([*languages, *([""] * len(own))]),
            targets,
            served=SERVED,
            store=None if context.encoder.corpus_bound else context.joins,
            compute=context.compute,
            progress=self.progress,
        )

    def _matched(
        self,
        collected: Collected,
        rows: Rows,
        targets: Targets,
        searched: Searched,
        *,
        texts: Sequence[Text],
        embedded: Embedded,
        joined: Joined | None,
        memory: Memory | None,
        stored: Stored | None,
    ) -> Matched:
        """Return the links of all rows, from the last run if its input was the same: its lists would stay anyway."""
        self._step()
        self.progress.start("Matching", len(rows.sources), "pages")
        context = self.context
        compared = self._compared(collected, rows.sources, targets)
        known = None
        if context.past and memory and context.sinks and not self.choice.partial:
            self._digest = MatchingInput(
                program_digest(),
                collected,
                rows,
                targets,
                searched,
                self._texts(collected, rows.sources),
                embedded.hashes,
                embedded.vectors,
                joined.nearest if joined else None,
                compared[1] if compared else Searched(),
                memory.decided,
                str(memory.rules.approval),
                self.rules.linking,
                memory.encoder,
                self._needs,
            ).digest()
            # Without a service, a run reports a gap, and is no baseline for the next ones.
            whole = not (searched.problem or embedded.problem)
            known = last_matched(
                context.past, self._digest, rows, self._is_same if whole else lambda _: False
            )
            self.progress.advance(len(rows.sources) if known else 0)
        if context.sinks and not (known or embedded.missing or embedded.problem):
            stored = self._stored(collected, targets)
        found = known or self._recommend(
            collected,
            rows,
            targets,
            searched,
            texts=texts,
            embedded=embedded,
            stored=stored,
            joined=joined,
            memory=memory,
            compared=compared,
        )
        same = found.unchanged
        self._outcome = same.outcome if same else matched(found.recommendations)
        self.progress.finish(self._outcome)
        return found

    def _recommend(
        self,
        collected: Collected,
        rows: Rows,
        targets: Targets,
        searched: Searched,
        *,
        texts: Sequence[Text],
        embedded: Embedded,
        stored: Stored | None,
        joined: Joined | None,
        memory: Memory | None,
        compared: tuple[Sequence[Source], Searched] | None,
    ) -> Matched:
        rules = self.rules.linking
        if self.choice.partial:
            # Only a run over the whole site knows how many links lead to a page.
            rules = replace(rules, min_inlinks=0, max_inlinks=0)
        # For some rows, starting other processes would cost more than it saves.
        with nullcontext() if self.choice.partial else self.context.workers(self.progress.warn) as workers:
            ranking, adaptation = self._ranking(
                collected,
                rows.sources,
                targets,
                searched,
                texts=texts,
                embedded=embedded,
                stored=stored,
                memory=memory,
                rules=rules,
                joined=joined,
                workers=workers,
            )
            earlier = self._earlier(ranking, collected, searched, embedded, memory)
            found = recommend(
                ranking,
                searched,
                rules,
                self.progress.advance,
                memory,
                earlier=earlier,
                history=self._history(ranking, searched, embedded),
                needs=self._needs,
            )
            recommendations = compact(rows.merged(found))
            listed = None if self.choice.partial else list_site(ranking, collected)
            # Here, as the workers have a large site's texts.
            results = sum(map(len, searched.targets.values()))
            evidence = (
                fusion_evidence(ranking, compared[0], collected.live_links, compared[1], results)
                if compared
                else None
            )
        return Matched(
            recommendations,
            listed,
            adaptation,
            ranking.below_floor,
            ranking.last.counts,
            ranking.one_way,
            evidence,
            self._bases,
        )

    def _ranking(
        self,
        collected: Collected,
        sources: Sequence[Source],
        targets: Targets,
        searched: Searched,
        *,
        texts: Sequence[Text],
        embedded: Embedded,
        stored: Stored | None,
        memory: Memory | None,
        rules: LinkRules,
        joined: Joined | None = None,
        workers: Workers | None = None,
    ) -> tuple[Ranking, Adaptation | None]:
        """Return the ranking, adapted to the site, from the index if that has it."""
        prepared, nearest = self._prepared, joined.nearest if joined else None
        pages = len(collected.pages)
        if stored:
            state = stored.state
            ranking = stored.resumed(
                collected, sources, targets, searched, texts=texts[:pages], rules=rules, joined=nearest
            )
        else:
            ranking = Ranking(
                collected,
                sources,
                targets,
                searched,
                texts=texts[:pages],
                vectors=embedded.vectors[:pages],
                rules=rules,
                tokenized=prepared.tokenized(texts[:pages]),
                joined=nearest,
            )
            # Lookups compare with all pages.
            exact = joined is None or joined.recall == 1.0
            state = prepared.keep(ranking, collected, embedded, self._left_out) if exact else ""
        if guests := texts[pages:]:
            vectors = embedded.vectors[len(embedded.vectors) - len(guests) :]
            ranking = ranking.with_guests(Guests.queries(guests, vectors))
        self._indexed = ranking.site, state
        ranking.work(workers)
        if not any(source.page for source in sources):
            # Only the topic counts for a query without a page.
            return ranking, None
        accepted = memory.decided.accepted_links() if memory else []
        hashes = stored.hashes if stored else embedded.hashes[:pages]
        found = prepared.adapted(ranking, collected.live_links, accepted, hashes=hashes, state=state)
        if not self.context.sinks:
            ranking.site.forget()
        return found

    def _earlier(
        self,
        ranking: Ranking,
        collected: Collected,
        searched: Searched,
        embedded: Embedded,
        memory: Memory | None,
    ) -> Earlier | None:
        """Return the lists of the last run, and keep what the lists of this one depend on; None for a lookup."""
        context = self.context
        if context.past is None or memory is None or not context.sinks:
            return None
        self._bases = bases(
            ranking,
            embedded.hashes,
            searched,
            decided=memory.decided,
            rules=self.rules.linking,
            encoder=memory.encoder,
            needs=self._needs,
        )
        return earlier_lists(context.past, collected.hosts, ranking, self._bases)

    def _history(self, ranking: Ranking, searched: Searched, embedded: Embedded) -> History | None:
        """Return what lets this run and the next one weigh only what changed; None if this one is no measure."""
        if (
            self._bases is None
            or self.choice.partial
            or searched.problem
            or embedded.missing
            or embedded.problem
        ):
            return None
        return self._prepared.history(self._bases.facts(ranking))

    def _compared(
        self, collected: Collected, sources: Sequence[Source], targets: Targets
    ) -> tuple[Sequence[Source], Searched] | None:
        """Return pages with known links and their search results, which say how good such results are.

        None if search results don't come first, or for a run over some rows.
        """
        context, links = self.context, collected.live_links
        if context.serp is None or self.choice.partial or self.rules.linking.fusion != "fill":
            return None
        pages = pages_to_compare(sources, links)
        anywhere = replace(targets, linked={})
        market = context.serp.market
        return pages, search_cached(pages, market, context.serp_cache, anywhere, self.rules.search)

    def _step(self) -> None:
        if self._should_stop():
            raise Interrupted("The run was stopped between two steps; no step is incomplete.")


def _links_to(ranking: Ranking, row: int, count: int, memory: Memory | None) -> list[Recommendation]:
    """Return the links to a page that score highest, each as the recommendation of its source."""
    best = best_sources(ranking, row, range(len(ranking.sources)), count)
    found = []
    for position, candidate, place in best:
        source = ranking.sources[position]
        waits = memory is not None and not memory.approved(source)(candidate.key)
        link = Link(candidate, 0 if waits else place, "semantic")
        found.append((position, Recommendation(source, (link,))))
    return list(Explainer(ranking).explained(found))


def _strength(report: Report, item: Recommendation) -> float:
    """Return the strength of the only link of a source, 0 where it is unknown."""
    return float(np.nan_to_num(report.edge_of(item.source, item.links[0]).strength))


def _without_sources(url: str, barred: Reason[NoTarget] | None, *, listed: bool) -> str:
    if barred:
        return f"No link may lead to {url}: {barred}."
    if not listed:
        return f"{url} is not in files/urls_rawdata.csv, so there is no text to compare with other pages."
    return (
        f"No page was found that should link to {url}: the others already link to it, may get no links, or are not "
        "similar enough."
    )


def _join_name(encoder: Encoder, pages: Sequence[str], vectors: Vectors) -> str:
    """Name the join of these pages' vectors by model, recipe and host, since a team's sites may share a store."""
    hosts = Counter(page.partition("://")[2].partition("/")[0] for page in pages)
    host = max(sorted(hosts), key=hosts.__getitem__, default="")
    return f"{host} {encoder.model} {vectors.shape[1]} {encoder.recipe} {vectors.dtype}"
