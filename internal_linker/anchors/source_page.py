"""A page whose links need anchors: its text and paragraphs, phrases in it, and the wordings that it already uses."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from internal_linker.anchors.comparison import SourceFeatures
from internal_linker.anchors.name_table import NameTable
from internal_linker.anchors.rules import named_spans
from internal_linker.anchors.site_names import Owners
from internal_linker.anchors.source_text import SourceText
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.edges import Anchor
from internal_linker.model.house_rules import LinkRule, Mode
from internal_linker.model.records import fold_query
from internal_linker.text.sentences import around, paragraphs, sentences

# Links in one sentence.
PER_SENTENCE = 3


class Parts:
    """The n paragraphs or sentences of a source's text, and where each of them begins."""

    def __init__(self, text: SourceText, begins: Sequence[int]) -> None:
        self._text, self.begins = text, begins

    def best(self, names: NameTable) -> Ints:
        """Return (t,) the number of the part that fits a link to each target best: much of its subject in few words."""
        distinct, _ = self._text.distinct
        weights = names.weighing(distinct, lambda target: target.subject)
        weights[names.stems_in(distinct)] = 1
        best: Ints = (self.sums(weights) / self.length).argmax(axis=1)
        return best

    def sums(self, weights: Vectors) -> Vectors:
        """Return (t, n) the summed (t, u) weights of each part's distinct stems, without those that a closed word has
        first.
        """
        within, stems = self._stems
        t, n = len(weights), len(self.begins)
        places = (within + n * np.arange(t)[:, None]).ravel()
        return np.bincount(places, weights[:, stems].ravel(), n * t).reshape(t, n).astype(np.float64)

    @cached_property
    def length(self) -> Vectors:
        """(n,) the root of each part's count of stems."""
        phrases = self._text.phrases
        length: Vectors = np.sqrt(1 + np.bincount(self.within[phrases.owners], minlength=len(self.begins)))
        return length

    @cached_property
    def within(self) -> Ints:
        """(words,) the number of the part of each word."""
        within: Ints = np.searchsorted(np.array(self.begins), self._text.phrases.starts, side="right") - 1
        return within

    @cached_property
    def _stems(self) -> tuple[Ints, Ints]:
        phrases = self._text.phrases
        within = self.within[phrases.owners]
        _, first = np.unique((within << 32) + phrases.stems, return_index=True)
        first = first[~self._text.closed[phrases.owners[first]]]
        return within[first], self._text.distinct[1][first]


@dataclass(frozen=True)
class SourcePage:
    """A source's plain main content, prepared for the search for anchors."""

    text: SourceText
    language: str  # its two-letter code; "" if it is unknown
    prepare: Callable[[SourceText], SourceFeatures]
    owners: Owners
    # the rules of the house for links from the page, with (start, end) of each occurrence of the phrase
    rules: Sequence[tuple[LinkRule, Sequence[tuple[int, int]]]] = ()

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
    def opening(self) -> int:
        """Where the first sentence of the body text ends; lines without a full stop, such as headings, are none."""
        phrases, body = self.text.phrases, ~(self.text.closed | self.text.in_short_line)
        after = bisect_right(self.sentences, int(phrases.starts[body.argmax()])) if body.any() else 0
        return self.sentences[after] if 0 < after < len(self.sentences) else 0

    @cached_property
    def paragraphs(self) -> Parts:
        """The text's paragraphs."""
        return Parts(self.text, paragraphs(self.text.text))

    @cached_property
    def sentence_parts(self) -> Parts:
        """The text's sentences."""
        return Parts(self.text, self.sentences)

    def anchor(self, start: int, end: int, quality: float) -> Anchor:
        """Return a part of the text as an anchor of this quality."""
        content, begins = self.text.text, self.sentences
        sentence = around(content, begins, start, end)
        return Anchor(content[start:end], sentence, start, quality=round(quality, 4))

    def ruled(self, mode: Mode, target: str, starts: Ints, ends: Ints) -> Bools:
        """Return (n,) which places of links to a page are phrases of rules of this mode."""
        spans = {
            span
            for rule, found in self.rules
            if rule.mode == mode and rule.target in ("", target)
            for span in found
        }
        return np.array(
            [span in spans for span in zip(starts.tolist(), ends.tolist(), strict=True)], np.bool_
        )

    def sentence(self, place: int) -> int:
        """Return the number of the sentence at a place of the text."""
        return bisect_right(self.sentences, place)


class UsedWordings:
    """The wordings, sentences and places that the anchors of one page already use.

    Attributes:
        texts: the wordings, with folded case.
        suggested: count of the sentences to which words are to be added.
    """

    def __init__(self) -> None:
        self.texts, self._sentences, self._places = set[str](), Counter[int](), list[tuple[int, int]]()
        self.suggested = 0

    def add(self, anchor: Anchor, source: SourcePage) -> None:
        """Note an anchor that the page has."""
        self.texts.add(fold_query(anchor.text))
        if anchor.verbatim or anchor.wording:
            self._sentences[source.sentence(anchor.start)] += 1
        self.suggested += bool(anchor.wording)
        if anchor.verbatim:
            self._places.append((anchor.start, anchor.start + len(anchor.text)))

    def is_free(self, sentence: int) -> bool:
        """Return whether a sentence has no anchor."""
        return not self._sentences[sentence]

    def take(self, anchors: Iterator[Anchor], count: int, source: SourcePage) -> list[Anchor]:
        """Return up to `count` of the anchors, in their order: each with its own wording, where there is room."""
        found: list[Anchor] = []
        while len(found) < count and (anchor := next(anchors, None)):
            if self.take_words(anchor.text, anchor.start, source.sentence(anchor.start)):
                found.append(anchor)
        return found

    def take_words(self, words: str, start: int, sentence: int) -> bool:
        """Use words in a sentence, if they are a new wording, it has few links, and no link has one of them."""
        text, end = fold_query(words), start + len(words)
        if text in self.texts or self._sentences[sentence] >= PER_SENTENCE:
            return False
        if any(first < end and start < last for first, last in self._places):
            return False
        self._places.append((start, end))
        self.texts.add(text)
        self._sentences[sentence] += 1
        return True
