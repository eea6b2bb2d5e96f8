"""A suggested wording only adds words to a sentence, and people see which."""

import pytest

from internal_linker.model.wordings import addition, bracketed


@pytest.mark.parametrize(
    ("sentence", "wording", "shown"),
    [
        ("It helps.", "It helps (see Water).", "It helps[ (see Water)]."),
        ("My tests passed.", "My end-to-end tests passed.", "My [end-to-end ]tests passed."),
        ("Tests passed.", "Test suite tests passed.", ""),
        ("test passed.", "test suite test passed.", "test [suite test ]passed."),
        ("我们使用功能。", "我们使用云功能。", "我们使用[云]功能。"),
        ("It helps.", "It helps you and me.", "It helps[ you and me]."),
        ("It helps.", "So it helps.", ""),
        ("It helps you.", "It helps.", ""),
        ("It helps.", "It helps.", ""),
        ("It helps you.", "It really helps only you.", ""),
    ],
)
def test_what_is_added_stands_in_brackets(sentence: str, wording: str, shown: str) -> None:
    """Whole words are added at one place; a wording that changes anything else, or nothing, is none."""
    assert bracketed(sentence, wording) == shown
    assert (addition(sentence, wording) is None) == (not shown)
