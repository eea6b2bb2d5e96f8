"""Stemming: what the forms of a word have in common."""

import re
from collections.abc import Callable
from functools import cache

_SNOWBALL = {
    **{"ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english"},
    **{"es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french"},
    **{
        "ga": "irish",
        "hi": "hindi",
        "hu": "hungarian",
        "hy": "armenian",
        "id": "indonesian",
        "it": "italian",
    },
    **{"lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian"},
    **{"no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian"},
    **{"sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish"},
}
# Languages in other scripts: their words in Latin letters are usually English.
OTHER_SCRIPTS = frozenset("ar el fa he hi hy ja ko ne ru sr ta th uk yi zh".split())
_ARABIC_LETTER = re.compile("[\u0620-\u06ff]")
# As they are spelled after folding: the article with attached prefixes, the conjunction, prepositions.
_ARABIC_PREFIXES = ("وال", "بال", "کال", "فال", "لل", "ال", "و", "ل", "ب")
_ARABIC_SUFFIXES = ("ها", "ان", "ات", "ون", "ین", "یه", "ه", "ی")
# So many letters must be left of an Arabic word: most of its root.
_ARABIC_LEAST = 3


def stem(word: str, language: str) -> str:
    """Return the stem of a word as `text.words` folds it; the word itself if its language's endings are unknown."""
    language = language[:2].lower()
    # Snowball's Arabic knows the letters as Arabic keyboards have them, before folding.
    if language != "fa" and _ARABIC_LETTER.match(word):
        return _arabic(word)
    if language in OTHER_SCRIPTS and word.isascii():
        language = "en"
    stemmed = _stemmer(language)
    return stemmed(word) if stemmed else word


def _arabic(word: str) -> str:
    """Remove article and ending as the light10 stemmer does: it misses broken plurals but garbles few names."""
    for prefix in _ARABIC_PREFIXES:
        if word.startswith(prefix) and len(word) - len(prefix) >= _ARABIC_LEAST:
            word = word[len(prefix) :]
            break
    for suffix in _ARABIC_SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _ARABIC_LEAST:
            return word[: -len(suffix)]
    return word


@cache
def _stemmer(language: str) -> Callable[[str], str] | None:
    import Stemmer

    name = _SNOWBALL.get(language)
    # Without the stemmer's own cache: each word comes once.
    return Stemmer.Stemmer(name, 0).stemWord if name else None
