"""A clause adds a link to a sentence as its language writes it, or there is none."""

import pytest

from internal_linker.text.clauses import with_clause

WITH_CLAUSE = {
    "en": ("Soft water makes good tea.", "Soft water makes good tea (see Water)."),
    "de": ("Weiches Wasser hilft.", "Weiches Wasser hilft (siehe Water)."),
    "fr": ("L'eau douce aide.", "L'eau douce aide (voir Water)."),
    "es": ("El agua blanda ayuda.", "El agua blanda ayuda (véase Water)."),
    "it": ("L'acqua dolce aiuta.", "L'acqua dolce aiuta (vedi Water)."),
    "pt": ("A água mole ajuda.", "A água mole ajuda (veja Water)."),
    "nl": ("Zacht water helpt.", "Zacht water helpt (zie Water)."),
    "fa": ("آب نرم خوب است.", "آب نرم خوب است (Water را ببینید)."),
    "ar": ("الماء العذب جيد.", "الماء العذب جيد (انظر Water)."),
    "ja": ("軟水は紅茶に合う。", "軟水は紅茶に合う（「Water」を参照）。"),
    "zh": ("软水适合泡茶。", "软水适合泡茶（参见《Water》）。"),
}
IN_PARENTHESES = {
    "en": ("It helps (a bit).", "It helps (a bit); for more, see Water."),
    "de": ("Das hilft (etwas).", "Das hilft (etwas); mehr dazu unter Water."),
    "fr": ("Cela aide (un peu).", "Cela aide (un peu)\u00a0; pour en savoir plus, voir Water."),
    "es": ("Ayuda (un poco).", "Ayuda (un poco); para más información, véase Water."),
    "it": ("Aiuta (un po').", "Aiuta (un po'); per saperne di più, vedi Water."),
    "pt": ("Ajuda (um pouco).", "Ajuda (um pouco); para saber mais, veja Water."),
    "nl": ("Het helpt (een beetje).", "Het helpt (een beetje); zie voor meer informatie Water."),
    "fa": ("خوب است (کمی).", "خوب است (کمی)؛ برای اطلاعات بیشتر، Water را ببینید."),
    "ar": ("جيد (قليلا).", "جيد (قليلا)؛ لمزيد من المعلومات، انظر Water."),
    "ja": ("合う（少し）。", "合う（少し）（「Water」を参照）。"),
    "zh": ("适合（一点）。", "适合（一点）；详见《Water》。"),
}


@pytest.mark.parametrize("language", WITH_CLAUSE)
def test_each_language_has_its_own_clause_and_punctuation(language: str) -> None:
    """The clause stands before the full stop; where the sentence ends in parentheses, it needs none of its own."""
    for sentence, wanted in (WITH_CLAUSE[language], IN_PARENTHESES[language]):
        assert with_clause(sentence, "Water", language) == wanted


def test_titles_with_parentheses_are_put_into_no_others() -> None:
    assert with_clause("It helps.", "Water (soft)", "en") == "It helps; for more, see Water (soft)."


def test_traditional_chinese_keeps_its_script() -> None:
    assert with_clause("這個茶壺適合泡茶。", "水", "zh") == "這個茶壺適合泡茶（參見《水》）。"


@pytest.mark.parametrize(
    "sentence",
    [
        "Is it soft?",
        "It is soft!",
        "It is soft ...",
        "It is soft",
        "As follows:",
        "At 5 p.m.",
        "Cups, pots etc.",
        "He said “no.”",
    ],
)
def test_no_clause_without_a_plain_full_stop(sentence: str) -> None:
    assert with_clause(sentence, "Water", "en") == ""


@pytest.mark.parametrize("language", ["ru", "", "sv"])
def test_other_languages_have_no_clause(language: str) -> None:
    assert with_clause("It is soft.", "Water", language) == ""
