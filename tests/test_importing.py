"""`import`: crawlers' exports become the tables that a run reads, in five languages, and nothing is lost."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.small_project import SITE, command, forget_settings, write_csv, write_text

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
# Headers of internal_all and all_inlinks as Screaming Frog has them; then its words for the values.
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


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_settings(monkeypatch)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project folder."""
    write_text(tmp_path / "project/config/settings.toml", "")
    return tmp_path / "project"


def table(project: Path, name: str) -> list[tuple[str, ...]]:
    """The rows of a file that a run reads, with the header."""
    with (project / "files" / name).open(encoding="utf-8-sig", newline="") as file:
        return [tuple(row) for row in csv.reader(file)]


def pages(project: Path) -> list[tuple[str, ...]]:
    return table(project, "urls_rawdata.csv")


def links(project: Path) -> list[tuple[str, ...]]:
    return table(project, "existing_links.csv")


def crawl(path: Path, *rows: Sequence[str]) -> str:
    """A CSV file of these rows; its path for the command."""
    write_csv(path, rows)
    return str(path)


def imported(project: Path, *arguments: str) -> int:
    return command("import", *arguments, "--project", str(project))


def screaming_frog(folder: Path, language: str) -> tuple[str, str]:
    """Both exports of the two pages and three links, as that language's program writes them."""
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_screaming_frog_in_each_language(
    language: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Headers and values come out in English, pictures are left out and counted."""
    assert imported(project, *screaming_frog(tmp_path, language)) == 0
    assert pages(project) == PAGES
    assert links(project) == LINKS
    out = capsys.readouterr().out
    assert "2 pages: URL, Title, H1, Indexability, Status Code" in out
    assert "3 links: Source, Destination, Anchor, Link Position, Type" in out
    assert "Left out: no HTML page: 1" in out


def test_oncrawl(project: Path, tmp_path: Path) -> None:
    """Its names are understood; `intern` and `follow` are nothing that a run asks for."""
    file = crawl(tmp_path / "p.csv", ("url", "title", "h1", "status_code"), (A, "Tea", "All tea", "200"))
    header = "origin,target,anchor,follow,origin_position,intern".split(",")
    more = crawl(tmp_path / "l.csv", header, (A, B, "pots", "true", "3", "true"))
    assert imported(project, file, more) == 0
    assert pages(project) == [("URL", "Title", "H1", "Status Code"), (A, "Tea", "All tea", "200")]
    assert links(project) == [("Source", "Destination", "Anchor"), (A, B, "pots")]


def test_sitebulb(project: Path, tmp_path: Path) -> None:
    """Its names are understood, "No" is not indexable."""
    header = ("URL", "HTTP Status Code", "Indexable", "Canonical URL", "Title", "Word Count")
    file = crawl(
        tmp_path / "p.csv", header, (A, "200", "Yes", A, "Tea", "9"), (B, "200", "No", A, "Pots", "9")
    )
    more = crawl(tmp_path / "l.csv", ("Referring URL", "Target URL", "Anchor Text"), (A, B, "pots"))
    assert imported(project, file, more) == 0
    assert pages(project) == [
        ("URL", "Title", "Indexability", "Status Code", "Canonical"),
        (A, "Tea", "Indexable", "200", A),
        (B, "Pots", "Non-Indexable", "200", A),
    ]
    assert links(project) == [("Source", "Destination", "Anchor"), (A, B, "pots")]


def test_title_line_semicolons_and_the_older_content_column(project: Path, tmp_path: Path) -> None:
    """Older exports: a line above the header, and the MIME type in a column called Content."""
    header = ["Internal - All", "Address;Content;Title 1"]
    rows = [f"{B};;", f'{A};"text/html; charset=utf-8";Tea', f"{SITE}/x.css;text/css;"]
    write_text(tmp_path / "old.csv", "\n".join([*header, *rows]))
    assert imported(project, str(tmp_path / "old.csv")) == 0
    assert pages(project) == [("URL", "Title"), (B, ""), (A, "Tea")]


def test_columns_by_name(project: Path, tmp_path: Path) -> None:
    """Any table will do when its columns are named, in any case."""
    file = crawl(tmp_path / "any.csv", ("wo", "was", "Title"), (A, "Green tea.", "Tea"))
    assert imported(project, file, "--url-column", "WO", "--content-column", "was") == 0
    assert pages(project) == [("URL", "Title", "Main Content"), (A, "Tea", "Green tea.")]


def test_one_page_of_several_rows_and_files(project: Path, tmp_path: Path) -> None:
    """The page's own row tells of it, not its redirect's; texts come from wherever they are; the rest is told."""
    texts = crawl(tmp_path / "texts.csv", ("URL", "Main Content"), (A, "Green tea."), (A + "#x", "Other."))
    header = ("Address", "Title 1", "Status Code", "Redirect URL")
    crawled = crawl(
        tmp_path / "crawl.csv", header, (A[:-1], "", "301", A), (A, "Tea", "200", ""), ("/x", "", "200", "")
    )
    assert imported(project, texts, crawled) == 0
    assert pages(project) == [
        ("URL", "Title", "Main Content", "Status Code", "Redirect URL"),
        (A, "Tea", "Green tea.", "200", ""),
    ]
    rejected = table(project, "rejected_rows.csv")[1:]
    assert [row[1:3] for row in rejected] == [("3", A + "#x"), ("4", "/x")]
    assert "another content" in rejected[0][3] and "not a full URL" in rejected[1][3]
