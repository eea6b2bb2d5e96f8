"""Texts -> vectors by latent semantic analysis of these texts alone: the fallback where no model can run."""

from collections.abc import Iterator, Sequence

import numpy as np

from internal_linker.arrays import Vectors
from internal_linker.records import EncodedBatch, Text, Usage

DIMENSIONS = 256


class LsaEncoder:
    """TF-IDF, cut down to `dimensions` by a truncated SVD; needs no model and knows any language."""

    name = "local/lsa-256"
    model = "lsa"
    dimensions = DIMENSIONS
    recipe = "lsa/v1"
    corpus_bound = True
    languages: frozenset[str] = frozenset()
    pages = None

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield one batch: (len, up to 256) float32 unit vectors of all texts together."""
        if texts:
            yield EncodedBatch(range(len(texts)), _lsa(texts))

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Nothing: it is computed here."""
        return Usage()


def _lsa(texts: Sequence[Text]) -> Vectors:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        terms = TfidfVectorizer(sublinear_tf=True, dtype=np.float32).fit_transform(
            text.whole for text in texts
        )
    except ValueError:  # no text holds a word of two letters
        return np.zeros((len(texts), 1), np.float32)
    rank = min(DIMENSIONS, min(terms.shape) - 1)
    if rank < 1:
        return np.ones((len(texts), 1), np.float32)
    vectors = TruncatedSVD(rank, random_state=0).fit_transform(terms).astype(np.float32)
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit
