"""Whether search results should come first or be ranked with the similar pages: what the site's own data says."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from internal_linker.model.records import ExistingLink, Fusion, Searched, Source
from internal_linker.model.sequences import counted
from internal_linker.rank.metrics import fold, measure, paired
from internal_linker.rank.rank import Ranking

# Pages with known links and search results: fewer are left to chance, more make the run longer for the same answer.
LEAST_PAGES, MOST_PAGES = 30, 200
# The least gain in NDCG@5 of "blend": the texts still contain the anchors of the links that are looked for, which
# raises it by 0.05 to 0.11 on six development sites.
LEAST_GAIN = 0.1
# Search results and pages without which the texts say nothing: on a small site, ten results are a large part of it.
LEAST_RESULTS, LEAST_SITE = 50, 100
# The largest share of search results below `serp_floor` in a useful search: a search in titles has 0.12 to 0.28 on
# sites of 100 pages and more, and 0.26 to 0.47 if half of the queries are answered for others.
MOST_FAR = 1 / 3
# The name under which a run's facts have its evidence.
FUSION = "fusion"
_FUSIONS: tuple[Fusion, Fusion] = ("fill", "blend")


@dataclass(frozen=True, slots=True)
class FusionEvidence:
    """How a site's search results compare with its own ranking."""

    results: int = 0  # count of the search results; 0 on a small site
    far: int = 0  # count of those below `serp_floor`
    # count of the pages with known links on which both settings were compared; 0 if there were too few
    pages: int = 0
    # fill, blend: mean share of a page's known links among its first five, 0 to 1, as if none of them was known;
    # their anchors are still in the texts, so that of "blend" is an upper bound
    fill: float = 0.0
    blend: float = 0.0
    gain: float = 0.0  # NDCG@5 of "blend" less that of "fill" on these links
    # low, high: the 95% interval of `gain`
    low: float = 0.0
    high: float = 0.0

    @property
    def sentence(self) -> str:
        """The advice to set `fusion = "blend"`, with its figures; "" if nothing speaks for it.

        Known links decide where there are enough of them, else the texts of the search results.
        """
        if self.pages:
            if self.low <= 0 or self.gain < LEAST_GAIN:
                return ""
            return (
                f'set fusion = "blend": on {self.pages} pages whose links are known, it has up to {self.blend:.0%} of '
                f'these among the first five, and "fill" has {self.fill:.0%}'
            )
        if self.results < LEAST_RESULTS or self.far <= MOST_FAR * self.results:
            return ""
        return (
            f'set fusion = "blend": {self.far} of {counted(self.results, "search result")} are no closer to their page '
            "than its average target (serp_floor)"
        )

    def pack(self) -> dict[str, Any]:
        """Return the evidence as a JSON object."""
        return asdict(self)

    @classmethod
    def unpack(cls, kept: Mapping[str, Any]) -> "FusionEvidence":
        """Restore the result of `pack`; what another version stored counts as unknown."""
        names = {field.name for field in fields(cls)}
        return cls(**kept) if names == kept.keys() else cls()


def pages_to_compare(sources: Iterable[Source], links: Iterable[ExistingLink]) -> list[Source]:
    """Return up to `MOST_PAGES` pages with a query and known links to others, chosen by their hash."""
    linking = {link.source for link in links if link.source != link.target}
    found = {
        source.key: source for source in sources if source.page and source.query and source.key in linking
    }
    chosen = sorted(found, key=lambda key: (fold(f"searched {key}", 2**32), key))[:MOST_PAGES]
    return [found[key] for key in chosen]


def fusion_evidence(
    ranking: Ranking, pages: Sequence[Source], links: Iterable[ExistingLink], searched: Searched, results: int
) -> FusionEvidence:
    """Compare both settings of `fusion` on pages whose known links are hidden.

    Args:
        ranking: the run's ranking, which has computed its candidates.
        searched: the search results of these pages by position, including those that they link to.
        results: count of the search results that the ranking has ranked.
    """
    far, known = ranking.below_floor, ranking.targets.known
    if len(ranking.site.pages) < LEAST_SITE:
        results = far = 0
    truth = defaultdict[str, set[str]](set)
    for link in links:
        if link.target in known and link.source != link.target:
            truth[link.source].add(link.target)
    both = [(page, found) for at, page in enumerate(pages) if (found := searched.targets.get(at))]
    both = [(page, found) for page, found in both if page.key in truth]
    if len(both) < LEAST_PAGES:
        return FusionEvidence(results, far)
    sources = [page for page, _ in both]
    bare = ranking.with_links((), sources).searching(Searched(dict(enumerate(found for _, found in both))))
    wanted = {page.key: truth[page.key] for page in sources}
    fill, blend = (measure(wanted, _first(bare.with_fusion(fusion))) for fusion in _FUSIONS)
    gain = paired(blend, fill)
    return FusionEvidence(
        results, far, len(sources), fill.recall.mean, blend.recall.mean, gain.mean, gain.low, gain.high
    )


def _first(ranking: Ranking) -> dict[str, list[str]]:
    ranked = ranking.rank_sources(range(len(ranking.sources)))
    return {
        source.key: [one.key for one in candidates]
        for source, candidates in zip(ranking.sources, ranked, strict=True)
    }
