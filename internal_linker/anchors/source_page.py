"""A page whose links need anchors: its text and paragraphs, phrases in it, and the wordings that it already uses."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from internal_linker.anchors.features import SourceFeatures
from internal_linker.anchors.name_table import NameTable
from internal_linker.anchors.rules import named_spans
from internal_linker.anchors.site_names import Owners
from internal_linker.anchors.source_text import SourceText
from internal_linker.core.arrays import Ints, Vectors
from internal_linker.core.edges import Anchor
from internal_linker.core.records import fold_query
from internal_linker.text.sentences import around, paragraphs, sentences


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that may be an anchor, and the number of its sentence in the text."""

    anchor: Anchor
    sentence: int


class Paragraphs:
    """The paragraphs of a source's text.

    Attributes:
        begins: where each paragraph begins.
    """

    def __init__(self, text: SourceText) -> None:
        self._text, self.begins = text, paragraphs(text.text)

    def best(self, names: NameTable) -> Ints:
        """Return (t,) the number of the paragraph that fits a link to each target best.

        It has much of the target's subject, in few words.
        """
        within, stems, length = self._stems
        distinct, _ = self._text.distinct
        weights = names.weighing(distinct, lambda target: target.subject)
        weights[names.stems_in(distinct)] = 1
        t, n = weights.shape[0], len(length)
        places = (within + n * np.arange(t)[:, None]).ravel()
        fits = np.bincount(places, weights[:, stems].ravel(), n * t).reshape(t, n) / length
        best: Ints = fits.argmax(axis=1)
        return best

    @cached_property
    def _stems(self) -> tuple[Ints, Ints, Vectors]:
        """(s,) the paragraph and the number of each distinct stem of a paragraph; (p,) each paragraph's length, a root.

        A stem that a closed word has first is left out.
        """
        phrases, begins = self._text.phrases, np.array(self.begins)
        within = (np.searchsorted(begins, phrases.starts, side="right") - 1)[phrases.owners]
        _, first = np.unique((within << 32) + phrases.stems, return_index=True)
        first = first[~self._text.closed[phrases.owners[first]]]
        length = np.sqrt(1 + np.bincount(within, minlength=len(begins)))
        return within[first], self._text.distinct[1][first], length


@dataclass(frozen=True)
class SourcePage:
    """A source's plain main content, prepared for the search for anchors."""

    text: SourceText
    prepare: Callable[[SourceText], SourceFeatures]
    owners: Owners

    @cached_property
    def features(self) -> SourceFeatures:
        """What the features of phrases take from the text."""
        return self.prepare(self.text)

    @cached_property
    def named_spans(self) -> tuple[Ints, Ints, Ints]:
        """The names in the text, see `named_spans`."""
        return named_spans(self.text, self.owners)

    @cached_property
    def sentences(self) -> list[int]:
        """Where the text's sentences begin."""
        return sentences(self.text.text)

    @cached_property
    def paragraphs(self) -> Paragraphs:
        """The text's paragraphs."""
        return Paragraphs(self.text)

    def phrase(self, start: int, end: int, quality: float) -> Phrase:
        """Return a part of the text as an anchor of this quality."""
        content, begins = self.text.text, self.sentences
        anchor = Anchor(
            content[start:end], around(content, begins, start, end), start, quality=round(quality, 4)
        )
        return Phrase(anchor, self.sentence(start))

    def sentence(self, place: int) -> int:
        """Return the number of the sentence at a place of the text."""
        return bisect_right(self.sentences, place)


class UsedWordings:
    """The wordings and sentences that the anchors of one page already use."""

    def __init__(self) -> None:
        self.texts, self._sentences = set[str](), set[int]()

    def add(self, anchor: Anchor, source: SourcePage) -> None:
        """Note an anchor that the page has."""
        self.texts.add(fold_query(anchor.text))
        if anchor.verbatim:
            self._sentences.add(source.sentence(anchor.start))

    def take(self, phrases: Iterator[Phrase], count: int) -> list[Anchor]:
        """Return up to `count` of the phrases, in their order: each with its own wording, in a sentence of its own."""
        found: list[Anchor] = []
        while len(found) < count and (phrase := next(phrases, None)):
            text = fold_query(phrase.anchor.text)
            if text not in self.texts and phrase.sentence not in self._sentences:
                self.texts.add(text)
                self._sentences.add(phrase.sentence)
                found.append(phrase.anchor)
        return found
