"""Clusters are named after what their titles say, in the words of their language."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.insight.similarity.cluster_names import UNTITLED, cluster_names
from internal_linker.text.phrases import Reader
from internal_linker.text.stop_words import stop_words
from internal_linker.text.words import normalise
from tests.support.builders import page

COLD = ["Cold brew at home", "Cold brew", "Iced cold brew", "Cold brew jar"]


def named(language: str, *clusters: list[str]) -> list[str]:
    titles = [title for each in clusters for title in each]
    labels = np.repeat(np.arange(len(clusters)), [len(each) for each in clusters])
    pages = [page(at, lang=language) for at in range(len(titles))]
    return cluster_names(labels, pages, titles, Reader(normalise))


def test_a_name_is_what_sets_titles_apart() -> None:
    found = named(
        "en",
        ["How to make cold brew coffee", "Cold brew coffee at home", "The best beans for cold brew coffee"],
        ["How to clean an espresso machine", "The espresso machine to buy", "Espresso machine or moka pot?"],
        ["How to grind coffee", "Hand grinder or electric grinder?", "The best grinder"],
    )
    assert [name.split(", ")[0] for name in found] == ["cold brew coffee", "espresso machine", "grinder"]
    assert not {"how", "to", "the", "or"} & {word.lower() for name in found for word in name.split()}


@pytest.mark.parametrize("is_title", [True, False])
def test_no_term_begins_or_ends_with_a_function_word(is_title: bool) -> None:
    made = {
        "de": ("Warum ist der {0} {1} für die besten {2} wichtig", ("Mahlgrad", "Mühle", "Bohnen")),
        "en": ("Why the {0} {1} is what you need for {2}", ("grinder", "burr", "beans")),
        "fa": ("چرا {0} {1} برای {2} مهم است", ("آسیاب", "تیغه", "دانه")),
    }
    texts = [(lang, f"{text.format(*words)} {at}") for lang, (text, words) in made.items() for at in range(6)]
    pages = [page(at, "" if is_title else text, lang=lang) for at, (lang, text) in enumerate(texts)]
    titles = [text if is_title else "" for _, text in texts]
    names = cluster_names(np.repeat(range(3), 6), pages, titles, Reader(normalise))
    for lang, name in zip(made, names, strict=True):
        for term in name.split(", "):
            assert not {term.split()[0].casefold(), term.split()[-1].casefold()} & stop_words(lang), term


def test_phrases_do_not_cross_what_parts_them() -> None:
    found = named("en", ["Tea and coffee", "Coffee: milk", "Milk | tea", "Tea or milk", "Coffee with milk"])
    assert set(found[0].lower().split(", ")) <= {"tea", "coffee", "milk"}
    found = named("en", ["Terms of service", "Our terms of service", "Terms of Service: changes"], ["Coffee"])
    assert found[0] == "Terms of service"


def test_contents_say_which_words_of_titles_tell() -> None:
    titles = [
        "Introducing latte art",
        "Introducing a steam wand",
        "Introducing the V60",
        "Green tea",
        "Black tea",
    ]
    texts = [
        *("A steam wand froths milk.", "The steam wand is hot.", "Clean a steam wand daily."),
        *("Green tea steeps briefly.", "Black tea steeps long."),
    ]
    pages = [page(at, text, lang="en") for at, text in enumerate(texts)]
    found = cluster_names(np.array([0, 0, 0, 1, 1]), pages, titles, Reader(normalise))
    assert found == ["steam wand", "tea"]


def test_a_phrase_is_spelled_as_most_pages_spell_it() -> None:
    titles = ["مقدمة للتفاعلية", "أساسيات التفاعلية", "شرح للتفاعلية", "المتصفح", "المتصفح الجديد"]
    texts = ["تعمل التفاعلية هكذا", "ما هي التفاعلية", "نظام التفاعلية", "يعمل المتصفح", "هذا المتصفح"]
    pages = [page(at, text, lang="ar") for at, text in enumerate(texts)]
    found = cluster_names(np.array([0, 0, 0, 1, 1]), pages, titles, Reader(normalise))
    assert found[0].split(", ")[0] == "التفاعلية"
    names = ["Vue ومكونات الويب", "دليل ومكونات الويب", "شرح مكونات الويب"]
    assert named("ar", names, ["المتصفح", "المتصفح الجديد"])[0].split(", ")[0] == "مكونات الويب"


@pytest.mark.parametrize(
    ("language", "clusters", "names"),
    [
        (
            "en",
            [["Flat white", "The flat white", "Oat milk", "Oat milk tips"], COLD],
            ["Flat white, Oat milk", "Cold brew"],
        ),
        (
            # Forms of a word are one term, spelled as most titles spell it.
            "de",
            [
                ["Kaffeemühlen im Vergleich", "Die beste Kaffeemühle", "Kaffeemühle reinigen"],
                ["Cold-Brew ansetzen", "Cold Brew im Sommer", "Cold Brew mit Milch"],
            ],
            ["Kaffeemühle", "Cold Brew"],
        ),
        (
            "ja",
            [
                ["コーヒー豆の挽き方", "コーヒー豆の保存方法", "コーヒー豆を自宅で焙煎する"],
                ["エスプレッソマシンの掃除", "エスプレッソマシンの選び方", "エスプレッソマシンおすすめ"],
                ["水出しコーヒーの作り方", "水出しコーヒーの保存期間", "水出しコーヒーに合う豆"],
            ],
            ["コーヒー豆", "エスプレッソマシン", "水出しコーヒー"],
        ),
        (
            "zh",
            [
                ["手冲咖啡教程", "手冲咖啡的水温", "手冲咖啡器具推荐"],
                ["意式咖啡机清洁", "意式咖啡机选购指南", "家用意式咖啡机"],
            ],
            ["手冲咖啡", "意式咖啡机"],
        ),
        (
            "th",
            [
                ["เครื่องบดกาแฟมือหมุน", "วิธีเลือกเครื่องบดกาแฟ", "เครื่องบดกาแฟไฟฟ้า"],
                ["วิธีล้างเครื่องชงกาแฟ", "เครื่องชงกาแฟราคาถูก", "รีวิวเครื่องชงกาแฟ"],
            ],
            ["เครื่องบดกาแฟ", "เครื่องชงกาแฟ"],
        ),
        (
            "fa",
            [
                ["آموزش پایتون برای مبتدیان", "دورهٔ آموزش پایتون", "کتاب‌های آموزش پایتون"],
                ["قیمت گوشی سامسونگ", "گوشی‌های سامسونگ", "بهترین گوشی سامسونگ"],
            ],
            ["آموزش پایتون", "گوشی سامسونگ"],
        ),
        (
            "ar",
            [
                ["تعليم البرمجة للأطفال", "دروس في البرمجة", "لغات البرمجة"],
                ["أفضل هاتف", "الهاتف الجديد", "هاتف بسعر رخيص"],
            ],
            ["البرمجة", "هاتف"],
        ),
    ],
)
def test_names_are_words_in_every_script(language: str, clusters: list[list[str]], names: list[str]) -> None:
    assert named(language, *clusters) == names


def test_names_differ() -> None:
    found = named(
        "en", ["Cold brew"] * 3, ["cold brew"] * 3, ["COLD BREW"] * 2, [""], ["", ""], ["The of"], ["日"]
    )
    assert len({name.casefold() for name in found}) == 7
    # Endless titles, with or without spaces, are read at their beginning.
    endless = ["コーヒー豆" * 20_000, "tea " * 20_000, "x" * 20_000]
    assert max(map(len, named("ja", *([title, title] for title in endless)))) < 200
    assert found[:2] == ["Cold brew", "cold brew (2)"] and found[3:5] == [UNTITLED, f"{UNTITLED} (2)"]


def test_a_name_that_no_term_gives_is_a_title() -> None:
    assert named("en", ["", "Who are we?"]) == ["Who are we?"]
    assert named("ja", ["おいしいみそしる", "あさごはん"]) == ["おいしいみそしる"]


@given(titles=st.lists(st.text(st.characters(exclude_categories=())), min_size=1, max_size=12))
def test_any_titles_have_names(titles: list[str]) -> None:
    labels = np.arange(len(titles)) // 2
    languages = ["", "ja", "fa", "en"] * 3
    pages = [page(at, lang=lang) for at, lang in enumerate(languages[: len(titles)])]
    found = cluster_names(labels, pages, titles, Reader(normalise))
    assert len({name.casefold() for name in found}) == len(found) == labels[-1] + 1
    assert all(name.strip() and "\n" not in name for name in found)
