"""The words that two titles have in common."""

import pytest

from internal_linker.rank.shared_titles import SharedTitles, common_words
from internal_linker.text.words import words

OTHERS = [f"Notes on tea number {number}" for number in range(97)]


@pytest.mark.parametrize(
    ("ours", "theirs", "shared"),
    [
        ("Modular contracting for teams", "The guide to Modular Contracting", "Modular Contracting"),
        ("What is a state of the art?", "The State of the Art, explained", "State of the Art"),
        ("How to write", "How to read", ""),
        ("Green tea", "Black tea", ""),
        ("People use tea", "How to use it", ""),
        ("The API of milk", "API docs", "API"),
        ("Milk, and green cups", "Cups of milk", "Cups"),
        ("Oat-milk drinks", "Drinks with oat_milk", "oat_milk"),
        ("قوانین اولویت", "همه قوانین اولویت", "قوانین اولویت"),
        ("东京咖啡馆", "东京的咖啡馆", ""),
        ("", "Anything", ""),
    ],
)
def test_the_longest_phrase_of_telling_words_is_found(ours: str, theirs: str, shared: str) -> None:
    titles = [*OTHERS, theirs, ours, "More"]
    assert (
        SharedTitles(titles, [""] * len(titles), common_words(titles)).shared(words(ours), len(OTHERS))
        == shared
    )


def test_a_word_is_a_stop_word_in_its_own_language() -> None:
    titles = ["unter Wasser", "unter Tage", "unter uns"]
    assert SharedTitles(titles, ["de"] * 3, common_words(titles)).shared(words(titles[0]), 1) == ""
    assert SharedTitles(titles, ["en"] * 3, common_words(titles)).shared(words(titles[0]), 1) == "unter"
