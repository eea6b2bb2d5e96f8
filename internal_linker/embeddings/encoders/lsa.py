"""Texts -> vectors by latent semantic analysis of these texts alone: the fallback where no model can run."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from internal_linker.core.arrays import Vectors
from internal_linker.core.records import EncodedBatch, Text, Usage

DIMENSIONS = 256
# In a handful of texts a share says nothing.
_FEW = 10


class LsaEncoder:
    """TF-IDF, cut down to `dimensions` by a truncated SVD; needs no model and knows any language.

    Args:
        words: gives a text's words in their order; None: runs of two letters or digits and more.
        common: a word on more than this share of the texts counts for nothing.
        kept: dimensions at the most, as a share of the number of texts.
    """

    name = "local/lsa-256"
    model = "lsa"
    dimensions = DIMENSIONS
    recipe = "lsa/v1"
    corpus_bound = True
    languages: frozenset[str] = frozenset()
    pages = None

    def __init__(
        self, words: Callable[[str], Sequence[str]] | None = None, common: float = 1.0, kept: float = 1.0
    ) -> None:
        self._words, self._common, self._kept = words, common, kept

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield one batch: (len, up to 256) float32 unit vectors of all texts together."""
        if texts:
            yield EncodedBatch(range(len(texts)), self._vectors(texts))

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Nothing: it is computed here."""
        return Usage()

    def _vectors(self, texts: Sequence[Text]) -> Vectors:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        n = len(texts)
        given = {"analyzer": self._words or "word", "max_df": max(_FEW, int(self._common * n))}
        try:
            weigh = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, **given)
            terms = weigh.fit_transform(text.whole for text in texts)
        except ValueError:  # no text holds such a word
            return np.zeros((n, 1), np.float32)
        rank = min(DIMENSIONS, round(self._kept * n), min(terms.shape) - 1)
        if rank < 1:
            return np.ones((n, 1), np.float32)
        vectors = TruncatedSVD(rank, random_state=0).fit_transform(terms).astype(np.float32)
        unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return unit
