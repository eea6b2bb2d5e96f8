"""A source's text, prepared for the search for anchors: its words, their signs, and its phrases."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from internal_linker.model.arrays import Bools, Ints
from internal_linker.text.phrases import Hashes, Phrases, breaks, is_among, mixed, word_hash, word_pairs

# Names may have more words than other phrases.
LONGEST_PHRASE, LONGEST_NAME = 5, 8
_CODE_SIGNS = "_()<>`{}[]=/\\$@#*|~^+"
# What may stand right before and right after an anchor, besides white space and letters of scripts without spaces.
_BEFORE, _AFTER = "([{\"'“‘«„「『（—–…¡¿،、。，：；！？;,:", ")]}\"'”’»“」』）—–…,.;:!?،؛؟۔、。，：；！？।"
# Words from which a line is no short one, and signs at the end of a sentence.
_SHORT_LINE, _STOPS = 8, ".!?…:;؛؟۔।。！？：；"
# Units and signs that belong to the number before them, even after a space.
_UNITS = "%‰°€$£¥₹"
# Function words that join the nouns of a phrase, in the languages that put them between.
JOINING_WORDS = (
    "of de del della delle dello dei degli der des di do da dos das du d l la las le les lo los el af av för til van "
    "für para"
)
# Articles and possessives, which change nothing of a name: "deploy your app" for "Deploy an app".
ARTICLES = (
    "a an the this these your our my its their der die das den dem des ein eine einen einem einer le la les l un une "
    "des vos el los las una unos unas tu su il lo gli i uno o os as um uma de het een en et det"
)
_CONJUNCTIONS = "and und et y e og och en"
# The end of Persian plurals that another word belongs to, and suffixes that may stand apart.
_EZAFE = "های"
_SUFFIXES = "ها های هایی"


@dataclass(frozen=True)
class SourceText:
    """A source's plain main content."""

    text: str  # the content
    phrases: Phrases  # its n words
    closed: Bools  # (n,) whether each word is in a link, a heading or anything else where no anchor may be
    title: Phrases  # the words of the page's title

    @cached_property
    def spans(self) -> tuple[Ints, Ints]:
        """The first and last words of all phrases that could be anchors, by length, then by position."""
        n = len(self.closed)
        ok = ~(self.phrases.stops | self.closed)
        first_ok, last_ok = ok & self.opens, ok & self.closes
        begins, _ = self.pieces
        free = np.maximum.accumulate(np.where(begins, np.arange(n), 0))
        first, more = np.arange(n), np.arange(min(LONGEST_NAME, n))[:, None]
        last = np.minimum(first + more, n - 1)
        more, first = np.nonzero(first_ok & last_ok[last] & (free[last] <= first) & (last == first + more))
        return first, first + more

    @cached_property
    def pieces(self) -> tuple[Bools, Bools]:
        """(n,) whether each word begins, and whether it ends, a run of words that one anchor may hold."""
        begins, ends = breaks(self.phrases)
        n = len(self.closed)
        if n > 1:
            starts, stops = self.phrases.starts[1:], self.phrases.ends[:-1]
            is_line_end = (self._codes == 10) | (self._codes == 13)
            lines = np.append(0, np.cumsum(is_line_end))
            apart = (lines[starts] > lines[stops]) | self.closed[1:] | self.closed[:-1]
            begins[1:] |= apart
            ends[:-1] |= apart
        return begins, ends

    @cached_property
    def opens(self) -> Bools:
        """(n,) whether an anchor may begin with each word: what stands before it isn't a part of the word."""
        starts, codes = self.phrases.starts, self._codes
        before = codes[starts - 1]
        # The comma in 300,000.
        number = _table("digit")[codes[starts]] & _table("point")[before] & _table("digit")[codes[starts - 2]]
        opens: Bools = (_table("before")[before] & ~number) | self._is_unspaced(starts)
        return opens

    @cached_property
    def closes(self) -> Bools:
        """(n,) whether an anchor may end with each word: no part of it, no digits and no unit come after it."""
        ends, codes = self.phrases.ends, self._codes
        after, next_but_one = codes[ends], codes[np.minimum(ends + 1, len(codes) - 1)]
        whole = _table("after")[after] | self._is_unspaced(ends - 1)
        # The point or comma in 92.5, and in example.com.
        whole &= ~(_table("point")[after] & _table("letter")[next_but_one] & ~self._is_unspaced(ends + 1))
        whole &= ~self._leads_on
        number = _table("digit")[codes[ends - 1]]
        unit = _table("unit")[after] | ((after == 32) & _table("unit")[next_but_one])
        closes: Bools = whole & ~(number & unit)
        return closes

    @cached_property
    def may_end(self) -> Bools:
        """(n,) whether a phrase ends with each word whatever it says: before a function word, and before a break."""
        _, ends = self.pieces
        may_end: Bools = ends.copy()
        may_end[:-1] |= self.phrases.stops[1:]
        return may_end

    @cached_property
    def _leads_on(self) -> Bools:
        """(n,) whether each word is Persian and needs the next one: as after an ezafe."""
        n = len(self.closed)
        result = np.zeros(n, np.bool_)
        if n > 1 and _EZAFE in self.text:
            ends, codes = self.phrases.ends, self._codes
            ezafe = np.array([ord(char) for char in _EZAFE], np.uint32)
            suffixed = np.append(is_among(self.phrases.words[1:], as_hashes(_SUFFIXES))[1], False)
            result = np.all([codes[ends - len(ezafe) + at] == code for at, code in enumerate(ezafe)], axis=0)
            result = (result | suffixed) & ~self.pieces[1]
        return result

    @cached_property
    def stem_at(self) -> Ints:
        """(n + 1,) the position of each word's first stem."""
        counts = np.bincount(self.phrases.owners, minlength=len(self.phrases.starts))
        return np.append(0, np.cumsum(counts))

    @cached_property
    def sets(self) -> Ints:
        """(m + 1,) sums of the stems' hashes: the difference of two is the `stem_set` of the stems between."""
        total = np.zeros(len(self.phrases.stems) + 1, np.uint64)
        np.cumsum(mixed(self.phrases.stems), out=total[1:])
        return total

    def sets_of(self, first: Ints, last: Ints) -> Ints:
        """Return (n,) uint64 the `stem_set` of the stems of each phrase."""
        sets: Ints = self.sets[self.stem_at[last + 1]] - self.sets[self.stem_at[first]]
        return sets

    @cached_property
    def distinct(self) -> tuple[Hashes, Ints]:
        """(u,) the distinct stems, sorted, and (m,) the place of each of the text's stems among them."""
        stems, which = np.unique(self.phrases.stems, return_inverse=True)
        return stems, which

    @cached_property
    def capital(self) -> Bools:
        """(n,) whether each word begins with a capital letter."""
        return _table("capital")[self._codes[self.phrases.starts]]

    @cached_property
    def digits(self) -> Bools:
        """(n,) whether each word begins with a digit."""
        return _table("digit")[self._codes[self.phrases.starts]]

    def is_proper(self, first: Ints, last: Ints) -> Bools:
        """Return (n,) whether all words of each phrase begin with capitals, function words aside."""
        proper: Bools = self._small[last + 1] == self._small[first]
        return proper

    def is_line(self, first: Ints, last: Ints) -> Bools:
        """Return (n,) whether each phrase is a line of its own: a heading, or an item of a list."""
        before, after = self._codes[self.phrases.starts[first] - 1], self._codes[self.phrases.ends[last]]
        opens = (before == 10) | (self.phrases.starts[first] == 0)
        line: Bools = opens & ((after == 10) | (self.phrases.ends[last] == len(self.text)))
        return line

    @cached_property
    def in_short_line(self) -> Bools:
        """(n,) whether each word is in a short line without a full stop: often a heading, a cell or a label."""
        ends = np.flatnonzero((self._codes == 10) | (self._codes == 13))
        line = np.searchsorted(ends, self.phrases.starts)
        words = np.bincount(line, minlength=len(ends) + 1)
        # The last line ends with the text.
        last = np.append(ends, len(self.text)) - 1
        short: Bools = (words < _SHORT_LINE) & ~_table("stop")[self._codes[last]]
        return short[line]

    def has_clause(self, first: Ints, last: Ints) -> Bools:
        """Return (n,) whether each phrase has function words other than those that join nouns: a verb or a pronoun."""
        clause: Bools = self._verbs[last + 1] > self._verbs[first]
        return clause

    def has_code(self, first: Ints, last: Ints) -> Bools:
        """Return (n,) whether each phrase has a sign that names in code have."""
        signs: Bools = self._signs[last + 1] > self._signs[first]
        return signs

    def cuts_name(self, first: Ints, last: Ints) -> Bools:
        """Return (n,) whether a capitalised word goes on before or after each phrase, as in "Department of Health".

        The first word of a sentence tells nothing: any word has a capital there.
        """
        name = self.capital
        begins, ends = self.pieces
        n = len(name)
        before, after = np.maximum(first - 1, 0), np.minimum(last + 1, n - 1)
        second = np.minimum(last + 2, n - 1)
        left = name[first] & name[before] & ~begins[first] & ~begins[before]
        linked = self.joins[after] & ~ends[after] & name[second]
        # "Department of Health" of "Department of Health and Social Services", but not "Health" of "Health and Safety".
        joins, conjunctions = (
            np.append(0, np.cumsum(self.joins)),
            is_among(self.phrases.words, as_hashes(_CONJUNCTIONS))[1],
        )
        linked |= conjunctions[after] & ~ends[after] & name[second] & (joins[last + 1] > joins[first])
        cuts: Bools = left | (name[last] & ~ends[last] & (name[after] | linked))
        return cuts

    @cached_property
    def _small(self) -> Ints:
        return np.append(0, np.cumsum(~self.capital & ~self.phrases.stops))

    @cached_property
    def _verbs(self) -> Ints:
        return np.append(0, np.cumsum(self.phrases.stops & ~self.joins & ~self.capital))

    @cached_property
    def _signs(self) -> Ints:
        return np.append(0, np.cumsum(self.code))

    @cached_property
    def word_pairs(self) -> Ints:
        """(n - 1,) uint64 each word with the next one, see `word_pairs`."""
        return word_pairs(self.phrases.words)

    @cached_property
    def joins(self) -> Bools:
        """(n,) whether each word stands between nouns, like the one in "Department of Health"."""
        return is_among(self.phrases.words, as_hashes(JOINING_WORDS))[1]

    @cached_property
    def clausal(self) -> Bools:
        """(n,) whether each word is a function word other than articles and those that join nouns."""
        clausal: Bools = self.phrases.stops & ~(self.joins | is_article(self.phrases.words))
        return clausal

    @cached_property
    def apart(self) -> Bools:
        """(n - 1,) whether more than a single space or line break is between each two words."""
        ends, starts = self.phrases.ends[:-1], self.phrases.starts[1:]
        gap, code = starts - ends, self._codes[ends]
        apart: Bools = (gap > 1) | ((gap == 1) & (code != 32) & (code != 10))
        return apart

    @cached_property
    def code(self) -> Bools:
        """(n,) whether each word has a sign that names in code have."""
        return self._count("code") > 0

    @cached_property
    def _codes(self) -> Ints:
        """The code of each character, then three spaces: the last one stands before the first character, too."""
        return np.frombuffer((self.text + "   ").encode("utf-32-le", "surrogatepass"), np.uint32)

    def _count(self, kind: str) -> Ints:
        total = np.append(0, np.cumsum(_table(kind)[self._codes]))
        counts: Ints = total[self.phrases.ends] - total[self.phrases.starts]
        return counts

    def _is_unspaced(self, at: Ints) -> Bools:
        """Return whether the characters are of scripts in which words stand without spaces."""
        return _table("unspaced")[self._codes[np.minimum(at, len(self._codes) - 1)]]


@cache
def as_hashes(words: str) -> Hashes:
    """Return the sorted hashes of some lower-case words, which spaces part."""
    return np.unique(np.array([word_hash(word) for word in words.split()], np.uint32))


def is_article(words: Hashes) -> Bools:
    """Return (n,) whether each word is an article or a possessive."""
    return is_among(words, as_hashes(ARTICLES))[1]


@cache
def _table(kind: str) -> Bools:
    table = np.zeros(0x110000, np.bool_)
    signs = {
        "code": _CODE_SIGNS,
        "unit": _UNITS,
        "stop": _STOPS,
        "point": ".,:/'’-_@",
    }
    tests: dict[str, Callable[[str], bool]] = {
        "capital": lambda char: char.isupper() or char.istitle(),
        "digit": str.isdigit,
        "letter": str.isalnum,
        "before": lambda char: char.isspace() or char in _BEFORE,
        "after": lambda char: char.isspace() or char in _AFTER,
    }
    if kind == "unspaced":
        for first, last in (
            (0x0E00, 0x109F),
            (0x1780, 0x17FF),
            (0x3005, 0x30FF),
            (0x3400, 0x9FFF),
            (0xF900, 0xFAFF),
        ):
            table[first : last + 1] = True
        table[0x20000:0x40000] = True
    elif kind in signs:
        table[[ord(char) for char in signs[kind]]] = True
    else:
        # Beyond are scripts without capitals and signs of their own.
        table[:0x3100] = [bool(tests[kind](chr(code))) for code in range(0x3100)]
        if kind == "letter":
            table[0x3100:] = True
    return table
