"""Clauses that add a link to a sentence, such as "(see Title)", by language."""

import re

# What stands before the final punctuation of a sentence, with the title in place of {}; and where the sentence or the
# title has parentheses of its own. Japanese has no clause that could follow a finite verb.
_CLAUSES: dict[str, tuple[str, ...]] = {
    "en": (" (see {})", "; for more, see {}"),
    "de": (" (siehe {})", "; mehr dazu unter {}"),
    "fr": (" (voir {})", "\u00a0; pour en savoir plus, voir {}"),
    "es": (" (véase {})", "; para más información, véase {}"),
    "it": (" (vedi {})", "; per saperne di più, vedi {}"),
    "pt": (" (veja {})", "; para saber mais, veja {}"),
    "nl": (" (zie {})", "; zie voor meer informatie {}"),
    "fa": (" ({} را ببینید)", "؛ برای اطلاعات بیشتر، {} را ببینید"),
    "ar": (" (انظر {})", "؛ لمزيد من المعلومات، انظر {}"),
    "ja": ("（「{}」を参照）",),
    "zh": ("（参见《{}》）", "；详见《{}》"),
}
_TRADITIONAL = str.maketrans("参见详", "參見詳")
# Characters of everyday texts that only the traditional script has.
_IS_TRADITIONAL = re.compile("[這們個為來說國時會對學與點關開應電網頁實從動過還進發]")
_PARENTHESES = re.compile(r"[()（）\[\]]")
# A full stop behind a word or a bracket, and one that may belong to an abbreviation, an initial or dots instead.
_FULL_STOP = re.compile(r"[\w)）%\u200c][.。]$")
_ABBREVIATED = re.compile(r"(?:\b\w|\.\w+|\b(?:bzw|Co|ecc|etc|Inc|Ltd|usw|vgl))\.$")


def with_clause(sentence: str, title: str, language: str) -> str:
    """Return a sentence with a clause that names a page; "" if there is none for its language or its punctuation."""
    clauses = _CLAUSES.get(language)
    if not clauses or not _FULL_STOP.search(sentence) or _ABBREVIATED.search(sentence):
        return ""
    plain = not _PARENTHESES.search(title) and sentence[-2] not in ")）"
    clause = clauses[0] if plain else clauses[-1]
    if language == "zh" and _IS_TRADITIONAL.search(sentence):
        clause = clause.translate(_TRADITIONAL)
    return sentence[:-1] + clause.format(title) + sentence[-1]
