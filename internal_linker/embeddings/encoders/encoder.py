"""Pages -> the vectors that a file gives them; nothing is computed."""

from collections.abc import Collection, Iterator, Sequence

from internal_linker.core.records import EncodedBatch, Text, Usage
from internal_linker.embeddings.encoders.given import Given

# Rows taken out of the file's vectors at a time: 12 MB of them at 1536 numbers each.
_PAGES_A_BATCH = 2_000


class VectorFile:
    """Implements `ports.Encoder` for pages that have a vector in a file.

    Another content of the file is another `model`, but neither another name nor another recipe: most often it holds
    new pages and vectors of the same kind, and whether links drifted is seen by their similarities.

    Args:
        name: the file's, as links.csv shows it.
        given: its vectors.
    """

    corpus_bound = True
    languages: frozenset[str] = frozenset()

    def __init__(self, name: str, given: Given) -> None:
        self._given = given
        self.name, self.model, self.dimensions = f"file/{name}", given.digest, given.vectors.shape[1]
        self.recipe = f"given/{self.dimensions}"

    @property
    def pages(self) -> Collection[str]:
        """Normal forms of the pages that have a vector."""
        return self._given.rows

    @property
    def remarks(self) -> Sequence[str]:
        """What was unusual in the file, one sentence each."""
        return self._given.remarks

    @property
    def facts(self) -> str:
        """What `check` says of it."""
        return f"{self.name} has vectors of {len(self.pages)} pages, {self.dimensions} numbers each"

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield (len, d) float32 unit vectors, in order; each text is of one of `pages`."""
        for first in range(0, len(texts), _PAGES_A_BATCH):
            places = range(first, min(first + _PAGES_A_BATCH, len(texts)))
            yield EncodedBatch(
                places, self._given.vectors[[self._given.rows[texts[at].key] for at in places]]
            )

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Nothing: the vectors are there."""
        return Usage()
