"""Texts of pages without the text of their links."""

import pytest

from internal_linker.match.embed import all_texts
from internal_linker.model.records import Collected, ExistingLink, Text
from internal_linker.rank.link_texts import without_link_texts, without_links
from tests.support.builders import page, url


@pytest.mark.parametrize(
    ("text", "links", "left"),
    [
        ("Tea, and green tea again.", [("green tea", 9)], "Tea, and   again."),
        ("tea, tea, tea", [("tea", 5)], "tea,  , tea"),
        ("tea, tea, tea", [("tea", 7)], "tea,  , tea"),  # white space before the text was stripped
        ("See tea.", [("tea", 90)], "See  ."),
        ("See the teapot: tea, tea", [("tea", -1)], "See the teapot:  , tea"),
        ("A teapot", [("tea", -1)], "A teapot"),
        ("greentea", [("tea", 5)], "green "),
        ("black tea cup", [("black tea", 0), ("tea cup", 6)], " "),
        ("我们喝绿茶吧", [("绿茶", -1)], "我们喝 吧"),
        ("Tea", [("tea", -1), ("", 0), ("menu", -1)], "Tea"),
    ],
)
def test_anchors_are_cut_at_their_places(text: str, links: list[tuple[str, int]], left: str) -> None:
    assert without_links(text, [ExistingLink("a", "b", *link) for link in links]) == left


def test_each_text_loses_the_anchors_of_its_own_links() -> None:
    pages = (page(0, " tea and cups ", title="Tea"), page(1, "tea and cups", title="Cups"))
    links = (ExistingLink(url(0), url(1), "cups", 9), ExistingLink(url(9), url(1), "tea"))
    texts = without_link_texts(all_texts(pages, {}, ["tea"]), Collected(pages, (), (), 0, links=links))
    assert [*texts] == [Text("Tea", "tea and  "), Text("Cups", "tea and cups"), Text("tea", "")]
