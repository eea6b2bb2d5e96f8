"""The plan of a run: what it would fetch, embed and write, without spending or writing anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from internal_linker.match.embed import embedding_seconds, plan_embedding
from internal_linker.model.ports import Progress
from internal_linker.model.records import Collected, RowSelection, Usage
from internal_linker.model.results import Columns, Result
from internal_linker.model.sequences import Lazy
from internal_linker.project.pipeline.context import Rules, RunContext
from internal_linker.project.pipeline.run_input import read_input
from internal_linker.project.pipeline.site_index import SiteIndex
from internal_linker.project.pipeline.site_ranking import encodable_texts
from internal_linker.sources.serp.search import SearchCost, search_cost

# Seconds per page to read, match and write it, where all vectors are cached: 7 to 8 ms were measured on two cores for
# 10,000 and for 100,000 pages. The start of the program and of its libraries takes the rest.
_SECONDS_A_PAGE, _START_S = 0.008, 2.0


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """What a run would do: its searches with their credits, the texts to embed with their cost, and its time."""

    collected: Collected  # the input
    sources: int  # count of the rows to find links for
    search: SearchCost  # the searches and their cost
    texts: int  # count of the texts to embed
    cached_texts: int  # count of the texts whose embeddings are in the cache
    usage: Usage  # tokens and US dollars for the texts to embed, an upper bound
    embedding_seconds: float  # about how long the embedding takes
    sheet_rows: int  # count of the rows of the Sheet to write

    @property
    def seconds(self) -> float:
        """About how long the run takes, without an embedding of unknown duration."""
        rest = _START_S + _SECONDS_A_PAGE * max(len(self.collected.pages), self.sources)
        return self.search.seconds + (0 if isnan(self.embedding_seconds) else self.embedding_seconds) + rest

    @property
    def summary(self) -> Sequence[tuple[str, str]]:
        """Names and values for people."""
        return [
            ("Pages", str(len(self.collected.pages))),
            ("Rows to find links for", str(self.sources)),
            ("Rows rejected / merged", f"{len(self.collected.rejects)} / {self.collected.merged_rows}"),
            ("Searches", str(self.search.searches)),
            ("SERP credits", f"about {self.search.expected}, at most {self.search.most}"),
            ("Texts to embed / in the cache", f"{self.texts} / {self.cached_texts}"),
            ("Tokens / cost", f"{self.usage.tokens} / at most ${self.usage.cost_usd:.4f}"),
            ("Time", self._time()),
            ("Rows of the Sheet to write", str(self.sheet_rows)),
            ("Rows of files/Output.csv to write", str(self.sources)),
        ]

    def _time(self) -> str:
        steps = {"search": self.search.seconds, "embedding": self.embedding_seconds}
        parts = [f"{step} {duration(each)}" for step, each in steps.items() if each >= 1]
        whole = f"about {duration(self.seconds)}"
        if isnan(self.embedding_seconds):
            return f"{whole} without the embedding, whose duration depends on your server"
        return f"{whole} ({', '.join(parts)})" if parts else whole

    def tables(self) -> dict[str, Columns]:
        """Return `plan`: the names and values of the summary."""
        return {
            "plan": {
                "name": [name for name, _ in self.summary],
                "value": [value for _, value in self.summary],
            }
        }


def plan_run(context: RunContext, rules: Rules, choice: RowSelection, progress: Progress) -> Plan:
    """Return what a run would do.

    Raises:
        InputError: the input can't be used.
        ServiceError: the input can't be read from its service.
    """
    run_input = read_input(context, rules, choice, progress, index=SiteIndex(context, progress))
    collected, sources, cost = run_input.collected, run_input.sources, SearchCost()
    if context.serp:
        cost = search_cost(sources, context.serp.market, context.serp_cache, run_input.targets, rules.search)
    texts, _ = encodable_texts(run_input.texts(), collected.pages, context.encoder, progress)
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
        + sum(item.source.in_sheet for _, item in run_input.without),
    )


def duration(seconds: float) -> str:
    """Return a duration for people: "40 s", "12 min" or "2 h 5 min"."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
