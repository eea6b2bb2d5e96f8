"""One run, top to bottom: collect -> serp -> embed -> match -> fuse -> select -> deliver."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from internal_linker.embedding import Embedded, embed, plan_embedding
from internal_linker.errors import InputError, Interrupted, OutputError, ServiceError
from internal_linker.ports import (
    Encoder,
    LinkSink,
    Progress,
    RejectSink,
    SerpCache,
    SerpClient,
    TableSource,
    VectorCache,
)
from internal_linker.recommending import LinkRules, recommend
from internal_linker.records import Choice, Collected, Recommendation, Source, Table, Targets, Text, Usage
from internal_linker.searching import Searched, SearchRules, group_by_search, search_all
from internal_linker.steps.choose import choose
from internal_linker.steps.collect import collect
from internal_linker.steps.select import link_targets
from internal_linker.steps.text import page_text


@dataclass(frozen=True)
class Parts:
    """What a run works with; `wiring` puts it together.

    Attributes:
        queries, pages: the input; None where the user has none.
        queries_in_sheet: whether the rows of `queries` take links in the Sheet.
        serp: the search service; None: the search step is skipped, and a notice says why.
        sinks: where links go, in order.
        notices: what a person should know of these parts, such as a fallback in use.
    """

    queries: TableSource | None
    pages: TableSource | None
    queries_in_sheet: bool
    serp: SerpClient | None
    serp_cache: SerpCache
    encoder: Encoder
    vector_cache: VectorCache
    sinks: Sequence[LinkSink]
    rejects: RejectSink
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
    gaps: list[str] = field(default_factory=list)
    failure: ServiceError | OutputError | None = None


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
        recommendations = self._recommend(collected, sources, targets, searched, texts, embedded)
        report = Report(run_id, collected, searched, embedded, recommendations)
        report.gaps += [gap for gap in (searched.problem, embedded.problem) if gap]
        if searched.notes and not searched.problem:
            report.gaps.append(
                f"Not every query could be searched: {len(searched.notes)} rows of Output.csv say why."
            )
        self._deliver(report)
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
        usage = self.parts.encoder.estimate([texts[at] for at in todo.missing.values()])
        return Plan(
            collected,
            sources=len(sources),
            searches=len(groups),
            least_credits=fresh,
            # An empty first page is asked for a second time.
            most_credits=len(groups) * most - sum(page <= most for _, page in kept) + fresh,
            texts=len(todo.missing),
            cached_texts=len(todo.cached),
            usage=usage,
            sheet_rows=sum(source.in_sheet for source in sources),
        )

    def _collect(self, *, keep_rejects: bool) -> tuple[Collected, list[Source], Targets]:
        self._step()
        self.progress.start("Input", 0, "rows")
        parts = self.parts
        queries = self._read(parts.queries)
        pages = self._read(parts.pages)
        collected = collect(queries, pages, queries_in_sheet=parts.queries_in_sheet)
        if keep_rejects and (queries or pages):
            for remark in parts.rejects.write(collected.rejects):
                self.progress.warn(remark)
        if not collected.sources:
            raise InputError(_nothing_to_do(parts))
        targets = link_targets(
            collected.pages, collected.sources, self.rules.search.excluded, self.rules.any_on_site
        )
        sources = choose(collected.sources, self.choice)
        queried = sum(bool(source.query) for source in collected.sources)
        self.progress.finish(
            f"{len(collected.pages)} pages, {queried} queries, {len(targets.known)} possible targets, "
            f"{len(collected.rejects)} rows rejected, {collected.merged_rows} merged"
        )
        for notice in parts.notices:
            self.progress.warn(notice)
        return collected, sources, targets

    def _read(self, source: TableSource | None) -> Table | None:
        if source is None:
            return None
        table = source.read()
        for remark in source.remarks:
            self.progress.warn(remark)
        return table

    def _search(self, sources: Sequence[Source], targets: Targets) -> Searched:
        self._step()
        if self.parts.serp is None:
            return Searched()
        return search_all(
            sources, self.parts.serp, self.parts.serp_cache, targets, self.rules.search, self.progress
        )

    def _texts(self, collected: Collected, sources: Sequence[Source]) -> list[Text]:
        """The text of every page, then of every source that has no page."""
        queries = {source.key: source.query for source in reversed(collected.sources) if source.query}
        own = [source for source in sources if source.page is None]
        # A page without any text is known by the main query that stands beside it.
        texts = [page_text(page) for page in collected.pages]
        named = [
            text if text.whole else Text(queries.get(page.key, ""), "")
            for text, page in zip(texts, collected.pages, strict=True)
        ]
        return named + [Text(source.query, "") for source in own]

    def _encodable(self, texts: Sequence[Text], collected: Collected) -> list[Text]:
        """The texts, blank where the encoder does not know the page's language: words alone match it."""
        known = self.parts.encoder.languages
        # A language may be written as "en", "eng" or "english".
        unknown = [
            bool(known and page.lang and not page.lang.startswith(tuple(known))) for page in collected.pages
        ]
        if any(unknown):
            self.progress.warn(
                f"{sum(unknown)} pages are in a language that {self.parts.encoder.name} does not know: "
                "they are matched by their words alone."
            )
        unknown += [False] * (len(texts) - len(unknown))
        return [Text("", "") if skip else text for text, skip in zip(texts, unknown, strict=True)]

    def _embed(self, collected: Collected, sources: Sequence[Source]) -> tuple[list[Text], Embedded]:
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
    ) -> list[Recommendation]:
        self._step()
        self.progress.start("Matching", len(sources), "pages")
        found = recommend(collected, sources, targets, searched, texts, embedded.vectors, self.rules.linking)
        recommendations = []
        for recommendation in found:
            recommendations.append(recommendation)
            self.progress.advance()
        links = sum(len(recommendation.links) for recommendation in recommendations)
        self.progress.finish(f"{links} links for {len(sources)} pages and queries")
        return recommendations

    def _deliver(self, report: Report) -> None:
        self._step()
        self.progress.start("Delivery", len(self.parts.sinks), "places")
        for sink in self.parts.sinks:
            try:
                report.gaps += sink.deliver(report.recommendations, report.run_id)
            except (ServiceError, OutputError) as error:
                # The other places still get their links; the run ends with this failure's exit code.
                report.failure = report.failure or error
                self.progress.warn(str(error))
            self.progress.advance()
        self.progress.finish(", ".join(sink.name for sink in self.parts.sinks) or "nothing to write")

    def _step(self) -> None:
        if self._should_stop():
            raise Interrupted(
                "The run was asked to stop and stopped between two steps; nothing is half done."
            )


def _nothing_to_do(parts: Parts) -> str:
    names = " and ".join(source.name for source in (parts.queries, parts.pages) if source)
    if names:
        return f"{names}: not one row can be used. files/rejected_rows.csv says why for each."
    return (
        "There is no input. Put your pages into files/urls_rawdata.csv (URL, Title, Main Content) "
        "and your queries into files/main_queries.csv (URL, Main Query) or a Google Sheet."
    )
