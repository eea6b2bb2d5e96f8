"""The names of a page, by which other pages may link to it, and the words that tell what it is about."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import islice

import numpy as np

from internal_linker.anchors.site_words import SiteWords
from internal_linker.model.arrays import Ints, Vectors
from internal_linker.model.records import Page, fold_query
from internal_linker.text.phrases import Hashes, Phrases, Reader, stem_set, word_pairs

# Anchors of known links that count as names, the most common first: rare ones are hardly names.
_KNOWN = 12
# The most telling stems of the content: some say what the page is about, many tell where its subject is touched.
_TOPIC, _SUBJECT = 12, 80
# Signs between the parts of a title, as in "Filters: grinding and brewing (guide)".
PARTS = re.compile(r"\s+[-–—·•»]\s+|\s*[|｜:：]\s*|[()（）,،、?？!！]")
_SLUG = re.compile(r"[\W_]+")
_ENDING = re.compile(r"\.(?:html?|md|mdx|php|aspx?)$")


class NameKind(IntEnum):
    """Where a name comes from."""

    TITLE = 0
    """The title, the H1, the main query, or a query by which people find the page."""
    PART = 1
    """A part of the title or H1."""
    SLUG = 2
    """The last part of the URL's path."""
    KNOWN = 3
    """The anchor of known links."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a page."""

    kind: NameKind  # where it comes from
    stems: Hashes  # its distinct stems, sorted
    pairs: Hashes  # hashes of each two consecutive stems
    words: Hashes  # hashes of all of its words, in order
    whole: int  # the hash of its stems, see `stem_set`
    weight: float  # the rarity of its stems in all
    links: int  # how many known links have it as their anchor
    leading: int  # how many function words it begins with
    trailing: int  # how many it ends with
    text: str  # the name with folded case and spaces


@dataclass(frozen=True)
class TargetNames:
    """What an anchor for a page can say."""

    names: Sequence[Name]  # the page's names, in the order of their kinds; none has no stems
    # weight of each of the content's most telling stems, sorted by stem, 0 to 1
    topic: tuple[Hashes, Vectors]
    subject: tuple[Hashes, Vectors]  # the same of more of them
    queries: Set[int] = frozenset()  # the hashes of the names that are only queries by which people find it

    @cached_property
    def name_word_pairs(self) -> Ints:
        """Each two consecutive words of a name that is not known from links only, sorted, see `word_pairs`."""
        pairs = [word_pairs(name.words) for name in self.names if name.kind is not NameKind.KNOWN]
        return np.unique(np.concatenate([np.empty(0, np.uint64), *pairs]))


def target_names(
    page: Page,
    content: Phrases,
    *,
    title: str,
    h1: str,
    query: str,
    queries: Sequence[str],
    known: Mapping[str, int],
    reader: Reader,
    words: SiteWords,
) -> TargetNames:
    """Return what an anchor for a page can say.

    Title and H1 are without the site's brand; the main query is "" without one, and `known` says how many links to the
    page have each anchor.
    """
    found: dict[tuple[bool, int], Name] = {}
    # Parts are often whole titles, and reading takes time.
    added = set[tuple[bool, str]]()

    def add(text: str, kind: NameKind, links: int = 0) -> None:
        if (kind is NameKind.KNOWN, text) in added:
            return
        added.add((kind is NameKind.KNOWN, text))
        phrases = reader.read(text, page.lang)
        if len(phrases.stems):
            name = _name(text, phrases, kind, links, words)
            found.setdefault((kind is NameKind.KNOWN, name.whole), name)

    for text in dict.fromkeys((title, h1, query)):
        add(text, NameKind.TITLE)
    others = len(found)
    for text in queries:
        add(text, NameKind.TITLE)
    of_queries = frozenset(whole for _, whole in islice(found, others, None))
    for text in dict.fromkeys((title, h1)):
        for part in PARTS.split(text):
            add(part, NameKind.PART)
    path = page.key.partition("://")[2].partition("/")[2].rstrip("/")
    add(_SLUG.sub(" ", _ENDING.sub("", path.rpartition("/")[2])), NameKind.SLUG)
    for text, count in sorted(known.items(), key=lambda one: (-one[1], one[0]))[:_KNOWN]:
        add(text, NameKind.KNOWN, count)
    telling = _telling(content, words)
    return TargetNames(
        tuple(found.values()),
        _first(telling, _TOPIC),
        _first(telling, _SUBJECT),
        of_queries,
    )


def _name(text: str, phrases: Phrases, kind: NameKind, links: int, words: SiteWords) -> Name:
    stems = np.unique(phrases.stems)
    whole, weight = stem_set(phrases.stems), float(words.rarity(stems).sum())
    trailing = len(phrases.words) - 1 - int(phrases.owners[-1])
    return Name(
        kind,
        stems,
        phrases.pairs,
        phrases.words,
        whole,
        weight,
        links=links,
        leading=int(phrases.owners[0]),
        trailing=trailing,
        text=fold_query(text),
    )


def _telling(content: Phrases, words: SiteWords) -> tuple[Hashes, Vectors]:
    """Return the stems of a content, the most telling first, with weights from 0 to 1."""
    stems, times = np.unique(content.stems, return_counts=True)
    weights = words.rarity(stems) * (1 + np.log(times))
    order = np.argsort(-weights, kind="stable")[:_SUBJECT]
    best: Vectors = (weights[order] / max(float(weights.max(initial=0)), 1e-9)).astype(np.float32)
    return stems[order], best


def _first(telling: tuple[Hashes, Vectors], count: int) -> tuple[Hashes, Vectors]:
    stems, weights = telling[0][:count], telling[1][:count]
    order: Ints = np.argsort(stems)
    return stems[order], weights[order]
