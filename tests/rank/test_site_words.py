"""What a site's words say for its ranking does not depend on how many texts are read at a time."""

import random

import numpy as np
import pytest

from internal_linker.match import tfidf
from internal_linker.match.tfidf import TermIndex, index_terms
from internal_linker.match.tokens import tokenize
from internal_linker.model.records import Collected, Text
from internal_linker.rank import site_words
from internal_linker.rank.site_words import SiteTerms
from tests.support.builders import page

_dice = random.Random(5)
TEXTS = [
    (" ".join(_dice.choices(("grinder", "milk", "frothing", "قهوه", "pots"), k=at % 4)),
     " ".join(_dice.choices([f"w{number}" for number in range(60)] + ["milk", "frothing", "pot"], k=at % 50)))
    for at in range(150)
]  # fmt: skip
TOKENS = tokenize([Text(title, body) for title, body in TEXTS]).tokens
PAGES = tuple(
    page(at, body, title=title, lang=("en", "fa")[at % 2]) for at, (title, body) in enumerate(TEXTS)
)


def read() -> tuple[SiteTerms, TermIndex]:
    return SiteTerms(Collected(PAGES, (), (), 0), TOKENS), index_terms(TOKENS)


def test_texts_may_be_read_in_any_number_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, terms = read()
    for module, name, value in (
        (site_words, "_AT_A_TIME", 70),
        (tfidf, "_AT_A_TIME", 90),
        (tfidf, "_TEXTS", 7),
    ):
        monkeypatch.setattr(module, name, value)
    found, other = read()
    every = np.arange(len(PAGES))
    named, others = (each.named.find_pages(every, each.named.owners(())) for each in (expected, found))
    assert named.rows.tolist() == others.rows.tolist() != []
    assert named.of.tolist() == others.of.tolist()
    for name in ("bm25", "queries", "contents", "titles", "content_pairs", "title_pairs"):
        assert getattr(expected.index, name).nnz
        assert not (getattr(expected.index, name) != getattr(found.index, name)).nnz, name
    assert terms.rows.nnz and not (terms.rows != other.rows).nnz
    for name in ("codes", "starts", "weights", "lengths", "terms", "columns"):
        np.testing.assert_array_equal(getattr(terms, name), getattr(other, name), name)
