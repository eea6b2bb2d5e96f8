"""Exports as crawlers write them, and what an import makes of them."""

import csv
from collections.abc import Sequence
from pathlib import Path

import xlsxwriter

from tests.support.small_project import SITE, command, write_csv, write_text

A, B, C = (f"{SITE}/{name}/" for name in "abc")
PAGES = [
    ("URL", "Title", "H1", "Indexability", "Status Code"),
    (A, "Tea", "All tea", "Indexable", "200"),
    (B, "Pots", "", "Non-Indexable", "404"),
]
LINKS = [
    ("Source", "Destination", "Anchor", "Link Position", "Type"),
    (A, B, "pots", "Content", "Hyperlink"),
    (B, A, "tea", "Navigation", "Hyperlink"),
    (B, A, "", "Footer", "Image"),
]
# Screaming Frog's headers of internal_all and all_inlinks, then its names for the values.
LANGUAGES = {
    "English": (
        "Address,Content Type,Status Code,Status,Indexability,Title 1,H1-1",
        "Type,Source,Destination,Size (Bytes),Anchor,Target,Link Position",
        "Indexable,Non-Indexable,Content,Navigation,Footer,Hyperlink,Image",
    ),
    "German": (
        "Adresse,Inhaltstyp,Status-Code,Status,Indexierbarkeit,Titel 1,H1-1",
        "Typ,Quelle,Ziel,Größe (Bytes),Ankertext,Target,Linkposition",
        "Indexierbar,Nicht indexierbar,Inhalt,Navigation,Fußzeile,Hyperlink,Image",
    ),
    "Spanish": (
        "Dirección,Tipo de contenido,Código de respuesta,Estado,Indexabilidad,Título 1,H1-1",
        "Tipo,Desde,Hasta,Tamaño (Bytes),Texto de anclaje,Target,Posición del enlace",
        "Indexable,No indexable,Contenido,Navegación,Pie de página,Hipervínculo,Image",
    ),
    "French": (
        "Adresse,Type de contenu,Code HTTP,Statut,Indexabilité,Title 1,H1-1",
        "Type,Source,Destination,Taille (octets),Ancrage,Cible,Position du lien",
        "Indexable,Non indexable,Contenu,Navigation,Pied de page,Hyperlien,Image",
    ),
    "Italian": (
        "Indirizzo,Tipo di contenuto,Codice di stato,Stato,Indicizzabilità,Titolo 1,H1-1",
        "Tipo,Origine,Destinazione,Dimensione (byte),Ancoraggio,Target,Posizione del link",
        "Indicizzabile,Non indicizzabile,Contenuto,Navigazione,Piè di pagina,Collegamento ipertestuale,Image",
    ),
}


def empty_project(folder: Path) -> Path:
    """Return a project folder without input."""
    write_text(folder / "config/settings.toml", "")
    return folder


def table(project: Path, name: str) -> list[tuple[str, ...]]:
    """Return the rows of a file that a run reads, with the header."""
    with (project / "files" / name).open(encoding="utf-8-sig", newline="") as file:
        return [tuple(row) for row in csv.reader(file)]


def pages(project: Path) -> list[tuple[str, ...]]:
    return table(project, "urls_rawdata.csv")


def links(project: Path) -> list[tuple[str, ...]]:
    return table(project, "existing_links.csv")


def crawl(path: Path, *rows: Sequence[str]) -> str:
    """Write a CSV file of these rows and return its path for the command."""
    write_csv(path, rows)
    return str(path)


def imported(project: Path, *arguments: str) -> int:
    return command("import", *arguments, "--project", str(project))


def screaming_frog(folder: Path, language: str) -> tuple[str, str]:
    """Write both exports of the two pages and three links, as Screaming Frog does in that language."""
    page_header, link_header, words = (line.split(",") for line in LANGUAGES[language])
    good, bad, content, menu, footer, link, image = words
    html = "text/html; charset=UTF-8"
    page_rows = [(A, html, "200", "OK", good, "Tea", "All tea"), (B, html, "404", "-", bad, "Pots", "")]
    picture = (SITE + "/a.png", "image/png", "200", "OK", good, "", "")
    link_rows = [
        (link, A, B, "9", "pots", "_blank", content),
        (link, B, A, "9", "tea", "", menu),
        (image, B, A, "9", "", "", footer),
    ]
    name = folder / language
    return crawl(name / "internal_all.csv", page_header, *page_rows, picture), crawl(
        name / "all_inlinks.csv", link_header, *link_rows
    )


def workbook(path: Path, *sheets: Sequence[Sequence[object]]) -> str:
    """Write a workbook with a sheet for each set of rows and return its path for the command."""
    with xlsxwriter.Workbook(path) as book:
        for rows in sheets:
            sheet = book.add_worksheet()
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return str(path)
