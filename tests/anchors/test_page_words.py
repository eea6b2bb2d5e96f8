"""The words of pages, read once and kept for a later run."""

import pickle
from dataclasses import replace

import numpy as np

from internal_linker.anchors.page_words import PageWords
from internal_linker.model.records import Page
from internal_linker.text.phrases import Phrases, Reader
from internal_linker.text.words import normalise

PAGES = [
    Page("a", "https://a.example/a", content="Steep green tea for three minutes.\nNever boil it.", lang="en"),
    Page("b", "https://a.example/b", content="", lang="en"),
    Page("c", "https://a.example/c", content="お茶を三分間淹れる。沸騰させない", lang="ja"),
    Page("d", "https://a.example/d", content="یک فنجان چای سبز، بدون شکر \ud83c", lang="fa"),
]


class Counting(Reader):
    """A reader that counts what it reads."""

    texts = 0

    def read(self, text: str, language: str) -> Phrases:
        self.texts += 1
        return super().read(text, language)


def columns(text: Phrases) -> list[tuple[str, list[int]]]:
    parts = (text.starts, text.ends, text.segments, text.words, text.stems, text.owners)
    return [(str(each.dtype), each.tolist()) for each in parts]


def test_a_later_run_reads_only_what_changed() -> None:
    first = PageWords(Reader(normalise))
    for page in PAGES:
        first.read_page(page)
    known = pickle.loads(pickle.dumps(first.kept()))
    reader = Counting(normalise)
    later = PageWords(reader, known)
    now = [
        replace(PAGES[0], key="moved"),
        *PAGES[1:3],
        replace(PAGES[3], lang="ar"),
        replace(PAGES[1], key="e", content="New."),
    ]
    for _ in range(2):
        for page in now:
            expected = Reader(normalise).read(str(page.content), page.lang)
            assert columns(later.read_page(page)) == columns(expected)
    assert (reader.texts, later.new) == (2, 2)
    assert len(later.kept().digests) == len(now) and later.new == 0
    assert np.array_equal(
        later.read_page(now[0]).words, Reader(normalise).read(str(now[0].content), "en").words
    )
