"""The join of a site: the nearest texts of each page and query, found for all of them at once."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from internal_linker.core.arrays import Vectors
from internal_linker.core.ports import Encoder, Progress
from internal_linker.embeddings.embed import Embedded
from internal_linker.matching.candidates import SERVED, language_codes
from internal_linker.matching.neighbours.incremental import digests
from internal_linker.matching.neighbours.knn_join import Joined, join
from internal_linker.pipeline.context import RunContext
from internal_linker.pipeline.run_input import RunInput


def join_site(given: RunInput, embedded: Embedded, context: RunContext, progress: Progress) -> Joined | None:
    """Compare all texts at once; of those that the last run compared, only what changed.

    Args:
        given: the run's input, with all rows.
        embedded: the vectors of all texts.
        context: has what compares them, and the store of the last result.
        progress: the display of the step.

    Returns:
        The nearest texts; None if nothing can compare all at once, or there are no vectors.
    """
    vectors = embedded.vectors
    if context.compute is None or not vectors.any():
        return None
    pages = given.collected.pages
    names = [page.key for page in pages]
    own = ["\n".join(source.identity) for source in given.sources if source.page is None]
    languages = [*(page.lang for page in pages), *([""] * len(own))]
    targets = np.any(vectors, axis=1)
    targets[len(names) :] = False
    return join(
        _join_name(context.encoder, names, vectors),
        vectors,
        digests([*names, *own], embedded.hashes, languages),
        language_codes(languages),
        targets,
        served=SERVED,
        store=None if context.encoder.corpus_bound else context.joins,
        compute=context.compute,
        progress=progress,
    )


def _join_name(encoder: Encoder, pages: Sequence[str], vectors: Vectors) -> str:
    """Name the join of these pages' vectors by model, recipe and host, since a team's sites may share a store."""
    hosts = Counter(page.partition("://")[2].partition("/")[0] for page in pages)
    host = max(sorted(hosts), key=hosts.__getitem__, default="")
    return f"{host} {encoder.model} {vectors.shape[1]} {encoder.recipe} {vectors.dtype}"
