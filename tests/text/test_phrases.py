"""Splitting a text into words, stems and sentences for phrases."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.text.phrases import Reader, TargetPhrases
from internal_linker.text.sentences import paragraphs, sentences
from internal_linker.text.words import normalise


def words(text: str, language: str) -> list[str]:
    found = Reader(normalise).read(text, language)
    return [text[start:end] for start, end in zip(found.starts, found.ends, strict=True)]


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("en", "The page's e-mail: docs.example.com.", ["The", "page's", "e-mail", "docs.example.com"]),
        (
            "en",
            "Use <KeepAlive> or ref(), `props` too",
            ["Use", "<KeepAlive>", "or", "ref()", "`props`", "too"],
        ),
        ("fa", "برگ‌های چای", ["برگ‌های", "چای"]),
        ("zh", "用Vue组件", ["用", "Vue", "组", "件"]),
        ("ja", "コンポーネントを", ["コンポーネント", "を"]),
        ("th", "น้ำชา", ["น้", "ำ", "ช", "า"]),
        ("ko", "녹차를 마신다", ["녹차를", "마신다"]),
    ],
)
def test_words_are_whole_in_each_script(language: str, text: str, found: list[str]) -> None:
    """Compounds are one word, code names keep their symbols, and scripts without spaces give characters."""
    assert words(text, language) == found


@given(st.text(max_size=200), st.sampled_from(["en", "ar", "fa", "zh", ""]))
def test_any_text_can_be_read(text: str, language: str) -> None:
    """In any text words are in order and don't overlap, each has its stem, and segments ascend."""
    found = Reader(normalise).read(text, language)
    n = len(found.starts)
    assert len(found.ends) == len(found.segments) == len(found.words) == len(found.stops) == n
    assert (found.starts < found.ends).all() and (found.ends[:-1] <= found.starts[1:]).all()
    assert (np.diff(found.segments) >= 0).all() and (np.diff(found.owners) >= 0).all()
    assert len(found.owners) == len(found.stems) and len(found.pairs) == max(0, len(found.stems) - 1)


def test_sentences_end_where_a_reader_ends_them() -> None:
    """A sentence doesn't end after an initial or at a wrapped line; a Chinese one ends without a space."""
    text = 'The U.S. Web goes\non here. "Really?" Yes.\nA title\n\nthe end。好。再见'
    begins = [*sentences(text), len(text)]
    parts = [text[a:b].strip() for a, b in pairwise(begins)]
    assert parts == [
        "The U.S. Web goes\non here.",
        '"Really?"',
        "Yes.",
        "A title",
        "the end。",
        "好。",
        "再见",
    ]
    assert [text[at : at + 3] for at in paragraphs(text)] == ["The", "A t", "the"]


def test_what_is_wanted_comes_back_from_its_bytes() -> None:
    """Packing and unpacking returns the same arrays."""
    stems, pairs, names = (np.arange(count, dtype=np.uint32) for count in (3, 2, 4))
    weights = [np.arange(count, dtype=np.float32) / 7 for count in (3, 3, 2)]
    before = TargetPhrases(stems, weights[0], weights[1], pairs, weights[2], names)
    after = TargetPhrases.unpacked(before.packed())
    for name in TargetPhrases.__slots__:
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))
