"""Counts of a site's words: which are verbs, and which never stand apart."""

import numpy as np
import pytest

from internal_linker.anchors.site_names import NameCounts
from internal_linker.anchors.site_words import SiteWords
from internal_linker.text.phrases import Reader, word_hash
from internal_linker.text.words import normalise


def counted(*texts: str, language: str = "en") -> SiteWords:
    """Return the counts of texts."""
    reader = Reader(normalise)
    return SiteWords.from_texts(reader.read(text, language) for text in texts)


@pytest.mark.parametrize(
    ("word", "text", "language", "verb"),
    [
        ("provides", "The shop provides a kettle and provides the tea.", "en", True),
        ("launched", "We launched it, it was launched in May.", "en", True),
        ("kettle", "The kettle is here, with a kettle we cook.", "en", False),
        ("launch", "The launch of it: we launch, after a launch.", "en", False),
        ("utiliza", "Ella utiliza el agua. Usted utiliza una taza.", "es", True),
        ("agua", "El agua de la casa y el agua fría.", "es", False),
        ("blau", "blau blau blau", "de", False),
    ],
)
def test_words_that_stand_as_verbs_do(word: str, text: str, language: str, verb: bool) -> None:
    words = counted(*[text] * 8, language=language)
    assert words.verbs(np.array([word_hash(word)], np.uint32)).tolist() == [verb]


def test_few_occurrences_make_no_verb() -> None:
    assert not counted("We launched it.").verbs(np.array([word_hash("launched")], np.uint32))[0]


def test_words_that_never_stand_apart_are_bound() -> None:
    words = counted(*["A blanket purchase is a purchase of tea."] * 5, "A wool blanket.")
    read = Reader(normalise).read("blanket purchase tea", "en").words
    with_next, with_previous = words.bound(read)
    assert with_next.tolist() == pytest.approx([5 / 6, 0])
    assert with_previous.tolist() == pytest.approx([5 / 10, 0])


TEXTS = [
    "The shop provides a kettle, and a kettle provides tea.",
    "",
    "We launched it: the tea!",
    "用Vue组件 to make the tea",
    "tea",
    "The tea kettle. Tea kettle; tea",
]

# How many of these texts have each name.
NAMES = {"tea kettle": 1, "kettle": 2, "tea": 5, "shop": 1}


def test_pages_counted_together_count_as_each_alone() -> None:
    reader = Reader(normalise)
    pages = [reader.read(text, "en") for text in TEXTS * 3]
    together, alone = SiteWords.from_texts(pages), [SiteWords.from_texts([page]) for page in pages]
    assert together.n == len(pages)
    for name in ("pages", "total", "verbal", "nominal", "together"):
        assert np.array_equal(getattr(together, name), sum(getattr(one, name) for one in alone)), name
    # Each text is there three times.
    names = {reader.stem_set(name, "en"): 3 * n for name, n in NAMES.items()}
    counts = NameCounts.from_texts((), names, pages)
    assert dict(zip(counts.known.tolist(), counts.pages.tolist(), strict=True)) == names
