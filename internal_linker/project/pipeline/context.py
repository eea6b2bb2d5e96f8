"""The context of a run: its services, stores, inputs, outputs and rules."""

from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from internal_linker.anchors.llm import Rephrased
from internal_linker.match.compute.processes import OpenWorkers
from internal_linker.model.arrays import Vectors
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.needs import PageNeeds
from internal_linker.model.ports import (
    Anchors,
    Compute,
    Encoder,
    LinkSink,
    ListSink,
    Progress,
    ReviewDesk,
    StreamSource,
)
from internal_linker.model.records import Collected, StoredText
from internal_linker.model.sections import NamedSections, Scope, SectionFilter
from internal_linker.rank.rules import LinkRules
from internal_linker.review.link_memory import EdgeRules
from internal_linker.sources.serp.search import SearchRules
from internal_linker.store.answers import SerpResultCache
from internal_linker.store.edges import EdgeStore
from internal_linker.store.embeddings import EmbeddingCache
from internal_linker.store.files.index_folder import IndexFolder
from internal_linker.store.neighbours import StoredJoins
from internal_linker.store.runs import RunStore

if TYPE_CHECKING:
    from internal_linker.sources.serp.service import SearchService

PublishVectors = Callable[[str, Mapping[str, Vectors], Collection[str], Progress], None]
"""Stores pages' vectors for other programs: the model, vectors (d,) by URL, URLs of pages whose vectors failed."""


@dataclass(frozen=True)
class RunContext:
    """The services, stores, inputs and outputs of a run; `project.project` assembles them."""

    # queries, pages, links: the input tables; `links` has the existing links. None where the user has no
    # table
    queries: StreamSource | None
    pages: StreamSource | None
    queries_in_sheet: bool  # whether the rows of `queries` take links in the Sheet
    # the search service; None: the search step is skipped, and a notice says why
    serp: "SearchService | None"
    serp_cache: SerpResultCache
    encoder: Encoder
    vector_cache: EmbeddingCache
    # whether links are chosen for the whole site, stored and delivered; False for a lookup, which writes no more than
    # the caches and the index
    delivers: bool = False
    sinks: Sequence[LinkSink] = ()  # the files that links are written to
    # the lists that are written beside them: "rejects", "excluded", "duplicates" and "orphans"
    lists: Mapping[str, ListSink[Any]] = field(default_factory=dict)
    links: StreamSource | None = None
    keep: Callable[[str], str | StoredText] = str  # stores a page's content while the others are read
    figures: bool = False  # whether the files have the figures behind each score
    notices: Sequence[str] = ()  # what a person should know of the context, such as a fallback in use
    # waits until no other run pays for the same caches; its second argument can end the waiting
    turn: Callable[[Progress, Callable[[], None]], AbstractContextManager[None]] = lambda *_: nullcontext()
    # compares all pages at once; None: each page is compared when a source needs it
    compute: Compute | None = None
    joins: StoredJoins | None = None  # the stored result of the last run's comparison
    # the Sheet, which gets the links after the files, unless they drifted too far
    sheet: LinkSink | None = None
    edges: EdgeStore | None = None  # the stored links with their decisions; None: no links are stored
    runs: RunStore | None = None  # keeps the links of this run; None: they are not kept
    past: RunStore | None = None  # the links of earlier runs
    publish_vectors: PublishVectors | None = None  # None: they are not stored
    desk: ReviewDesk | None = None  # where editors decide on links
    # has a language model choose among the anchors that another finder proposes; None: it is off
    rephrase: Callable[[Anchors, Collected], Rephrased] | None = None
    # opens the processes that share a step, "matching" or "places", if any; its second argument takes warnings
    workers: OpenWorkers = lambda *_: nullcontext()
    # the hosts that stand for others, such as a staging site's
    hosts: CanonicalHosts = field(default_factory=CanonicalHosts)
    index: IndexFolder | None = None  # keeps what lookups need of the site; None: nothing is kept
    inputs: Callable[[], str] = str  # returns a digest of all tables and settings that the index depends on
    # returns a digest of the files that a run leaves and of the search data, the other things that a run
    # depends on besides `inputs` and the stored links
    results: Callable[[], str] = str
    # what an open site keeps in memory from one lookup to the next, by its name, with the state that it was
    # derived from; None: nothing
    kept: MutableMapping[str, tuple[str, Any]] | None = None
    # returns how much the pages of the input need links, with a sentence for people; None: all of them
    # equally
    needs: Callable[[Collected], tuple[PageNeeds | None, str]] | None = None
    # returns the queries by which people find each page, by its key; they depend on the input and on the search
    # data, of which the other one returns a digest
    page_queries: Callable[[Collected], Mapping[str, Sequence[str]]] = lambda _: {}
    search_data: Callable[[], str] = str
    trim: Callable[[], None] = lambda: None  # returns free memory to the system
    # prunes the caches after a run that needed the texts of these hashes
    tidy: Callable[[Encoder, Sequence[str]], None] = lambda *_: None
    # returns a note on damaged rows that the run replaced, and a gap for those that nothing can replace; ""
    # for none
    damage: Callable[[], tuple[str, str]] = lambda: ("", "")


@dataclass(frozen=True)
class Rules:
    """The rules of a run."""

    search: SearchRules  # how to search
    linking: LinkRules  # how to choose links
    any_on_site: bool  # whether a search result that is in no list may be a target
    edges: EdgeRules = field(default_factory=EdgeRules)  # how to rate and keep edges
    # the pages that get new links; all others keep those of the last run
    renewed: SectionFilter = field(default_factory=SectionFilter)
    scope: Scope = field(default_factory=Scope)  # which pages get links, and where links may lead
    # the sections that options and settings name, to find misspelled ones
    named: Sequence[NamedSections] = ()
    # whether links are published even if they drifted far from the last published ones
    accept_drift: bool = False
