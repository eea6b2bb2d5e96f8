"""The small protocols through which a run reaches the outside: what a service, store or face must offer."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from internal_linker.core.arrays import Block, Ints, Nearest, Neighbourhood, Vectors
from internal_linker.core.edges import (
    Anchor,
    Edge,
    ReviewRow,
    Status,
    Verdict,
)
from internal_linker.core.records import (
    Completion,
    Duplicate,
    EncodedBatch,
    Link,
    Recommendation,
    SerpPage,
    Source,
    TableStream,
    Text,
    Usage,
)
from internal_linker.core.runs import Version, VersionRow

T = TypeVar("T")
EdgeOf = Callable[[Source, Link], Edge]
"""What is remembered of a link of a source."""
Item_contra = TypeVar("Item_contra", contravariant=True)


class StreamSource(Protocol):
    """A table to read, a sheet's tab or a CSV file: it may have millions of rows."""

    name: str

    @property
    def remarks(self) -> Sequence[str]:
        """Once the stream is open: what was unusual, one sentence each."""

    def stream(self) -> TableStream:
        """The header and, while they are gone through, the rows.

        Raises:
            InputError: it is not there or can't be read; at a damaged row, going through them raises it.
            ServiceError: the service behind it failed.
        """


class LinkSink(Protocol):
    """A place that keeps the run's recommendations: the Sheet, Output.csv, links.csv."""

    name: str

    def deliver(
        self, recommendations: Sequence[Recommendation], run_id: str, edge_of: EdgeOf | None = None
    ) -> Sequence[str]:
        """Write all links; the answer names what could not be placed, one sentence each.

        Args:
            recommendations: the run's links.
            run_id: the run.
            edge_of: gives the edge of each of the links; None: nothing is remembered of them.

        Raises:
            OutputError: the file can't be written.
            ServiceError: the service failed; what was written so far stays whole.
        """


class ListSink(Protocol[Item_contra]):
    """Keeps one list of what a person should know: excluded targets, near-duplicates."""

    name: str

    def write(self, items: Iterable[Item_contra]) -> Sequence[str]:
        """Replace the list of the last run; the answer says in sentences what was unusual.

        Raises:
            OutputError: it can't be written.
        """


class ReviewQueue(Protocol):
    """Proposed links that wait for a word, and the place that keeps it."""

    def pending(self) -> Iterable[ReviewRow]:
        """The links that nobody decided on yet, in the order in which they are asked for."""

    def decide(self, verdict: Verdict) -> None:
        """Keep a word, durable when this returns; a status of the tool's own means a note only."""


class SerpClient(Protocol):
    """A search service."""

    name: str
    market: str
    """What else decides the answer (country, language, place), as one text; part of the cache's key."""

    def search(self, query: str, page: int) -> SerpPage:
        """Organic results of page `page` (from 1).

        Raises:
            ServiceError: no answer; one of `errors.FINAL` means: stop asking.
        """


class SerpCache(Protocol):
    """Search results as they were paid for."""

    def get(self, queries: Sequence[str], market: str) -> Mapping[tuple[str, int], SerpPage]:
        """The answers that are kept and not too old, by query and page; their credits are 0."""

    def put(self, query: str, page: int, market: str, answer: SerpPage) -> None:
        """Keep an answer, durable when this returns."""


class Encoder(Protocol):
    """Turns texts into vectors."""

    name: str
    """Provider and model, as links.csv shows it."""
    model: str
    dimensions: int
    recipe: str
    """Version of how a text is cut and pooled: vectors of two recipes are never mixed."""
    corpus_bound: bool
    """True where a vector depends on more than its text (LSA: on the others): encode all at once, cache nothing."""

    languages: frozenset[str]
    """Two-letter codes of the languages it knows; empty: no limit."""

    @property
    def pages(self) -> Collection[str] | None:
        """Normal forms of the pages whose vectors it was given, for it has no others; None: it reads any text."""

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield each batch as it is finished, in any order, until all texts are done.

        Raises:
            ServiceError: after all finished batches have been yielded.
        """

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """What encoding these would cost, without a call."""


class VectorCache(Protocol):
    """Vectors by model, dimensions, recipe and text."""

    storage: str
    """How a number of a vector is kept: "float16" or "float32"."""

    def get(self, encoder: Encoder, hashes: Sequence[str]) -> Mapping[str, Vectors]:
        """The vectors that are there, (d,) each."""

    def put(self, encoder: Encoder, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors, durable when this returns."""


class Chat(Protocol):
    """A language model that answers."""

    name: str
    """Provider and model."""
    model: str
    """The model, and where it is served; part of the cache's key, as `recipe` is."""
    recipe: str
    """Version of what is asked for besides the two texts."""

    def complete(self, task: str, data: str) -> Completion:
        """The answer to a task and the data that it is about.

        Raises:
            ServiceError: no answer; one of `errors.FINAL` means: stop asking.
        """


class AnswerCache(Protocol):
    """Answers of language models by model, recipe and prompt."""

    def get(self, chat: Chat, prompt: str) -> str | None:
        """The answer to the prompt of this hash, if it was asked for before."""

    def put(self, chat: Chat, prompt: str, answer: str) -> None:
        """Keep an answer, durable when this returns."""


class Progress(Protocol):
    """Tells a person how far a step is."""

    def start(self, step: str, total: int, unit: str) -> None:
        """A step begins; `total` pieces of work, 0 when unknown."""

    def advance(self, count: int = 1) -> None:
        """`count` more pieces are done."""

    def finish(self, outcome: str) -> None:
        """The step is done; one line of what came of it."""

    def warn(self, message: str) -> None:
        """Something a person should know."""


class JoinStore(Protocol):
    """What joins leave behind, by their names: results for the next run, and finished blocks on the way to one."""

    def get(self, join: str) -> Neighbourhood | None:
        """The last whole result; None where there is none."""

    def put(self, join: str, neighbourhood: Neighbourhood) -> None:
        """Keep a whole result in the place of the last, and drop the join's blocks; committed when this returns."""

    def blocks(self, join: str) -> Mapping[str, Nearest]:
        """The finished blocks by their names."""

    def put_block(self, join: str, block: str, nearest: Nearest) -> None:
        """Keep a finished block; committed when this returns."""


class Compute(Protocol):
    """Where the blocks of a join are done: in this process, on other machines."""

    def run(
        self,
        work: Callable[[Vectors, Ints, Block], Nearest],
        vectors: Vectors,
        languages: Ints,
        blocks: Sequence[Block],
    ) -> Iterator[tuple[Block, Nearest]]:
        """Yield each block with `work(vectors, languages, block)` as it is finished, in any order.

        `work` is a pure function of a module, and a block may be done twice: its result is the same.

        Raises:
            ServiceError: the machines behind it are gone; what was yielded is whole.
        """


class Workers(Protocol):
    """Other processes that share one piece of heavy work with this one."""

    def share(self, what: object) -> None:
        """Give all of them this object: arrays, mostly, that don't change from here on; here it may be dropped."""

    def run(self, work: Callable[..., T], tasks: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Yield `work(what, *task)` for each task in their order; some tasks are taken ahead.

        `work` is a pure function of a module or class.
        """


class EdgeStore(Protocol):
    """Proposed links and what became of them; one site's."""

    def of_sources(self, sources: Iterable[str]) -> Mapping[str, Sequence[Edge]]:
        """All edges of these sources (see `Source.end`), by source; sources without any are left out."""

    def by_id(self, ids: Iterable[str]) -> Mapping[str, Edge]:
        """The edges of these ids; unknown ones are left out."""

    def each(self, *statuses: Status, judged: bool = False, besides: str = "") -> Iterator[Edge]:
        """All edges, of these statuses if any are named; `judged`: with a verdict; `besides`: not of that run."""

    def put(self, edges: Sequence[Edge]) -> None:
        """Keep edges; committed when this returns."""

    def counts(self) -> Mapping[Status, int]:
        """How many links of each status there are; pairs of nearly the same text are none."""


class RunStore(Protocol):
    """The links of earlier runs; one site's."""

    def versions(self) -> Sequence[Version]:
        """The runs that are kept, the oldest first."""

    def rows(self, run: str) -> Iterator[VersionRow]:
        """The rows of a run that `versions` names, in its order."""

    def duplicates(self) -> Sequence[Duplicate] | None:
        """The near-duplicates that the newest run knew of; None where it knew nothing of them."""

    def put(
        self, version: Version, rows: Iterable[VersionRow], duplicates: Iterable[Duplicate] | None = None
    ) -> None:
        """Keep a run with the near-duplicates that it knows of; it is among `versions` when all of it is there."""


class ReviewDesk(ListSink[ReviewRow], Protocol):
    """A place where editors say what they think of proposed links: a tab, a workbook."""

    def read(self) -> Sequence[Verdict]:
        """What stands beside each link, in the desk's order; nothing where there is no desk yet.

        Where editors copied a row and said something in several of its copies, its id comes several times.

        Raises:
            InputError: it can't be read, or is not as we made it.
            ServiceError: the service behind it failed.
        """

    def write(self, items: Iterable[ReviewRow]) -> Sequence[str]:
        """Show these links; the answer names what could not be done, one sentence each.

        No editor's status, anchor or note is ever changed, and a row that holds one is never removed;
        rows of other links go. The order of rows is the editors', new ones come last.

        Raises:
            OutputError: it can't be written, or is not as we made it; it is as it was.
            ServiceError: the service failed; what was written so far stays whole.
        """


class Anchors(Protocol):
    """Finds texts for links."""

    def propose(
        self, source: str, targets: Sequence[str], said: Sequence[str] = ()
    ) -> Sequence[tuple[Anchor, ...]]:
        """For each of a page's targets some anchors, the best first; `said` are those of its other links."""

    def settled(self, anchors: tuple[Anchor, ...]) -> bool:
        """Whether a link whose texts have not changed keeps these anchors."""

    def varied(self, target: str, anchors: tuple[Anchor, ...], own: str = "") -> tuple[Anchor, ...]:
        """The anchors with one first that is not overused for this target; an editor's `own` counts in its place."""
