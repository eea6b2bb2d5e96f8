"""Stems of words."""

from internal_linker.match.page_names import Stems
from internal_linker.text.words import words


def test_function_words_have_no_stems() -> None:
    assert Stems().stem_words(words("في المكونات الـDOM for this ref"), "ar") == ("مکون", "dom", "ref")
    assert Stems().stem_words(words("آن کامپوننت‌های DOM"), "fa") == ("کامپوننت", "dom")
    assert Stems().stem_words(words("the refs of this component"), "en") == ("ref", "compon")
