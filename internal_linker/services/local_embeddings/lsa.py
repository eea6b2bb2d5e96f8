"""Texts -> vectors by latent semantic analysis of these texts alone: the fallback where no model can run."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from internal_linker.arrays import Vectors
from internal_linker.records import EncodedBatch, Text, Usage

DIMENSIONS = 256
# A word on more of the texts is furniture: without it NDCG@5 on 18f-blog is 0.384, with it 0.372. In a handful of
# texts a share says nothing.
_COMMON, _FEW = 0.3, 10
# Dimensions by the number of texts. As many as there are texts would be the words again, with cosines near 0; half as
# many find as many links (samples of 60, 120 and 250 pages of 18f-blog: NDCG@5 0.50, 0.56, 0.43 to 0.47, 0.55, 0.43).
_KEPT = 0.5


class LsaEncoder:
    """TF-IDF, cut down to `dimensions` by a truncated SVD; needs no model and knows any language.

    Args:
        words: gives a text's words in their order.
    """

    name = "local/lsa-256"
    model = "lsa"
    dimensions = DIMENSIONS
    recipe = "lsa/v2"
    corpus_bound = True
    languages: frozenset[str] = frozenset()
    pages = None

    def __init__(self, words: Callable[[str], Sequence[str]]) -> None:
        self._words = words

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield one batch: (len, up to 256) float32 unit vectors of all texts together."""
        if texts:
            yield EncodedBatch(range(len(texts)), _lsa(texts, self._words))

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Nothing: it is computed here."""
        return Usage()


def _lsa(texts: Sequence[Text], words: Callable[[str], Sequence[str]]) -> Vectors:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    common = max(_FEW, int(_COMMON * len(texts)))
    try:
        weigh = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, analyzer=words, max_df=common)
        terms = weigh.fit_transform(text.whole for text in texts)
    except ValueError:  # no text holds such a word
        return np.zeros((len(texts), 1), np.float32)
    rank = min(DIMENSIONS, round(_KEPT * len(texts)), min(terms.shape) - 1)
    if rank < 1:
        return np.ones((len(texts), 1), np.float32)
    vectors = TruncatedSVD(rank, random_state=0).fit_transform(terms).astype(np.float32)
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit
