"""Anchors occur verbatim in the source, fit the target, and vary from link to link."""

import pickle
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from internal_linker.anchors import counted_site, places, source_page
from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import ANCHORS, Anchoring
from internal_linker.anchors.link_places import link_places
from internal_linker.anchors.source_page import UsedWordings
from internal_linker.model.edges import Anchor
from internal_linker.model.records import ExistingLink, Page
from internal_linker.rank.promising_targets import PAIR_COLUMNS
from internal_linker.rank.rules import BALANCED
from internal_linker.text.blocks import closed_spans
from internal_linker.text.phrases import MOST_WORDS
from internal_linker.text.segmentation import boundaries
from internal_linker.text.stop_words import stop_words
from internal_linker.text.words import INSIDE
from tests.support.builders import collected, page, url

POOLS = {
    "en": "green tea pots brewing leaves oolong water storage tin harvest roasting cup kettle e-mail don't",
    "fa": "چای سبز قوری برگ‌ها آب نگهداری کتاب‌های دم کردن فنجان سینی برداشت",
    "ar": "الشاي الأخضر إبريق الأوراق الماء تخزين القهوة حصاد والشاي للماء كوب",
    "zh": "绿 茶 壶 泡 叶 乌 龙 水 储 存 罐 收",
}
BETWEEN = {"zh": ""}
WORD = re.compile(r"[^\W_]+(?:[-'\u200c][^\W_]+)*")


@st.composite
def sites(draw: st.DrawFn) -> tuple[list[Page], list[ExistingLink]]:
    """Draw pages in one language, with headings and links whose anchors occur in them."""
    language = draw(st.sampled_from(sorted(POOLS)))
    between = BETWEEN.get(language, " ")
    words = st.sampled_from([*POOLS[language].split(), *sorted(stop_words(language))[:12]])
    phrase = st.lists(words, min_size=1, max_size=6).map(between.join)
    marks = st.sampled_from([between, between, between, ", ", ". ", "\n", "? "])
    pages = []
    for number in range(draw(st.integers(2, 5))):
        parts = draw(st.lists(st.tuples(phrase, marks), max_size=12))
        content = "".join(text + mark for text, mark in parts)
        lines = content.count("\n") + 1
        headings = tuple(sorted(draw(st.sets(st.integers(0, lines - 1), max_size=2))))
        pages.append(page(number, content, title=draw(phrase), lang=language, headings=headings))
    ends = st.integers(0, len(pages) - 1)
    links = [
        ExistingLink(url(source), url(target), draw(phrase))
        for source, target in draw(st.lists(st.tuples(ends, ends), max_size=4))
    ]
    return pages, links


def proposed(
    pages: Sequence[Page], links: Sequence[ExistingLink]
) -> list[tuple[Page, list[tuple[Anchor, ...]]]]:
    """Return the anchors from every page to all others."""
    anchoring = Anchoring(CountedSite(collected(pages, links)))
    keys = [each.key for each in pages]
    return [(each, anchoring.propose(each.key, [key for key in keys if key != each.key])) for each in pages]


@given(sites())
def test_every_anchor_keeps_the_rules(site: tuple[list[Page], list[ExistingLink]]) -> None:
    """It has whole words at its place, is good enough, overlaps no link or heading, and no two have one text."""
    pages, links = site
    for source, found in proposed(pages, links):
        content = str(source.content)
        closed = [at for link in links if link.source == source.key for at in link_places(content, link)]
        closed += closed_spans(content, source.headings)
        assert all(len(anchors) <= ANCHORS == 3 for anchors in found)
        every = [anchor for anchors in found for anchor in anchors]
        texts = [" ".join(anchor.text.casefold().split()) for anchor in every]
        assert len(texts) == len(set(texts))
        for anchor in every:
            assert anchor.text.strip() == anchor.text != ""
            if not anchor.verbatim:
                assert content[anchor.start :].startswith(anchor.sentence)
                continue
            end = anchor.start + len(anchor.text)
            assert content[anchor.start : end] == anchor.text
            assert anchor.text in anchor.sentence and anchor.sentence in content
            assert not INSIDE.match(content, anchor.start) and not INSIDE.match(content, end)
            assert not [place for place in closed if anchor.start < place[1] and end > place[0]]
            words = WORD.findall(anchor.text)
            if source.lang == "zh":
                places = np.flatnonzero(boundaries(content, "zh")).tolist()
                assert anchor.start in places and end in places
                within = [place for place in places if anchor.start <= place <= end]
                words = [content[at:to] for at, to in pairwise(within)]
            assert 1 <= len(words) <= MOST_WORDS
            assert "\n" not in anchor.text and anchor.quality >= BALANCED


@pytest.mark.long
@settings(max_examples=300)
@given(site=sites())
def test_many_sites_keep_the_rules(site: tuple[list[Page], list[ExistingLink]]) -> None:
    test_every_anchor_keeps_the_rules.hypothesis.inner_test(site)  # type: ignore[attr-defined]


SHOP = "Welcome to our shop in town.\n"


def anchored(text: str, *titles: str) -> tuple[Anchoring, list[str]]:
    """Return what finds anchors from a page with a text to pages with these titles, and their keys."""
    targets = [page(title, f"All about {title.lower()}.", title=title) for title in titles]
    site = collected([page("source", text, title="Our shop"), *targets], [])
    return Anchoring(CountedSite(site)), [each.key for each in targets]


def judged(text: str, *titles: str, least: float = BALANCED) -> list[tuple[str, int]]:
    """Return the words and the place of each good link from a page to pages with these titles, the best first."""
    anchoring, _ = anchored(text, *titles)
    rows, nothing = np.arange(1, len(titles) + 1), np.full((len(titles), len(PAIR_COLUMNS)), np.nan)
    (found,) = anchoring.judged([(url("source"), rows, nothing.astype(np.float32))], least)
    each = zip(found.starts.tolist(), found.ends.tolist(), found.quality.tolist(), strict=True)
    return [(text[start:end], start) for start, end, quality in each if quality >= least]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (SHOP + "Some like green tea. We sell green tea and more.", 1),
        ("Here is our green tea for all. We sell green tea and some like green tea.", 2),
        ("Here is our green tea for all. We sell pots.", 1),
        ("Green tea\nHere is our green tea for all. We sell green tea, and green tea it is.", 3),
        (SHOP + "Green tea\nWe say how green tea is brewed. Some like green tea.", 2),
    ],
)
def test_a_link_takes_the_first_mention_after_the_first_sentence(text: str, at: int) -> None:
    """Unless it is a label, or no other mention is there."""
    anchoring, targets = anchored(text, "Green tea")
    ((first, *_),) = anchoring.propose(url("source"), targets, least=0.1)
    assert first.start == [match.start() for match in re.finditer("green tea", text, re.I)][at - 1]
    assert judged(text, "Green tea", least=0.1)[0] == ("green tea", first.start)


def test_links_are_spread_over_the_paragraphs() -> None:
    """Of nearly equal places, one in a paragraph without a better link comes first."""
    titles, last = ("Green tea", "Paper filters", "Copper kettles"), "Some ask for copper kettles, too."
    apart = SHOP + "We sell green tea to all of our guests.\nSome ask for paper filters, too.\n" + last
    together = SHOP + "We sell green tea and paper filters to all of our guests.\n" + last
    words = ["green tea", "paper filters", "copper kettles"]
    found = judged(together, *titles)
    assert {text for text, _ in judged(apart, *titles)} == {*words}
    assert [text for text, _ in found] == [words[0], words[2], words[1]]
    assert len(judged(together, *titles, least=0.75)) == 3, "no place is lost"


@given(sites(), st.integers(1, 6), st.integers(1, 4))
def test_no_text_comes_first_for_a_target_too_often(
    site: tuple[list[Page], list[ExistingLink]], times: int, most: int
) -> None:
    pages, links = site
    keys = [each.key for each in pages]
    wanted = [(key, [other for other in keys if other != key]) for key in keys] * times
    used = Counter((link.target, link.anchor.casefold()) for link in links)
    anchoring = Anchoring(CountedSite(collected(pages, links)))
    anchoring.most_same = most
    variety = anchoring.variety(lambda some: (anchoring.propose(*one) for one in some))
    for (source, targets), each in zip(
        wanted, variety.propose_each((*one, ()) for one in wanted), strict=True
    ):
        found = [variety.varied(*one) for one in zip(targets, each, strict=True)]
        for target, anchors in zip([key for key in keys if key != source], found, strict=True):
            if not anchors:
                continue
            first = (target, anchors[0].text.casefold())
            others = [used[target, other.text.casefold()] for other in anchors[1:]]
            assert used[first] < most or all(count >= most for count in others)
            used[first] += 1


@given(sites())
def test_a_target_gets_the_same_anchors_whatever_it_is_compared_with(
    site: tuple[list[Page], list[ExistingLink]],
) -> None:
    """One by one, as in a huge text, and in another process, a page's targets get the anchors of all at once."""
    together = proposed(*site)
    keys = [each.key for each in site[0]]
    theirs = pickle.loads(pickle.dumps(Anchoring(CountedSite(collected(*site)))))
    assert theirs.propose(keys[0], keys[1:]) == together[0][1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "MOST_COMPARED", 1)
        assert proposed(*site) == together


def first(content: str, title: str, lang: str, **more: str) -> Anchor:
    """Return the best anchor in a text for a page with that title, on a site that also covers other topics."""
    others = [page(f"other{number}", f"{number} something else", lang=lang) for number in range(8)]
    pages = [page("source", content, lang=lang), page("target", title=title, lang=lang, **more), *others]
    return Anchoring(CountedSite(collected(pages))).propose(url("source"), [url("target")])[0][0]


@pytest.mark.parametrize(
    ("lang", "title", "content", "anchor"),
    [
        ("en", "Green teas", "We say how a green tea is brewed.", "green tea"),
        ("en", "KeepAlive", "It is cached by KeepAlive, as you know.", "KeepAlive"),
        ("de", "Grüner Tee", "Warum man den grünen Tee kühl lagert, ist klar.", "grünen Tee"),
        ("fa", "قوری‌های چینی", "برای این کار از قوری چینی استفاده کنید.", "قوری چینی"),
        ("ar", "تخزين الأوراق", "هذا عن تخزين أوراق و ما بعدها.", "تخزين أوراق"),
        ("zh", "乌龙茶", "我喝的乌龙茶很好", "乌龙茶"),
        ("ja", "烏龍茶", "私は烏龍茶を飲む", "烏龍茶"),
    ],
)
def test_a_name_is_found_in_its_other_forms(lang: str, title: str, content: str, anchor: str) -> None:
    found = first(content, title, lang)
    assert found.verbatim and anchor in found.text and content[found.start :].startswith(found.text)


def test_without_a_phrase_there_is_the_title_and_its_paragraph() -> None:
    content = "About us and more.\nAll of it is oolong. It is so.\nThe end of it."
    found = first(content, "What  is Oolong?", "en")
    place = content.index("All")
    assert found == Anchor(
        "What is Oolong?", "All of it is oolong. It is so.", place, verbatim=False, quality=0.0
    )


@pytest.mark.parametrize("filler", ["about water ", "水"])
def test_of_a_text_without_full_stops_a_part_is_shown(filler: str) -> None:
    found = first(f"{filler * 900}. oolong tea {filler * 900}", "Oolong tea", "en")
    assert found.text == "oolong tea"
    assert 250 < len(found.sentence) < 600
    found = first(f"{filler * 900} oolong tea, {filler * 900}", "Oolong tea", "en")
    assert "oolong tea" in found.sentence and len(found.sentence) < 600
    assert filler == "水" or set(found.sentence.split()) == {"about", "water", "oolong", "tea,"}


@pytest.mark.parametrize(
    ("title", "content", "anchor"),
    [
        ("Paid time off", "Ask about paid time off before you book.", "paid time off"),
        ("Paid time off", "Ask about paid time or other things.", ""),
        ("Join us", "Many thanks for joining us last week.", ""),
        ("Christmas trees", "They sold 300,000 Christmas trees last year.", "Christmas trees"),
        ("Boiling water", "A good machine reaches boiling water at 92 % of its load.", "boiling water"),
        ("Oolong tea", "Buy oolong\ntea of this year.", ""),
        ("Oolong tea", "Oolong tea\nis listed here.", ""),
        ("Oolong tea", "We met an oolong (tea) expert.", ""),
        ("Every kid in a park", "We say that every kid in a park opens today.", "every kid in a park"),
        ("Every kid in a park", "It was Every\nKid in a Park that opened.", ""),
        ("Every kid in a park", "We say Every Kid in the Park.", ""),
        ("The green tea fair", "We open the green tea fair today.", "green tea fair"),
        ("A park for kids", "So kids get to the park today.", ""),
        ("Deploy an app", "You can deploy your app here.", "deploy your app"),
        ("Tea API", "Know that Tea is also an API here.", ""),
        ("Green tea", "So we write {green tea} in this place.", ""),
        ("Data Act spending", "The Data Act requires spending to be open.", "Data Act"),
        ("Department", "The Department of Green Tea is old.", ""),
        ("Green tea fair", "The green tea fair opens. A green tea fan is here.", "green tea fair"),
        ("Oolong tea pots", "We sell the best oolong tea pots worldwide.", "oolong tea pots"),
        ("Brew method", "You can call brew_method(x) at any time.", ""),
    ],
)
def test_an_anchor_is_a_whole_phrase(title: str, content: str, anchor: str) -> None:
    found = first(content, title, "en")
    assert (found.text if found.verbatim else "") == anchor


def texts(pages: Sequence[Page], links: Sequence[ExistingLink] = ()) -> list[str]:
    """Return the texts of the anchors in the first page for the second one."""
    fillers = [page(f"filler{number}", f"{number} nothing of the kind", lang="en") for number in range(8)]
    (found,) = Anchoring(CountedSite(collected([*pages, *fillers], links))).propose(
        pages[0].key, [pages[1].key]
    )
    return [one.text for one in found if one.verbatim]


def test_a_phrase_that_several_pages_are_about_is_no_anchor() -> None:
    source = page("source", "Ask the Green Tea Board about it.", lang="en")
    target = page("target", title="Better together with the Green Tea Board", lang="en")
    others = [
        page(f"o{n}", title=f"{word} for the Green Tea Board", lang="en") for n, word in enumerate("XY")
    ]
    assert texts([source, target]) == ["Green Tea Board"]
    assert texts([source, target, *others]) == []
    assert texts([source, replace(target, title="Green Tea Board"), *others]) == ["Green Tea Board"]


@pytest.mark.parametrize(
    ("title", "lang", "found"),
    [
        ("", "en", ["oolong tea"]),
        ("The oolong tea pot", "en", []),
        ("Oolong tea", "de", ["oolong tea"]),
    ],
)
def test_a_name_at_a_place_belongs_to_one_page_of_each_language(
    title: str, lang: str, found: list[str]
) -> None:
    """The longest name counts: of "oolong tea pot", no part leads to the page on storing oolong tea."""
    source = page("source", "We have an oolong tea pot here.", lang="en")
    target = page("target", title="Storing oolong tea", lang="en")
    assert texts([source, target, page("other", title=title, lang=lang)])[:1] == found


def test_a_word_that_is_seldom_linked_is_no_name() -> None:
    source = page("source", "This was good news ago. We say good news.", lang="en")
    target = page("target", title="Kettles", lang="en")
    linking = page("l", "We have good news here.", lang="en")
    links = [ExistingLink(linking.key, target.key, "good news")]
    many = [page(f"m{number}", f"Page {number} has good news too.", lang="en") for number in range(20)]
    assert texts([source, target, linking], links)[0] == "good news"
    assert "good news" not in texts([source, target, linking, *many], links)


def test_a_persian_word_keeps_its_suffixes() -> None:
    title = "نگهداری قوری"
    assert first("ما نگهداری قوری‌ها، را گفتیم.", title, "fa").text == "نگهداری قوری‌ها"
    assert first("ما نگهداری قوری‌های چینی را گفتیم.", title, "fa").text == "نگهداری قوری‌های چینی"
    assert not first("ما نگهداری قوری های چینی و قوری‌های دیگر را گفتیم.", title, "fa").verbatim


def test_the_name_of_another_page_is_no_anchor() -> None:
    pages = [
        page("source", "We store green tea in tins. All Slow Kettle tea is good.", lang="en"),
        page("target", title="Green tea storage for Slow Kettle tea | Slow Kettle", lang="en"),
        page("tea", title="Green tea | Slow Kettle", lang="en"),
        *(page(number, "nothing", title=f"Page {number} | Slow Kettle", lang="en") for number in range(8)),
    ]
    site = Anchoring(CountedSite(collected(pages)))
    to_target, to_tea = site.propose(url("source"), [url("target"), url("tea")])
    assert to_tea[0].text == "green tea" and to_tea[0].verbatim
    assert not any(one.verbatim and one.text in ("green tea", "Slow Kettle") for one in to_target)


def test_no_sentence_has_more_than_three_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_page, "PER_SENTENCE", 1)
    pages = [
        page("s", "Green tea and black coffee are here. Black coffee is strong.", lang="en"),
        page("t", title="Green tea", lang="en"),
        page("c", title="Black coffee", lang="en"),
        *(page(number, "nothing of the kind") for number in range(5)),
    ]
    site = Anchoring(CountedSite(collected(pages)))
    tea, coffee = site.propose(url("s"), [url("t"), url("c")])
    assert (tea[0].text, coffee[0].text) == ("Green tea", "Black coffee")
    (again,) = site.propose(url("s"), [url("t")], [coffee[0], replace(tea[0], text="black coffee")])
    assert not again[0].verbatim


def test_no_two_anchors_share_a_word() -> None:
    """Of two accepted links with a common word, only one could be applied."""
    used = UsedWordings()
    assert used.take_words("green tea pots", 10, 0) and not used.take_words("tea pots", 16, 0)
    assert used.take_words("tea pots", 40, 0)


def test_one_text_stands_for_one_target_only() -> None:
    """Of two targets with the same words, the first keeps them; the other gets its title, which is not in the text."""
    variety = Anchoring(CountedSite(collected([page("b", title="Tea basics")]))).variety(lambda _: iter(()))
    tea = Anchor("green tea", "We drink green tea.", 9, quality=0.9)
    assert variety.varied(url("a"), (tea,)) == (tea,)
    other, last = variety.varied(url("b"), (tea,))
    assert (other.text, other.verbatim, other.quality) == ("Tea basics", False, 0.0) and last == tea
    assert variety.varied(url("b"), (other, last)) == (other, last), "equal anchors give equal anchors"
    assert variety.varied(url("a"), (tea,)) == (tea,)
    # Anchors of an earlier version have no quality, and are sought again.
    assert variety.settled("", url("a"), (tea,)) and not variety.settled("", url("a"), (Anchor("green tea"),))


def test_texts_of_links_to_a_page_are_its_names() -> None:
    pages = [
        page("a", "Please read the long story of steam.", lang="en"),
        page("b", "We tell the long story of steam here.", lang="en"),
        page("c", "Something else.", title="Kettles", lang="en"),
        *(page(number, "nothing of the kind") for number in range(5)),
    ]
    links = [ExistingLink(url("a"), url("c"), "long story of steam")]
    anchoring = Anchoring(CountedSite(collected(pages, links)))
    assert anchoring.propose(url("b"), [url("c")])[0][0].text == "long story of steam"
    assert not any(anchor.verbatim for anchor in anchoring.propose_unlinked(url("a"), url("c")))


def test_a_link_stands_where_its_table_says() -> None:
    content = "Tea is tea, not teak. Tea."
    assert link_places(content, ExistingLink("", "", "Tea", 22)) == [(22, 25)]
    assert link_places(content, ExistingLink("", "", "Tea")) == [(0, 3), (22, 25)]
    assert link_places(content, ExistingLink("", "", "Tea", 5)) == [(0, 3), (22, 25)]


@pytest.mark.parametrize(
    ("text", "sentence", "verbatim"),
    [
        ("malty taste", "It has a malty taste.", True),
        ("Malty  Taste", "It has a malty taste.", True),
        ("black tea", "We like black tea.", True),
        ("green tea", "Buy green tea here.", False),
        ("strong taste", "", False),
    ],
)
def test_an_anchor_of_an_editors_is_looked_for_outside_links_and_headings(
    text: str, sentence: str, verbatim: bool
) -> None:
    content = "About black tea\n\nIt has a malty taste.\n\nWe like black tea. Buy green tea here."
    pages = [page("s", content, headings=(0,)), page("t", "green tea")]
    site = Anchoring(CountedSite(collected(pages, [ExistingLink(url("s"), url("t"), "green tea")])))
    found = site.placed(url("s"), text)
    assert (found.text, found.sentence, found.verbatim) == (text, sentence, verbatim)
    assert content[found.start :].casefold().startswith(text.casefold().split()[0]) or not sentence


def test_of_a_page_without_a_text_nothing_is_known() -> None:
    site = Anchoring(CountedSite(collected([page("s", title="A title")])))
    assert site.placed(url("s"), "tea") == site.placed(url("x"), "tea") == Anchor("tea")
    assert (site.title(url("s")), site.title(url("x"))) == ("A title", "")


def test_the_names_of_a_target_are_read_once_on_a_site_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted_site, "_MOST_TARGETS", 2)
    site = CountedSite(
        collected([page(name, title=f"About {name}", content="Some words.") for name in "abcd"])
    )
    keys = [each.key for each in site.collected.pages]
    read = [pickle.dumps(site.target(key)) for key in keys]
    monkeypatch.setattr(site, "names", None)
    assert [pickle.dumps(site.target(key)) for key in [*keys, *keys]] == [*read, *read]
