"""Latent semantic analysis: an encoder that learns from the texts themselves, the fallback if no model can run."""

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy.sparse import csr_array, vstack

from internal_linker.match.encoders import register_encoder
from internal_linker.model.arrays import Vectors
from internal_linker.model.records import EncodedBatch, Text, Usage

DIMENSIONS = 256
# Among a handful of texts, a share says nothing.
_FEW = 10
_WORD = re.compile(r"\b\w\w+\b")


class LsaEncoder:
    """TF-IDF reduced to `dimensions` by a truncated SVD; needs no model and works in any language.

    It learns from the texts of pages, those with a key; other texts, such as queries, get the vectors that follow. If
    no text has a key, it learns from all.

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
    facts = "word statistics (LSA), no model needed"

    def __init__(
        self, words: Callable[[str], Sequence[str]] | None = None, common: float = 1.0, kept: float = 1.0
    ) -> None:
        self._words, self._common, self._kept = words or _words, common, kept

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield one batch with all texts: (len, d) float32 unit vectors with d up to 256."""
        if texts:
            yield EncodedBatch(range(len(texts)), self._vectors(texts))

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Return a usage of zero: this computer does the work."""
        return Usage()

    def _vectors(self, texts: Sequence[Text]) -> Vectors:
        # Imported late: the package takes longer than all other imports of a run.
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        learned = np.array([bool(text.key) for text in texts], np.bool_)
        learned |= not learned.any()
        of, others = np.flatnonzero(learned), np.flatnonzero(~learned)
        most = max(_FEW, int(self._common * len(of)))
        weights = TfidfVectorizer(
            analyzer=self._words, sublinear_tf=True, max_df=most, norm=None, dtype=np.float32
        )
        try:
            terms = _unit(weights.fit_transform(texts[at].whole for at in of.tolist()))
        except ValueError:  # no text has a word that counts
            return np.zeros((len(texts), 1), np.float32)
        rank = min(DIMENSIONS, round(self._kept * len(of)), min(terms.shape) - 1)
        if rank < 1:
            return np.ones((len(texts), 1), np.float32)
        with np.errstate(invalid="ignore"):  # equal texts have no variance
            axes = TruncatedSVD(rank, random_state=0).fit(terms)
        if len(others):
            rest = _unit(weights.transform(texts[at].whole for at in others.tolist()))
            terms = vstack([terms, rest], "csr")[np.argsort(np.concatenate([of, others]))]
        vectors = axes.transform(terms)
        unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return unit.astype(np.float32)


register_encoder("lsa", "word statistics, no model", lambda request: LsaEncoder())


def _unit(weights: csr_array) -> csr_array:
    """Return rows of length 1, in float32; scikit-learn's own norm rounds otherwise, which would move every score."""
    terms = csr_array(weights)
    terms.sort_indices()
    rows = np.repeat(np.arange(terms.shape[0]), np.diff(terms.indptr))
    lengths = np.sqrt(np.bincount(rows, terms.data.astype(np.float64) ** 2, terms.shape[0]))
    terms.data /= lengths[rows].astype(np.float32)
    return terms


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(text.lower())
