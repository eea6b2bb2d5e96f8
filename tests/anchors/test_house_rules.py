"""Rules of the house decide which words of a text are anchors: never, preferred, always."""

import pytest

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import Anchoring
from internal_linker.model.edges import Anchor
from internal_linker.model.house_rules import LinkRule
from internal_linker.model.records import ExistingLink, Page
from internal_linker.text.spans import occurrences
from tests.support.builders import collected, page, url

TEXT = "Welcome to our shop in town. We say how a green tea is brewed. Some of it comes in round green tea bags, too."
SOURCE, TARGET = url("source"), url("target")


def anchoring(*rules: LinkRule, source: Page | None = None) -> Anchoring:
    others = [page(f"other{number}", f"{number} something else") for number in range(8)]
    site = Anchoring(
        CountedSite(collected([source or page("source", TEXT), page("target", title="Green tea"), *others]))
    )
    site.house = rules
    return site


def proposed(*rules: LinkRule) -> list[str]:
    (found,) = anchoring(*rules).propose(SOURCE, [TARGET], least=0.7)
    return [each.text for each in found if each.verbatim]


def test_without_rules_the_best_words_come_first() -> None:
    assert proposed() == ["green tea"]


@pytest.mark.parametrize("target", ["", TARGET])
def test_never_leaves_words_out(target: str) -> None:
    assert proposed(LinkRule(2, "Green tea", target, "never")) == []
    assert proposed(LinkRule(2, "green", target, "never")) == ["green tea"]
    assert proposed(LinkRule(2, "green tea", target, "never", section="/elsewhere")) == ["green tea"]


def test_never_means_the_phrase_however_it_is_typed() -> None:
    text = "Welcome to our shop in town. We sell children’s tea and like it."
    rule = LinkRule(2, "Children's tea", "", "never")
    assert not anchoring(rule, source=page("source", text)).obeys(SOURCE, TARGET, [Anchor("children’s tea")])
    assert anchoring(rule).obeys(SOURCE, TARGET, [Anchor("children’s teas")])


def test_never_for_another_page_means_only_that_page() -> None:
    assert proposed(LinkRule(2, "green tea", url("other1"), "never")) == ["green tea"]


def test_never_bars_titles_that_are_not_in_the_text() -> None:
    site = anchoring(LinkRule(2, "green tea", "", "never"), source=page("source", "Nothing of the kind."))
    assert site.propose(SOURCE, [TARGET]) == [()]


def test_preferred_words_come_before_better_ones() -> None:
    for words in ("green tea bags", "round green tea"):
        assert proposed(LinkRule(2, words, TARGET, "prefer")) == [words, "green tea"]
    assert proposed(LinkRule(2, "something else", TARGET, "prefer")) == ["green tea"]


def test_always_finds_the_phrase_in_body_text_only() -> None:
    rule = LinkRule(2, "green tea", TARGET, "always")
    text = "Green tea\nAll about Green  tea and more."
    source = page("source", text, headings=(0,))
    assert [*anchoring(rule, source=source).always(SOURCE)] == [(rule, (20, 30))]
    only_heading = page("source", "Green tea\nAll about it.", headings=(0,))
    assert [*anchoring(rule, source=only_heading).always(SOURCE)] == [(rule, None)]
    assert [*anchoring(rule, source=page("source", "Evergreen teapots")).always(SOURCE)] == []


def test_phrases_within_others_take_other_places() -> None:
    long, short = (
        LinkRule(2, "green tea bags", TARGET, "always"),
        LinkRule(3, "green tea", url("other1"), "always"),
    )
    (_, first), (_, second) = anchoring(long, short).always(SOURCE)
    assert first and second
    assert (TEXT[slice(*first)], second[0]) == ("green tea bags", TEXT.index("green tea"))


def test_a_linked_phrase_is_no_place_for_another_link() -> None:
    pages = [page("source", "All about green tea."), page("target"), page("other")]
    site = Anchoring(CountedSite(collected(pages, [ExistingLink(SOURCE, url("other"), "green tea")])))
    site.house = [rule := LinkRule(2, "green tea", TARGET, "always")]
    assert [*site.always(SOURCE)] == [(rule, None)]


def test_stored_anchors_stay_only_if_they_follow_the_rules() -> None:
    old = [Anchor("Green tea")]
    assert anchoring().obeys(SOURCE, TARGET, old)
    assert not anchoring(LinkRule(2, "green tea", "", "never")).obeys(SOURCE, TARGET, old)
    assert not anchoring(LinkRule(2, "green tea bags", TARGET, "prefer")).obeys(SOURCE, TARGET, old)
    assert anchoring(LinkRule(2, "black tea", TARGET, "prefer")).obeys(SOURCE, TARGET, old)
    assert anchoring(LinkRule(2, "green tea", TARGET, "always")).obeys(SOURCE, TARGET, old)


@pytest.mark.parametrize(
    ("text", "phrase", "words"),
    [
        ("Die Grünen Tees und grüner Tee.", "Grüner Tee", ["grüner Tee"]),
        ("我喝的乌龙茶很好", "乌龙茶", ["乌龙茶"]),
        ("از قوری چینی استفاده کنید", "قوری چینی", ["قوری چینی"]),
        ("C and CSS, c++", "c", ["C", "c"]),
        ("Modern C++ and c++, (C++).", "C++", ["C++", "c++", "C++"]),
        ("美味しい緑茶です。緑茶を飲む", "緑茶", ["緑茶", "緑茶"]),
        ("The children’s tea", "Children's tea", ["children’s tea"]),
        ("Send e‑mail now", "e-mail", ["e‑mail"]),
        ("Un café noir", "cafe\u0301 noir", ["café noir"]),
        ("چاي سبز و چای سبز", "چای سبز", ["چاي سبز", "چای سبز"]),
    ],
)
def test_a_phrase_is_found_as_whole_words_in_any_language(text: str, phrase: str, words: list[str]) -> None:
    assert [text[slice(*span)] for span in occurrences(text, phrase)] == words
