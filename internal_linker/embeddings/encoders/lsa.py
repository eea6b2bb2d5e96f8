"""Latent semantic analysis: an encoder that learns from the texts themselves, the fallback if no model can run."""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from scipy.sparse import csr_array

from internal_linker.core.arrays import Bools, Vectors
from internal_linker.core.records import EncodedBatch, Text, Usage

DIMENSIONS = 256
# Among a handful of texts, a share says nothing.
_FEW = 10
_WORD = re.compile(r"\b\w\w+\b")
# Random vectors beyond the rank, and rounds of multiplication, of the singular value decomposition.
_MORE, _ROUNDS = 10, 5


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
        learned = np.array([bool(text.key) for text in texts], np.bool_)
        learned |= not learned.any()
        n = int(learned.sum())
        words = self._words or _words
        terms = tf_idf((words(text.whole) for text in texts), max(_FEW, int(self._common * n)), learned)
        if not terms.shape[1]:  # no text has a word that counts
            return np.zeros((len(texts), 1), np.float32)
        rank = min(DIMENSIONS, round(self._kept * n), min(n, terms.shape[1]) - 1)
        if rank < 1:
            return np.ones((len(texts), 1), np.float32)
        vectors = truncated_svd(terms, rank, learned)
        unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return unit


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(text.lower())


def tf_idf(texts: Iterable[Sequence[str]], most: int, learned: Bools | None = None) -> csr_array:
    """Return (n, w) float32 unit rows: 1 + ln of each word's count in each text, times the word's rarity.

    They are those of scikit-learn's `TfidfVectorizer(sublinear_tf=True, max_df=most)`, which takes a second to import.

    Args:
        texts: the words of each text.
        most: words in more texts are left out.
        learned: (n,) the texts by which words are counted; None: all. Words of no such text are left out.
    """
    numbers: dict[str, int] = {}
    columns, counts, ends = array("i"), array("i"), [0]
    for words in texts:
        found = Counter(words)
        columns.extend([numbers.setdefault(word, len(numbers)) for word in found])
        counts.extend(found.values())
        ends.append(len(columns))
    word_of, n = np.array(columns, np.int64), len(ends) - 1
    counts_of = np.ones(n, np.bool_) if learned is None else learned
    there = np.bincount(word_of[np.repeat(counts_of, np.diff(ends))], minlength=len(numbers))
    kept = sorted(word for word, number in numbers.items() if 0 < there[number] <= most)
    place = np.full(len(numbers), -1)
    place[[numbers[word] for word in kept]] = np.arange(len(kept))
    rarity = np.log(np.float32(1 + counts_of.sum()) / (1 + there.astype(np.float32))) + 1
    wanted = place[word_of] >= 0
    values = ((np.log(np.array(counts, np.float32)) + 1) * rarity[word_of])[wanted]
    starts = np.append(0, np.cumsum(wanted))[ends]
    rows = np.repeat(np.arange(n), np.diff(starts))
    lengths = np.sqrt(np.bincount(rows, values.astype(np.float64) ** 2, n))
    values /= lengths[rows].astype(np.float32)
    terms = csr_array((values, place[word_of[wanted]], starts), shape=(n, len(kept)))
    terms.sort_indices()
    return terms


def truncated_svd(terms: csr_array, rank: int, learned: Bools | None = None) -> Vectors:
    """Return (n, rank) the rows in the space of the largest singular values, found with random vectors.

    The space is that of the `learned` rows; None: of all.

    Halko, Martinsson and Tropp (2011), as in scikit-learn's `TruncatedSVD(rank, random_state=0)`.
    """
    from scipy import linalg

    of = terms if learned is None or learned.all() else terms[np.flatnonzero(learned)]
    wide = of.shape[0] < of.shape[1]
    matrix = of.T.tocsr() if wide else of
    basis = np.random.RandomState(0).normal(size=(matrix.shape[1], rank + _MORE)).astype(np.float32)
    for _ in range(_ROUNDS):
        basis, _ = linalg.lu(matrix @ basis, permute_l=True, check_finite=False)
        basis, _ = linalg.lu(matrix.T @ basis, permute_l=True, check_finite=False)
    basis, _ = linalg.qr(matrix @ basis, mode="economic", check_finite=False)
    left, _, right = linalg.svd((matrix.T @ basis).T, full_matrices=False)
    axes = (basis @ left)[:, :rank].T if wide else right[:rank]
    signs = np.sign(axes[np.arange(rank), np.abs(axes).argmax(axis=1)])
    vectors: Vectors = terms @ (axes * signs[:, None]).T
    return vectors.astype(np.float32)
