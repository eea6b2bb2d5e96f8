"""The rules of an insertion hold for all documents, as parsers see them that the product does not use."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from internal_linker.model.source_files import Markup
from internal_linker.publish.insertion import Placement, Refusal, insert
from tests.publish.documents import Made, html, markdown

HREF = "/target?a=1&b=(2)"
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
CLOSED = frozenset(
    "a h1 h2 h3 h4 h5 h6 code pre kbd button label nav figcaption caption script style th dt summary svg textarea "
    "title head header footer form".split()
)
QUICK = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
LONG = settings(max_examples=1_500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


class Seen(HTMLParser):
    """What Python's own parser sees: text, links with the elements around them, and everything else in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.links: list[tuple[str, str, tuple[str, ...]]] = []
        self.rest: list[object] = []
        self._open: list[str] = []
        self._linked: list[tuple[str, int, tuple[str, ...]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if tag == "a" and href is not None:
            self._linked.append((href, len(self.text), tuple(self._open)))
        if (tag, href) != ("a", HREF):
            self.rest.append((tag, attrs))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass
        if tag == "a" and self._linked:
            href, start, around = self._linked.pop()
            self.links.append((href, self.text[start:], around))
            if href == HREF:
                return
        self.rest.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.rest.append(data)

    def handle_data(self, data: str) -> None:
        self.text += data


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def rendered(text: str, made: Made, text_format: Markup) -> str:
    """Return the document's HTML; generators take the front matter away before they render the rest."""
    if text_format == "html":
        return text
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    if text_format == "mdx":
        parser.disable("html_block")  # MDX has none: after a line with a tag, its text goes on
    return str(parser.render(text.removeprefix(made.closed[0])))


def check(made: Made, text_format: Markup) -> None:
    placement = Placement("https://e.com/target", HREF, made.phrase, f"Now {made.phrase} it is", HREF.__eq__)
    found = insert(made.text, text_format, placement)
    if isinstance(found, Refusal):
        event(f"refused: {found.name}")
        assert not made.has_place, (found, made.text)
        return
    event("inserted")
    assert found.in_sentence or not made.has_place
    before, after = found.text[: found.start], found.text[found.end :]
    link = found.text[found.start : found.end]
    pattern = r"<a href=\"[^\"]*\">(.*)</a>" if text_format == "html" else r"\[(.*)\]\(/target\?a=1&b=\(2\)\)"
    anchor = re.fullmatch(pattern, link, re.DOTALL)
    assert anchor
    assert before + anchor[1] + after == made.text
    for part in filter(None, made.closed):
        assert found.text.count(part) == made.text.count(part), part
    old, new = (Seen(rendered(text, made, text_format)) for text in (made.text, found.text))
    assert plain(old.text) == plain(new.text)
    fresh = [one for one in new.links if one[0] == HREF]
    assert len(fresh) == 1
    assert [one for one in new.links if one[0] != HREF] == old.links
    assert not CLOSED & set(fresh[0][2])
    assert old.rest == new.rest
    again = insert(found.text, text_format, placement)
    assert again is Refusal.LINKED


DOCUMENTS = st.one_of(
    st.tuples(markdown(), st.just("markdown")),
    st.tuples(markdown(is_mdx=True), st.just("mdx")),
    st.tuples(html(), st.just("html")),
)


@QUICK
@given(DOCUMENTS)
def test_rules_hold(made: tuple[Made, Markup]) -> None:
    """One more link in body text, and nothing else changes, in any Markdown, MDX and HTML."""
    check(*made)


@pytest.mark.long
@LONG
@given(DOCUMENTS)
def test_rules_hold_for_many_documents(made: tuple[Made, Markup]) -> None:
    check(*made)
