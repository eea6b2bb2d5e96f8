"""The function words of each language that has a list."""

import pytest

from internal_linker.text.stop_words import folded_stop_words, stop_words
from internal_linker.text.words import words

# The first word, one from the middle and the last of each list.
SOME = {
    "ar": "من بين يا",
    "cs": "a ne že",
    "da": "af i været",
    "de": "aber ins zwischen",
    "el": "ο μην όλες",
    "en": "a neither m",
    "es": "a más yo",
    "fa": "از کن نیست",
    "fr": "a ma y",
    "he": "של הן אחרי",
    "hi": "का इस कैसे",
    "hu": "a lesz úgy",
    "id": "ada kami yang",
    "it": "a mentre voi",
    "ja": "の それ よう",
    "ko": "이 있는 모든",
    "nl": "aan mij zou",
    "no": "alle ikke vært",
    "pl": "a mnie że",
    "pt": "a muito vocês",
    "ro": "a fie voi",
    "ru": "а нас я",
    "sv": "alla kunde över",
    "tr": "acaba kadar çünkü",
    "uk": "а не є",
    "vi": "và hoặc chúng",
    "zh": "的 过 為",
    "nb": "alle ikke vært",
    "nn": "alle ikke vært",
}


def test_each_language_has_its_own_words() -> None:
    """Whatever country the code names beside the language; without a list, it has the English ones."""
    for language, some in SOME.items():
        own = set(some.split())
        assert own <= stop_words(language) == stop_words(f"{language.upper()}-XX"), language
        assert language in ("en", "zh") or not own <= stop_words("en"), language
        assert "coffee" not in stop_words(language), language
    assert stop_words("xx") == stop_words("") == stop_words("en")


@pytest.mark.parametrize(
    ("language", "text"), [("ar", "في على إلى كل"), ("el", "από τότε"), ("fa", "آن آیا")]
)
def test_folded_texts_have_folded_stop_words(language: str, text: str) -> None:
    """Letters that `words` makes one letter are one in its stop words, too."""
    found = {word for word in words(text) if word in folded_stop_words(language)}
    assert found == {word for word in words(text) if word != words("τότε")[0]}
