"""Comparing a site's pages: candidates, and new links without near-duplicates."""

import numpy as np
import pytest

from internal_linker.match.candidates import SERVED
from internal_linker.match.site_index import Guests, Site
from internal_linker.match.tfidf import FIXED_TERMS
from internal_linker.model.arrays import Pairs, pairs_of
from internal_linker.model.records import Text
from tests.support.builders import page

BODIES = ["tea pot clay", "tea cup clay", "iron pan", "iron pot pan", "tea tin", "wood spoon", ""]


def site(*more: str, bodies: list[str] = BODIES) -> Site:
    """Return an index of pages with these contents, and guests after them."""
    pages = [page(number, body) for number, body in enumerate(bodies)]
    made, guests = ([Text("", body) for body in each] for each in (bodies, more))
    vectors = np.zeros((len(bodies), 1), np.float32)
    of_pages = Site(pages, made, vectors, terms=FIXED_TERMS, near_duplicate=0.95)
    return of_pages.with_guests(Guests.queries(guests, vectors[: len(more)]), [-1] * len(more))


def crowded() -> Site:
    """Return an index with more pages of one topic than a page's candidates."""
    dice = np.random.default_rng(1)
    return site(
        bodies=[" ".join(f"w{word}" for word in dice.integers(0, 200, 30)) for _ in range(5 * SERVED)]
    )


def asked(*rows: int) -> Pairs:
    return pairs_of([rows])


FIRST = np.array([0])


def test_new_ones_are_as_many_as_are_wanted() -> None:
    made = crowded()
    every, texts = made.with_text, np.array([7, 0, 9])
    matches = made.matches(texts, every, 1.0)
    assert np.bincount(matches.of).tolist() == [2 * SERVED] * 3
    old = matches.rows[matches.of == 1]
    new, duplicates = made.fresh(
        texts, matches, 5, among=every, lexical_weight=1.0, old=pairs_of([[], old, [0]])
    )
    whole = made.matches(FIRST, every, 1.0, asked(*range(5 * SERVED)))
    assert new.rows[new.of == 1].tolist() == [row for row in whole.rows.tolist() if row not in old]
    for at in (0, 2):
        kept = [row for row in matches.rows[matches.of == at].tolist() if (at, row) != (2, 0)]
        assert new.rows[new.of == at].tolist() == kept
    assert (np.diff(new.of) >= 0).all() and not len(duplicates.rows)
    matches, old = made.matches(FIRST, every, 1.0), asked(*range(5 * SERVED))
    gone, _ = made.fresh(FIRST, matches, 5, among=every, lexical_weight=1.0, old=old)
    assert gone.rows.tolist() == []


def test_enough_candidates_are_not_asked_twice_and_those_asked_for_have_their_place() -> None:
    made = crowded()
    matches = made.matches(FIRST, made.with_text, 1.0)
    old = asked(*matches.rows[:7].tolist())
    new, _ = made.fresh(FIRST, matches, 2 * SERVED - 7, among=made.with_text, lexical_weight=1.0, old=old)
    assert new.rows.tolist() == matches.rows[7:].tolist()
    made = crowded()
    every, one = made.with_text, made.matches(FIRST, made.with_text, 1.0)
    absent = next(row for row in range(1, 5 * SERVED) if row not in one.rows)
    more = made.matches(FIRST, every, 1.0, asked(absent, 0, int(one.rows[3]), absent))
    assert sorted(more.rows.tolist()) == sorted([*one.rows.tolist(), absent])
    assert (np.diff(more.score) <= 0).all()
    kept = more.at(more.rows != absent)
    assert kept.rows.tolist() == one.rows.tolist() and kept.score.tolist() == one.score.tolist()


def test_only_those_that_may_be_are_matches() -> None:
    made = site("tea clay pot")
    some = made.with_text & (np.arange(len(BODIES) + 1) != 1)
    assert made.matches(FIRST, some, 1.0, asked(1, 5)).rows.tolist() == [3, 4, 5]
    assert made.matches(FIRST + len(BODIES), made.with_text, 1.0).rows[0] == 0
    assert made.matches(FIRST + 6, made.with_text, 1.0).rows.tolist() == []
    assert np.isnan(site("tea").nearness(FIRST + len(BODIES), np.arange(3))).all()


def test_hubness_is_the_mean_of_the_highest_cosines() -> None:
    made = site(bodies=[*("tea pot " + f"w{number} v" for number in range(10)), "wood spoon", ""])
    words, vectors = made.hubness(np.array([3, 10, 11, 3]))
    near = made.matches(np.array([3]), made.with_text, 1.0)
    assert words[0] == words[3] == pytest.approx(np.sort(near.lexical)[-10:].mean())
    assert words[0] > 0 and words[1:3].tolist() == [0, 0]
    assert vectors.tolist() == [0, 0, 0, 0]
