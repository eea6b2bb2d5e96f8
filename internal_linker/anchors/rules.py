"""Rules that every anchor obeys, whatever the model thinks of it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.anchors.features import Candidates
from internal_linker.anchors.source_text import LONGEST_PHRASE, SourceText
from internal_linker.anchors.target_names import Kind, TargetNames
from internal_linker.core.arrays import Bools, Ints
from internal_linker.core.records import fold_query
from internal_linker.text.phrases import Hashes, is_among

# The least share of links with one anchor that lead to one page for which the anchor is that page's name. One link
# proves nothing.
_MOSTLY, _FEW = 0.6, 2
# The rarity from which a title of one word means its page wherever it stands: on one page in twenty ("kanban"). A word
# of more pages ("contact") mostly means something else.
_TELLING = 3.0


@dataclass(frozen=True, slots=True)
class Owners:
    """Which names belong to which page of the site.

    Attributes:
        sets: (k,) uint64, sorted: the sets of stems of the names.
        pages: (k,) the number of each name's page; -1: several pages have it.
        numbers: the number of each page, by its key.
    """

    sets: Ints
    pages: Ints
    numbers: Mapping[str, int]

    @classmethod
    def of(cls, titles: Iterable[tuple[int, str]], anchors: Iterable[tuple[int, str]]) -> "Owners":
        """Find the owners of names.

        Args:
            titles: sets of stems of titles and the like, each with the key of its page.
            anchors: sets of stems of known links, each with the key of the link's target.
        """
        numbers: dict[str, int] = {}
        owners: dict[int, int] = {}
        for name, key in titles:
            page = numbers.setdefault(key, len(numbers))
            owners[name] = page if owners.get(name, page) == page else -1
        links: dict[int, Counter[int]] = {}
        for name, key in anchors:
            links.setdefault(name, Counter())[numbers.setdefault(key, len(numbers))] += 1
        for name, pages in links.items():
            ((page, count),) = pages.most_common(1)
            if name not in owners and count >= max(_FEW, _MOSTLY * pages.total()):
                owners[name] = page
        sets = np.array(sorted(owners), np.uint64)
        return cls(sets, np.array([owners[name] for name in sets.tolist()], np.int64), numbers)

    def foreign(self, sets: Ints, key: str) -> Bools:
        """Return (n,) whether each set of stems is the name of a page other than this one, and not of several."""
        if not len(self.sets):
            return np.zeros(len(sets), np.bool_)
        at = np.minimum(np.searchsorted(self.sets, sets), len(self.sets) - 1)
        pages = np.where(self.sets[at] == sets, self.pages[at], -1)
        foreign: Bools = (pages >= 0) & (pages != self.numbers.get(key, -1))
        return foreign


def allowed(
    source: SourceText,
    target: TargetNames,
    found: Candidates,
    *,
    key: str,
    owners: Owners,
    site_name: Hashes,
    brands: Sequence[Hashes],
) -> Bools:
    """Return (n,) which phrases may be anchors for a target.

    An anchor has a word of the target's names, one to five words, and more than the site's name. A whole name may have
    up to eight words and signs of code, a proper name up to eight words. No anchor is the name of another page, or a
    line of its own.

    Args:
        source: the source's text.
        target: the names of the target.
        found: the phrases.
        key: the target's key.
        owners: which page each name of the site belongs to.
        site_name: sorted stems of the site's name and brands.
        brands: the stems of each brand; only an anchor for a page that is named after it has a brand.
    """
    length = found.last - found.first + 1
    is_name = _is_one_of(found.sets, [name.whole for name in target.names])
    ok = found.named & (is_name | (length <= LONGEST_PHRASE) | source.is_proper(found.first, found.last))
    stems = source.phrases.stems
    begin, end = source.stem_at[found.first], source.stem_at[found.last + 1]
    own = np.append(0, np.cumsum(~is_among(stems, site_name)[1]))
    ok &= own[end] > own[begin]
    ok &= _is_literal(source, target, found) | ~source.has_code(found.first, found.last)
    ok &= ~source.is_line(found.first, found.last)
    for brand in brands:
        if not any(np.isin(brand, name.stems).all() for name in target.names if name.kind is not Kind.KNOWN):
            ok &= ~_has_all(stems, brand, begin, end)
    return ok & ~owners.foreign(found.sets, key)


def natural(source: SourceText, target: TargetNames, found: Candidates) -> Bools:
    """Return (n,) which phrases are natural anchors for a target; editors rejected four of five others.

    The target's names or content have all words, but for the last one where a phrase ends. Only a whole name has
    function words other than those that join nouns, or ends where a proper name goes on; no name of the target goes on
    beside it. One word is enough if it is a telling title, or the anchor of several known links.
    """
    first, last = found.first, found.last
    is_name = _is_one_of(found.sets, [name.whole for name in target.names])
    whole = is_name | ~(source.has_clause(first, last) | source.cuts_name(first, last))
    alone = _may_stand_alone(source, target, found) & ~source.cuts_name(first, last)
    enough: Bools = (last > first) | alone
    return found.whole & whole & enough & ~_goes_on(source, target, first, last)


def _goes_on(source: SourceText, target: TargetNames, first: Ints, last: Ints) -> Bools:
    """Return (n,) whether the word before or after each phrase continues one of the target's names.

    Function words do so with a capital only: "Every Kid in a Park" is cut without its first word, "the Hub" is not.
    """
    begins, ends = source.pieces
    _, joined = is_among(source.word_pairs, target.name_word_pairs)
    counts = ~source.phrases.stops | source.capital
    before = np.append(False, joined) & ~begins & np.append(False, counts[:-1])
    after = np.append(joined, False) & ~ends & np.append(counts[1:], False)
    cut: Bools = before[first] | after[last]
    return cut


def _is_literal(source: SourceText, target: TargetNames, found: Candidates) -> Bools:
    """Return (n,) whether each phrase is a name of the target, sign by sign."""
    literal = np.zeros(len(found.sets), np.bool_)
    starts, ends = source.phrases.starts, source.phrases.ends
    for name in target.names:
        for at in np.flatnonzero(found.sets == np.uint64(name.whole)).tolist():
            text = source.text[starts[found.first[at]] : ends[found.last[at]]]
            literal[at] |= fold_query(text).strip("`") == name.text.strip("`")
    return literal


def _may_stand_alone(source: SourceText, target: TargetNames, found: Candidates) -> Bools:
    """Return (n,) whether the target is called by the phrase's set of stems, and not only as many words are used."""
    linked = [name.whole for name in target.names if name.links >= _FEW]
    titles = [name.whole for name in target.names if name.kind is Kind.TITLE]
    telling = [name.whole for name in target.names if name.kind is Kind.TITLE and name.weight >= _TELLING]
    begins, _ = source.pieces
    name = (source.capital[found.first] & ~begins[found.first]) | source.code[found.first]
    known = [name.whole for name in target.names if name.links]
    alone: Bools = _is_one_of(found.sets, linked + telling)
    alone |= (name & _is_one_of(found.sets, titles)) | (
        source.code[found.first] & _is_one_of(found.sets, known)
    )
    return alone


def _is_one_of(sets: Ints, names: Sequence[int]) -> Bools:
    found: Bools = (sets[:, None] == np.array(names, np.uint64)).any(axis=1)
    return found


def _has_all(stems: Hashes, wanted: Hashes, begin: Ints, end: Ints) -> Bools:
    """Return (n,) whether the stems from each `begin` to each `end` have all wanted ones."""
    found = np.ones(len(begin), np.bool_)
    for stem in wanted:
        counts = np.append(0, np.cumsum(stems == stem))
        found &= counts[end] > counts[begin]
    return found


def completed(source: SourceText, target: TargetNames, found: Candidates) -> Ints:
    """Return (n,) the last word of each phrase, with the function words at the end of a name; -1 where they miss.

    A phrase with the stems of "Paid time off" goes on to "off"; where the text has another word there, it is no name.
    A part of a title that ends with function words is half a clause, and so is a name that begins with some as well.
    """
    last = found.last.copy()
    phrases, (_, ends) = source.phrases, source.pieces
    for name in target.names:
        if not name.trailing:
            continue
        for at in np.flatnonzero(found.sets == np.uint64(name.whole)).tolist():
            if name.kind in (Kind.PART, Kind.SLUG) or name.leading:
                last[at] = -1
                continue
            end = int(found.last[at]) + name.trailing
            rest = slice(int(found.last[at]) + 1, end + 1)
            same = np.array_equal(phrases.words[rest], name.words[-name.trailing :])
            whole = same and not ends[rest.start - 1 : end].any() and not source.closed[rest].any()
            last[at] = end if whole and source.closes[end] else -1
    return last
