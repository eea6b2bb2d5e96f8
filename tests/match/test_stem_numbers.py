"""The stems of texts by the numbers of their words: those that each word has in the language of its text."""

import random
from itertools import chain

import numpy as np
import pytest

from internal_linker.match.page_names import PageNames, StemNumbers, Stems
from internal_linker.match.tokens import PairSieve, tokenize
from internal_linker.model.records import Text
from internal_linker.text.words import words

WORDS = "running the runner kaffee Kaffees gärten ein قهوه کتاب‌ها و في المكونات DOM カップ 豆 a of".split()
LANGUAGES = ("en", "de", "fa", "ar", "ja", "en-US", "")


def made(count: int) -> list[tuple[str, str]]:
    dice = random.Random(2)
    return [
        (" ".join(dice.choices([*WORDS, f"w{at % 7}"], k=dice.randint(0, 12))), LANGUAGES[at % 7])
        for at in range(count)
    ]


def read(texts: list[tuple[str, str]], numbers: StemNumbers, at_a_time: int) -> list[list[str]]:
    """Return the stems of each text, read so many texts at a time."""
    bodies = tokenize([Text("", text) for text, _ in texts]).tokens.bodies
    found = list[list[str]]()
    for first in range(0, len(texts), at_a_time):
        some = bodies[first : first + at_a_time]
        starts = np.cumsum([0, *map(len, some)])
        languages = [language for _, language in texts[first : first + at_a_time]]
        stems, begins = numbers.number_stems(np.concatenate(some), starts, languages)
        found += [[numbers.known[stem] for stem in part.tolist()] for part in np.split(stems, begins[1:-1])]
    return found


@pytest.mark.parametrize("at_a_time", [1, 4, 60])
def test_each_word_has_the_stem_of_its_texts_language(at_a_time: int) -> None:
    texts, stems = made(60), Stems()
    vocabulary = tokenize([Text("", text) for text, _ in texts]).tokens.vocabulary
    numbers = StemNumbers(vocabulary, stems, {"title": 0, "kaffe": 1})
    expected = [list(stems.stem_words(words(text), language)) for text, language in texts]
    assert read(texts, numbers, at_a_time) == expected
    assert numbers.known == [*dict.fromkeys(["title", "kaffe", *chain(*expected)])]


@pytest.mark.parametrize("at_a_time", [1, 7, 200])
def test_names_are_found_in_many_texts_as_in_each(at_a_time: int) -> None:
    dice = random.Random(4)
    stems = [f"s{number}" for number in range(12)]
    names = PageNames(tuple(dice.choices(stems, k=dice.randint(1, 4))) for _ in range(40))
    texts = [tuple(dice.choices([*stems, "other"], k=dice.randint(0, 9))) for _ in range(200)]
    expected = [(at, number) for at, text in enumerate(texts) for number in names.in_text(text)]
    known: dict[str, int] = {}
    for first in range(0, len(texts), at_a_time):
        some = texts[first : first + at_a_time]
        numbers = [known.setdefault(stem, len(known)) for text in some for stem in text]
        names.read(np.array(numbers, np.int32), np.cumsum([0, *map(len, some)]), [*known])
    pairs, common = names.found()
    kept = [pair for pair in expected if pair[1] not in common.tolist()]
    assert [*zip(pairs.of.tolist(), pairs.rows.tolist(), strict=True)] == kept != []


def test_a_sieve_lets_all_known_pairs_pass_and_few_others() -> None:
    rng = np.random.default_rng(0)
    known, others = rng.integers(0, 100_000, (2, 2, 20_000))
    sieve = PairSieve(*known)
    assert sieve(*known).all()
    assert sieve(*others).mean() < 0.02
