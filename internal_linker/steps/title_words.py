"""The words of titles -> weighted rows, so that the product of two is the cosine of their titles."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

# A word in more of the titles is furniture; in a handful of titles a share says nothing.
_COMMON, _FEW = 0.3, 10


def title_words(titles: Sequence[Sequence[str]]) -> sparse.csr_matrix:
    """(n, v) float32 rows of TF-IDF, of unit length; zeros where a title has no word that tells anything."""
    common = max(_FEW, int(_COMMON * len(titles)))
    try:
        weigh = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, analyzer=list, max_df=common)
        return weigh.fit_transform(titles)
    except ValueError:  # there is no such word
        return sparse.csr_matrix((len(titles), 1), dtype=np.float32)
