"""One run, top to bottom: collect -> serp -> embed -> match -> fuse -> select -> deliver."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from internal_linker.delivering import compact, deliver
from internal_linker.embedding import Embedded, embed, encodable, plan_embedding, unit_rows
from internal_linker.errors import Interrupted, OutputError, ServiceError
from internal_linker.gathering import gather
from internal_linker.learning import Lesson, teach
from internal_linker.listing import Listed, list_site
from internal_linker.ports import (
    Encoder,
    LinkSink,
    ListSink,
    Progress,
    RejectSink,
    SerpCache,
    SerpClient,
    StreamSource,
    VectorCache,
)
from internal_linker.ranking import LinkRules, Ranking
from internal_linker.recommending import recommend
from internal_linker.records import (
    Choice,
    Collected,
    Duplicate,
    ExcludedTarget,
    Orphan,
    Recommendation,
    Source,
    StoredText,
    Targets,
    Text,
    Usage,
)
from internal_linker.searching import Searched, SearchRules, group_by_search, search_all
from internal_linker.sequences import Lazy
from internal_linker.steps.choose import choose
from internal_linker.steps.exclude import excluded_targets
from internal_linker.steps.select import link_targets
from internal_linker.steps.text import all_texts


@dataclass(frozen=True)
class Parts:
    """What a run works with; `wiring` puts it together.

    Attributes:
        queries, pages, links: the input, `links` what is linked already; None where the user has none.
        queries_in_sheet: whether the rows of `queries` take links in the Sheet.
        keep: where the pages' contents go while they are read.
        serp: the search service; None: the search step is skipped, and a notice says why.
        sinks: where links go, in order; without any, nothing is written.
        notices: what a person should know of these parts, such as a fallback in use.
    """

    queries: StreamSource | None
    pages: StreamSource | None
    queries_in_sheet: bool
    serp: SerpClient | None
    serp_cache: SerpCache
    encoder: Encoder
    vector_cache: VectorCache
    sinks: Sequence[LinkSink]
    rejects: RejectSink
    excluded: ListSink[ExcludedTarget]
    duplicates: ListSink[Duplicate]
    orphans: ListSink[Orphan]
    links: StreamSource | None = None
    keep: Callable[[str], str | StoredText] = str
    notices: Sequence[str] = ()


@dataclass(frozen=True)
class Rules:
    """How to search, how to link, and whether a search result in none of the lists may be a target."""

    search: SearchRules
    linking: LinkRules
    any_on_site: bool


@dataclass
class Report:
    """What a run did; the face prints it."""

    run_id: str
    collected: Collected
    searched: Searched
    embedded: Embedded
    recommendations: Sequence[Recommendation]
    listed: Listed | None
    """None where the run saw a part of the site only."""
    below_floor: int = 0
    """Search results that are less similar than `serp_floor`, and how many of them were dropped."""
    dropped: int = 0
    lesson: Lesson | None = None
    """What was learned of the site's own links; None where they are too few."""
    gaps: list[str] = field(default_factory=list)
    failure: ServiceError | OutputError | None = None
    excluded: Counter[str] = field(default_factory=Counter)
    """Targets left out, by reason."""


@dataclass(frozen=True)
class Plan:
    """What a run would do: texts to embed with their cost, and the least and most credits."""

    collected: Collected
    sources: int
    searches: int
    least_credits: int
    most_credits: int
    texts: int
    cached_texts: int
    usage: Usage
    sheet_rows: int


class Run:
    """One run over `parts`; `should_stop` is asked between two steps."""

    def __init__(
        self,
        parts: Parts,
        rules: Rules,
        choice: Choice,
        progress: Progress,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.parts, self.rules, self.choice, self.progress = parts, rules, choice, progress
        self._should_stop = should_stop

    def execute(self, run_id: str) -> Report:
        """Run all steps.

        Raises:
            InputError: the input can't be used.
            ServiceError: the input could not be read from its service.
            Interrupted: `should_stop` said so between two steps.
        """
        collected, sources, targets = self._collect(keep_rejects=bool(self.parts.sinks))
        searched = self._search(sources, targets)
        texts, embedded = self._embed(collected, sources)
        ranking, lesson, recommendations = self._recommend(
            collected, sources, targets, searched, texts, embedded
        )
        dropped = ranking.below_floor if self.rules.linking.fusion == "blend" else 0
        listed = None if self.choice.partial else list_site(ranking, collected)
        report = Report(run_id, collected, searched, embedded, recommendations, listed)
        report.below_floor, report.dropped, report.lesson = ranking.below_floor, dropped, lesson
        report.gaps += [gap for gap in (searched.problem, embedded.problem) if gap]
        if searched.notes and not searched.problem:
            report.gaps.append(
                f"Not every query could be searched: {len(searched.notes)} rows of Output.csv say why."
            )
        self._deliver(report, targets)
        for gap in report.gaps:
            self.progress.warn(gap)
        return report

    def plan(self) -> Plan:
        """What `execute` would fetch, embed and write; nothing is spent or written."""
        collected, sources, _ = self._collect(keep_rejects=False)
        most = self.rules.search.max_pages
        groups = group_by_search(sources, self.rules.search.template) if self.parts.serp else {}
        kept = self.parts.serp_cache.get(list(groups), self.parts.serp.market) if self.parts.serp else {}
        fresh = sum((search, 1) not in kept for search in groups)
        texts = self._encodable(self._texts(collected, sources), collected)
        todo = plan_embedding(texts, self.parts.encoder, self.parts.vector_cache)
        places = list(todo.missing.values())
        usage = self.parts.encoder.estimate(Lazy(len(places), lambda at: texts[places[at]]))
        return Plan(
            collected,
            sources=len(sources),
            searches=len(groups),
            least_credits=fresh,
            # An empty first page is asked for a second time.
            most_credits=len(groups) * most - sum(page <= most for _, page in kept) + fresh,
            texts=len(todo.missing),
            cached_texts=todo.cached,
            usage=usage,
            sheet_rows=sum(source.in_sheet for source in sources),
        )

    def _collect(self, *, keep_rejects: bool) -> tuple[Collected, list[Source], Targets]:
        self._step()
        self.progress.start("Input", 0, "rows")
        parts = self.parts
        collected = gather(
            parts.queries,
            parts.pages,
            parts.links,
            parts.rejects if keep_rejects else None,
            queries_in_sheet=parts.queries_in_sheet,
            progress=self.progress,
            keep=parts.keep,
        )
        targets = link_targets(
            collected.pages,
            collected.sources,
            self.rules.search.excluded,
            self.rules.any_on_site,
            collected.links,
            collected.aliases,
        )
        sources = choose(collected.sources, self.choice)
        queried = sum(bool(source.query) for source in collected.sources)
        self.progress.finish(
            f"{len(collected.pages)} pages, {queried} queries, {len(targets.known)} possible targets, "
            f"{collected.inner_links} existing links, "
            f"{len(collected.rejects)} rows rejected, {collected.merged_rows} merged"
        )
        for notice in parts.notices:
            self.progress.warn(notice)
        return collected, sources, targets

    def _search(self, sources: Sequence[Source], targets: Targets) -> Searched:
        self._step()
        if self.parts.serp is None:
            return Searched()
        return search_all(
            sources, self.parts.serp, self.parts.serp_cache, targets, self.rules.search, self.progress
        )

    def _texts(self, collected: Collected, sources: Sequence[Source]) -> Sequence[Text]:
        """The text of every page, then of every source that has no page."""
        queries = {source.key: source.query for source in reversed(collected.sources) if source.query}
        return all_texts(
            collected.pages, queries, [source.query for source in sources if source.page is None]
        )

    def _encodable(self, texts: Sequence[Text], collected: Collected) -> Sequence[Text]:
        known, skipped = encodable(texts, [page.lang for page in collected.pages], self.parts.encoder)
        if skipped:
            self.progress.warn(
                f"{skipped} pages are in a language that {self.parts.encoder.name} does not know: "
                "they are matched by their words alone."
            )
        return known

    def _embed(self, collected: Collected, sources: Sequence[Source]) -> tuple[Sequence[Text], Embedded]:
        self._step()
        texts = self._texts(collected, sources)
        encodable = self._encodable(texts, collected)
        return texts, embed(encodable, self.parts.encoder, self.parts.vector_cache, self.progress)

    def _recommend(
        self,
        collected: Collected,
        sources: Sequence[Source],
        targets: Targets,
        searched: Searched,
        texts: Sequence[Text],
        embedded: Embedded,
    ) -> tuple[Ranking, Lesson | None, Sequence[Recommendation]]:
        self._step()
        self.progress.start("Matching", len(sources), "pages")
        rules = self.rules.linking
        if self.choice.partial:
            # Only a run over the whole site knows how many links lead to a page.
            rules = replace(rules, min_inlinks=0, max_inlinks=0)
        ranking = Ranking(collected, sources, targets, searched, texts, unit_rows(embedded.vectors), rules)
        ranking, lesson = teach(ranking, collected.links)
        recommendations = compact(recommend(ranking, searched, rules, self.progress.advance))
        links = sum(len(recommendation.links) for recommendation in recommendations)
        self.progress.finish(f"{links} links for {len(sources)} pages and queries")
        return ranking, lesson, recommendations

    def _deliver(self, report: Report, targets: Targets) -> None:
        self._step()
        excluded = _counted(excluded_targets(report.collected, targets), report.excluded)
        lists: list[tuple[ListSink[Any], Iterable[Any]]] = [(self.parts.excluded, excluded)]
        if report.listed:
            lists.append((self.parts.duplicates, report.listed.duplicates))
            lists.append((self.parts.orphans, report.listed.orphans or ()))
        delivered = deliver(report.recommendations, self.parts.sinks, lists, report.run_id, self.progress)
        report.gaps += delivered.gaps
        report.failure = delivered.failure

    def _step(self) -> None:
        if self._should_stop():
            raise Interrupted(
                "The run was asked to stop and stopped between two steps; nothing is half done."
            )


def _counted(excluded: Iterable[ExcludedTarget], counts: Counter[str]) -> Iterator[ExcludedTarget]:
    for target in excluded:
        counts[target.reason] += 1
        yield target
