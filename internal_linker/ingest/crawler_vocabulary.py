"""A cell as a crawler writes it, in one of five languages -> the English word for the same."""

import re
from functools import lru_cache

from internal_linker.adapters.tables.columns import Kind, fold_header

HYPERLINK, CONTENT = "Hyperlink", "Content"
NOT_INDEXABLE = "Non-Indexable"
# Characters.
_LONGEST = 100
# Open-ended: crawlers add the reason to it.
_NOT_INDEXABLE = re.compile(r"^(non|not|no|nicht|nein)\b|noindex|^(false|0)$")
# English, German, Spanish, French and Italian as Screaming Frog has them, and what other tools say; as
# `fold_header` spells them.
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
    """The English word for an indexability, a link's type or its position; a word that is not known stays."""
    # What is longer is no word, and nothing to keep.
    return _english(kind, cell) if len(cell) <= _LONGEST else _english.__wrapped__(kind, cell)


@lru_cache(maxsize=1024)  # millions of cells, few words
def _english(kind: Kind, cell: str) -> str:
    word = fold_header(cell)
    if kind is Kind.INDEXABILITY and _NOT_INDEXABLE.search(word):
        return NOT_INDEXABLE
    return _ENGLISH.get((kind, word), cell.strip())
