"""The sentence around a place, whole or cut to what fits a cell."""

import pytest

from internal_linker.text.sentences import around, sentences

WORDS = " ".join(f"w{number:03}" for number in range(400))  # 400 words of 4 letters, without a full stop


def test_a_sentence_is_shown_whole() -> None:
    text = "One is here. Two stands in the middle.  Three."
    at = text.index("stands")
    assert around(text, sentences(text), at, at + 6) == "Two stands in the middle."
    assert around(text, sentences(text), 0, 3) == "One is here."
    assert around(text, sentences(text), len(text) - 6, len(text)) == "Three."


@pytest.mark.parametrize("word", [0, 30, 200, 399])
def test_a_very_long_sentence_is_cut_between_words(word: int) -> None:
    """Up to 280 characters on each side of the place, and no half word."""
    start, end = 5 * word, 5 * word + 4
    shown = around(WORDS, [0], start, end)
    before = start - WORDS.index(shown)
    after = WORDS.index(shown) + len(shown) - end
    assert set(shown.split()) <= set(WORDS.split())
    assert min(start, 271) <= before <= 280 and min(len(WORDS) - end, 271) <= after <= 280


def test_a_very_long_word_is_cut_within() -> None:
    """Where there is no blank to cut at, 280 characters stay on each side."""
    text = "x" * 2000
    assert around(text, [0], 1000, 1004) == "x" * 564
