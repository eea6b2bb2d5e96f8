"""The vectors of a run's texts: those of pages that the index has are not computed again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from internal_linker.core.ports import Encoder, Progress
from internal_linker.core.progress import Tracker
from internal_linker.core.records import Page, Text, Usage
from internal_linker.core.sequences import counted
from internal_linker.embeddings.embed import Embedded, embed, encodable
from internal_linker.pipeline.context import RunContext
from internal_linker.pipeline.prepared import Stored
from internal_linker.pipeline.run_input import RunInput
from internal_linker.ranking.link_texts import without_link_texts


@dataclass(frozen=True)
class SiteVectors:
    """The texts of a run and their vectors.

    Attributes:
        texts: what is ranked: the text of every page without that of its links, then of every source without a page.
        embedded: the vectors of the whole texts, without those of pages that the index has.
        notes: sentences on the pages that belong to the index.
    """

    texts: Sequence[Text]
    embedded: Embedded
    notes: Sequence[str] = ()


def embed_site(
    given: RunInput, stored: Stored | None, context: RunContext, progress: Progress
) -> SiteVectors:
    """Return the vectors of all texts of a run.

    Args:
        given: the run's input.
        stored: what the index has of the pages; None: they are embedded.
        context: has the encoder and the cache.
        progress: the display of the step.
    """
    texts, pages, notes = given.texts(), given.collected.pages, list[str]()
    if stored:
        guests, left_out = encodable(texts[len(pages) :], (), context.encoder)
        for note in filter(None, (*stored.notes, left_out)):
            progress.warn(note)
        embedded = embed_guests(texts[: len(pages)], [*guests], stored, context=context, progress=progress)
    else:
        known, notes = encodable_texts(texts, pages, context.encoder, progress)
        embedded = embed(known, context.encoder, context.vector_cache, progress)
    return SiteVectors(without_link_texts(texts, given.collected), embedded, notes)


def encodable_texts(
    texts: Sequence[Text], pages: Sequence[Page], encoder: Encoder, progress: Progress
) -> tuple[Sequence[Text], list[str]]:
    """Return the texts, blank where the encoder does not know their language, and the notes on the pages alone.

    Args:
        texts: the text of every page, then those of other sources.
        pages: the pages.
        encoder: says which languages it knows.
        progress: takes a note on all texts that are left out.
    """
    languages = [page.lang for page in pages]
    known, left_out = encodable(texts, languages, encoder)
    if left_out:
        progress.warn(left_out)
        if len(texts) > len(languages):
            _, left_out = encodable(texts[: len(languages)], languages, encoder)
    return known, [left_out] if left_out else []


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
        found = embed(some, encoder, context.vector_cache, Tracker(progress, notes_only=True))
    progress.finish(f"{counted(found.encoded, 'text')} embedded, {count} from the index")
    first = len(found.hashes) - len(guests)
    hashes = [*stored.hashes, *found.hashes[first:]]
    return replace(found, vectors=found.vectors[first:], cached=found.cached + count, hashes=hashes)
