"""The vocabulary of crawlers: translates the words of their cells from five languages to English."""

import re
from functools import lru_cache

from internal_linker.sources.tables.columns import Kind, fold_header

HYPERLINK, CONTENT = "Hyperlink", "Content"
NOT_INDEXABLE = "Non-Indexable"
# Maximum characters of a word.
_LONGEST = 100
# Not anchored at the end: crawlers append the reason.
_NOT_INDEXABLE = re.compile(r"^(non|not|no|nicht|nein)\b|noindex|^(false|0)$")
# Words of Screaming Frog in English, German, Spanish, French and Italian, and words of other tools, as spelt by
# `fold_header`.
_WORDS: dict[Kind, dict[str, str]] = {
    Kind.INDEXABILITY: {
        "Indexable": "indexable|index|indexierbar|indicizzabile|true|yes|1|ja|sí|si|oui",
    },
    # Images with a link are hyperlinks, too.
    Kind.LINK_TYPE: {
        HYPERLINK: "hyperlink|hyperlinks|link|text|a|href|ahref|hipervínculo|hiperenlace|enlace|hyperlien|"
        "lien hypertexte|lien|collegamento ipertestuale|collegamento",
    },
    Kind.LINK_POSITION: {
        CONTENT: "content|main content|body|inhalt|contenido|contenu|contenuto",
        "Navigation": "navigation|nav|navegación|navigazione",
        "Header": "header|kopfzeile|encabezado|cabecera|en tête|intestazione",
        "Footer": "footer|fußzeile|pie de página|pied de page|piè di pagina",
        "Aside": "aside|sidebar|seitenleiste|barra lateral|barre latérale|encart|barra laterale",
    },
}
_ENGLISH = {
    (kind, fold_header(word)): english
    for kind, words in _WORDS.items()
    for english, known in words.items()
    for word in known.split("|")
}


def english(kind: Kind, cell: str) -> str:
    """Return the English word for an indexability, a link's type or its position; unknown words stay."""
    # Longer cells are not words, so they must not fill the cache.
    return _english(kind, cell) if len(cell) <= _LONGEST else _english.__wrapped__(kind, cell)


@lru_cache(maxsize=1024)  # millions of cells, few words
def _english(kind: Kind, cell: str) -> str:
    word = fold_header(cell)
    if kind is Kind.INDEXABILITY and _NOT_INDEXABLE.search(word):
        return NOT_INDEXABLE
    return _ENGLISH.get((kind, word), cell.strip())
