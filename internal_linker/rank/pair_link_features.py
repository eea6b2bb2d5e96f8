"""Features of pairs of pages from known links: what similar pages link to, common links, shared neighbours."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from internal_linker.match.candidates import Matches
from internal_linker.match.row_products import row_products
from internal_linker.model.arrays import Ints, Vectors, is_in, ranks
from internal_linker.rank.link_features import Counted, LinkGraph, with_empty_rows

# Unknown for a target without known links to it, which may be new: that says nothing about how well it fits.
TARGET_LINK_FEATURES = (
    "votes",
    "best inlinker",
    "cocited",
    "cocited cosine",
    "two steps",
    "adamic-adar",
    "inlinks",
)
# Unknown for a source without known links in its text.
SOURCE_LINK_FEATURES = ("linked similarity", "best linked", "coupling")
LINK_FEATURES = (*SOURCE_LINK_FEATURES, "links back", *TARGET_LINK_FEATURES)


@dataclass(frozen=True, slots=True)
class SimilarPagesLinks:
    """What the pages that are similar to some texts link to."""

    votes: Counted  # weighted share, 0 to 1, of the most similar pages that link to a page
    best: Counted  # highest cosine of the words of a text and of a similar page that links to a page

    @classmethod
    def from_graph(cls, graph: LinkGraph, near: Matches, voters: int) -> "SimilarPagesLinks":
        """Find them; `near` has the similar pages of each text, best first, and the first `voters` of them vote."""
        first = near.at(ranks(near.of) < voters)
        shares = near.at(near.lexical > 0)
        return cls(
            graph.votes(first.pairs, np.fmax(first.score, 0)),
            graph.best_linking(shares.pairs, shares.lexical),
        )


class PairLinkFeatures:
    """Computes the features of pairs from known links; 40 bytes a link."""

    def __init__(self, graph: LinkGraph, n: int) -> None:
        links = graph.pairs
        ones = np.ones(len(links.of), np.float32)
        self._graph = graph
        self._out = sparse.csr_matrix((ones, (links.of, links.rows)), shape=(n, n))
        self._into = self._out.T.tocsr()
        self._inlinks = np.diff(self._into.indptr)
        self._outlinks = np.diff(self._out.indptr)
        around = (self._out + self._into).tocsr()
        around.data[:] = 1
        self._around = around
        # Adamic-Adar: a neighbour with many links says little. Below 2 links, it is nobody's common neighbour.
        rarity = (1 / np.log(np.maximum(self._inlinks + self._outlinks, 2) + 1e-3)).astype(np.float32)
        self._rarity = sparse.csr_matrix(
            (rarity[around.indices], around.indices, around.indptr), shape=(n, n)
        )

    def with_guests(self, graph: LinkGraph, count: int) -> "PairLinkFeatures":
        """Return the features of the same pages, and of so many texts more, which have no links in `graph`."""
        other = copy(self)
        other._graph = graph
        for name in ("_out", "_into", "_around", "_rarity"):
            setattr(other, name, with_empty_rows(getattr(self, name), count))
        none = np.zeros(count, self._inlinks.dtype)
        other._inlinks, other._outlinks = np.append(self._inlinks, none), np.append(self._outlinks, none)
        return other

    def compute_features(
        self, texts: Ints, matches: Matches, linked: Sequence[Sequence[Vectors]], similar: SimilarPagesLinks
    ) -> Mapping[str, Vectors]:
        """Return (m,) float32 values of `LINK_FEATURES`; NaN where unknown. See `PairFeatures.compute_features`.

        `linked` has the cosines of each source's candidates with each page that it links to.
        """
        of, others, pairs, n = matches.of, matches.rows, matches.pairs, len(self._inlinks)
        own = texts[of]
        cocited, two_steps = row_products([self._into, self._out], texts, self._into, pairs)
        (coupled,) = row_products([self._out], texts, self._out, pairs)
        (common,) = row_products([self._rarity], texts, self._around, pairs)
        inlinks, outlinks = self._inlinks, self._outlinks
        starts = np.searchsorted(of, np.arange(len(texts) + 1))
        values = (
            _of_linked(linked, starts, np.mean),
            _of_linked(linked, starts, np.max),
            coupled / np.sqrt(np.maximum(outlinks[own], 1) * np.maximum(outlinks[others], 1)),
            is_in(pairs.keys(n), self._graph.sources(texts).keys(n)),
            similar.votes.look_up(pairs),
            similar.best.look_up(pairs),
            np.log1p(cocited),
            cocited / np.sqrt(np.maximum(inlinks[own], 1) * np.maximum(inlinks[others], 1)),
            two_steps / np.maximum(outlinks[own], 1),
            common,
            np.log1p(inlinks[others]),
        )
        found = {name: value.astype(np.float32) for name, value in zip(LINK_FEATURES, values, strict=True)}
        unknown = {
            TARGET_LINK_FEATURES: inlinks[others] == 0,
            SOURCE_LINK_FEATURES: outlinks[own] == 0,
            ("links back",): np.full(len(of), not len(self._out.data)),
        }
        for names, where in unknown.items():
            for name in names:
                found[name][where] = np.nan
        return found


def _of_linked(linked: Sequence[Sequence[Vectors]], starts: Ints, of: Callable[..., Vectors]) -> Vectors:
    """Return (m,) the mean or highest cosine of each candidate with its source's linked pages; 0 without any."""
    found = np.zeros(starts[-1])
    for start, end, cosines in zip(starts, starts[1:], linked, strict=False):
        if len(cosines):
            found[start:end] = of(np.stack(cosines), axis=0)
    return found
