"""A page whose links need anchors: its text, the phrases found in it, and the wordings that it already uses."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from internal_linker.anchors.features import SourceFeatures
from internal_linker.anchors.paragraphs import Paragraphs
from internal_linker.anchors.rules import named_spans
from internal_linker.anchors.site_names import Owners
from internal_linker.anchors.source_text import SourceText
from internal_linker.core.arrays import Ints
from internal_linker.core.edges import Anchor
from internal_linker.core.records import fold_query
from internal_linker.text.sentences import around, sentences


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that may be an anchor, and the number of its sentence in the text."""

    anchor: Anchor
    sentence: int


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
