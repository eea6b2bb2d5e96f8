"""Texts as numbers of words: what an earlier run knew changes nothing but which texts are split into words."""

import pickle
import random
from collections.abc import Sequence

import numpy as np
import pytest

from internal_linker.match import tokens as module
from internal_linker.match.tokens import Tokenized, Tokens, renumber, tokenize
from internal_linker.model.records import Text
from internal_linker.text.words import words

CALL = "Subscribe to our weekly letter and never miss a cup again"
RIGHTS = "همه حقوق این سایت برای ما محفوظ است و بس دیگر"
PIECES = (
    "running coffee’s grinder the NODE's ﬁlter _x_ ™brand résumé ΟΔΟΣ",
    "قهوه چای دم آسیاب کتاب‌ها مي ك ۱۲ الـDOM",
    "スペシャルティコーヒー の 淹れ方 を 紹介します 水出し เครื่องชงกาแฟ",
)
PAGES = 90


def site() -> list[Text]:
    """Return pages in three scripts; a part of each script's pages has a block of words that many have."""
    dice, made = random.Random(1), list[Text]()
    for number in range(PAGES):
        known = [*PIECES[number % 3].split(), *(f"w{dice.randrange(200)}" for _ in range(9))]
        title, body = (" ".join(dice.choices(known, k=dice.randint(0, most))) for most in (4, 60))
        body += f" {CALL} {dice.choice(known)}" * (number % 4 == 0) + f" {RIGHTS}" * (number % 5 == 0)
        made.append(Text(title, body))
    return [*made, Text("", ""), Text("only a title", ""), Text("", CALL), made[3]]


SITE = site()


def by_hand(texts: Sequence[Text], found: Tokenized) -> tuple[list[str], list[list[int]]]:
    """Return the vocabulary and the numbers of each text's title and body, word by word."""
    numbers: dict[str, int] = {}
    every = [
        [numbers.setdefault(word, len(numbers)) for word in words(part)]
        for text in texts
        for part in (text.title, found.boilerplate.without(text.body) if text.body else "")
    ]
    return [*numbers], every


def parts(tokens: Tokens) -> list[list[int]]:
    both = zip(tokens.titles, tokens.bodies, strict=True)
    return [part.tolist() for each in both for part in each]


def assert_equal(one: Tokenized, other: Tokenized) -> None:
    for name in ("vocabulary", "digests", "cuts"):
        assert getattr(one.tokens, name) == getattr(other.tokens, name)
    for name in ("numbers", "starts", "checksums", "checksum_starts"):
        ours, theirs = getattr(one.tokens, name), getattr(other.tokens, name)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(one.with_text, other.with_text)
    assert pickle.dumps(one.boilerplate) == pickle.dumps(other.boilerplate)


def test_words_are_numbered_as_they_occur() -> None:
    found = tokenize(SITE)
    assert (list(found.tokens.vocabulary), parts(found.tokens)) == by_hand(SITE, found)
    assert found.new == len(SITE) and len(found.tokens.cuts) > PAGES // 4
    assert found.with_text.tolist() == [bool(text.whole) for text in SITE]
    before, again = found.tokens, tokenize(SITE, found.tokens).tokens
    for ours in (again.numbers, again.starts, again.checksums, again.checksum_starts):
        for theirs in (before.numbers, before.starts, before.checksums, before.checksum_starts):
            assert not np.shares_memory(ours, theirs)
    nothing = tokenize([])
    assert not nothing.tokens.vocabulary and not nothing.tokens.bodies and not nothing.new
    assert_equal(tokenize([], before), nothing)


CHANGED = [Text(SITE[7].title, f"{SITE[7].body} brandnew word"), Text(f"Other {SITE[8].title}", SITE[8].body)]
ADDED = [Text("a new page", "of new words in front"), Text("قهوه", "چای تازه")]


@pytest.mark.parametrize(
    ("after", "new"),
    [
        (SITE, 0),
        ([*SITE[:7], *CHANGED, *SITE[9:]], 2),
        ([ADDED[0], *SITE, ADDED[1]], 2),
        ([*SITE[:2], *SITE[9:47], *SITE[48:]], 0),
        (SITE[::-1], 0),
    ],
    ids=["same", "changed", "added", "removed", "reversed"],
)
def test_only_texts_that_an_earlier_run_did_not_have_are_split(
    after: list[Text], new: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, split, expected = tokenize(SITE).tokens, list[str](), tokenize(after)

    def counted(text: str) -> list[str]:
        split.append(text)
        return words(text)

    monkeypatch.setattr(module, "words", counted)
    found = tokenize(after, before)
    assert_equal(found, expected)
    # Title and body.
    assert found.new == new and len(split) == 2 * new


def test_a_text_is_split_again_if_other_words_of_it_are_boilerplate() -> None:
    few = [text for text in SITE if CALL not in text.body] + [text for text in SITE if CALL in text.body][:9]
    for before, after in ((SITE, few), (few, SITE)):
        expected, found = tokenize(after), tokenize(after, tokenize(before).tokens)
        assert_equal(found, expected)
        with_call = sum(CALL in text.body and text.body != CALL for text in after)
        assert found.new >= with_call and found.new < len(after)


@pytest.mark.parametrize("at_a_time", [1, 3, 1000])
def test_numbers_follow_their_first_occurrence(at_a_time: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_A_TIME", at_a_time)
    numbers = np.array([5, 2, 5, 0, 2, 7, 0], np.int32)
    assert renumber(numbers, 9).tolist() == [5, 2, 0, 7]
    assert numbers.tolist() == [0, 1, 0, 2, 1, 3, 2] and numbers.dtype == np.int32
    assert renumber(numbers[:0], 3).tolist() == []
