"""Pages that say of themselves that they are deprecated: labels of titles, folders of URLs, notices in the text."""

import pytest

from internal_linker.text.deprecation import is_deprecated

PAGE = "https://www.example.com/guide/"


@pytest.mark.parametrize(
    "notice",
    [
        "This package is no longer actively maintained.",
        "NO LONGER SUPPORTED since May.",
        "This page has been archived.",
        "The old API is now deprecated.",
        "The service was retired.",
        "This guide is obsolete.",
        "The project is outdated.",
        "This page is being deleted.",
        "This help article will soon be removed.",
        "This guide is scheduled for deletion.",
        "This service will be shut down in May.",
        "Diese Seite wird bald gelöscht.",
        "Cette page sera bientôt supprimée.",
        "Esta página será eliminada.",
        "Questa pagina verrà rimossa.",
        "Esta página será removida.",
        "Deze pagina wordt binnenkort verwijderd.",
        "Das Paket wird nicht mehr gepflegt.",
        "Es wird nicht länger unterstützt.",
        "Diese Seite ist veraltet.",
        "Der Artikel ist archiviert.",
        "Ce module n'est plus maintenu.",
        "Cette page est obsolète.",
        "Ce site est archivé.",
        "Esta guía ya no se actualiza.",
        "El proyecto está archivado.",
        "La página es obsoleta.",
        "Il pacchetto non è più mantenuto.",
        "O projeto não é mais mantido.",
        "Dit pakket wordt niet langer ondersteund.",
        "Het wordt niet meer bijgewerkt.",
        "Проект больше не поддерживается.",
        "Bu paket artık desteklenmiyor.",
        "هذا المشروع لم يعد مدعوما.",
        "این بسته دیگر پشتیبانی نمی‌شود.",
        "该项目不再维护。",
        "このパッケージはメンテナンスされていません。",
        "이 패키지는 더 이상 지원되지 않습니다.",
    ],
)
def test_a_notice_in_the_first_lines_says_so_in_any_of_these_languages(notice: str) -> None:
    for text in (
        notice,
        f"Read this first. {notice} It moved.",
        notice.upper() if notice.isascii() else notice,
    ):
        assert is_deprecated(PAGE, ("A guide", ""), text), text
    assert not is_deprecated(PAGE, ("A guide", ""), "word " * 100 + notice)


@pytest.mark.parametrize(
    "text",
    [
        *("", "We retired to the country.", "It no longer rains.", "Nicht mehr lange!"),
        *("Your files will be deleted.", "This means that the page is being deleted from the cache."),
        "A function was deprecated: use the other one.",
    ],
)
def test_similar_words_are_no_notice(text: str) -> None:
    assert not is_deprecated(PAGE, ("Modernizing legacy systems", ""), text)


def test_a_label_of_the_title_or_a_folder_says_so() -> None:
    """A label stands in brackets or beside a colon; a folder of the URL has the word as its name."""
    assert is_deprecated(PAGE, ("Guide (deprecated)", ""), "")
    assert is_deprecated(PAGE, ("", "Veraltet: Guide"), "")
    assert is_deprecated(PAGE, ("Guide (being deleted)", ""), "")
    assert is_deprecated(PAGE, ("Guide", ""), "**Deprecated:** use the other guide.")
    assert is_deprecated("https://www.example.com/archived/guide/", ("Guide", ""), "")
