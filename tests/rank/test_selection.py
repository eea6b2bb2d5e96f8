"""The link rules: allowed targets and selected links."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.reasons import FewLinks, NoTarget, Reason
from internal_linker.model.records import (
    Candidate,
    ExistingLink,
    Link,
    Page,
    Shortage,
    Source,
    Targets,
    addresses,
)
from internal_linker.project.settings.exclusions import Exclusions
from internal_linker.rank.selection import link_targets, linked, select
from tests.support.builders import GONE, nothing_excluded, page, source, targets, url

NAMES = list("abcdefg")
RANKED = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 3)).map(
        lambda drawn: Candidate(url(drawn[0]), url(drawn[0]), serp_rank=drawn[1])
    ),
    max_size=20,
)
SOME = st.sets(st.sampled_from(NAMES))


@given(RANKED, SOME, SOME, st.booleans(), st.sampled_from(["", *NAMES]), st.integers(1, 6))
def test_no_rule_is_ever_broken(
    ranked: list[Candidate], known: set[str], barred: set[str], any_on_site: bool, own: str, count: int
) -> None:
    where = Targets(
        {url(name): url(name) for name in known - barred},
        {url(name): GONE for name in barred},
        any_on_site,
    )
    me = source(own, "tea")
    links = select(me, ranked, where, count, "").links
    keys = [link.target.key for link in links]
    usable = [
        each.key
        for each in ranked
        if each.key != me.key and each.key not in where.barred and (any_on_site or each.key in where.known)
    ]
    assert keys == list(dict.fromkeys(usable))[:count]
    assert [link.rank for link in links] == list(range(1, len(links) + 1))
    for link in links:
        assert link.origin == ("serp" if link.target.serp_rank else "semantic")
        # If a page is ranked twice, the better rank counts.
        assert link.target is next(each for each in ranked if each.key == link.target.key)


@pytest.mark.parametrize(
    ("me", "why"),
    [
        (source("x"), FewLinks.NOTHING_KNOWN),
        (source(of=page("x")), FewLinks.NO_CONTENT),
        (source(of=page("x", h1="Tea")), FewLinks.NO_TARGET),
        (source(of=page("x", "text")), FewLinks.NO_TARGET),
        (source(of=page("x"), query="tea"), FewLinks.NO_TARGET),
        (source(query="tea"), FewLinks.NO_TARGET),
    ],
)
def test_a_row_that_is_short_says_why(me: Source, why: FewLinks) -> None:
    one = [Candidate(url("a"), url("a"))]
    assert select(me, one, targets("a"), 3, "").note == f"1 of 3 links: {why.message}"
    none = select(me, [], targets("a"), 3, "no search: empty")
    assert none.note == f"no search: empty; 0 of 3 links: {why.message}"
    assert none.shortage == Shortage(0, 3, Reason(why))


def test_a_full_row_needs_no_word() -> None:
    ranked = [Candidate(url(name), url(name)) for name in "abc"]
    assert select(source("x"), ranked, targets(*"abc"), 3, "").note == ""
    assert select(source("x"), ranked, targets(*"abc"), 3, "no search: empty").note == "no search: empty"


def test_targets_are_the_pages_that_may_be_shown() -> None:
    tag = Page(url("tag/x"), "https://shop.example/TAG/../tag/x")
    pages = [page("a"), page("gone", issue=GONE), tag, page("b")]
    sources = [
        source(of=page("a"), query="tea"),
        source("new", "q"),
        source("tag/new", "q"),
        source(query="q"),
    ]
    found = link_targets(addresses(pages, sources), Exclusions([(1, "/tag/")]).match, any_on_site=False)
    assert found.known == {url(name): url(name) for name in ("a", "b", "new")}
    assert found.barred == {
        url("gone"): GONE,
        url("tag/x"): Reason(NoTarget.EXCLUDED, "/tag/"),
        url("tag/new"): Reason(NoTarget.EXCLUDED, "/tag/"),
    }
    assert [found.url_of(url(name)) for name in ("a", "gone", "elsewhere")] == [url("a"), "", ""]
    found = link_targets(addresses([page("gone", issue=GONE)], []), nothing_excluded, any_on_site=True)
    assert (found.url_of(url("gone")), found.url_of(url("new"))) == ("", url("new"))


def test_a_pattern_sees_the_users_writing_and_the_normal_form() -> None:
    mine = Page("https://shop.example/%D9%85", "https://Shop.example/م/?utm_source=x")
    for pattern in ("utm_source", "/م", "%D9%85", "^https://shop"):
        assert not link_targets(
            addresses([mine], []), Exclusions([(1, pattern)]).match, any_on_site=False
        ).known


def test_what_a_page_links_to_is_no_new_link() -> None:
    me = source(of=page("me", "text"))
    links = [
        ExistingLink(me.key, url("a")),
        ExistingLink(me.key, url("a"), "again"),
        ExistingLink(url("x"), url("b")),
    ]
    pages = [page(name, "text") for name in ("me", "a", "b", "original")]
    found = link_targets(
        addresses(pages, [me]),
        nothing_excluded,
        any_on_site=False,
        linked=linked([me], links),
        aliases={me.key: url("original")},
    )
    assert {key: list(keys) for key, keys in found.linked.items()} == {me.key: [url("a")]}
    ranked = [Candidate(url(name), url(name)) for name in ("original", "a", "b")]
    taken = select(me, ranked, found, 3, "")
    assert [link.target.key for link in taken.links] == [url("b")]
    assert taken.note == "1 of 3 links: all other possible targets are already linked"


def link(name: str, rank: int) -> Link:
    return Link(Candidate(url(name), url(name)), rank, "semantic")


def letters(links: Sequence[Link]) -> str:
    return "".join(each.target.key[-1] for each in links)


def test_accepted_links_keep_their_places() -> None:
    ranked = [Candidate(url(name), url(name), score=at) for at, name in enumerate("abcd")]
    where = targets(*"abcdex")
    found = select(source("x"), ranked, where, 4, "", accepted=[link("c", 3), link("e", 1)]).links
    assert letters(found) == "eacb" and [each.rank for each in found] == [1, 2, 3, 4]
    assert found[2].target.score == 2
    assert (
        letters(select(source("x"), ranked, where, 2, "", accepted=[link("d", 5), link("e", 5)]).links)
        == "ed"
    )
    assert letters(select(source("x"), [], where, 4, "", accepted=[link("d", 4)]).links) == "d"
    where = replace(targets("a", "b"), linked={url("x"): {url("b"): None}})
    assert (
        letters(
            select(source("x"), [], where, 4, "", accepted=[link("a", 1), link("b", 2), link("g", 3)]).links
        )
        == "a"
    )


def test_what_needs_approval_is_held_and_others_stand_in() -> None:
    ranked = [Candidate(url(name), url(name)) for name in "abcd"]
    where = targets(*"abcdx")
    found = select(source("x"), ranked, where, 2, "", approved=lambda key: key[-1] not in "ac")
    assert (letters(found.links), letters(found.held)) == ("bd", "ac")
    assert [each.rank for each in found.held] == [0, 0] and found.note == ""
    nothing = select(source("x"), ranked, where, 2, "", approved=lambda _: False)
    assert (nothing.links, letters(nothing.held)) == ((), "ab")
    assert nothing.note == "0 of 2 links: 2 waiting for approval"
    accepted = select(source("x"), ranked, where, 2, "", accepted=[link("a", 1)], approved=lambda _: False)
    assert letters(accepted.links) == "a" and "a" not in letters(accepted.held)


def test_what_was_rejected_is_not_proposed_again() -> None:
    where = replace(targets("a", "b"), rejected={url("x"): [url("a")], "tea": [url("b")]})
    ranked = [Candidate(url(name), url(name)) for name in "ab"]
    assert letters(select(source("x"), ranked, where, 2, "").links) == "b"
    assert letters(select(source(query=" Tea"), ranked, where, 2, "").links) == "a"
    assert letters(select(source("y"), ranked, where, 2, "").links) == "ab"
