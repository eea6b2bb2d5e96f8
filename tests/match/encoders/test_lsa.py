"""Latent semantic analysis: its cosines are those of scikit-learn's TF-IDF and SVD, learned from the pages alone."""

import warnings
from collections.abc import Sequence

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from internal_linker.match.encoders.lsa import LsaEncoder
from internal_linker.model.arrays import Vectors
from internal_linker.model.records import Text
from internal_linker.text.words import words
from tests.support.sites import sample_pages

PAGES = [Text("", page["Main Content"], f"page {at}") for at, page in enumerate(sample_pages(40))]


def vectors(texts: Sequence[Text], encoder: LsaEncoder) -> Vectors:
    (batch,) = encoder.encode(texts)
    assert list(batch.positions) == list(range(len(texts))) and batch.vectors.dtype == np.float32
    return batch.vectors


def test_cosines_are_those_of_scikit_learn_wherever_queries_stand() -> None:
    encoder = LsaEncoder(words, common=0.3, kept=0.5)
    expected = TfidfVectorizer(analyzer=words, sublinear_tf=True, max_df=12, dtype=np.float32)
    wanted = normalize(
        TruncatedSVD(20, random_state=0).fit_transform(expected.fit_transform(t.body for t in PAGES))
    )
    ours = vectors(PAGES, encoder)
    assert ours.shape == (40, 20) and np.allclose(ours @ ours.T, wanted @ wanted.T, atol=1e-4)
    beside = vectors([Text("", "milk"), *PAGES, Text("", "zzz")], encoder)
    assert np.array_equal(beside[1:-1], ours)
    assert np.linalg.norm(beside[0]) == pytest.approx(1, abs=1e-6) and not beside[-1].any()


@pytest.mark.parametrize(
    ("texts", "value"), [(["", "! ?"], 0), (["one"], 1), (["same words", "same words"], 1)]
)
def test_texts_that_say_too_little_have_vectors(texts: Sequence[str], value: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = vectors([Text("", text) for text in texts], LsaEncoder())
    assert found.shape == (len(texts), 1) and np.allclose(np.abs(found), value)
    assert not list(LsaEncoder().encode([]))
