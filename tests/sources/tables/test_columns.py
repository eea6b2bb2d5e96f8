"""Columns are found by the names that common tools and languages use."""

import unicodedata

import pytest

from internal_linker.sources.tables.columns import (
    Kind,
    display,
    find_column,
    fold_header,
    link_column,
    link_name,
)


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("URL", Kind.URL),
        ("\ufeffAddress", Kind.URL),
        ("Adresse", Kind.URL),
        ("Dirección", Kind.URL),
        (unicodedata.normalize("NFD", "Dirección"), Kind.URL),
        ("Indirizzo", Kind.URL),
        ("landing_page", Kind.URL),
        ("  MAIN   query ", Kind.MAIN_QUERY),
        ("main_query", Kind.MAIN_QUERY),
        ("Focus-Keyword", Kind.MAIN_QUERY),
        ("Main Content", Kind.CONTENT),
        ("Título 1", Kind.TITLE),
        ("H1-1", Kind.H1),
        ("hreflang", Kind.LANG),
        ("Indexabilité", Kind.INDEXABILITY),
        ("Status-Code", Kind.STATUS),
        ("Código de respuesta", Kind.STATUS),
        ("Canonical Link Element 1", Kind.CANONICAL),
        ("Redirect URI", Kind.REDIRECT),
        ("Umleitungs-URL", Kind.REDIRECT),
        ("URL de redirección", Kind.REDIRECT),
        ("Source", Kind.SOURCE),
        ("Quelle", Kind.SOURCE),
        ("Ziel", Kind.DESTINATION),
        ("To", Kind.DESTINATION),
        ("Destinazione", Kind.DESTINATION),
        ("Anchor_Text", Kind.ANCHOR),
        ("Texte d’ancrage", Kind.ANCHOR),
        ("Posición del enlace", Kind.LINK_POSITION),
        ("Typ", Kind.LINK_TYPE),
        ("Desde", Kind.SOURCE),
        ("Hasta", Kind.DESTINATION),
        ("Ancrage", Kind.ANCHOR),
        ("Code de statut", Kind.STATUS),
        ("Inhaltstyp", Kind.CONTENT_TYPE),
        ("Word Count", Kind.WORDS),
    ],
)
def test_a_column_is_found_by_what_tools_call_it(header: str, kind: Kind) -> None:
    assert find_column(["x", header], kind) == 1
    assert [other for other in Kind if find_column(["x", header], other) is not None] == [kind]


def test_the_better_synonym_wins_over_the_place() -> None:
    """The column "Status Code" (200) wins over a crawl's "Status" (OK), although "Status" is further left."""
    assert find_column(["Status", "Status Code"], Kind.STATUS) == 1
    assert find_column(["Page", "Address"], Kind.URL) == 1
    assert find_column(["Source", "Target", "Ziel"], Kind.DESTINATION) == 2
    assert find_column(["Source", "Target"], Kind.DESTINATION) == 1


def test_the_canonical_name_always_wins() -> None:
    assert find_column(["url", "URL"], Kind.URL) == 1
    assert find_column(["url", "Url"], Kind.URL) == 0
    assert find_column([], Kind.URL) is find_column(["My URL list", ""], Kind.URL) is None


def test_plain_words_name_titles_and_contents() -> None:
    for header in (
        "Adresse;Titel;H1;Inhalt",
        "Adresse;Titre;H1;Contenu",
        "URL;Título;H1;Contenido",
        "URL;Titolo;H1;Contenuto",
    ):
        kinds = (Kind.URL, Kind.TITLE, Kind.H1, Kind.CONTENT)
        assert [find_column(header.split(";"), kind) for kind in kinds] == [0, 1, 2, 3]


def test_link_columns_are_found_in_any_writing() -> None:
    """Link 1 doesn't match Link 11, and the canonical spelling wins."""
    header = ["URL", "link 11", "LINK  1", "link_2", "Link3", "Link 2"]
    assert [link_column(header, number) for number in (1, 2, 3, 4, 11)] == [2, 5, 4, None, 1]
    assert link_name(4) == "Link 4"


def test_names_for_messages() -> None:
    """Messages show each kind's name from the README, and that name finds the column."""
    assert display(Kind.MAIN_QUERY) == "Main Query"
    assert all(find_column([display(kind)], kind) == 0 for kind in Kind)
    assert fold_header("\ufeffMain_Query ") == "main query"
