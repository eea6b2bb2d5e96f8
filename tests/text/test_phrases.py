"""Splitting a text into words, stems and sentences for phrases."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.text import phrases
from internal_linker.text.phrases import Reader, is_among, stem_set
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
        ("zh", "用Vue组件", ["用", "Vue", "组件"]),
        ("ja", "純粋なコンポーネントを", ["純粋", "な", "コンポーネント", "を"]),
        ("th", "ชื่อผู้เขียน", ["ชื่อ", "ผู้", "เขียน"]),
        ("ko", "녹차를 마신다", ["녹차를", "마신다"]),
    ],
)
def test_words_are_whole_in_each_script(language: str, text: str, found: list[str]) -> None:
    assert words(text, language) == found


@given(st.text(max_size=200), st.sampled_from(["en", "ar", "fa", "zh", ""]))
def test_any_text_can_be_read(text: str, language: str) -> None:
    found = Reader(normalise).read(text, language)
    n = len(found.starts)
    assert len(found.ends) == len(found.segments) == len(found.words) == len(found.stops) == n
    assert (found.starts < found.ends).all() and (found.ends[:-1] <= found.starts[1:]).all()
    assert (np.diff(found.segments) >= 0).all() and (np.diff(found.owners) >= 0).all()
    assert len(found.owners) == len(found.stems) and len(found.pairs) == max(0, len(found.stems) - 1)


@pytest.mark.parametrize(
    ("language", "text", "segments"),
    [
        ("en", "Green tea, black tea\nwhite tea", [0, 0, 1, 1, 1, 1]),
        ("en", "Black tea\nWhite  tea (iced) now", [0, 0, 1, 1, 2, 3]),
        ("zh", "用Vue组件。好", [0, 0, 0, 1]),
    ],
)
def test_a_phrase_breaks_at_signs_and_new_lines(language: str, text: str, segments: list[int]) -> None:
    assert Reader(normalise).read(text, language).segments.tolist() == segments


@pytest.mark.parametrize(
    ("language", "text", "stops"),
    [
        ("en", "I am a tea x", [True, True, True, False, True]),
        ("en", "the on-off switch of up-to-date tea", [True, True, False, True, False, False]),
        ("ja", "お茶を飲む コーヒー", [False, True, False, False]),
        ("zh", "为了行为一致的组件", [True, False, False, True, False]),
    ],
)
def test_function_words_and_single_letters_have_no_stem(language: str, text: str, stops: list[bool]) -> None:
    """Nor do Japanese endings; of a compound the parts that say something have one each."""
    found = Reader(normalise).read(text, language)
    assert found.stops.tolist() == stops
    assert set(found.owners.tolist()) == {at for at, stop in enumerate(stops) if not stop}


def test_words_that_are_divided_differently_share_their_stems() -> None:
    reader = Reader(normalise)
    whole, parts = reader.read("单文件组件", "zh"), reader.read("单 文 件 组 件", "zh")
    assert len(whole.starts) < len(parts.starts) and whole.stems.tolist() == parts.stems.tolist()
    assert (
        reader.read("レンダーの使い方", "ja").stems.tolist()
        == reader.read("レンダー 使 方", "ja").stems.tolist()
    )


def test_a_reader_can_go_to_another_process() -> None:
    """What it learned stays here; it reads the same there."""
    reader = Reader(normalise)
    here = reader.read("Green teas", "en")
    there = pickle.loads(pickle.dumps(reader)).read("green TEA", "en")
    assert here.stems.tolist() == there.stems.tolist() and len(there.stems) == 2


@given(
    st.text(st.sampled_from("abAB .,'-’_()<>`$@/1 \u200c组件のใทé\n\U0001f375"), max_size=30),
    st.sampled_from(["en", "ja", ""]),
)
def test_the_stems_of_a_name_are_those_of_its_words(text: str, language: str) -> None:
    reader = Reader(normalise)
    assert reader.stems(text, language).tolist() == reader.read(text, language).stems.tolist()


def test_a_name_is_the_set_of_its_stems_in_its_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that comes again has the same set of stems; other names and languages have their own."""
    reader = Reader(normalise)
    names = [("Green teas", "en"), ("teas, green", "en"), ("Green teas", "de"), ("Green pots", "en")]
    expected = [stem_set(reader.read(*each).stems) for each in names]
    assert [reader.stem_set(*each) for each in names * 2] == expected * 2
    assert expected[0] == expected[1] and len(set(expected)) == 3
    monkeypatch.setattr(phrases, "_MOST_KNOWN", 2)
    assert [reader.stem_set(*each) for each in names * 2] == expected * 2


def test_what_is_looked_for_is_found_in_a_sorted_array() -> None:
    """With its place; nothing is in an empty one."""
    places, there = is_among(np.array([1, 5, 9], np.uint32), np.array([1, 3, 5], np.uint32))
    assert (places[there].tolist(), there.tolist()) == ([0, 2], [True, True, False])
    places, there = is_among(np.array([1, 5], np.uint32), np.array([], np.uint32))
    assert (places.tolist(), there.tolist()) == ([0, 0], [False, False])


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
