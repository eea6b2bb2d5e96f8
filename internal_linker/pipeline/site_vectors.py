"""The vectors of guests of a site whose pages are in the index."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from internal_linker.core.ports import Progress
from internal_linker.core.records import Text, Usage
from internal_linker.core.sequences import counted
from internal_linker.embeddings.embed import Embedded, embed
from internal_linker.pipeline.context import RunContext
from internal_linker.pipeline.prepared import Stored


def embed_guests(
    pages: Sequence[Text],
    guests: Sequence[Text],
    stored: Stored,
    *,
    context: RunContext,
    progress: Progress,
) -> Embedded:
    """Return the vectors of the guests alone, (g, d), and the hashes of the pages and of the guests.

    Args:
        pages: the texts of the pages, from which an encoder may learn.
        guests: the texts of the guests, blank if the encoder does not know their language.
        stored: what the index has of the pages.
        context: has the encoder and the cache.
        progress: the display of the step.
    """
    encoder, count = context.encoder, stored.texts
    progress.start("Embedding", 0, "texts")
    found = Embedded(np.zeros((0, 1), np.float32), 0, 0, 0, Usage(), ())
    if guests:
        learns = encoder.corpus_bound and encoder.pages is None
        some = [*pages, *guests] if learns else guests
        found = embed(some, encoder, context.vector_cache, _Quiet(progress))
    progress.finish(f"{counted(found.encoded, 'text')} embedded, {count} from the index")
    first = len(found.hashes) - len(guests)
    hashes = [*stored.hashes, *found.hashes[first:]]
    return replace(found, vectors=found.vectors[first:], cached=found.cached + count, hashes=hashes)


class _Quiet:
    """A `Progress` that shows no steps."""

    def __init__(self, progress: Progress) -> None:
        self.warn = progress.warn

    def start(self, step: str, total: int, unit: str) -> None:
        """Show nothing."""

    def advance(self, count: int = 1) -> None:
        """Show nothing."""

    def finish(self, outcome: str) -> None:
        """Show nothing."""
