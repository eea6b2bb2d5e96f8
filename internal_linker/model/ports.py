"""The protocols through which a run reaches the outside: what services, stores and faces must offer."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from internal_linker.model.arrays import Ints, JoinTask, Nearest, Neighbourhood, Vectors
from internal_linker.model.columns import LinkView
from internal_linker.model.edges import (
    Anchor,
    Edge,
    Status,
    Verdict,
)
from internal_linker.model.records import (
    Completion,
    Duplicate,
    EncodedBatch,
    Link,
    Recommendation,
    SerpMarket,
    SerpPage,
    Source,
    TableStream,
    Text,
    Usage,
)
from internal_linker.model.runs import StoredList, Version, VersionRow

if TYPE_CHECKING:
    pass

T = TypeVar("T")
ViewOf = Callable[[Source, Link], LinkView]
"""What is stored of a link of a source, with its pages."""
Item_contra = TypeVar("Item_contra", contravariant=True)


class StreamSource(Protocol):
    """A table to read, such as a tab of a Sheet or a CSV file; it may have millions of rows."""

    name: str

    @property
    def remarks(self) -> Sequence[str]:
        """What was unusual, one sentence each; complete once the stream is open."""

    def stream(self) -> TableStream:
        """Return the header and an iterator over the rows.

        Raises:
            InputError: the table is missing or can't be read; a damaged row raises it during iteration.
            ServiceError: the service behind it failed.
        """


class LinkSink(Protocol):
    """A place that keeps the run's recommendations: the Sheet, Output.csv, links.csv."""

    name: str

    def deliver(
        self, recommendations: Sequence[Recommendation], run_id: str, view_of: ViewOf | None = None
    ) -> Sequence[str]:
        """Write all links; return what could not be placed, one sentence each.

        Args:
            recommendations: the run's links.
            view_of: returns what is stored of a link; None: the link graph is not in use.

        Raises:
            OutputError: the file can't be written.
            ServiceError: the service failed; what was written so far stays complete.
        """


class ListSink(Protocol[Item_contra]):
    """Keeps a list that a person should see: excluded targets, near-duplicates."""

    name: str

    def write(self, items: Iterable[Item_contra]) -> Sequence[str]:
        """Replace the list of the last run; return what was unusual, one sentence each.

        Raises:
            OutputError: the list can't be written.
        """


class SerpClient(Protocol):
    """A search service."""

    name: str
    market: SerpMarket  # country, language and place of the search; part of the cache key

    def search(self, query: str, page: int) -> SerpPage:
        """Return the organic results of page `page`, from 1.

        Raises:
            ServiceError: the service did not answer; an error in `errors.FINAL` ends all searches.
        """

    def check(self) -> str:
        """Verify the key and return what is left on the account, in words; spend nothing.

        Raises:
            ConfigurationError: the account is empty.
            ServiceError: the key is wrong, or the service did not answer.
        """

    def close(self) -> None:
        """Close the connections."""


class SerpCache(Protocol):
    """Search results that were paid for."""

    def get(
        self, queries: Sequence[str], market: SerpMarket, *, any_age: bool = False
    ) -> Mapping[tuple[str, int], SerpPage]:
        """Return the cached answers that are recent enough (or all), by query and page; they cost 0 credits."""

    def put(self, query: str, page: int, market: SerpMarket, answer: SerpPage) -> None:
        """Keep an answer, durable when this returns."""

    def fresh_until(self) -> datetime:
        """Return when the first of the recent answers that `get` has returned becomes too old."""


class Encoder(Protocol):
    """Turns texts into vectors."""

    name: str  # provider and model, as links.csv shows it
    model: str
    dimensions: int
    recipe: str  # version of how a text is cut and pooled: vectors of two recipes are never mixed
    corpus_bound: bool
    """True if a vector depends on other texts, too (LSA): encode all texts at once, cache nothing."""

    languages: frozenset[str]  # two-letter codes of the languages that it knows; empty: any language

    @property
    def pages(self) -> Collection[str] | None:
        """Keys of the pages for which it has vectors, if it has no others; None: it encodes any text."""

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield batches as they finish, in any order, until all texts are done.

        Raises:
            ServiceError: the service failed; all finished batches have been yielded.
        """

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Return what encoding these texts would cost, without a request."""


class VectorCache(Protocol):
    """Vectors by model, dimensions, recipe and text."""

    storage: str  # the dtype in which vectors are kept: "float16" or "float32"

    def get(self, encoder: Encoder, hashes: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the cached vectors, (d,) each, by hash."""

    def put(self, encoder: Encoder, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors, durable when this returns."""


class Chat(Protocol):
    """A language model that answers prompts."""

    name: str  # provider and model
    model: str  # the model, and where it is served; part of the cache key, like `recipe`
    recipe: str  # version of the request's parameters besides the two texts

    def complete(self, task: str, data: str) -> Completion:
        """Return the answer to a task about some data.

        Raises:
            ServiceError: the service did not answer; an error in `errors.FINAL` ends all requests.
        """


class Progress(Protocol):
    """Shows a person how far a step has come."""

    def start(self, step: str, total: int, unit: str) -> None:
        """Begin a step of `total` units of work; 0 if nobody knows."""

    def advance(self, count: int = 1) -> None:
        """Count `count` more units as done."""

    def finish(self, outcome: str) -> None:
        """End the step with one line about its outcome."""

    def warn(self, message: str) -> None:
        """Show a note that a person should read."""


class JoinStore(Protocol):
    """The results of k-NN joins for the next run, and finished blocks of unfinished joins, by the join's name."""

    def get(self, join: str) -> Neighbourhood | None:
        """Return the last complete result; None if there is none."""

    def put(self, join: str, neighbourhood: Neighbourhood) -> None:
        """Replace the last complete result and drop the join's blocks; committed when this returns."""

    def blocks(self, join: str) -> Mapping[str, Nearest]:
        """Return the finished blocks by their names."""

    def put_block(self, join: str, block: str, nearest: Nearest) -> None:
        """Keep a finished block; committed when this returns."""


class Compute(Protocol):
    """Runs the blocks of a join: in this process or on other machines."""

    def run(
        self,
        work: Callable[[Vectors, Ints, JoinTask], Nearest],
        vectors: Vectors,
        languages: Ints,
        blocks: Sequence[JoinTask],
    ) -> Iterator[tuple[JoinTask, Nearest]]:
        """Yield each block with `work(vectors, languages, block)` as it finishes, in any order.

        `work` is a pure module-level function; a block may run twice with the same result.

        Raises:
            ServiceError: the machines behind it are gone; whatever was yielded is complete.
        """


class Workers(Protocol):
    """Worker processes that share a piece of heavy work with this process."""

    def share(self, what: object) -> None:
        """Give an object, mostly arrays that no longer change, to all workers; the caller may drop it."""

    def run(self, work: Callable[..., T], tasks: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Yield `work(what, *task)` for each task in order; workers run some tasks ahead.

        `work` is a pure function of a module or class.
        """


OpenWorkers = Callable[[str, Callable[[str], None]], AbstractContextManager[Workers | None]]
"""Opens the processes that share a step of a run, by its name, if any; its second argument takes warnings."""


class IndexStore(Protocol):
    """Keeps what a lookup needs of a site, ready for use; what it keeps can always be computed again."""

    def read(self, part: str, state: str, known: Mapping[str, object]) -> object | None:
        """Return a part as it was written for this state, its arrays read-only; None if it is missing or damaged.

        Args:
            part: the part's name.
            state: what the part was derived from.
            known: the objects that the part refers to, by the names with which it was written.
        """

    def write(self, part: str, state: str, what: object, known: Mapping[str, object]) -> None:
        """Keep a part in place of its earlier versions; objects in `known` are left out.

        Raises:
            OutputError: it can't be written.
        """


class EdgeStore(Protocol):
    """A site's proposed links and their history."""

    def of_sources(self, sources: Iterable[str]) -> Mapping[str, Sequence[Edge]]:
        """Return all edges of these sources (see `Source.end`) by source, without sources that have none."""

    def by_id(self, ids: Iterable[str]) -> Mapping[str, Edge]:
        """Return the edges with these ids, without unknown ids."""

    def each(self, *statuses: Status, judged: bool = False, besides: str = "") -> Iterator[Edge]:
        """Yield the edges with these statuses, or all edges.

        Args:
            statuses: the statuses wanted; none: any status.
            judged: only edges with an editor's decision.
            besides: a run whose edges are left out; "": none.
        """

    def judged_since(self, ids: Iterable[str], since: datetime) -> frozenset[str]:
        """Return the ids of the edges from the same sources that have a decision and were stored after this time."""

    def put(self, edges: Sequence[Edge]) -> None:
        """Store edges; committed when this returns."""

    def confirm(self, ids: Sequence[str], run: str) -> None:
        """Store that a run proposed these edges again, with nothing else changed; committed when this returns."""

    def state(self) -> str:
        """Return a digest that differs after any change of a stored edge.

        It is "" if nobody knows, or if others have written edges meanwhile.
        """

    def counts(self) -> Mapping[Status, int]:
        """Count the links of each status; near-duplicate pairs are not links."""


class RunStore(Protocol):
    """The links of a site's earlier runs."""

    def versions(self) -> Sequence[Version]:
        """Return the runs that are kept, the oldest first."""

    def rows(self, run: str) -> Iterator[VersionRow]:
        """Yield the rows of a kept run in their order."""

    def lists(self, run: str) -> Iterator[StoredList]:
        """Yield the lists of a kept run in their order."""

    def duplicates(self) -> Sequence[Duplicate] | None:
        """Return the near-duplicates that the newest run found; None if it did not look for them."""

    def put(
        self,
        version: Version,
        rows: Iterable[VersionRow],
        duplicates: Iterable[Duplicate] | None = None,
    ) -> None:
        """Store a run with its near-duplicates; `versions` lists it once all of it is stored."""


class ReviewDesk(ListSink[LinkView], Protocol):
    """A place where editors decide on proposed links: a tab of the Sheet, or a workbook."""

    def state(self) -> str:
        """Return a digest that differs after any change of the place; "": nobody knows without reading it."""

    def written(self) -> tuple[str, Sequence[Verdict]] | None:
        """Return the state in which `write` left the place, and what `read` returns in it; None: nobody knows."""

    def read(self) -> Sequence[Verdict]:
        """Return what editors wrote beside each link, in the desk's order; nothing if there is no desk yet.

        If editors copied a row and wrote something in several copies, its id comes several times.

        Raises:
            InputError: the desk can't be read, or lacks columns that the tool made.
            ServiceError: the service behind it failed.
        """

    def remarks(self) -> Sequence[str]:
        """Return what the last `read` couldn't take as a decision, one sentence each."""

    def write(self, items: Iterable[LinkView]) -> Sequence[str]:
        """Show these links; return what could not be done, one sentence each.

        This never changes an editor's status, anchor or note, and never removes a row that has one; rows of other
        links go. Editors' order of rows stays, and new rows come last.

        Raises:
            OutputError: the desk can't be written, or lacks columns that the tool made; it stays as it was.
            ServiceError: the service failed; what was written so far stays complete.
        """


# A page, the targets of its links, and the anchors of its other links.
Wanted = tuple[str, Sequence[str], Sequence[Anchor]]


class Anchors(Protocol):
    """Finds anchors for links."""

    def propose_each(self, wanted: Iterable[Wanted]) -> Iterator[Sequence[tuple[Anchor, ...]]]:
        """Yield for each page the anchors of each of its targets, best first; take some pages ahead."""

    def placed(self, source: str, text: str) -> Anchor:
        """Return a text as an anchor where it stands in a page; not `verbatim` if it is only in a link or a heading.

        If it is nowhere in the page, it is not `verbatim` either, and its sentence is "".
        """

    def quality(self, source: str, target: str, anchor: Anchor) -> float:
        """Return how likely an editor is to accept an anchor in a page's text, 0 to 1; 0 if a rule forbids it."""

    def settled(self, source: str, target: str, anchors: tuple[Anchor, ...]) -> bool:
        """Return whether a link between two pages keeps these anchors as long as its texts don't change."""

    def varied(self, target: str, anchors: tuple[Anchor, ...], own: str = "") -> tuple[Anchor, ...]:
        """Put an anchor first that is not overused for this target; an editor's `own` anchor counts instead."""
