"""Latent semantic analysis: an encoder that learns from the texts themselves, the fallback if no model can run."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from internal_linker.core.arrays import Vectors
from internal_linker.core.records import EncodedBatch, Text, Usage

DIMENSIONS = 256
# Among a handful of texts, a share says nothing.
_FEW = 10


class LsaEncoder:
    """TF-IDF reduced to `dimensions` by a truncated SVD; needs no model and works in any language.

    Args:
        words: returns a text's words in order; None: runs of at least two letters or digits.
        common: words in more than this share of the texts are ignored.
        kept: the maximum of dimensions, as a share of the count of texts.
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
        """Yield one batch with all texts: (len, d) float32 unit vectors with d up to 256."""
        if texts:
            yield EncodedBatch(range(len(texts)), self._vectors(texts))

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Return a usage of zero: this computer does the work."""
        return Usage()

    def _vectors(self, texts: Sequence[Text]) -> Vectors:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        n = len(texts)
        options = {"analyzer": self._words or "word", "max_df": max(_FEW, int(self._common * n))}
        try:
            weigh = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, **options)
            terms = weigh.fit_transform(text.whole for text in texts)
        except ValueError:  # no text has a word that counts
            return np.zeros((n, 1), np.float32)
        rank = min(DIMENSIONS, round(self._kept * n), min(terms.shape) - 1)
        if rank < 1:
            return np.ones((n, 1), np.float32)
        vectors = TruncatedSVD(rank, random_state=0).fit_transform(terms).astype(np.float32)
        unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return unit
