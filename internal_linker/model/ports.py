"""The protocols through which a run reaches the outside: what services, stores and faces must offer."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from internal_linker.model.arrays import Ints, JoinTask, Nearest, Vectors
from internal_linker.model.columns import LinkView
from internal_linker.model.edges import (
    Anchor,
    Verdict,
)
from internal_linker.model.records import (
    EncodedBatch,
    Link,
    Recommendation,
    Source,
    TableStream,
    Text,
    Usage,
)

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
