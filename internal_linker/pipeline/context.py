"""The context of a run: its services, stores, inputs, outputs and rules."""

from collections.abc import Callable, MutableMapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from internal_linker.core.canonical_hosts import CanonicalHosts
from internal_linker.core.needs import PageNeeds
from internal_linker.core.ports import (
    AnswerCache,
    Chat,
    Compute,
    EdgeStore,
    Encoder,
    IndexStore,
    JoinStore,
    LinkSink,
    ListSink,
    PageVectorStore,
    Progress,
    ReviewDesk,
    RunStore,
    SerpCache,
    SerpClient,
    StreamSource,
    VectorCache,
    Workers,
)
from internal_linker.core.records import Collected, Duplicate, ExcludedTarget, Orphan, Reject, StoredText
from internal_linker.core.sections import NamedSections, Scope, SectionFilter
from internal_linker.ranking.rules import LinkRules
from internal_linker.review.link_memory import EdgeRules
from internal_linker.serp.search import SearchRules


@dataclass(frozen=True)
class RunContext:
    """The services, stores, inputs and outputs of a run; `usecases.project` assembles them.

    Attributes:
        queries, pages, links: the input tables; `links` has the existing links. None where the user has no table.
        queries_in_sheet: whether the rows of `queries` take links in the Sheet.
        keep: stores a page's content while the others are read.
        serp: the search service; None: the search step is skipped, and a notice says why.
        sinks: the files that links are written to; without any, nothing is written.
        sheet: the Sheet, which gets the links after the files, unless they drifted too far.
        notices: what a person should know of the context, such as a fallback in use.
        turn: waits until no other run pays for the same caches; its second argument can end the waiting.
        compute: compares all pages at once; None: each page is compared when a source needs it.
        joins: the stored result of the last run's comparison.
        edges: the stored links with their decisions; None: no links are stored.
        runs: keeps the links of this run; None: they are not kept.
        past: the links of earlier runs.
        page_vectors: the pages' vectors for other programs; None: they are not stored.
        desk: where editors decide on links.
        chat, answers: the language model that chooses anchors, and its cached answers; None: it is off.
        workers: opens the processes that share matching and the search for anchors, if any; its argument takes
            warnings.
        hosts: the hosts that stand for others, such as a staging site's.
        index: keeps what lookups need of the site; None: nothing is kept.
        inputs: returns a digest of all tables and settings that the index depends on.
        results: returns a digest of the files that a run leaves and of the search data, the other things that a run
            depends on besides `inputs` and the stored links.
        kept: what an open site keeps in memory from one lookup to the next, by its name, with the state that it was
            derived from; None: nothing.
        needs: returns how much the pages of the input need links, with a sentence for people; None: all of them
            equally.
        trim: returns free memory to the system.
        tidy: prunes the caches after a run that needed the texts of these hashes.
        damage: returns a note on damaged rows that the run replaced, and a gap for those that nothing can replace; ""
            for none.
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
    past: RunStore | None = None
    page_vectors: PageVectorStore | None = None
    desk: ReviewDesk | None = None
    chat: Chat | None = None
    answers: AnswerCache | None = None
    workers: Callable[[Callable[[str], None]], AbstractContextManager[Workers | None]] = lambda _: (
        nullcontext()
    )
    hosts: CanonicalHosts = field(default_factory=CanonicalHosts)
    index: IndexStore | None = None
    inputs: Callable[[], str] = str
    results: Callable[[], str] = str
    kept: MutableMapping[str, tuple[str, Any]] | None = None
    needs: Callable[[Collected], tuple[PageNeeds | None, str]] | None = None
    trim: Callable[[], None] = lambda: None
    tidy: Callable[[Encoder, Sequence[str]], None] = lambda *_: None
    damage: Callable[[], tuple[str, str]] = lambda: ("", "")


@dataclass(frozen=True)
class Rules:
    """The rules of a run.

    Attributes:
        search: how to search.
        linking: how to choose links.
        any_on_site: whether a search result that is in no list may be a target.
        edges: how to rate and keep edges.
        renewed: the pages that get new links; all others keep those of the last run.
        scope: which pages get links, and where links may lead.
        named: the sections that options and settings name, to find misspelled ones.
        accept_drift: whether links are published even if they drifted far from the last published ones.
    """

    search: SearchRules
    linking: LinkRules
    any_on_site: bool
    edges: EdgeRules = field(default_factory=EdgeRules)
    renewed: SectionFilter = field(default_factory=SectionFilter)
    scope: Scope = field(default_factory=Scope)
    named: Sequence[NamedSections] = ()
    accept_drift: bool = False
