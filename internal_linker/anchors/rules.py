"""Rules that every anchor obeys, whatever the model thinks of it."""

from collections.abc import Sequence

import numpy as np

from internal_linker.anchors.comparison import Candidates, Comparison, SourceFeatures
from internal_linker.anchors.name_table import NameTable
from internal_linker.anchors.site_names import NameCounts, Owners
from internal_linker.anchors.source_text import LONGEST_PHRASE, SourceText, is_article
from internal_linker.anchors.target_names import Name, NameKind
from internal_linker.model.arrays import Bools, Ints
from internal_linker.model.records import fold_query
from internal_linker.rank.named_pages import FEW
from internal_linker.text.phrases import MOST_WORDS, Hashes, is_among

# The rarity from which a title of one word means its page wherever it stands: on one page in twenty ("kanban"). A word
# of more pages ("contact") mostly means something else.
_TELLING = 3.0
# With words in so many titles, they mean none of the pages. And the least share of the pages with some words on which
# links to a page have them as their anchor, for the words to be its name: if its title lacks some, and if it has all.
_SEVERAL, _OFTEN, _TITLED_OFTEN = 2, 0.08, 0.03
# The share of a word's occurrences beside another from which the two are never apart: "blanket purchase".
_BOUND = 0.5


def allowed(
    source: SourceText,
    names: NameTable,
    found: Candidates,
    *,
    pages: Ints,
    owners: Owners,
    sole: Owners,
    site_name: Hashes,
    brands: Sequence[Hashes],
) -> Bools:
    """Return (n,) which phrases may be anchors for their targets.

    An anchor has a word of the target's names, one to five words, and more than the site's name. A whole name may have
    up to eight words and signs of code, a proper name up to eight words. No anchor is a line of its own, or the name of
    another page that no two links call this page.

    Args:
        pages: (t,) the row of each target.
        owners: which page each name belongs to, in the language of the targets.
        sole: the names that one page of the site has alone, in whatever language.
        site_name: sorted stems of the site's name and brands.
        brands: the stems of each brand; only an anchor for a page that is named after it has a brand.
    """
    length = found.last - found.first + 1
    is_name = found.same.any(axis=1)
    ok = found.named & (is_name | (length <= LONGEST_PHRASE) | source.is_proper(found.first, found.last))
    stems = source.phrases.stems
    begin, end = source.stem_at[found.first], source.stem_at[found.last + 1]
    own = np.append(0, np.cumsum(~is_among(stems, site_name)[1]))
    ok &= own[end] > own[begin]
    coded = source.has_code(found.first, found.last)
    ok[coded] &= _is_literal(source, names, found.at(coded))
    ok &= ~source.is_line(found.first, found.last)
    for brand in brands:
        has_brand = _has_all(stems, brand, begin, end)
        if has_brand.any():
            ok &= ~has_brand | _named_after(brand, names)[found.of]
    foreign = owners.foreign(found.sets, pages[found.of]) & (sole.of_sets(found.sets) >= 0)
    return ok & (found.are(names.links > 0) | ~foreign)


def _named_after(brand: Hashes, names: NameTable) -> Bools:
    """Return (t,) whether a name of each target has all stems of a brand; what known links call it does not count."""
    found = np.zeros(len(names.targets), np.bool_)
    for target, name in zip(names.name_targets.tolist(), names.names, strict=True):
        found[target] |= name.kind is not NameKind.KNOWN and bool(np.isin(brand, name.stems).all())
    return found


def natural(
    compared: Comparison,
    found: Candidates,
    *,
    pages: Ints,
    owners: Owners,
    spans: tuple[Ints, Ints, Ints],
    counts: NameCounts,
) -> Bools:
    """Return (n,) which phrases are natural anchors for their targets; editors rejected four of five others.

    The target's names or content have all words, but for the last one where a phrase ends. Only a whole name has
    function words other than those that join nouns, or ends where a proper name goes on; no name of the target goes on
    beside it, and it is not cut from a word that it nearly always stands next to. It is not part of another page's
    name, nor what several pages are about. One word is enough if it is a telling title, or the anchor of several known
    links.

    `pages` has the row of each target; `spans`, the names in the text, see `named_spans`.
    """
    source, signs, names = compared.source.text, compared.source, compared.names
    first, last, page = found.first, found.last, pages[found.of]
    as_written = written(source, names, found)
    kinds = names.kinds[found.of]
    is_name, is_title = as_written.any(axis=1), (as_written & (kinds == NameKind.TITLE)).any(axis=1)
    cuts_name = source.cuts_name(first, last)
    whole = is_name | ~(source.has_clause(first, last) | cuts_name)
    alone = _may_stand_alone(source, names, found) & ~cuts_name
    specific = is_title | _is_specific(compared, found, counts, owners.of_sets(found.sets) == page)
    cut = _goes_on(source, names, found) | owners.foreign(found.sets, page, parts=True)
    cut |= ~(is_title & (last > first)) & _is_part(first, last, spans, page)
    verbs = signs.verbs
    cut |= ~is_name & (_is_bound(source, signs, first, last) | verbs[first] | verbs[last])
    cut |= ~is_title & (first == last) & verbs[last]
    is_natural: Bools = found.whole & whole & ((last > first) | alone) & specific & ~cut
    return is_natural


def written(source: SourceText, names: NameTable, found: Candidates) -> Bools:
    """Return (n, w) which of its target's names each phrase is: stems in the same order, no clause between them."""
    result = np.zeros(found.same.shape, np.bool_)
    phrases, pairs, clausal = source.phrases, source.phrases.pairs, source.clausal
    for at, place in np.argwhere(found.same).tolist():
        name = names.names[names.places[found.of[at], place]]
        first, last = int(found.first[at]), int(found.last[at])
        begin, end = int(source.stem_at[first]), int(source.stem_at[last + 1])
        inner = phrases.words[first : last + 1][clausal[first : last + 1]]
        same = np.array_equal(pairs[begin : end - 1], name.pairs)
        result[at, place] = same and (not len(inner) or np.isin(inner, name.words).all())
    return result


def _is_specific(compared: Comparison, found: Candidates, counts: NameCounts, owned: Bools) -> Bools:
    """Return (n,) whether each phrase means its target rather than what several pages are about.

    A part of its title does unless the titles of two other pages have it, and other phrases unless one has it, or
    unless it is its own name. Words that are known from links must be linked on many of the pages that have them; one
    link makes no proper name its name.
    """
    source, names, titled = compared.source.text, compared.names, compared.titled(found)
    others = counts.titles_with(found.sets) - titled
    there = counts.pages_with(names.wholes.ravel()).reshape(names.wholes.shape)
    is_known = names.kinds == NameKind.KNOWN

    def linked(share: float, links: int = 1) -> Bools:
        return found.are(is_known & (names.links >= np.maximum(links, share * there)))

    often = np.where(source.is_proper(found.first, found.last), linked(_OFTEN, FEW), linked(_OFTEN))
    seldom = linked(0) & ~np.where(titled, linked(_TITLED_OFTEN), often)
    specific: Bools = (owned | (others < np.where(titled | often, _SEVERAL, 1))) & ~seldom
    return specific


def named_spans(source: SourceText, owners: Owners) -> tuple[Ints, Ints, Ints]:
    """Return (n,) the first and last words of names in a text, of several words, and the rows of their pages."""
    first, last = source.spans
    several = source.stem_at[last + 1] - source.stem_at[first] > 1
    at = np.flatnonzero(several & ~source.has_clause(first, last))
    pages = owners.of_sets(source.sets_of(first[at], last[at]))
    at, pages = at[pages >= 0], pages[pages >= 0]
    return first[at], last[at], pages


def _is_part(first: Ints, last: Ints, spans: tuple[Ints, Ints, Ints], page: Ints) -> Bools:
    """Return (n,) whether each phrase is cut from a longer name of a page other than its target."""
    firsts, lasts, pages = spans
    foreign = page[:, None] != pages
    begun, ended = first[:, None] >= firsts, last[:, None] <= lasts
    beyond = (first[:, None] > firsts) | (last[:, None] < lasts)
    overlap = (first[:, None] <= lasts) & (last[:, None] >= firsts)
    # A phrase that has the whole name, and more, is another one.
    part: Bools = (foreign & overlap & beyond & (begun | ended)).any(axis=1)
    return part


def _is_bound(source: SourceText, signs: SourceFeatures, first: Ints, last: Ints) -> Bools:
    """Return (n,) whether a phrase is cut from a word that nearly always stands beside its first or last one."""
    begins, ends = source.pieces
    with_next, with_previous = signs.bound
    right = np.append(with_next >= _BOUND, False) & ~ends
    left = np.append(False, with_previous >= _BOUND) & ~begins & ~np.append(False, source.phrases.stops[:-1])
    bound: Bools = right[last] | left[first]
    return bound


def _goes_on(source: SourceText, names: NameTable, found: Candidates) -> Bools:
    """Return (n,) whether the word before or after each phrase continues one of its target's names.

    Function words do so with a capital only: "Every Kid in a Park" is cut without its first word, "the Hub" is not.
    """
    joined = names.having(source.word_pairs, lambda target: target.name_word_pairs) & ~source.apart
    counts = ~source.phrases.stops | source.capital
    goes_on = np.zeros((2, len(names.targets), len(counts)), np.bool_)
    goes_on[0, :, 1:] = joined & counts[:-1]
    goes_on[1, :, :-1] = joined & counts[1:]
    cut: Bools = goes_on[0, found.of, found.first] | goes_on[1, found.of, found.last]
    return cut


def _is_literal(source: SourceText, names: NameTable, found: Candidates) -> Bools:
    """Return (n,) whether each phrase is a name of its target, sign by sign."""
    literal = np.zeros(len(found.sets), np.bool_)
    starts, ends = source.phrases.starts, source.phrases.ends
    for at, place in np.argwhere(found.same).tolist():
        name = names.names[names.places[found.of[at], place]]
        text = source.text[starts[found.first[at]] : ends[found.last[at]]]
        literal[at] |= fold_query(text).strip("`") == name.text.strip("`")
    return literal


def _may_stand_alone(source: SourceText, names: NameTable, found: Candidates) -> Bools:
    """Return (n,) whether its target is called by the phrase's set of stems, and not only as many words are used."""
    is_title = names.kinds == NameKind.TITLE
    begins, _ = source.pieces
    is_code = source.code[found.first]
    name = (source.capital[found.first] & ~begins[found.first]) | is_code
    alone: Bools = found.are((names.links >= FEW) | (is_title & (names.weights >= _TELLING)))
    alone |= (name & found.are(is_title)) | (is_code & found.are(names.links > 0))
    return alone


def _has_all(stems: Hashes, wanted: Hashes, begin: Ints, end: Ints) -> Bools:
    found = np.ones(len(begin), np.bool_)
    for stem in wanted:
        counts = np.append(0, np.cumsum(stems == stem))
        found &= counts[end] > counts[begin]
    return found


def complete_names(source: SourceText, names: NameTable, found: Candidates) -> tuple[Ints, Ints]:
    """Return (n,) the first and last word of each phrase with the function words around a name; -1 where they miss.

    A phrase with the stems of "Paid time off" goes on to "off"; where the text has another word there, or "paying time
    off", it is no name. One with those of "Every kid in a park" begins with "every" where the text has it, but articles
    stay outside. A part of a title that ends with function words is half a clause, and so is a name that begins with
    some as well.
    """
    first, last = found.first.copy(), found.last.copy()
    for at, place in np.argwhere(found.same).tolist():
        name = names.names[names.places[found.of[at], place]]
        if name.trailing:
            last[at] = _last_of(source, name, int(first[at]), int(last[at]))
        elif name.leading and name.kind is NameKind.TITLE:
            first[at] = _first_of(source, name, int(first[at]), int(last[at]))
    return first, last


def _last_of(source: SourceText, name: Name, first: int, last: int) -> int:
    """Return the last of the function words that end a name; -1 where the text doesn't have the name as it is."""
    if name.kind in (NameKind.PART, NameKind.SLUG) or name.leading:
        return -1
    _, ends = source.pieces
    end = last + name.trailing
    same = np.array_equal(source.phrases.words[first : end + 1], name.words)
    whole = same and not ends[last:end].any() and not source.closed[last + 1 : end + 1].any()
    return end if whole and source.closes[end] else -1


def _first_of(source: SourceText, name: Name, first: int, last: int) -> int:
    """Return the first of the function words before a name, articles aside, where the text has the name as it is."""
    begins, _ = source.pieces
    begin = int(np.argmin(np.append(is_article(name.words[: name.leading]), False)))
    start = first - (name.leading - begin)
    if start < 0 or last - start >= MOST_WORDS:
        return first
    same = np.array_equal(source.phrases.words[start : last + 1], name.words[begin:])
    whole = same and not begins[start + 1 : first + 1].any() and not source.closed[start:first].any()
    return start if whole and source.opens[start] else first
