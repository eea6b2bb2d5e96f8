"""A site compared with itself: its vectors, the nearest texts of each, and the ranking of links between its pages.

What the index has of the pages is neither embedded nor compared again.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from internal_linker.match.candidates import SERVED, language_codes
from internal_linker.match.compute.processes import Processes
from internal_linker.match.embed import Embedded, embed, encodable
from internal_linker.match.neighbours.incremental import digests
from internal_linker.match.neighbours.knn_join import Joined, join
from internal_linker.match.site_index import Guests
from internal_linker.model.arrays import Vectors
from internal_linker.model.ports import Encoder, Progress
from internal_linker.model.progress import Tracker
from internal_linker.model.records import ExistingLink, Page, Searched, Text, Usage
from internal_linker.model.sequences import counted
from internal_linker.project.pipeline.context import RunContext
from internal_linker.project.pipeline.run_input import RunInput
from internal_linker.project.pipeline.site_index import PageComparison, SiteIndex
from internal_linker.rank.adaptation import Adaptation
from internal_linker.rank.link_texts import without_link_texts
from internal_linker.rank.rank import Ranking
from internal_linker.rank.rules import LinkRules


def embed_site(
    run_input: RunInput, comparison: PageComparison | None, context: RunContext, progress: Progress
) -> tuple[Embedded, Sequence[str]]:
    """Return the vectors of all texts of a run, without those of pages that the index has.

    Args:
        comparison: what the index has of the pages; None: they are embedded.

    Returns:
        The vectors, and sentences on the pages that belong to the index.
    """
    texts, pages = run_input.texts(), run_input.collected.pages
    if comparison:
        guests, left_out = encodable(texts[len(pages) :], (), context.encoder)
        for note in filter(None, (*comparison.notes, left_out)):
            progress.warn(note)
        return embed_guests(
            texts[: len(pages)], [*guests], comparison, context=context, progress=progress
        ), ()
    known, notes = encodable_texts(texts, pages, context.encoder, progress)
    return embed(known, context.encoder, context.vector_cache, progress), notes


def encodable_texts(
    texts: Sequence[Text], pages: Sequence[Page], encoder: Encoder, progress: Progress
) -> tuple[Sequence[Text], list[str]]:
    """Return the texts, blank where the encoder does not know their language, and the notes on the pages alone.

    Args:
        texts: the text of every page, then those of other sources.
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
    comparison: PageComparison,
    *,
    context: RunContext,
    progress: Progress,
) -> Embedded:
    """Return the vectors of the guests alone, (g, d), and the hashes of the pages and of the guests.

    Args:
        pages: the texts of the pages, from which an encoder may learn.
        guests: the texts of the guests, blank if the encoder does not know their language.
    """
    encoder, count = context.encoder, comparison.texts
    progress.start("Embedding", 0, "texts")
    found = Embedded(np.zeros((0, 1), np.float32), 0, 0, 0, Usage(), ())
    if guests:
        learns = encoder.corpus_bound and encoder.pages is None
        some = [*pages, *guests] if learns else guests
        found = embed(some, encoder, context.vector_cache, Tracker(progress, notes_only=True))
    progress.finish(f"{counted(found.encoded, 'text')} embedded, {count} from the index")
    first = len(found.hashes) - len(guests)
    hashes = [*comparison.hashes, *found.hashes[first:]]
    return replace(found, vectors=found.vectors[first:], cached=found.cached + count, hashes=hashes)


def join_site(
    run_input: RunInput, embedded: Embedded, context: RunContext, progress: Progress
) -> Joined | None:
    """Compare all texts at once; of those that the last run compared, only what changed.

    Returns:
        The nearest texts; None if nothing can compare all at once, or there are no vectors.
    """
    vectors = embedded.vectors
    if context.compute is None or not vectors.any():
        return None
    pages = run_input.collected.pages
    names = [page.key for page in pages]
    own = ["\n".join(source.identity) for source in run_input.sources if source.page is None]
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


def rank_site(
    run_input: RunInput,
    searched: Searched,
    embedded: Embedded,
    rules: LinkRules,
    *,
    notes: Sequence[str],
    accepted: Sequence[ExistingLink] | None,
    index: SiteIndex,
    comparison: PageComparison | None,
    joined: Joined | None = None,
    workers: Processes | None = None,
) -> tuple[Ranking, Adaptation | None, str]:
    """Return the ranking of a run's sources, adapted to the site.

    Args:
        embedded: the vectors of the whole texts, without those of pages that are `stored`.
        notes: sentences on the pages that belong to the index.
        accepted: the links that editors accepted, from which the ranker learns as from the site's own; None: it does
            not learn, since only the topic counts for queries without a page.
        comparison: what the index has of the pages; None: they are compared, and kept in the index.
        joined: the nearest texts; None: each text is compared when a source needs it.

    Returns:
        The ranking; what the ranker gains from the site's own links, None where they are too few; and what the
        comparison of the pages was derived from, "" if the index doesn't keep it.
    """
    collected, nearest = run_input.collected, joined.nearest if joined else None
    # What is ranked are the texts of pages without those of their links, then those of sources without a page.
    texts, pages = without_link_texts(run_input.texts(), collected), len(collected.pages)
    what = collected, run_input.sources, run_input.targets, searched
    if comparison:
        ranking = comparison.ranking.resumed(*what, texts=texts[:pages], rules=rules, joined=nearest)
        state = comparison.state
        if comparison.hubness is not None:
            ranking.site.know(comparison.hubness)
    else:
        ranking = Ranking(
            *what,
            texts=texts[:pages],
            vectors=embedded.vectors[:pages],
            rules=rules,
            tokenized=index.tokenized(texts[:pages]),
            joined=nearest,
        )
        state = index.keep(ranking, collected, embedded, notes)
    if guests := texts[pages:]:
        own = embedded.vectors[len(embedded.vectors) - len(guests) :]
        ranking = ranking.with_guests(Guests.queries(guests, own))
    ranking.work(workers)
    if accepted is None:
        return ranking, None, state
    hashes = comparison.hashes if comparison else embedded.hashes[:pages]
    ranking, adaptation = index.adapted(ranking, collected.live_links, accepted, hashes=hashes, state=state)
    return ranking, adaptation, state
