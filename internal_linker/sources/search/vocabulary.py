"""What exports of search data write, in English, German, Spanish, French and Italian: columns, numbers and days."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import Any

from internal_linker.sources.tables.columns import Kind, find_column, fold_header


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


# The separators of thousands: a point, a comma, an apostrophe, and spaces of three widths.
_THOUSANDS = re.compile(r"\d{1,3}([.,'’ \u00a0\u202f])\d{3}(\1\d{3})*")
_WHOLE = re.compile(r"\d+([.,]0+)?")
_SPACES = re.compile(r"[ \u00a0\u202f'’]")
_NOT_DIGITS = re.compile(r"\D")
_ISO = re.compile(r"(\d{4})[-./]?(\d{2})[-./]?(\d{2})")
_SHORT = re.compile(r"(\d{1,2})[-./](\d{1,2})[-./](\d{4}|\d{2})")
_NAMED = re.compile(
    r"(?:(\d{1,2})\.?\s+)?(?:de\s+)?([^\W\d_]{3,})\.?(?:\s+(?:de\s+)?(\d{1,2}))?,?\s+(?:de\s+)?(\d{4})"
)
# What may follow a day: a time, and its zone.
_TIME = re.compile(
    r"(?<=\d)[T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}|[A-Z]{3,4})?$"
)
# The months by the first letters of their names in five languages; "juin" and "juillet" share three.
_MONTHS = {
    begin: month
    for month, begins in enumerate(
        (
            *("jan ene gen", "feb fev fév", "mar mär mrz", "apr abr avr", "may mai mag", "jun juin giu"),
            *("jul juil lug", "aug ago aoû aou", "sep set", "oct okt ott", "nov", "dec dez dic déc"),
        ),
        1,
    )
    for begin in begins.split()
}


def whole_number(text: str) -> float:
    """Return a count of clicks or the like, 0 or more; NaN for anything else.

    A point or a comma before three digits separates thousands: nobody counts thousandths of clicks.
    """
    text = text.strip()
    if _THOUSANDS.fullmatch(text):
        return float(_NOT_DIGITS.sub("", text))
    return float(re.split("[.,]", text)[0]) if _WHOLE.fullmatch(text) else math.nan


def decimal_number(text: str) -> float:
    """Return a number such as a position; its one point or comma is the decimal separator. NaN for anything else."""
    text = _SPACES.sub("", text.strip())
    last = max(text.rfind("."), text.rfind(","))
    if last >= 0:
        mark = text[last]
        text = (
            text.replace(mark, "")
            if text.count(mark) > 1
            else text[:last].replace(",", "").replace(".", "") + "." + text[last + 1 :]
        )
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


class Unclear(ValueError):
    """Days can be read in two ways; the message has an example."""


def days_of(texts: Iterable[str]) -> dict[str, date | None]:
    """Return the day that each text of one column names; None for a text that is no day.

    Days such as 1/11/2026 are read in the order that fits all of the column.

    Raises:
        Unclear: both orders fit.
    """
    texts = list(texts)
    bare = {text: _TIME.sub("", text.strip()) for text in texts}
    short = [found for text in bare.values() if (found := _SHORT.fullmatch(text))]
    return {text: _day(day, month_first=_is_month_first(short)) for text, day in bare.items()}


def zones_of(texts: Iterable[str]) -> set[str]:
    """Return the time zones that texts of a column of days name."""
    return {found["zone"] for text in texts if (found := _TIME.search(text.strip())) and found["zone"]}


def days_within(text: str) -> tuple[date, date] | None:
    """Return the first and the last day of a text such as "2026-08-01 - 2026-10-31"; None if it has no two days."""
    parts = re.split(r"\s[-–—]\s|\bto\b|\bbis\b", text)
    if len(parts) != 2:
        return None
    try:
        first, last = days_of([part.strip() for part in parts]).values()
    except ValueError:
        return None
    return (first, last) if first and last and first <= last else None


def _is_month_first(short: list["re.Match[str]"]) -> bool:
    # Only Americans write months first, and with slashes.
    if not short or any("/" not in found[0] for found in short):
        return False
    days = any(int(found[1]) > 12 for found in short)
    months = any(int(found[2]) > 12 for found in short)
    if days == months and any(found[1] != found[2] for found in short):
        raise Unclear(next(found[0] for found in short if found[1] != found[2]))
    return months


def _day(text: str, *, month_first: bool) -> date | None:
    try:
        if found := _ISO.fullmatch(text):
            return date(int(found[1]), int(found[2]), int(found[3]))
        if found := _SHORT.fullmatch(text):
            year = int(found[3]) + (2000 if len(found[3]) == 2 else 0)
            first, second = int(found[1]), int(found[2])
            return date(year, first, second) if month_first else date(year, second, first)
        found = _NAMED.fullmatch(text)
        day = (found[1] or found[3]) if found else None
        if found and day and (month := _month(found[2])):
            return date(int(found[4]), month, int(day))
    except ValueError:
        pass
    return None


def _month(name: str) -> int | None:
    folded = name.casefold()
    return _MONTHS.get(folded[:4]) or _MONTHS.get(folded[:3])
