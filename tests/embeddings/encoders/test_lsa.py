"""Latent semantic analysis: its vectors are those of scikit-learn, and it starts without that package."""

from collections.abc import Sequence

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from internal_linker.core.records import Text
from internal_linker.embeddings.encoders.lsa import LsaEncoder, tf_idf, truncated_svd
from internal_linker.text.words import words
from tests.support.sites import sample_pages
from tests.support.small_project import REPOSITORY, finish, start

TEXTS = [page["Main Content"] for page in sample_pages(40)]
FEW_WORDS = ["a b cc dd", "cc ee", "dd ee ff", "", "cc dd ee", "ff cc", "ee", "dd ff dd", "cc"]


@pytest.mark.parametrize("texts", [TEXTS, FEW_WORDS], ids=["more words than texts", "fewer words than texts"])
def test_vectors_are_those_of_scikit_learn(texts: Sequence[str]) -> None:
    """Weights and cosines are the same; words in too many texts are left out of both."""
    expected = TfidfVectorizer(analyzer=words, sublinear_tf=True, max_df=12, dtype=np.float32)
    theirs = expected.fit_transform(texts)
    ours = tf_idf(map(words, texts), 12)
    assert ours.dtype == np.float32 and np.allclose(ours.toarray(), theirs.toarray(), atol=1e-6)
    rank = min(30, min(ours.shape) - 1)
    reduced, wanted = truncated_svd(ours, rank), TruncatedSVD(rank, random_state=0).fit_transform(theirs)
    assert reduced.shape == wanted.shape and np.allclose(reduced @ reduced.T, wanted @ wanted.T, atol=1e-5)


@pytest.mark.parametrize("texts", [["", "! ?"], ["one"], ["same words", "same words"]])
def test_texts_that_say_too_little_have_vectors(texts: Sequence[str]) -> None:
    """Texts without words are zeros, and those without any difference are all equal."""
    (batch,) = LsaEncoder().encode([Text("", text) for text in texts])
    assert batch.vectors.shape == (len(texts), 1) and len(np.unique(batch.vectors)) == 1
    assert not list(LsaEncoder().encode([]))


def test_it_starts_without_scikit_learn() -> None:
    """Importing that package would take longer than all other imports of a run."""
    code = """
import sys
from internal_linker.core.records import Text
from internal_linker.embeddings.encoders.lsa import LsaEncoder
list(LsaEncoder().encode([Text("", "green tea"), Text("", "black tea"), Text("", "tea pots")]))
print([name for name in ("sklearn", "scipy.stats", "pandas") if name in sys.modules])
"""
    assert finish(start("-c", code, cwd=REPOSITORY))[1:] == ("[]\n", "")
