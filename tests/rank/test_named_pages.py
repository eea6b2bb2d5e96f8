"""Pages that texts name: by titles, main queries and anchors of known links, inflected or not."""

from collections.abc import Sequence

import numpy as np
import pytest

from internal_linker.match.tokens import tokenize
from internal_linker.model.records import Collected, ExistingLink, Text
from internal_linker.rank.named_pages import NamedPages
from internal_linker.rank.site_words import SiteTerms
from tests.support.builders import page, source, url

TITLES = ("Cold brew ratio", "Grinders", "Water filters | Slow Kettle", "Cold brew")


def site(
    *texts: str, titles: Sequence[str] = TITLES, links: Sequence[ExistingLink] = (), lang: str = "en"
) -> Collected:
    """Return pages with these titles and contents; pages without a title follow for further contents."""
    named = [*titles, *[""] * len(texts)][: max(len(titles), len(texts))]
    contents = [*texts, *[""] * len(named)][: len(named)]
    made = zip(named, contents, strict=True)
    pages = [page(number, text, title=title, lang=lang) for number, (title, text) in enumerate(made)]
    return Collected(tuple(pages), (), (), 0, links=tuple(links))


def read(collected: Collected) -> NamedPages:
    return SiteTerms(
        collected, tokenize([Text("", str(page.content)) for page in collected.pages]).tokens
    ).named


def found(collected: Collected) -> list[list[int]]:
    names, count = read(collected), len(collected.pages)
    pairs = names.find_pages(np.arange(count), names.owners(collected.links))
    return [rows.tolist() for rows in pairs.lists(count)]


def link(start: int, end: int, anchor: str) -> ExistingLink:
    return ExistingLink(url(start), url(end), anchor)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("We use grinders daily.", [1]),
        ("A good GRINDER lasts.", [1]),
        ("The ratio of a cold brew matters.", [3]),  # not "cold brew ratio"
        ("Try a cold-brew ratio of 1:8.", [0]),  # and not "cold brew" within it
        ("A filter for the water", []),
        ("Our water filter helps.", [2]),  # without the brand
        ("Brew it cold.", []),
        ("", []),
    ],
)
def test_titles_are_found_word_by_word(text: str, named: list[int]) -> None:
    titles = (
        *TITLES,
        "Coffee | Slow Kettle",
        "Tea | Slow Kettle",
        "Cups | Slow Kettle",
        "Milk | Slow Kettle",
    )
    assert found(site(*[""] * len(titles), text, titles=titles))[-1] == named


def test_a_page_names_neither_itself_nor_one_without_a_name_of_its_own() -> None:
    assert found(site("", "Grinders and cold brew"))[1] == [3]
    assert found(site("", "", "", "brewing beans", titles=("Brewing", "Brewing", "Beans")))[3] == [2]
    pages = (page(0, title="A"), page(1, "Buy beans online.", title="B"))
    sources = (source(0, "buy beans", of=pages[0]),)
    assert found(Collected(pages, sources, (), 0)) == [[], [0]]
    assert found(Collected((page(0, "beans"), page(1, "beans")), (), (), 0)) == [[], []]


@pytest.mark.parametrize(
    ("targets", "named"),
    [((0, 0), [0]), ((0,), []), ((0, 0, 1, 1), []), ((0, 0, 1), [0])],
)
def test_the_usual_anchor_of_a_page_names_it(targets: tuple[int, ...], named: list[int]) -> None:
    links = [link(4 + at, end, "steeping guides") for at, end in enumerate(targets)]
    assert found(site("", "", "", "Read a steeping guide.", *["x"] * 5, links=links))[3] == named


def test_links_that_are_not_known_name_nothing() -> None:
    links = [link(4, 0, "steeping"), link(5, 0, "steeping")]
    names, text = read(site("", "", "", "On steeping", *["x"] * 5, links=links)), np.array([3])
    assert names.find_pages(text, names.owners(links)).rows.tolist() == [0]
    assert names.find_pages(text, names.owners(links[:1])).rows.tolist() == []


def test_a_name_on_many_pages_is_a_common_word() -> None:
    texts = ["", *["contact us"] * 5, *["beans"] * 100]
    assert found(site(*texts, titles=("Contact",)))[1] == [0]
    assert found(site("", *["contact us"] * 6, *["beans"] * 100, titles=("Contact",)))[1] == []


@pytest.mark.parametrize(
    ("lang", "title", "text"),
    [
        ("fa", "کامپوننت پویا", "از کامپوننت‌های پویا"),
        ("zh", "动态组件", "使用动态组件时"),
        ("de", "Kalter Kaffee", "kalten Kaffee"),
    ],
)
def test_names_in_other_languages(lang: str, title: str, text: str) -> None:
    made = site("", text, titles=(title,), lang=lang)
    assert found(made)[1] == [0]
