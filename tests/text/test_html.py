"""Reading the visible text and the links of HTML, however broken it is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from internal_linker.text.html import MOST_ATTRIBUTES, is_html, parse_html, read_html, with_few_attributes


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<p>Green tea</p>", True),
        ('<!doctype html><html lang="en"><body>Tea', True),
        ("<!doctype html><html><body>Tea</body></html>", True),
        ("Green tea<br>black tea", False),
        ("  <P CLASS=x>Green tea<BR />black tea", True),
        ("<ul><li>Green<li class=x>Black", True),
        ('Write <li>Green</li> in <ul> and <a href="x.html"> around it.', False),
        ('See <a href="/tea/">tea</a>.', True),
        ("", False),
        ("Green tea & black tea", False),
        ("a < b and c > d, and 3 <p 4", False),
        ("i<3 tea </3", False),
        ("Write the <title> first, then the <h1>.", False),
        ("Ask Jane <jane@shop.example>", False),
        ("<brand> <linden> <preheat>", False),
    ],
)
def test_only_real_tags_make_html(text: str, html: bool) -> None:
    """A text that begins with a tag or contains a whole link is HTML; one that shows or mentions tags isn't."""
    assert is_html(text) is html


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h1>Tea</h1><p>Green <b>t</b>ea\n leaves</p>and  more", "Tea\nGreen tea leaves\nand more"),
        ("one<br>two<ul><li>three<li>four</ul>", "one\ntwo\nthree\nfour"),
        ("<table><tr><td>a<td>b<tr><th>c</table>", "a\nb\nc"),
        ("Tea &amp; caf&eacute; &#x2615; 1 &lt; 2&nbsp;g<br>", "Tea & café ☕ 1 < 2 g"),
        ("<script>var x = '<p>no</p>'</script><style>p {}</style>yes<p>", "yes"),
        ("<nav>menu <nav>inner</nav></nav><noscript>on</noscript><template><p>t</p></template>yes", "yes"),
        ("<head><title>Title</title></head><body>yes</body>", "yes"),
        ("<p>never <b>closed <i>tags", "never closed tags"),
        ("<!-- a comment --><p>yes</p>", "yes"),
        ("<frameset><frame src=a></frameset>", ""),
        ("<p>چای سبز</p><p>a\ud83db</p>", "چای سبز\na?b"),
        ("", ""),
    ],
)
def test_a_text_is_what_a_person_reads(html: str, text: str) -> None:
    """Blocks become lines, inline tags split no word, entities are decoded; scripts, menus and comments go."""
    assert read_html(html).text == text


STRUCTURE = """<h1>Grinders</h1><p>Turn <code>the_collar</code> one step.</p><pre><code>grind --size 4
grind --stop</code></pre><table><tr><th>Brew<td>V60</table><blockquote><p>Taste first.</p><h3>Said Ann</h3></blockquote>
<figure><img src=x><figcaption>A hand grinder</figcaption></figure><ul><li><a href=/v60/>V60 recipe</a>
<li><a href=/a/>Aeropress</a>, <a href=/b/>French press</a><li>Use <a href=/scales/>good scales</a> for beans</ul>
<dl><dt>Retention<dd>What stays in the grinder.</dl><p>Clean the burrs.</p>"""


def test_lines_that_hold_no_anchor_are_told_from_others() -> None:
    """Code, tables, quotes, captions, terms and items of links are closed; sentences with code or a link are not."""
    found = read_html(STRUCTURE)
    lines = found.text.split("\n")
    assert [lines[at] for at in found.headings] == ["Grinders", "Said Ann"]
    assert [lines[at] for at in found.closed] == [
        *("grind --size 4 grind --stop", "Brew", "V60", "Taste first.", "A hand grinder", "V60 recipe"),
        *("Aeropress, French press", "Retention"),
    ]


def test_links_and_code_in_sentences_are_taken() -> None:
    """Their places are known, also in a part of a word and in two lines; those in closed lines don't count again."""
    found = read_html(
        "<h2><a href=/h/>Head</a></h2><p>Turn <a href='#x'> the <code>collar</code></a> or re<kbd>set</kbd> it."
        "<a href=/y/><p>Two</p><p>lines</p></a><pre><code>x</code></pre><p>End <a id=y></a>"
    )
    assert found.text == "Head\nTurn the collar or reset it.\nTwo\nlines\nx\nEnd"
    ends = zip(found.taken[::2], found.taken[1::2], strict=True)
    assert "".join(f"[{found.text[start:end]}]" for start, end in ends) == "[the ][collar][set][Two][lines]"


def test_a_table_that_is_the_layout_of_a_page_is_open() -> None:
    """A table with a cell as long as a page's text, or with a table inside, closes nothing; the inner table does."""
    found = read_html(f"<table><tr><td>Menu<td>{'Green tea is steamed. ' * 30}</table><p>End")
    assert found.closed == ()
    inner = read_html("<table><tr><td>Menu<td>Tea<table><tr><td>steep<td>3 minutes</table></table>")
    assert [inner.text.split("\n")[at] for at in inner.closed] == ["steep", "3 minutes"]


def test_links_come_in_order_with_their_text() -> None:
    """Each href outside menus is returned as written, nofollow or not; a named anchor without href isn't a link."""
    found = read_html(
        '<nav><a href="/menu">m</a></nav><p><a href=" /a?x=1&amp;y=2 ">Green\n<b>te</b>a</a> <a name=x>x</a>'
        '<a href="b" rel="nofollow"><img src=i alt=pic></a><a href>none</a>'
    )
    assert found.links == ((" /a?x=1&y=2 ", "Green tea"), ("b", ""), ("", "none"))


@pytest.mark.long
@pytest.mark.parametrize(
    "opened", ["<div>", "<b><i>", "<B>", "<p>x<nav>", "<p><b id={}>", "<div><table></div></table>"]
)
def test_elements_in_elements_take_no_hours(opened: str) -> None:
    """Text and links are read quickly even from 100,000 unclosed tags."""
    began = time.process_time()
    html = "".join(opened.format(number) for number in range(100_000))
    found = read_html(f"<script>no</script>{html}<h1>Green</h1> t<b>ea</b> <a href=/tea/>Tea</a>")
    assert found.text.endswith("Green\ntea Tea")
    assert found.links == (("/tea/", "Tea"),)
    assert time.process_time() - began < 5


def test_a_long_page_keeps_its_structure() -> None:
    """Thousands of unclosed paragraphs and items are parsed normally: menus are removed and headings recognised."""
    found = read_html("<nav>menu</nav>" + "<h2>Tea</h2><p>green<ul><li>one<li>two</ul><!-- <div> -->" * 5000)
    assert len(found.headings) == 5000
    assert "menu" not in found.text


PIECES = [*"<>/abp =\"'&;!-\x00\x1e\n", "<a href=", "</p>", "<script>", "<nav>", "<br>"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_nothing_is_too_broken_to_be_read(html: str) -> None:
    found = read_html(html)
    assert all(line and line == " ".join(line.split()) for line in found.text.splitlines())
    assert isinstance(is_html(html), bool)


TAGS = ("<", ">", "a", " a", "<a", "<b ", " ", "/", "=", '"', "'", " x=1", " y='2'", "<!--", "-->", "\n")


@given(st.lists(st.sampled_from(TAGS), max_size=60).map("".join))
def test_no_element_keeps_more_attributes_than_wanted(html: str) -> None:
    """Whatever the HTML, its parser sees at most so many attributes; HTML with fewer ones stays as it is."""

    def most(text: str) -> int:
        return max((len(node.attributes) for node in LexborHTMLParser(text).css("*")), default=0)

    assert most(with_few_attributes(html, 2)) <= 2
    assert with_few_attributes(html, 100) == html


@pytest.mark.long
@pytest.mark.parametrize(
    "html",
    [
        "<a " + " ".join(f"x{number}" for number in range(300_000)) + ">tea",
        "<a " + " ".join(f'x{number}=">"' for number in range(100_000)) + ">tea",
        *(part * 200_000 for part in ("<a", "<a/b=", "<a b=\"<a c='", "<a ", "<a b='", "<a x=<")),
    ],
    ids=lambda html: html[:12],
)
def test_a_hundred_thousand_attributes_take_no_time(html: str) -> None:
    """An element with very many attributes keeps the first ones; such a page is read in seconds, not minutes."""
    began = time.process_time()
    tree = parse_html(html)
    assert time.process_time() - began < 15  # each takes less than two seconds on an idle computer
    assert max((len(node.attributes) for node in tree.css("*")), default=0) <= MOST_ATTRIBUTES


def test_text_after_many_attributes_is_read() -> None:
    """Only attributes are cut: the element's text, its first attributes and what follows stay."""
    many = " ".join(f"x{number}" for number in range(100_000))
    read = read_html(f"<p>Green <a href='/tea' {many}>tea</a></p><p>Black</p>")
    assert (read.text, read.links) == ("Green tea\nBlack", (("/tea", "tea"),))
