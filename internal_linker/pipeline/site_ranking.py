"""The ranking of a site's links: what the index has of the pages is not compared again."""

from collections.abc import Sequence
from dataclasses import dataclass

from internal_linker.core.ports import Workers
from internal_linker.core.records import Collected, Searched, Source, Targets, Text
from internal_linker.embeddings.embed import Embedded
from internal_linker.matching.neighbours.knn_join import Joined
from internal_linker.matching.site_index import Guests
from internal_linker.pipeline.context import RunContext
from internal_linker.pipeline.prepared import Prepared, Stored
from internal_linker.pipeline.run_input import RunInput
from internal_linker.pipeline.site_vectors import SiteVectors
from internal_linker.ranking.adaptation import Adaptation
from internal_linker.ranking.rank import Ranking
from internal_linker.ranking.rules import LinkRules
from internal_linker.review.link_memory import Memory


@dataclass(frozen=True)
class SiteRanking:
    """The ranking of a run's sources.

    Attributes:
        ranking: ranks the sources, by the adapted ranker if there is one.
        adaptation: what the ranker gains from the site's own links; None where they are too few.
        state: what the comparison of the pages was derived from; "" if the index doesn't keep it.
    """

    ranking: Ranking
    adaptation: Adaptation | None
    state: str


def rank_site(
    given: RunInput,
    searched: Searched,
    vectors: SiteVectors,
    rules: LinkRules,
    *,
    context: RunContext,
    prepared: Prepared,
    stored: Stored | None,
    memory: Memory | None,
    joined: Joined | None = None,
    workers: Workers | None = None,
) -> SiteRanking:
    """Return the ranking of a run's sources, adapted to the site.

    Args:
        given: the run's input.
        searched: the search results of its sources.
        vectors: the texts of the pages and queries, with their vectors.
        rules: how links are chosen.
        context: the run's context.
        prepared: the index.
        stored: what it has of the pages; None: they are compared, and kept in the index.
        memory: has the links that editors accepted.
        joined: the nearest texts; None: each text is compared when a source needs it.
        workers: other processes that share the work on a large site.
    """
    collected, texts, embedded = given.collected, vectors.texts, vectors.embedded
    pages = len(collected.pages)
    ranking, state = rank_pages(
        collected,
        given.sources,
        given.targets,
        searched,
        texts=texts[:pages],
        embedded=embedded,
        notes=vectors.notes,
        rules=rules,
        prepared=prepared,
        stored=stored,
        joined=joined,
    )
    if guests := texts[pages:]:
        own = embedded.vectors[len(embedded.vectors) - len(guests) :]
        ranking = ranking.with_guests(Guests.queries(guests, own))
    ranking.work(workers)
    if not any(source.page for source in given.sources):
        # Only the topic counts for a query without a page.
        return SiteRanking(ranking, None, state)
    accepted = memory.decided.accepted_links() if memory else []
    hashes = stored.hashes if stored else embedded.hashes[:pages]
    ranking, adaptation = prepared.adapted(
        ranking, collected.live_links, accepted, hashes=hashes, state=state
    )
    if not context.sinks:
        ranking.site.forget()
    return SiteRanking(ranking, adaptation, state)


def rank_pages(
    collected: Collected,
    sources: Sequence[Source],
    targets: Targets,
    searched: Searched,
    *,
    texts: Sequence[Text],
    embedded: Embedded,
    notes: Sequence[str],
    rules: LinkRules,
    prepared: Prepared,
    stored: Stored | None,
    joined: Joined | None = None,
) -> tuple[Ranking, str]:
    """Return the ranking without guests and adaptation, and its state in the index; "" if it is not kept.

    Args:
        collected: the site.
        sources: the pages and queries to rank for.
        targets: where links may lead.
        searched: the search results of the sources.
        texts: the text of each page without that of its links.
        embedded: the vectors of the pages, and of guests after them; of guests alone if the pages are `stored`.
        notes: sentences on the pages that the index keeps.
        rules: how candidates are ranked.
        prepared: the index.
        stored: what it has of the pages; None: they are compared, and kept in the index.
        joined: the nearest texts; None: each text is compared when a source needs it.
    """
    nearest = joined.nearest if joined else None
    if stored:
        ranking = stored.resumed(
            collected, sources, targets, searched, texts=texts, rules=rules, joined=nearest
        )
        return ranking, stored.state
    ranking = Ranking(
        collected,
        sources,
        targets,
        searched,
        texts=texts,
        vectors=embedded.vectors[: len(texts)],
        rules=rules,
        tokenized=prepared.tokenized(texts),
        joined=nearest,
    )
    return ranking, prepared.keep(ranking, collected, embedded, notes)
