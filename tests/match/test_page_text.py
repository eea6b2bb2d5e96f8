"""The text that represents a page in the embedding, and the hash under which its vector is cached."""

from hypothesis import given
from hypothesis import strategies as st

from internal_linker.match.embed import distinct, page_text, text_hash
from internal_linker.model.records import Text
from tests.support.builders import page

TEXTS = st.builds(Text, st.text(max_size=20), st.text(max_size=20))
PLAIN = st.characters(exclude_characters="\x00")


def test_a_page_is_its_title_and_content() -> None:
    assert page_text(page("a", " body ", title=" Tea ", h1="Head")) == Text("Tea", "body")
    assert page_text(page("a", "body", h1="Head")) == Text("Head", "body")
    assert page_text(page("a")) == Text("", "")


@given(st.text(max_size=9), st.text(max_size=9), st.text(max_size=9))
def test_equal_texts_of_two_pages_have_one_hash(title: str, content: str, lang: str) -> None:
    one, other = page("a", content, title=title, lang=lang), page("b", content, title=title)
    assert text_hash(page_text(one)) == text_hash(page_text(other))
    assert len(text_hash(page_text(one))) == 64


@given(st.builds(Text, st.text(PLAIN), st.text(PLAIN)), st.builds(Text, st.text(PLAIN), st.text(PLAIN)))
def test_two_texts_have_two_hashes(one: Text, other: Text) -> None:
    assert (text_hash(one) == text_hash(other)) == (one == other)
    assert text_hash(Text("a b", "c")) != text_hash(Text("a", "b c"))


@given(st.lists(st.sampled_from("abcd")))
def test_each_hash_stands_at_its_first_position(hashes: list[str]) -> None:
    first = distinct(hashes)
    assert all(hashes.index(key) == at for key, at in first.items())
    assert set(first) == set(hashes)
    assert list(first.values()) == sorted(first.values())
