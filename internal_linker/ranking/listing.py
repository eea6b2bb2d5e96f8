"""A whole run's ranking -> what its owner should look at beside the links: near-duplicates and orphans."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from internal_linker.core.listed import Duplicate, Orphan
from internal_linker.core.records import Collected
from internal_linker.core.roles import takes_links
from internal_linker.ingest.existing_links import inlinks
from internal_linker.matching.near_duplicates import canonical_candidates
from internal_linker.ranking.rank import Ranking
from internal_linker.ranking.reverse_candidates import sources_near

# Sources named for an orphan: as many as a page has links by default, enough to choose from by hand.
SOURCES = 5


@dataclass(frozen=True, slots=True)
class Listed:
    """What a whole run tells of the site.

    Attributes:
        duplicates: pairs of nearly the same text.
        orphans: pages that nobody links to; None where no existing link is known.
    """

    duplicates: Sequence[Duplicate]
    orphans: Sequence[Orphan] | None


def list_site(ranking: Ranking, collected: Collected) -> Listed:
    """Both lists in the order of the pages; only pages that a link may lead to are in them."""
    linked = inlinks(collected.links)
    return Listed(_duplicates(ranking, linked), _orphans(ranking, linked) if collected.inner_links else None)


def _duplicates(ranking: Ranking, linked: Mapping[str, int]) -> list[Duplicate]:
    pairs = {
        rows: pair
        for rows, pair in ranking.site.near_duplicates.items()
        if all(ranking.site.pages[row].key in ranking.targets.known for row in rows)
    }
    return list(canonical_candidates(pairs, ranking.site.pages, linked))


def _orphans(ranking: Ranking, linked: Counter[str]) -> list[Orphan]:
    # An error or a copy is no place for a link, and a query is no page.
    editable = [at for at, source in enumerate(ranking.sources) if source.page and takes_links(source.page)]
    keys = [key for key in ranking.linkable if not linked[key]]
    near = dict(zip(keys, sources_near(ranking, keys, SOURCES, editable), strict=True))
    return [
        Orphan(page.url, tuple(ranking.sources[at].url for at in near.get(page.key, ())))
        for page in ranking.site.pages
        if page.key in ranking.targets.known and not linked[page.key]
    ]
