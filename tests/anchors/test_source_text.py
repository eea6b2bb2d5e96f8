"""What a source's text tells of its words."""

import numpy as np
import pytest

from internal_linker.anchors.source_text import SourceText
from internal_linker.text.phrases import Reader
from internal_linker.text.words import normalise


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Node pool", True),
        ("Node pool.", False),
        ("How we brew green tea at home in summer", False),
        ("", False),
    ],
)
def test_words_in_short_lines_without_a_full_stop_are_known(text: str, short: bool) -> None:
    """They are often headings, cells or labels, even where nobody knows the page's markup."""
    content = f"We say it here.\n{text}\nAnd here is the end of it, at last."
    phrases = Reader(normalise).read(content, "en")
    source = SourceText(content, phrases, np.zeros(len(phrases.starts), np.bool_), phrases)
    first = len("We say it here.\n")
    inside = (phrases.starts >= first) & (phrases.ends <= first + len(text))
    assert source.in_short_line[inside].tolist() == [short] * int(inside.sum())
    assert not source.in_short_line[~inside].any()
