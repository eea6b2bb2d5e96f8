"""The words of a text in any language, folded so that all spellings of a word are equal."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

_ASCII_WORD = re.compile(r"[a-z0-9]{2,}")

# Beyond it are scripts of few sites (Chakma, Adlam), whose words may come out cut at a vowel sign: with
# their marks in the pattern, all other words take twice the time.
_SCAN_END = 0x10000

# The only non-ASCII characters of most English pages; once they are replaced, the quick path applies.
_TYPOGRAPHY = (
    ("’", "'"),
    ("‘", "'"),
    ("“", '"'),
    ("”", '"'),
    ("–", "-"),
    ("—", "-"),
    ("…", "..."),
    ("\xa0", " "),
)

# Letters that are optional or interchangeable in some words. Other Latin accents stay, since in most languages they
# make another word (German "schon" and "schön", Spanish "ano" and "año").
ONE_LETTER = {
    # Arabic and Persian keyboards have their own yeh and kaf; alef maksura is typed for yeh, heh for
    # teh marbuta; hamza on its seat is left out as often as written, as is the madda.
    **dict.fromkeys("يىئ", "ی"),
    "ك": "ک",
    **dict.fromkeys("أإآٱ", "ا"),
    **dict.fromkeys("ةۀہۂۃ", "ه"),
    "ؤ": "و",
    # Russian ё may be written е.
    "ё": "е",
    # Turkish: which of the two letters an I in capitals stands for, only the language tells.
    "ı": "i",
    # Romanian: the cedilla is what old keyboards had for the comma.
    "ș": "ş",
    "ț": "ţ",
    # Greek capitals are written without the accent.
    **dict(zip("άέήίϊΐόύϋΰώ", "αεηιιιουυυω", strict=True)),
    # Letters for the apostrophe (Ukrainian, Uzbek, Hebrew) split a word, as the plain apostrophe does.
    **dict.fromkeys("ʹʻʼʽʾʿ", "'"),
    # A space that has no width: Thai and Khmer words are parted by it.
    "\u200b": " ",
}

# Beside an Arabic letter the zero-width non-joiner parts stem and suffix, elsewhere (Hindi, Bengali) it only
# shapes a letter. Split at it, the Persian for "books" shares a word with "book" and equals its writing with a
# space; glued together, it would equal the writing without one. Links were as good either way (NDCG@5 within
# 0.006 on the Persian development site), and a phrase is found in more of its writings.
_JOINT = re.compile("(?<=[\u0600-\u06ff])\u200c+|\u200c+(?=[\u0600-\u06ff])")

# The letters alone, in the brackets of a pattern: a Persian or Arabic text puts its suffixes and articles to
# words in Latin letters without a space (the Persian plural of API, the Arabic "the DOM").
_ARABIC = (
    "\u0620-\u063f\u0641-\u064a\u066e-\u06d3\u06d5\u06ee\u06ef\u06fa-\u06ff"
    "\u0750-\u077f\u0870-\u0887\u08a0-\u08c9"
)

# Scripts without spaces, and Hangul, whose nouns carry their particles: cut into overlapping pairs of
# characters. Japanese changes script where a word or stem ends, so that a run is of one script.
_PAIRED = (
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",  # Han
    "\u3041-\u309f\u30fc",  # Hiragana
    "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff",  # Katakana
    "\u1100-\u11ff\uac00-\ud7a3",  # Hangul
)
# Alphabets without spaces: two letters say little, so three, each with its vowel signs.
_TRIPLED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e",  # Thai
    "\u0e81-\u0ece\u0edc-\u0edf",  # Lao
    "\u1780-\u17d3\u17d7\u17dc\u17dd",  # Khmer
    "\u1000-\u103f\u1050-\u1089\u108b-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f",  # Burmese
)
_UNSPACED = re.compile(f"[{''.join((*_PAIRED, *_TRIPLED))}]")
_RUN = re.compile(f"({'|'.join(f'[{script}]+' for script in (*_PAIRED, *_TRIPLED))})")
_TRIPLED_START = re.compile(f"[{''.join(_TRIPLED)}]")


def words(text: str) -> list[str]:
    """Return the folded words of a text in order: two or more letters or digits, in any script.

    Punctuation, underscores and apostrophes separate words ("l'eau" is "eau", "page's" is "page"). Scripts without
    spaces, and Korean, give overlapping pairs or triples of characters; a run too short for one stays whole.
    """
    folded = _fold(text)
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    folded = folded.replace("_", " ")
    word = _unicode().word
    if not _UNSPACED.search(folded):
        return word.findall(folded)
    found: list[str] = []
    for place, part in enumerate(_RUN.split(folded)):
        found += _grams(part) if place % 2 else word.findall(part)
    return found


def normalise(text: str) -> str:
    """Return the whole text folded as `words` does, with single spaces; positions in it are not those in the text."""
    return " ".join(_fold(text).split())


@dataclass(frozen=True, slots=True)
class _Unicode:
    """Tables made from Unicode: replacements of characters, and the patterns of words and of letters with marks."""

    folds: Mapping[str, str]
    word: re.Pattern[str]
    cluster: re.Pattern[str]


@cache  # takes 20 ms, which a site in ASCII never pays
def _unicode() -> _Unicode:
    folds, marks = dict(ONE_LETTER), []
    for char in map(chr, range(0x80, _SCAN_END)):
        category = unicodedata.category(char)
        if category == "Nd":
            folds[char] = str(unicodedata.decimal(char))
        elif category == "Cf" or (category == "Mn" and _is_pointing(char)):
            folds.setdefault(char, "")
        elif category in {"Mn", "Mc"}:
            marks.append(char)
    folds.update(dict.fromkeys(map(chr, range(0xE0100, 0xE01F0)), ""))
    folds["ـ"] = ""  # tatweel: a letter by its category, a line by its use
    some = "".join(marks)
    letter = rf"[^\W{_ARABIC}]"
    more = rf"[{some}]+{letter}*"
    # Unrolled: half the time of letter(letter|mark)+.
    word = re.compile(rf"{letter}{{2,}}(?:{more})*|[{_ARABIC}]{{2,}}|{letter}(?:{more})+")
    return _Unicode(folds, word, re.compile(rf"[{some}]+|[^{some}][{some}]*"))


def _is_pointing(char: str) -> bool:
    """Return whether a mark is a Hebrew or Arabic vowel sign, which readers do without, or a variation selector."""
    return "\u0591" <= char <= "\u06ff" or "\u0870" <= char <= "\u08ff" or "\ufe00" <= char <= "\ufe0f"


def _fold(text: str) -> str:
    """Map all spellings to one: compatibility forms, case, digits, vowel signs, letters with several keys."""
    if not text.isascii():
        for char, plain in _TYPOGRAPHY:
            text = text.replace(char, plain)
    if text.isascii():
        return text.lower()
    # NFKC would glue the letters TM to the name. Folding the case takes some Greek letters apart again.
    plain = unicodedata.normalize("NFKC", text.replace("™", " ")).casefold()
    plain = unicodedata.normalize("NFKC", plain).replace("i\u0307", "i")
    if "\u200c" in plain:
        plain = _JOINT.sub(" ", plain)
    folds = _unicode().folds
    # A text has few different characters, so this is twice as fast as str.translate.
    for char in folds.keys() & set(plain):
        plain = plain.replace(char, folds[char])
    return plain


def _grams(run: str) -> list[str]:
    if not _TRIPLED_START.match(run):
        return [run] if len(run) == 1 else [a + b for a, b in pairwise(run)]
    letters = _unicode().cluster.findall(run)
    if len(letters) < 3:
        return [run]
    return [a + b + c for a, b, c in zip(letters, letters[1:], letters[2:], strict=False)]


# Signs that belong to a word and that `\w` leaves out: vowel and accent marks, Indic vowel signs, (non-)joiners.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0dff\u200c\u200d"
)
# Scripts in which words stand without a space between: Thai to Tibetan, Burmese, Khmer, kana, Han.
UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u3190-\u31ff\u3400-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Hangul: words have spaces, and particles are written onto them.
HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"
# Scripts in which a word ends without a space.
RUN_ON = UNSPACED + HANGUL
# A position between two characters of one word.
INSIDE = re.compile(rf"(?<=[\w{MARKS}])(?=[\w{MARKS}])(?<![{RUN_ON}])(?![{RUN_ON}])")


def word_count(text: str) -> int:
    """Return the number of words; without spaces between words, pairs of characters are counted instead."""
    return len(text.split()) if text.isascii() else len(words(text))
