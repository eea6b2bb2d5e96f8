"""Terms: the words and phrases of a text that can name what it is about."""

from hypothesis import given
from hypothesis import strategies as st

from internal_linker.text.phrases import Reader
from internal_linker.text.terms import terms
from internal_linker.text.words import normalise


def found(text: str, language: str, most: int = 4) -> list[str]:
    return [one.text for one in terms(text, language, Reader(normalise), most)]


def test_terms_begin_and_end_in_a_telling_word() -> None:
    assert found("The terms of our service, for free", "en") == [
        "terms",
        "terms of our service",
        "service",
        "free",
    ]


def test_english_words_on_other_pages_keep_their_function_words() -> None:
    assert found("Rules of the DOM", "ja") == ["Rules", "Rules of the DOM", "DOM"]


def test_scripts_without_spaces_give_runs_of_words() -> None:
    chinese = {one.text: one for one in terms("手冲咖啡", "zh", Reader(normalise), 4)}
    assert {"手冲", "手冲咖啡", "咖啡"} == set(chinese) and not chinese["手冲"].spaced
    assert (chinese["手冲"].words, chinese["手冲咖啡"].words) == (1, 2)


@given(
    text=st.text(st.characters(exclude_categories=()), max_size=80),
    language=st.sampled_from(["", "ja", "fa", "en"]),
)
def test_any_text_can_be_read(text: str, language: str) -> None:
    plain = "".join(text.split())
    for one in terms(text, language, Reader(normalise), 4):
        assert "".join(one.text.split()) in plain and one.stems and one.words >= 1
