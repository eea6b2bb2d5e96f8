"""Hygiene of proposed anchors: each flaw is found in the raw text, and what is fine has none."""

from collections.abc import Sequence

import pytest

from internal_linker.insight.evaluation.hygiene import EXAMPLES, Flaw, Hygiene, ProposedAnchor, hygiene
from internal_linker.insight.evaluation.page_text import cuts, word_length
from internal_linker.model.edges import Anchor
from internal_linker.model.records import Collected, ExistingLink, Page

SITE = "https://www.tiny.example"
SOURCE, TARGET, OTHER, HOME = f"{SITE}/source", f"{SITE}/water-temperature", f"{SITE}/kettles", f"{SITE}/"
TITLES = {
    TARGET: "Water temperature | Slow Kettle",
    OTHER: "Choosing a kettle | Slow Kettle",
    HOME: "Slow Kettle",
}


def site(content: str, *links: ExistingLink, headings: Sequence[int] = (), lang: str = "en") -> Collected:
    pages = [
        Page(SOURCE, SOURCE, "A recipe | Slow Kettle", content=content, headings=tuple(headings), lang=lang)
    ]
    pages += [Page(url, url, title, lang=lang) for url, title in TITLES.items()]
    return Collected(tuple(pages), (), (), 0, tuple(links))


def proposed(content: str, text: str, target: str = TARGET) -> ProposedAnchor:
    return ProposedAnchor(SOURCE, target, Anchor(text, start=content.index(text)))


def looked_at(site: Collected, *some: ProposedAnchor) -> Hygiene:
    return hygiene(site, some, {"en": ["Slow Kettle"]})


def found(content: str, text: str, target: str = TARGET) -> set[str]:
    """Return the labels of the flaws of an anchor in a page's text."""
    counts = looked_at(site(content), proposed(content, text, target)).counts
    return {flaw.value for flaw, count in counts.items() if count}


@pytest.mark.parametrize(
    ("content", "anchor", "flaws"),
    [
        ("The water temperature decides.", "water temperature", set()),
        ("The page's water-temperature, explained.", "water-temperature", set()),
        ("Water temperatures differ.", "Water temperatures", set()),
        ("An example (water) in brackets.", "water", set()),
        ("The water\ntemperature decides.", "water\ntemperature", {"line_break"}),
        ("Heat the underwater pump.", "water pump", {"cut"}),
        ("Call `water_on()` first.", "water_on", {"code"}),
        ("Try this:\n```\nwater = 3\n```\nDone.", "water", {"code"}),
        ("Try this:\n\n    heat(water);\n\nDone.", "water", {"code"}),
        ("Call water() first.", "water()", {"code"}),
        ("The machine reaches water 92.5 degrees.", "water 92", {"cut"}),
        ("The good water reaches 92 °C now.", "water reaches 92", {"cut"}),
        ("Boil 1,000 water drops.", "000 water drops", {"cut"}),
        ("Use soft-water kettles.", "water kettles", {"cut"}),
        ("Pay $40 water rates.", "40 water rates", {"cut"}),
        ("Slow Kettle water is soft.", "Slow Kettle water", {"brand"}),
        ("The kettle is slow.", "kettle", {"brand", "unrelated"}),
        ("# Water temperature\nText.", "Water", {"block"}),
        ("| Water | 92 |\n| Milk | 60 |", "Water", {"block"}),
        ("> Water is life, he said.", "Water", {"block"}),
        ("Figure 3: Water in a kettle.", "Water", {"block"}),
        ("See also:\n- Water temperature\nDone.", "Water", {"block"}),
        ("A cup of light tea.", "light tea", {"unrelated"}),
        ("It is about the water here.", "about the water", {"end_word"}),
        ("Soft (or hard) water tastes.", "hard) water", {"unbalanced"}),
    ],
)
def test_each_flaw_is_found(content: str, anchor: str, flaws: set[str]) -> None:
    assert found(content, anchor) == flaws


def test_brand_and_whole_name_may_name_their_page_and_a_wrong_place_is_found() -> None:
    assert found("Slow Kettle is our shop.", "Slow Kettle", HOME) == set()
    assert found("Read about choosing a kettle now.", "choosing a kettle", OTHER) == set()
    moved = ProposedAnchor(SOURCE, TARGET, Anchor("water", start=0))
    assert looked_at(site("Soft water is best."), moved).counts[Flaw.MISPLACED] == 1
    # A title that an editor would write into the text has no place that could be wrong.
    title = ProposedAnchor(SOURCE, TARGET, Anchor("Water temperature | Slow Kettle", verbatim=False))
    counts = looked_at(site("Some text."), title).counts
    assert {flaw for flaw, count in counts.items() if count} == {Flaw.BRAND}


def test_an_ending_behind_a_joiner_is_no_function_word() -> None:
    content = "همه کامپوننت‌های Vue را ببینید."
    one = proposed(content, "کامپوننت‌های")
    assert looked_at(site(content, lang="fa"), one).counts[Flaw.END_WORD] == 0


def test_a_name_in_code_may_be_an_anchor_of_the_page_that_has_this_name() -> None:
    content = "Call `heat()` for water."
    one = proposed(content, "heat()")
    assert looked_at(site(content), one).counts[Flaw.CODE] == 1
    known = ExistingLink(OTHER, TARGET, "heat()")
    assert looked_at(site(content, known), one).counts[Flaw.CODE] == 0


def test_anchors_of_one_page_are_compared_with_each_other_and_with_its_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("internal_linker.insight.evaluation.hygiene._PER_SENTENCE", 1)
    content = "Soft water makes a kettle last. The kettle is hot. A kettle boils."
    soft, makes = proposed(content, "Soft water"), proposed(content, "water makes a kettle", OTHER)
    counts = looked_at(site(content), soft, makes).counts
    assert (counts[Flaw.OVERLAP], counts[Flaw.SENTENCE]) == (2, 2)
    apart = proposed(content, "a kettle", OTHER)
    counts = looked_at(site(content), soft, apart).counts
    assert (counts[Flaw.OVERLAP], counts[Flaw.SENTENCE]) == (0, 2)
    linked = ExistingLink(SOURCE, OTHER, "kettle is", content.index("kettle is"))
    hot = ProposedAnchor(SOURCE, OTHER, Anchor("kettle", start=content.index("kettle is")))
    assert looked_at(site(content, linked), hot).counts[Flaw.LINKED] == 1
    last = ProposedAnchor(SOURCE, TARGET, Anchor("kettle", start=content.index("kettle boils")))
    assert looked_at(site(content), hot, last).counts[Flaw.SEVERAL_TARGETS] == 2


def test_text_that_many_pages_repeat_is_a_templates() -> None:
    template = "Please ask our friendly staff for soft water kettles at any time"
    pages = [
        Page(f"{SITE}/{at}", f"{SITE}/{at}", content=f"Page {at}. {template}, say {at}.") for at in range(7)
    ]
    target = Page(TARGET, TARGET, "Water")
    one = ProposedAnchor(
        pages[0].key, TARGET, Anchor("soft water", start=str(pages[0].content).index("soft water"))
    )
    for count, expected in ((4, 0), (5, 1)):
        some = Collected((*pages[:count], target), (), (), 0)
        assert hygiene(some, [one], {}).counts[Flaw.TEMPLATE] == expected


def test_examples_name_page_anchor_and_target() -> None:
    phrase = "light tea of the morning is best"
    content = f"The {phrase}. " * 7
    starts = [at for at in range(len(content)) if content.startswith(phrase, at)]
    some = [ProposedAnchor(SOURCE, TARGET, Anchor(phrase, start=at)) for at in starts]
    result = looked_at(site(content), *some)
    assert result.long == len(some) == 7
    assert result.counts[Flaw.UNRELATED] == 7
    examples = result.examples[Flaw.UNRELATED]
    assert len(examples) == EXAMPLES
    assert examples[0] == (SOURCE, some[0].anchor.text, TARGET)


@pytest.mark.parametrize(
    ("content", "anchor", "cut"),
    [
        ("使用单文件组件可以编写", "单文件组件", False),
        ("使用单文件组件可以编写", "文件组", True),
        ("用户追踪或指纹识别", "户追踪", True),
        ("コンポーネントを登録します", "コンポーネント", False),
        ("コンポーネントを登録します", "ポーネント", True),
        ("کامپوننت‌ها را ببینید", "کامپوننت", True),
        ("کامپوننت‌ها را ببینید", "کامپوننت‌ها", False),
        ("دعم وTypeScript شامل", "TypeScript", False),
        ("Learn C++ today", "C", True),
        ("See example.com now", "example", True),
        ("The page's text", "page", False),
        ("It ended.Then it began", "Then", True),
        ("特性:在生产环境中启用", "在生产环境中启用", False),
    ],
)
def test_words_are_cut_only_inside(content: str, anchor: str, cut: bool) -> None:
    start = content.index(anchor)
    language = "zh" if "\u4e00" <= content[0] <= "\u9fff" else "ja" if content[0] == "コ" else "en"
    assert cuts(content, start, start + len(anchor), language) is cut


@pytest.mark.parametrize(
    ("text", "language", "length"),
    [
        ("single-file components", "en", 2),
        ("کامپوننت‌های تک‌فایلی", "fa", 2),
        ("单文件组件", "zh", 3),
        ("Vue 组件", "zh", 2),
        ("Vue组件", "zh", 2),
        ("…", "en", 1),
    ],
)
def test_words_are_counted_as_a_person_does(text: str, language: str, length: int) -> None:
    assert word_length(text, language) == length
