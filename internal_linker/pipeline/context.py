"""What a run works with: its services, stores and rules."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from internal_linker.core.ports import (
    AnswerCache,
    Chat,
    Compute,
    EdgeStore,
    Encoder,
    JoinStore,
    LinkSink,
    ListSink,
    Progress,
    ReviewDesk,
    RunStore,
    SerpCache,
    SerpClient,
    StreamSource,
    VectorCache,
    Workers,
)
from internal_linker.core.records import Duplicate, ExcludedTarget, Orphan, Reject, StoredText
from internal_linker.core.sections import Sections
from internal_linker.ranking.rules import LinkRules
from internal_linker.review.link_memory import EdgeRules
from internal_linker.serp.search import SearchRules


@dataclass(frozen=True)
class RunContext:
    """What a run works with; `wiring` puts it together.

    Attributes:
        queries, pages, links: the input, `links` what is linked already; None where the user has none.
        queries_in_sheet: whether the rows of `queries` take links in the Sheet.
        keep: where the pages' contents go while they are read.
        serp: the search service; None: the search step is skipped, and a notice says why.
        sinks: the files that links go to; without any, nothing is written.
        sheet: where they go then, unless they moved too far.
        notices: what a person should know of the context, such as a fallback in use.
        turn: waits until no other run pays for the same caches; its second argument ends the waiting.
        compute: compares all pages at once; None: each page is compared when it is its turn.
        joins: what the last run left of that.
        edges: what is remembered of links; None: nothing is.
        runs: the links of earlier runs.
        desk: where editors say what they think of links.
        chat, answers: a language model that chooses anchors, and what it was asked before; None: it is off.
        workers: what shares the matching, if anything does; its argument takes warnings.
        tidy: lets go of what the caches need no more, after a run that needed the texts of these hashes.
    """

    queries: StreamSource | None
    pages: StreamSource | None
    queries_in_sheet: bool
    serp: SerpClient | None
    serp_cache: SerpCache
    encoder: Encoder
    vector_cache: VectorCache
    sinks: Sequence[LinkSink]
    rejects: ListSink[Reject]
    excluded: ListSink[ExcludedTarget]
    duplicates: ListSink[Duplicate]
    orphans: ListSink[Orphan]
    links: StreamSource | None = None
    keep: Callable[[str], str | StoredText] = str
    notices: Sequence[str] = ()
    turn: Callable[[Progress, Callable[[], None]], AbstractContextManager[None]] = lambda *_: nullcontext()
    compute: Compute | None = None
    joins: JoinStore | None = None
    sheet: LinkSink | None = None
    edges: EdgeStore | None = None
    runs: RunStore | None = None
    desk: ReviewDesk | None = None
    chat: Chat | None = None
    answers: AnswerCache | None = None
    workers: Callable[[Callable[[str], None]], AbstractContextManager[Workers | None]] = lambda _: (
        nullcontext()
    )
    tidy: Callable[[Encoder, Sequence[str]], None] = lambda *_: None


@dataclass(frozen=True)
class Rules:
    """How to search, to link and to judge edges; whether a search result in none of the lists may be a target."""

    search: SearchRules
    linking: LinkRules
    any_on_site: bool
    edges: EdgeRules = field(default_factory=EdgeRules)
    off: Sections = field(default_factory=lambda: Sections(()))
    """Parts of the site whose pages keep the links that they have."""
    accept_drift: bool = False
    """Whether links are published that moved far from the last ones."""
