"""A whole run's ranking -> what its owner should look at beside the links: near-duplicates."""

from internal_linker.ranking import Ranking
from internal_linker.records import Collected, Duplicate
from internal_linker.steps.duplicate import canonical_candidates
from internal_linker.steps.links import inlinks


def duplicates(ranking: Ranking, collected: Collected) -> list[Duplicate]:
    """The near-duplicates that ranking met, of which both may be linked to, in the order of the pages."""
    pairs = {
        rows: pair
        for rows, pair in ranking.near_duplicates.items()
        if all(ranking.pages[row].key in ranking.targets.known for row in rows)
    }
    return list(canonical_candidates(pairs, ranking.pages, inlinks(collected.links)))
