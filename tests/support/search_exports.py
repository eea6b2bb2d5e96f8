"""Exported files of search data, as Search Console, Google Analytics and other tools write them."""

import zipfile
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.sources.search.exports import SearchExports, read_exports
from internal_linker.sources.search.frames import Place
from tests.support.builders import Told
from tests.support.small_project import write_text

A = "https://www.tea.example"
# By language: the tables' names, and the names of their columns.
LANGUAGES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "English": {
        "queries": ("Queries.csv", "Top queries,Clicks,Impressions,CTR,Position"),
        "pages": ("Pages.csv", "Top pages,Clicks,Impressions,CTR,Position"),
        "countries": ("Countries.csv", "Country,Clicks,Impressions,CTR,Position"),
        "dates": ("Chart.csv", "Date,Clicks,Impressions,CTR,Position"),
        "filters": ("Filters.csv", "Filter,Value\nSearch type,Web\nDate,Last 3 months"),
    },
    "German": {
        "queries": ("Suchanfragen.csv", "Häufigste Suchanfragen,Klicks,Impressionen,CTR,Position"),
        "pages": ("Seiten.csv", "Die häufigsten Seiten,Klicks,Impressionen,CTR,Position"),
        "countries": ("Länder.csv", "Land,Klicks,Impressionen,CTR,Position"),
        "dates": ("Diagramm.csv", "Datum,Klicks,Impressionen,CTR,Position"),
        "filters": ("Filter.csv", "Filter,Wert\nSuchtyp,Web\nDatum,Letzte 3 Monate"),
    },
    "Spanish": {
        "queries": ("Consultas.csv", "Consultas principales,Clics,Impresiones,CTR,Posición"),
        "pages": ("Páginas.csv", "Páginas principales,Clics,Impresiones,CTR,Posición"),
        "countries": ("Países.csv", "País,Clics,Impresiones,CTR,Posición"),
        "dates": ("Gráfico.csv", "Fecha,Clics,Impresiones,CTR,Posición"),
        "filters": ("Filtros.csv", "Filtro,Valor\nTipo de búsqueda,Web\nFecha,Últimos 3 meses"),
    },
    "French": {
        "queries": ("Requêtes.csv", "Requêtes les plus fréquentes,Clics,Impressions,CTR,Position"),
        "pages": ("Pages.csv", "Pages les plus populaires,Clics,Impressions,CTR,Position"),
        "countries": ("Pays.csv", "Pays,Clics,Impressions,CTR,Position"),
        "dates": ("Graphique.csv", "Date,Clics,Impressions,CTR,Position"),
        "filters": ("Filtres.csv", "Filtre,Valeur\nType de recherche,Web\nDate,3 derniers mois"),
    },
    "Italian": {
        "queries": ("Query.csv", "Query principali,Clic,Impressioni,CTR,Posizione"),
        "pages": ("Pagine.csv", "Pagine principali,Clic,Impressioni,CTR,Posizione"),
        "countries": ("Paesi.csv", "Paese,Clic,Impressioni,CTR,Posizione"),
        "dates": ("Grafico.csv", "Data,Clic,Impressioni,CTR,Posizione"),
        "filters": ("Filtri.csv", "Filtro,Valore\nTipo di ricerca,Web\nData,Ultimi 3 mesi"),
    },
}
FIRST, LAST = date(2026, 8, 1), date(2026, 8, 31)


def days(first: date = FIRST, last: date = LAST) -> list[date]:
    return [first + timedelta(number) for number in range((last - first).days + 1)]


def zipped(path: Path, language: str = "English", **rows: Sequence[str]) -> Path:
    """Write a zip archive of Search Console with these rows in place of its own ones."""
    decimal = "." if language == "English" else ","
    own = {
        "queries": [f'green tea,9,90,"10{decimal}0%","3{decimal}1"'],
        "pages": [f'{A}/green-tea/,"1{"," if language == "English" else "."}234",10000,"12%","3{decimal}4"'],
        "countries": ["Japan,9,90,10%,3"],
        "dates": [f'{day},50,400,"12%","4{decimal}5"' for day in days()],
        "filters": [],
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, (file, header) in LANGUAGES[language].items():
            archive.writestr(file, "\n".join([header, *(rows.get(name, own[name]))]) + "\n")
    return path


def written(folder: Path, text: str, name: str = "export.csv") -> Path:
    write_text(folder / name, text)
    return folder / name


def read(*paths: Path, site: str = "tea.example") -> SearchExports:
    return read_exports(paths, Place(site, A, CanonicalHosts().key), Told())
