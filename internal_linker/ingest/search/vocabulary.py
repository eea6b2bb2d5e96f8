"""The column names of search data in English, German, Spanish, French and Italian."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from internal_linker.adapters.tables.columns import Kind, find_column, fold_header


class Figure(StrEnum):
    """What a column of search data contains."""

    DATE = "date"
    PAGE = "page"
    QUERY = "query"
    CLICKS = "clicks"
    IMPRESSIONS = "impressions"
    POSITION = "position"
    # BigQuery has the sum over all impressions, counted from 0.
    SUM_POSITION = "sum of positions"
    CTR = "CTR"
    SESSIONS = "sessions"
    ENGAGED = "engaged sessions"
    KEY_EVENTS = "key events"
    # By these, a table divides the figures of a page further.
    PART = "part"
    FILTER = "filter"
    VALUE = "value"


_NAMES: dict[Figure, str] = {
    Figure.DATE: "date|day|data date|datum|tag|fecha|día|jour|data|giorno",
    Figure.PAGE: (
        "page|url|top pages|landing page|landing page + query string|page url|address|page path|page location"
        "|page path and screen class|page path + query string|seite|häufigste seiten|die häufigsten seiten"
        "|landingpage|zielseite|landingpage + abfragestring|seitenpfad|seitenpfad und bildschirmklasse"
        "|página|páginas principales|página de destino|página de destino + cadena de consulta|ruta de página"
        "|ruta de página y clase de pantalla|ruta de la página|pages les plus populaires|page de destination"
        "|page de destination + chaîne de requête|chemin de la page|chemin de la page et classe de l'écran"
        "|chemin de la page et classe de l’écran|pagina|pagine principali|pagina di destinazione"
        "|pagina di destinazione + stringa di query|percorso pagina|percorso pagina e classe schermata"
        "|landingpageplusquerystring|pagepath|pages"
    ),
    Figure.QUERY: (
        "query|queries|top queries|search query|keyword|suchanfrage|suchanfragen|häufigste suchanfragen"
        "|die häufigsten suchanfragen|consulta|consultas|consultas principales|requête|requêtes"
        "|requêtes les plus fréquentes|query principali|query di ricerca"
    ),
    Figure.CLICKS: "clicks|url clicks|klicks|clics|clic",
    Figure.IMPRESSIONS: "impressions|impressionen|impresiones|impressioni",
    Figure.POSITION: (
        "position|average position|avg. position|avg position|durchschnittliche position|durchschn. position"
        "|posición|posición media|position moyenne|posizione|posizione media"
    ),
    Figure.SUM_POSITION: "sum position",
    Figure.CTR: "ctr|url ctr|site ctr|klickrate",
    Figure.SESSIONS: "sessions|sitzungen|sesiones|sessioni",
    Figure.ENGAGED: (
        "engaged sessions|sitzungen mit interaktionen|sitzungen mit interaktion|sesiones con interacción"
        "|sessions avec engagement|sessions engagées|sessioni con coinvolgimento|engagedsessions"
    ),
    Figure.KEY_EVENTS: (
        "key events|conversions|schlüsselereignisse|eventos clave|conversiones|événements clés|eventi chiave"
        "|conversioni|keyevents"
    ),
    Figure.PART: (
        "country|device|search type|search appearance|is anonymized query|is anonymized discover|land|gerät"
        "|suchtyp|darstellung in der suche|país|dispositivo|tipo de búsqueda|aspecto en la búsqueda"
        "|aparición en búsquedas|pays|appareil|type de recherche|apparence dans les résultats de recherche"
        "|paese|tipo di ricerca|aspetto nella ricerca|device category|session default channel group"
    ),
    Figure.FILTER: "filter|filtro|filtre",
    Figure.VALUE: "value|wert|valor|valeur|valore",
}
_KNOWN = {fold_header(name): figure for figure, names in _NAMES.items() for name in names.split("|")}
# What only search data say: one of these can be in any list of pages, two of them can't.
_SEARCHED = frozenset(
    (Figure.QUERY, Figure.CLICKS, Figure.IMPRESSIONS, Figure.CTR, Figure.POSITION, Figure.SUM_POSITION)
)
_VISITED = frozenset((Figure.SESSIONS, Figure.ENGAGED, Figure.KEY_EVENTS))
_SEVERAL = 2
# What a crawler says about pages: a table with one of these is a crawl, even if it has clicks beside them.
_CRAWLED = (
    *(Kind.TITLE, Kind.H1, Kind.CONTENT, Kind.STATUS, Kind.INDEXABILITY, Kind.CANONICAL, Kind.REDIRECT),
    *(Kind.SOURCE, Kind.DESTINATION, Kind.WORDS, Kind.CONTENT_TYPE),
)
# Filters.csv names the kind of search and the period beside filters that leave out rows.
SEARCH_TYPE = frozenset(
    ("search type", "suchtyp", "tipo de búsqueda", "type de recherche", "tipo di ricerca")
)
DATE_FILTER = frozenset(("date", "datum", "fecha", "data"))
# The first cell of a row of totals.
_TOTAL = re.compile(
    r"(grand )?totals?|gesamt(summe|ergebnis)?|summe|total(es)?( general(es)?)?|total général|"
    r"totali?( complessiv[oi])?|totale( complessivo)?",
    re.IGNORECASE,
)


def figures_in(header: Sequence[str]) -> dict[Figure, list[int]]:
    """Return the positions (from 0) of the columns of each figure; of `PART`, all columns."""
    found: dict[Figure, list[int]] = {}
    for at, name in enumerate(header):
        folded = fold_header(name)
        figure = _KNOWN.get(folded) or (Figure.PART if folded.startswith("is ") else None)
        if figure:
            found.setdefault(figure, []).append(at)
    return found


def is_search_table(header: Sequence[str]) -> bool:
    """Return whether a header is one of search data, even if it lacks a column, and no crawl."""
    found = figures_in(header)
    visited = Figure.PAGE in found and (Figure.SESSIONS in found or len(_VISITED & found.keys()) >= _SEVERAL)
    return (is_searched(found) or visited) and all(find_column(header, kind) is None for kind in _CRAWLED)


def is_searched(found: Mapping[Figure, Any]) -> bool:
    """Return whether columns with these figures say what searchers did; sessions are of all visitors."""
    return len(_SEARCHED & found.keys()) >= _SEVERAL


def has_unknown(header: Sequence[str]) -> bool:
    """Return whether a column has a name that means nothing here: it may be a needed one under another name."""
    known = {at for places in figures_in(header).values() for at in places}
    return any(name.strip() for at, name in enumerate(header) if at not in known)


def is_filter_table(header: Sequence[str]) -> bool:
    """Return whether a header is that of Search Console's list of filters: Filter, Value."""
    found = figures_in(header)
    return len(header) == 2 and found.get(Figure.FILTER) == [0] and found.get(Figure.VALUE) == [1]


def only(found: Mapping[Figure, Sequence[int]]) -> dict[Figure, int]:
    """Return the position of the first column of each figure."""
    return {figure: places[0] for figure, places in found.items()}


def is_total(cell: str) -> bool:
    """Return whether the first cell of a row says that the row is a total."""
    return bool(_TOTAL.fullmatch(cell.strip(" :")))
