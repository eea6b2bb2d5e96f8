"""Texts of pages -> the two-letter code of each one's language, "" where it is not sure."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# Fewer letters are a name or a product number as often as a sentence.
_FEW_LETTERS = 40
# A page is judged by three pieces, so that an English header or a block of code doesn't speak for it all.
# All pages of both development sites are told right by 3 x 200 characters, and in two thirds of the time of
# 3 x 400; by 3 x 150, one typed with the keys of the other language is told wrong.
_PIECES, _PIECE = 3, 200
# Of random pieces of 80 characters of prose from both sites, 1 in 1,000 was wrong above 0.5 and none above
# 0.7; 4 in 100 are then left open, and 3 in 1,000 of 400 characters.
_SURE = 0.7
# A language of so few pages may be a mistake, and must be told by more than a page of an ordinary language.
_RARE_PAGES, _RARE_SHARE, _RARE_SURE = 3, 0.02, 0.95
# Where so much of the text is in another script, the words in Latin letters are code and names: Persian and
# Arabic pages of the development site go down to 28% of their own letters.
_OTHER_SCRIPT_SHARE = 0.2
# How many pages show by which code a site calls a language.
_SHOWN_PAGES = 20

# Spoken Arabic and Chinese, Nigerian English and written Norwegian are one language with their sister for a link.
_SISTERS = {"ary": "ar", "arz": "ar", "nn": "no", "pcm": "en", "wuu": "zh", "yue": "zh"}
# Latin on the web is lorem ipsum.
_NO_LANGUAGE = {"la"}

_LATIN_WORD = re.compile(r"[A-Za-z]+")
_LETTER, _OTHER_LETTER = re.compile(r"[^\W\d_]"), re.compile(r"[^\W\d_\x00-\u036f\u1e00-\u1eff]")
_EAST_ASIAN = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]")
# Letters that one of Arabic and Persian has and the other has not, or hardly; and those of their neighbours.
_ARABIC_ONLY, _PERSIAN_ONLY = re.compile("[ةأإ]"), re.compile("[پچژگ]")
_NEIGHBOURS_ONLY = re.compile("(?![پچژکگیۀ])[\u0671-\u06d5]")
_TO_ARABIC_KEYS, _TO_PERSIAN_KEYS = str.maketrans("یک", "يك"), str.maketrans("يك", "یک")


def detect(text: str) -> str:
    """The two-letter code of the text's language; "" for a short text, code, or an unclear one."""
    language, confidence = _guess(text)
    return language if confidence >= _SURE else ""


def detect_among(text: str, languages: Collection[str]) -> str:
    """As `detect`, of a text that is in one of these languages, so that a title will do; "" where that is unclear."""
    shares = _shares(" ".join(text.split())[: _PIECES * _PIECE])
    known = {code: shares[code] for code in languages if code in shares}
    best = max(known, key=known.__getitem__, default="")
    return best if best and known[best] >= _SURE * sum(known.values()) > 0 else ""


def share_of(text: str, languages: Collection[str], known: Collection[str]) -> float:
    """Return how probable it is, 0 to 1, that a text in one of the `known` languages is in one of `languages`."""
    shares = _shares(_sample(text))
    total = sum(shares[code] for code in known)
    return sum(shares[code] for code in languages) / total if total else 0.0


def page_languages(texts: Sequence[str], given: Sequence[str]) -> list[str]:
    """Each page's language: the given code where there is one, else the detected one, else "".

    A site is in few languages, and a page in none of them matches nothing: a language that stands on
    hardly any page is kept only where it is beyond doubt. A detected language is written as the given
    codes write it (the site's "nb" for the detector's "no").

    Args:
        texts: the pages' texts.
        given: their codes as the site's owner has them, "" where unknown; as many as texts.
    """
    if all(given):
        return list(given)
    names = _names(texts, given)
    languages = list(given)
    doubtful: list[int] = []
    for at, code in enumerate(given):
        if not code:
            found, how = _guess(texts[at])
            languages[at] = names.get(found, found) if how >= _SURE else ""
            if how < _RARE_SURE:
                doubtful.append(at)
    pages = Counter(filter(None, languages))
    enough = max(_RARE_PAGES, _RARE_SHARE * pages.total())
    rare = {language for language, count in pages.items() if count < enough}
    for at in doubtful:
        if languages[at] in rare:
            languages[at] = ""
    return languages


def _names(texts: Sequence[str], given: Sequence[str]) -> dict[str, str]:
    """Detected code -> the site's own code for it, by the pages that have one.

    A code that the detector knows means what it says, even on a page that is labelled wrongly.
    """
    known = set(_identifier().labels) - set(_SISTERS) | {""}
    shown: dict[str, Counter[str]] = {}
    for at, code in enumerate(given):
        if code not in known and shown.setdefault(code, Counter()).total() < _SHOWN_PAGES:
            shown[code][detect(texts[at])] += 1
    names = {found.most_common(1)[0][0]: code for code, found in reversed(shown.items())}
    return {found: code for found, code in names.items() if found and found not in given}


def _guess(text: str) -> tuple[str, float]:
    """The likeliest language and its probability, 0 to 1; ("", 0) where there is too little to judge."""
    sample = _own_script(_sample(text))
    # A character of Chinese, Japanese or Korean says as much as three letters.
    if len(_LETTER.findall(sample)) + 2 * len(_EAST_ASIAN.findall(sample)) < _FEW_LETTERS:
        return "", 0.0
    shares = _shares(sample)
    best = max(shares, key=shares.__getitem__)
    known = len(best) == 2 and best not in _NO_LANGUAGE
    return (best, shares[best]) if known else ("", 0.0)


def _shares(sample: str) -> dict[str, float]:
    """The probability of each language, 0 to 1."""
    shares: dict[str, float] = defaultdict(float)
    for code, share in _identifier().rank(_own_keys(sample)):
        shares[_SISTERS.get(code, code)] += share
    return shares


def _sample(text: str) -> str:
    """Three pieces, from the start, the middle and the end; a short text whole; white space as one space."""
    if len(text) > _PIECES * _PIECE:
        stride = (len(text) - _PIECE) // (_PIECES - 1)
        text = " ".join(text[start : start + _PIECE] for start in range(0, _PIECES * stride, stride))
    return " ".join(text.split())


def _own_script(sample: str) -> str:
    """Without the words in Latin letters, if the text is in another script."""
    if sample.isascii():
        return sample
    share = len(_OTHER_LETTER.findall(sample)) / max(1, len(_LETTER.findall(sample)))
    return _LATIN_WORD.sub(" ", sample) if share > _OTHER_SCRIPT_SHARE else sample


def _own_keys(sample: str) -> str:
    """Yeh and kaf as the language has them: Persian is often typed with those of Arabic, and Arabic with its.

    The detector takes these two for proof; proof are only the letters that the other language has not.
    """
    if sample.isascii():
        return sample
    arabic, persian = len(_ARABIC_ONLY.findall(sample)), len(_PERSIAN_ONLY.findall(sample))
    if arabic == persian or len(_NEIGHBOURS_ONLY.findall(sample)) > max(arabic, persian):
        return sample
    return sample.translate(_TO_ARABIC_KEYS if arabic > persian else _TO_PERSIAN_KEYS)


@cache  # 0.5 seconds
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
