"""Removing boilerplate: blocks that many pages repeat word for word, and nothing else."""

import random
from collections import Counter

import numpy as np
import pytest

from internal_linker.match.tokens import tokenize
from internal_linker.model.records import Text
from internal_linker.text import boilerplate
from internal_linker.text.boilerplate import BLOCK, FEW_PAGES, SHARE, SLOT_BITS, TextCounts

CALL = "Subscribe to our weekly letter and never miss a cup again"
MANY = FEW_PAGES + 1


def without_boilerplate(texts: list[str]) -> list[str]:
    boilerplate = tokenize([Text("", text) for text in texts]).boilerplate
    return [boilerplate.without(text) for text in texts]


def own(page: int, words: int = 30) -> str:
    return " ".join(f"own{page}x{number}" for number in range(words))


def by_sets(texts: list[str]) -> list[str]:
    """Remove boilerplate with sets, block by block, as a reference."""
    pages = Counter(block for text in texts for block in set(blocks(text.split())))
    kept = []
    for text in texts:
        words, gone = text.split(), set[int]()
        for start, block in enumerate(blocks(words)):
            if pages[block] > max(FEW_PAGES, SHARE * len(texts)):
                gone |= set(range(start, start + BLOCK))
        left = " ".join(word for at, word in enumerate(words) if at not in gone)
        kept.append(left if gone and left else text)
    return kept


def blocks(words: list[str]) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + BLOCK]) for at in range(len(words) - BLOCK + 1)]


def test_a_call_on_many_pages_leaves_them() -> None:
    """A repeated block is removed anywhere; each page's own words stay in order, and other pages stay unchanged."""
    texts = [f"{own(page, page)} {CALL} {own(-page)}" for page in range(MANY)] + [
        own(page) for page in range(99)
    ]
    cleaned = without_boilerplate(texts)
    assert cleaned == [f"{own(page, page)} {own(-page)}".strip() for page in range(MANY)] + texts[MANY:]


def test_what_a_template_is_filled_with_stays() -> None:
    texts = [f"{own(page)} {CALL} town{page} {CALL.upper()} street{page}" for page in range(MANY)]
    assert without_boilerplate(texts) == [f"{own(page)} town{page} street{page}" for page in range(MANY)]


@pytest.mark.parametrize(("seed", "at_a_time"), [(0, 1), (1, 30), (2, 1 << 20)])
def test_blocks_are_those_of_a_count_by_hand(
    seed: int, at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boilerplate, "_AT_A_TIME", at_a_time)
    dice = random.Random(seed)
    texts = [" ".join(dice.choices("ab", [9, 1], k=dice.randint(0, 40))) for _ in range(200)]
    assert without_boilerplate(texts) == by_sets(texts)
    assert without_boilerplate(texts) != texts


def test_a_share_of_a_large_site_and_a_handful_of_a_small_one_are_its_own() -> None:
    few = [f"{own(page)} {CALL}" for page in range(FEW_PAGES)] + [own(99)]
    assert without_boilerplate(few) == few
    size = 2000
    many = [f"{CALL} {own(page)}" if page < SHARE * size else own(page) for page in range(size)]
    assert without_boilerplate(many) == many
    repeated = [f"{own(1)} {CALL} {CALL} {CALL}", *map(own, range(MANY))]
    assert without_boilerplate(repeated) == repeated


@pytest.mark.parametrize(
    ("words", "pages", "of", "stays"),
    [(8, 11, 12, False), (7, 11, 12, True), (8, 10, 12, True), (8, 41, 2000, False), (8, 40, 2000, True)],
)
def test_boilerplate_is_eight_words_on_more_than_ten_pages_and_two_in_a_hundred(
    words: int, pages: int, of: int, stays: bool
) -> None:
    block = " ".join(f"block{number}" for number in range(words))
    texts = [f"{own(page, 9)} {block}" if page < pages else own(page, 9) for page in range(of)]
    assert (block in without_boilerplate(texts)[0]) is stays


def test_a_page_of_nothing_else_keeps_its_text() -> None:
    """A page that consists only of boilerplate keeps its text, because it would match nothing without it."""
    texts = [CALL] * MANY + [own(page) for page in range(5)]
    assert without_boilerplate(texts) == texts


def test_a_term_in_a_script_without_spaces_is_no_block() -> None:
    """A long Japanese or Thai term on every page stays, because it may be the site's topic."""
    texts = [f"{page} スペシャルティコーヒー {page} เครื่องชงกาแฟ" for page in range(50)]
    assert without_boilerplate(texts) == texts


def test_no_text_is_no_text() -> None:
    assert without_boilerplate([]) == []
    assert without_boilerplate([""] * 20) == [""] * 20


@pytest.mark.parametrize("listed", [0, 25, 10_000])
def test_a_text_counts_once_for_each_slot(listed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slot is common if enough texts have it, however often each does, and however many slots were counted."""
    monkeypatch.setattr(boilerplate, "_MOST_LISTED", listed)
    rng = np.random.default_rng(0)
    texts = [rng.integers(0, 12, 9) * 349_525 for _ in range(20)]
    counts = TextCounts()
    for text in texts:
        counts.add(text)
    for least in (1, 10.5, 12, 21):
        expected = [
            sum(slot in text for text in texts) >= least for slot in range(0, 1 << SLOT_BITS, 349_525)
        ]
        common = counts.common(least)
        assert common[::349_525].tolist() == expected and common.sum() == sum(expected)
    assert not TextCounts().common(1).any()
