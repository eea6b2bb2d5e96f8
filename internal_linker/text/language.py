"""Language detection: the two-letter code of a text's language, "" if it is uncertain."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# Fewer letters are as often a name or a product number as a sentence.
_FEW_LETTERS = 40
# Three pieces of a page are judged, so that an English header or a block of code doesn't decide for the whole page.
# 3 x 200 characters identify all pages of both development sites, in two thirds of the time of 3 x 400; 3 x 150 miss a
# page typed on the other language's keyboard.
_PIECES, _PIECE = 3, 200
# Of random pieces of 80 characters of prose from both sites, 1 in 1,000 was wrong above 0.5 and none above 0.7, which
# leaves 4 in 100 of them undecided, and 3 in 1,000 pieces of 400 characters.
_SURE = 0.7
# A language of so few pages may be a mistake, and needs more certainty than others.
_RARE_PAGES, _RARE_SHARE, _RARE_SURE = 3, 0.02, 0.95
# If another script has this share of the letters, words in Latin letters are code and names: on the development site,
# Persian and Arabic pages have as few as 28% letters of their own.
_OTHER_SCRIPT_SHARE = 0.2
# Pages that are enough to learn which code a site uses for a language.
_SHOWN_PAGES = 20

# For a link, spoken Arabic and Chinese, Nigerian English and written Norwegian count as their standard language.
_SISTERS = {"ary": "ar", "arz": "ar", "nn": "no", "pcm": "en", "wuu": "zh", "yue": "zh"}
# Latin on the web is lorem ipsum.
_NO_LANGUAGE = {"la"}

_LATIN_WORD = re.compile(r"[A-Za-z]+")
_LETTER, _OTHER_LETTER = re.compile(r"[^\W\d_]"), re.compile(r"[^\W\d_\x00-\u036f\u1e00-\u1eff]")
_EAST_ASIAN = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]")
# Letters that only one of Arabic and Persian has, or hardly the other; and letters of neighbouring languages.
_ARABIC_ONLY, _PERSIAN_ONLY = re.compile("[ةأإ]"), re.compile("[پچژگ]")
_NEIGHBOURS_ONLY = re.compile("(?![پچژکگیۀ])[\u0671-\u06d5]")
_TO_ARABIC_KEYS, _TO_PERSIAN_KEYS = str.maketrans("یک", "يك"), str.maketrans("يك", "یک")


def detect(text: str) -> str:
    """Return the two-letter code of the text's language; "" for a short text, code, or an unclear case."""
    language, confidence = _guess(text)
    return language if confidence >= _SURE else ""


def detect_among(text: str, languages: Collection[str]) -> str:
    """Return which of these languages the text is in, "" if unclear; with so few choices, a title is enough."""
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
    """Return each page's language: the given code, else the detected one, else "".

    A site has few languages, and a page in none of them matches nothing: a language of hardly any pages counts only if
    it is beyond doubt. Detected languages get the site's own codes (its "nb" for the detector's "no").
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
    """Map detected codes to the site's own; one that the detector knows keeps its meaning, even if mislabelled."""
    known = set(_identifier().labels) - set(_SISTERS) | {""}
    shown: dict[str, Counter[str]] = {}
    for at, code in enumerate(given):
        if code not in known and shown.setdefault(code, Counter()).total() < _SHOWN_PAGES:
            shown[code][detect(texts[at])] += 1
    names = {found.most_common(1)[0][0]: code for code, found in reversed(shown.items())}
    return {found: code for found, code in names.items() if found and found not in given}


def _guess(text: str) -> tuple[str, float]:
    """Return the likeliest language and its probability, 0 to 1; ("", 0) if there is too little to judge."""
    sample = _own_script(_sample(text))
    # A character of Chinese, Japanese or Korean says as much as three letters.
    if len(_LETTER.findall(sample)) + 2 * len(_EAST_ASIAN.findall(sample)) < _FEW_LETTERS:
        return "", 0.0
    shares = _shares(sample)
    best = max(shares, key=shares.__getitem__)
    known = len(best) == 2 and best not in _NO_LANGUAGE
    return (best, shares[best]) if known else ("", 0.0)


def _shares(sample: str) -> dict[str, float]:
    shares: dict[str, float] = defaultdict(float)
    for code, share in _identifier().rank(_own_keys(sample)):
        shares[_SISTERS.get(code, code)] += share
    return shares


def _sample(text: str) -> str:
    if len(text) > _PIECES * _PIECE:
        stride = (len(text) - _PIECE) // (_PIECES - 1)
        text = " ".join(text[start : start + _PIECE] for start in range(0, _PIECES * stride, stride))
    return " ".join(text.split())


def _own_script(sample: str) -> str:
    if sample.isascii():
        return sample
    share = len(_OTHER_LETTER.findall(sample)) / max(1, len(_LETTER.findall(sample)))
    return _LATIN_WORD.sub(" ", sample) if share > _OTHER_SCRIPT_SHARE else sample


def _own_keys(sample: str) -> str:
    """Spell yeh and kaf as the text's language does: Persian is often typed with the Arabic letters, and vice versa.

    The detector relies on these two letters, but only letters that the other language lacks are proof.
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
