"""Forms of a word have one stem, in each language whose endings are known."""

import pytest

from internal_linker.text.stemming import stem
from internal_linker.text.words import normalise

FORMS = {
    "ca": "gats gat",
    "cs": "knihami kniha",
    "da": "bøgerne bøger",
    "de": "häusern häuser",
    "el": "σελίδες σελίδα",
    "en": "organisations organisation",
    "es": "libros libro",
    "et": "raamatud raamatu",
    "eu": "liburuak liburu",
    "fa": "کتابهای کتاب",
    "fi": "kirjoissa kirjoja",
    "fr": "livres livre",
    "ga": "bhriseadh briseadh",
    "hi": "किताबें किताब",
    "hu": "könyvek könyv",
    "hy": "քաղաքներ քաղաք",
    "id": "bukunya buku",
    "it": "libri libro",
    "lt": "knygos knyga",
    "nb": "bøkene bøker",
    "ne": "किताबहरू किताब",
    "nl": "boeken boek",
    "nn": "bøkene bøker",
    "no": "bøkene bøker",
    "pl": "książki książka",
    "pt": "livros livro",
    "ro": "cărților cărți",
    "ru": "чайники чайником",
    "sr": "књиге књига",
    "sv": "böckerna böcker",
    "ta": "புத்தகங்கள் புத்தகம்",
    "tr": "kitaplar kitap",
    "yi": "מאכן מאכט",
}


@pytest.mark.parametrize("language", FORMS)
def test_forms_of_a_word_have_one_stem(language: str) -> None:
    """Two forms that differ in their ending are one; a code may name the country, too."""
    one, other = map(normalise, FORMS[language].split())
    assert stem(one, language) == stem(other, language)
    assert stem(one, f"{language.upper()}-XX") == stem(one, language)


def test_a_language_of_which_nothing_is_known_keeps_its_words() -> None:
    assert stem("teas", "xx") == stem("teas", "") == "teas"


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("المكونات", "مکون"),
        ("والشای", "شای"),
        ("بالبیت", "بیت"),
        ("للمدرسه", "مدرس"),
        ("وکتب", "کتب"),
        ("ولد", "ولد"),
        ("کتابان", "کتاب"),
        ("معلمون", "معلم"),
        ("معلمین", "معلم"),
        ("عربیه", "عرب"),
        ("قلمها", "قلم"),
        ("قلمی", "قلم"),
        ("باب", "باب"),
    ],
)
def test_arabic_loses_article_and_ending(word: str, found: str) -> None:
    """One of each, and only where three letters are left; whatever language the page is said to be in."""
    assert stem(normalise(word), "ar") == stem(normalise(word), "en") == found


def test_english_words_among_other_scripts_are_english() -> None:
    for language in "ar el fa he hi hy ja ko ne ru sr ta th uk yi zh".split():
        assert stem("components", language) == "compon"
    assert stem("components", "xx") == "components"
