"""Where one more link may stand in a text: a table for each rule."""

import pytest

from internal_linker.model.source_files import Markup
from internal_linker.publish.insertion import HoldReason, Inserted, Placement, Refusal, insert, place_links

TARGET = "https://e.com/x"


def placed(
    text: str,
    text_format: Markup = "markdown",
    *,
    anchor: str = "pet food",
    sentence: str = "",
    href: str = "/x",
) -> str | Refusal:
    """Return the text with the link, or why there is none."""
    found = insert(
        text, text_format, Placement(TARGET, href, anchor, sentence, lambda other: other == "/to/x")
    )
    if isinstance(found, Refusal):
        return found
    assert text[: found.start] == found.text[: found.start]
    return found.text


BODY = [
    ("We sell pet food.", "We sell [pet food](/x)."),
    ("- a\n  - pet food\n\n    more\n", "- a\n  - [pet food](/x)\n\n    more\n"),
    ("1. a\n\n   > some\n   > pet food\n", "1. a\n\n   > some\n   > [pet food](/x)\n"),
    ("> our pet\n> food\n", "> our [pet\n> food](/x)\n"),
    ("| a | b |\n|---|---|\n| c \\| d | pet food |\n", "| a | b |\n|---|---|\n| c \\| d | [pet food](/x) |\n"),
    ("| pet food | b |\n|---|---|\n| pet food | c |\n", "| pet food | b |\n|---|---|\n| [pet food](/x) | c |\n"),
    ("# pet food\r\n\r\nThe pet food\r\n", "# pet food\r\n\r\nThe [pet food](/x)\r\n"),
    ("\ufeff---\ntitle: pet food\n---\npet food", "\ufeff---\ntitle: pet food\n---\n[pet food](/x)"),
    ("<section>\n\npet food\n\n</section>", "<section>\n\n[pet food](/x)\n\n</section>"),
    # Admonitions, tabs and definitions, whose text is indented, and not their titles and terms.
    ('!!! note "pet food"\n\n    a\n\n    pet food\n', '!!! note "pet food"\n\n    a\n\n    [pet food](/x)\n'),
    ("??? tip\r\n    a\r\n\r\n    - pet food\r\n", "??? tip\r\n    a\r\n\r\n    - [pet food](/x)\r\n"),
    ('=== "pet food"\n\n    pet food\n', '=== "pet food"\n\n    [pet food](/x)\n'),
    ("- a\n\n    !!! note\n\n        pet food\n", "- a\n\n    !!! note\n\n        [pet food](/x)\n"),
    ("pet food\n:   a\n\n    pet food\n", "pet food\n:   a\n\n    [pet food](/x)\n"),
    ("pet food\r\n: pet food\r\n", "pet food\r\n: [pet food](/x)\r\n"),
    ("Some **pet food** here", "Some **[pet food](/x)** here"),
    ("Some **pet** food", "Some [**pet** food](/x)"),
    ("Some **dry pet** food", Refusal.UNSAFE),
    ("pet&nbsp;food", "[pet&nbsp;food](/x)"),
    ("pet  food", "[pet  food](/x)"),
    ("pet `food` and pet food", "pet `food` and [pet food](/x)"),
    ("Pet food", "[Pet food](/x)"),
    ("Hello!pet food", Refusal.UNSAFE),
    ('- *we pet food**we pet food*{{< fig alt="pet food" >}}we', Refusal.UNSAFE),
    ("\tpet food\n\npet food", "\tpet food\n\n[pet food](/x)"),
    (":::tip pet food\npet food\n:::", ":::tip pet food\n[pet food](/x)\n:::"),
    ("A \\[b\n\npet food c\\]", "A \\[b\n\n[pet food](/x) c\\]"),
    ("It costs $5, pet food $6", "It costs $5, [pet food](/x) $6"),
]  # fmt: skip


CLOSED = [
    "# pet food", "pet food\n---", "`pet food`", "```\npet food\n```", "    pet food", "> ~~~\n> pet food\n> ~~~",
    "[pet food](/y)", "[see *pet food* now][a]\n\n[a]: /y", "![pet food](/y.png)", '[a](/y "pet food")',
    "[a]: /y 'pet food'\n\nx", "---\ntitle: pet food\n---\nx", "+++\ntitle = 'pet food'\n+++\nx",
    '{\n"title": "pet food"\n}\nx', "{{< figure caption='pet food' >}}", "{{< note >}}\npet food\n{{< /note >}}",
    "{{% note %}}pet food{{% /note %}}", "{% include a.html text='pet food' %}",
    "{% raw %}\npet food\n{% endraw %}", "{{ 'pet food' | upcase }}", "{# pet food #}", "<!-- pet food -->",
    "<!-- wp:button {\"text\":\"pet food\"} /-->", '<a href="/y">pet food</a>', '<i title="pet food">x</i>',
    "<div>\npet food\n</div>", "<figcaption>\n\npet food\n\n</figcaption>", "<button>pet food</button>",
    "<kbd>pet food</kbd>", "<a name=x>\n\npet food\n\n</a>", "<Card>\n\npet food\n\n</Card>",
    "<script>\nlet a = 'pet food'\n</script>", "[^1]: pet food", "*[PF]: pet food", "pet food\n: what pets eat",
    ":::note pet food\n:::", "!!! note \"pet food\"", "=== \"pet food\"", "[pet food]", "[pet food][b]",
    "[b]: pet food now", "![a](/i.png)\n*pet food*", "$pet food$", "$$\npet food\n$$", "[[pet food]]",
    "x{: title='pet food' }", "| pet food | b |\n|---|---|\n| c | d |", ":abbr[pet food]",
]  # fmt: skip


MDX = [
    ("```js\r\n{\r\n```\r\n\r\nimport Pet from 'pet food'\r\n\r\npet food", "[pet food](/x)"),
    ("\ufeffimport Pet from 'pet food'\n\npet food", "[pet food](/x)"),
    ("import Pet from 'pet food'\nexport const a = {\n\n  b: 'pet food',\n}\n\npet food", "[pet food](/x)"),
    ("<Card title=\"pet food\" a={{b: 'pet food'}} c={() => 1 > 2}/>\n\npet food", "[pet food](/x)"),
    ("<Note>\n\npet food\n\n</Note>\n\nThe pet food", "The [pet food](/x)"),
    ("{/* pet food */} {pet('pet food')}\n\nThe pet food", "The [pet food](/x)"),
    ("<div className=\"a\">\npet food\n</div>", '<div className="a">\n[pet food](/x)\n</div>'),
    ("A <Tip>pet food</Tip> and pet food", "A <Tip>pet food</Tip> and [pet food](/x)"),
    ("```js\nimport a from 'b' {\n```\n\n`{` pet food", "`{` [pet food](/x)"),
    ("<Link to=\"/to/x\">a</Link> pet food", Refusal.LINKED),
    ("<Note>pet food</Note>", Refusal.NOT_BODY),
    ("<Note>\n\npet food", Refusal.NOT_BODY),
    ("{pet food", Refusal.UNREADABLE),
    ("<Note a='pet food", Refusal.UNREADABLE),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), MDX)
def test_jsx_and_modules_stay_as_they_are(text: str, expected: str | Refusal) -> None:
    found = placed(text, "mdx")
    assert found == expected or (isinstance(found, str) and found.endswith(expected))


HTML = [
    ("<p>pet food</p>", '<p><a href="/x">pet food</a></p>'),
    ("One\n\ntwo pet food\n\nthree", 'One\n\ntwo <a href="/x">pet food</a>\n\nthree'),
    ("<p>caf&eacute; pet&nbsp;food &amp; more", '<p>caf&eacute; <a href="/x">pet&nbsp;food</a> &amp; more'),
    ("<p>some <b>pet</b> food</p>", '<p>some <a href="/x"><b>pet</b> food</a></p>'),
    ("<p>some <b>dry pet</b> food</p>", Refusal.UNSAFE), ("<p>pet<br>food</p>", Refusal.NOT_BODY),
    ("<ul><li>pet food<li>b</ul>", '<ul><li><a href="/x">pet food</a><li>b</ul>'),
    ("<table><tr><th>pet food<td>pet food</table>", '<table><tr><th>pet food<td><a href="/x">pet food</a></table>'),
    ("<!-- wp:paragraph {\"a\":\"--\"} -->\n<p>pet food</p>\n<!-- /wp:paragraph -->",
     "<!-- wp:paragraph {\"a\":\"--\"} -->\n<p><a href=\"/x\">pet food</a></p>\n<!-- /wp:paragraph -->"),
    ("<!-- wp:group --><div><!-- wp:list --><ul><li>pet food</li></ul><!-- /wp:list --></div><!-- /wp:group -->",
     "<!-- wp:group --><div><!-- wp:list --><ul><li>"
     "<a href=\"/x\">pet food</a></li></ul><!-- /wp:list --></div><!-- /wp:group -->"),
    ("---\ntitle: pet food\n---\n<p>pet food</p>", '---\ntitle: pet food\n---\n<p><a href="/x">pet food</a></p>'),
    ("<p>[gallery ids=\"1\"] pet food", '<p>[gallery ids="1"] <a href="/x">pet food</a>'),
    ("<html><body><a>pet food</a><p>x pet food", '<html><body><a>pet food</a><p>x <a href="/x">pet food</a>'),
    ('<p><a href="/to/x">a</a> pet food', Refusal.LINKED),
    ("<map><area href=/to/x></map><p>pet food", Refusal.LINKED), ("<p>party", Refusal.NO_ANCHOR),
    ("<div>" * 600 + "pet food", Refusal.UNREADABLE), ("<p>pet food <i", '<p><a href="/x">pet food</a> <i'),
]  # fmt: skip


HTML_CLOSED = [
    "<h2>pet food</h2>", "<a href=/y>pet food</a>", "<a name=y>pet food", "<p><a href=/y>x<p>pet food",
    "<code>pet food</code>", "<pre>pet\n\npet food</pre>", "<figure><figcaption>pet food</figcaption></figure>",
    "<table><caption>pet food</table>", "<script>'pet food'</script>", "<style>pet food</style>",
    "<title>pet food</title>x", "<button>pet food</button>", "<nav>pet food</nav>", "<label>pet food</label>",
    "<p title='pet food'>", '<img alt="pet food">', "<!-- pet food -->", "<p>https://e.com/pet food/pet",
    "<!-- wp:heading --><h2>pet food</h2><!-- /wp:heading -->",
    "<!-- wp:html --><p>pet food</p><!-- /wp:html -->", "<!-- wp:code --><p>pet food</p><!-- /wp:code -->",
    "<!-- wp:verse --><p>pet food</p><!-- /wp:verse -->",
    "<!-- wp:pullquote --><p>pet food</p><!-- /wp:pullquote -->",
    "<!-- wp:acme/card --><p>pet food</p><!-- /wp:acme/card -->",
    '<!-- wp:image {"alt":"pet food"} --><p>x</p><!-- /wp:image -->',
    "<!-- wp:shortcode -->[a]pet food[/a]<!-- /wp:shortcode -->",
    "[vc_row][vc_column]pet food[/vc_column][/vc_row]", '[button text="pet food"]',
    '[caption id="a"]<img src=x> pet food[/caption]', "{{ 'pet food' }}", "{% if a %}<p>pet food</p>{% endif %}",
    "<?php echo 'pet food' ?>", "{{ if .A }}pet food{{ end }}", "<svg><text>pet food</text></svg>",
    "<my-card>pet food</my-card>", "<textarea>pet food</textarea>", "<p class=wp-caption-text>pet food",
    "<details><summary>pet food</summary></details>", "<p hidden>pet food", "<div role=button>pet food</div>",
    "<dl><dt>pet food</dl>",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text_format", "text", "expected"),
    [*(("markdown", *row) for row in BODY), *(("html", *row) for row in HTML)],
)
def test_body_text_takes_a_link(text_format: Markup, text: str, expected: str | Refusal) -> None:
    assert placed(text, text_format) == expected


@pytest.mark.parametrize(
    ("text_format", "text"),
    [*(("markdown", text) for text in CLOSED), *(("html", text) for text in HTML_CLOSED)],
)
def test_no_link_stands_in_what_is_no_body_text(text_format: Markup, text: str) -> None:
    assert placed(text, text_format) is Refusal.NOT_BODY


LINKED = [
    ("[a](/to/x) pet food", "markdown"),
    ("[a][b] pet food\n\n[b]: /to/x", "markdown"),
    ("[b] pet food\n\n[b]: </to/x>", "markdown"),
    ('<a href="/to/x">a</a> pet food', "markdown"),
    ('<div>\n<a href="/to/x">a</a>\n</div>\n\npet food', "markdown"),
    ("<https://e.com/x> pet food", "markdown"),
    ("See https://e.com/x. pet food", "markdown"),
    ("# a [b](/to/x)\n\npet food", "markdown"),
    ("| [b](/to/x) | c |\n|---|---|\n| pet food | d |", "markdown"),
    ("[![i](/i.png)](/to/x) pet food", "markdown"),
    ("[a](https://e.com/x) pet food", "markdown"),
    ("<p><a href='/to/&#120;'>a</a> pet food", "html"),
]


@pytest.mark.parametrize(("text", "text_format"), LINKED)
def test_a_page_links_to_a_target_once(text: str, text_format: Markup) -> None:
    assert placed(text, text_format) is Refusal.LINKED


SENTENCES = [
    ("Pet food first.\n\nWe like pet food a lot.", "We like pet food a lot.", "We like [pet food]"),
    ("A pet food. “We’re” **like** pet food", '"We\'re" like pet food', "like** [pet food]"),
    ("pet food\n\nIt is &mdash; pet\nfood", "It is — pet food", "&mdash; [pet\nfood]"),
    ("pet food\n\nOur pet food is", "Our pet food is not there", "[pet food](/x)\n\nOur"),
    ("pet food\n\n- It says\n- our pet food\n- is", "It says our pet food is", "- our [pet food]"),
    ("`pet food` is pet food", "pet food is pet food", "is [pet food]"),
]


@pytest.mark.parametrize(("text", "sentence", "expected"), SENTENCES)
def test_the_accepted_sentence_comes_first(text: str, sentence: str, expected: str) -> None:
    """The anchor is linked in its sentence as readers see it, otherwise at its first place."""
    assert expected in str(placed(text, sentence=sentence))


LANGUAGES = [
    ("می‌شود و نمی‌شود", "می‌شود", "[می‌شود](/x) و نمی‌شود"),
    ("کتاب‌ها و کتاب", "کتاب", "کتاب‌ها و [کتاب](/x)"),
    ("می&zwnj;شود", "می‌شود", "[می&zwnj;شود](/x)"),
    ("\u202bطعام القطط\u202c", "طعام القطط", "\u202b[طعام القطط](/x)\u202c"),
    ("これは強調です。", "強調", "これは[強調](/x)です。"),
    ("これは**強調**です。", "強調", "これは[**強調**](/x)です。"),
    ("cafe\u0301 noir", "café noir", "[cafe\u0301 noir](/x)"),
    ("Straße und Strasse", "Strasse", "Straße und [Strasse](/x)"),
    ("co\u00adoperate", "cooperate", "[co\u00adoperate](/x)"),
    ("party art", "art", "party [art](/x)"),
    ("R&amp;D and R\\&D", "R&D", "[R&amp;D](/x) and R\\&D"),
    ("pet food", " ", Refusal.NO_OWN_TEXT),
    ("petfood", "pet food", Refusal.NO_ANCHOR),
    ("pet food \U000f0000", "pet food", Refusal.UNREADABLE),
]


@pytest.mark.parametrize(("text", "anchor", "expected"), LANGUAGES)
def test_anchors_are_whole_words_of_any_language(text: str, anchor: str, expected: str | Refusal) -> None:
    assert placed(text, anchor=anchor) == expected


HREFS = [
    ("/a b (c", "[pet food](/a%20b%20%28c)"),
    ("/a_(b)?c=1&d=2#e", "[pet food](/a_(b)?c=1&d=2#e)"),
    ("/a?b=1&copy;=2", "[pet food](/a?b=1&amp;copy;=2)"),
    ("../a.md", "[pet food](../a.md)"),
    ('{{< ref "a b.md" >}}', '[pet food]({{< ref "a b.md" >}})'),
    ("{% link _posts/a.md %}", "[pet food]({% link _posts/a.md %})"),
    ("/وب", "[pet food](/وب)"),
]


def test_an_href_leads_where_it_says() -> None:
    """What a destination cannot hold is escaped; a template tag stays as it is."""
    for href, expected in HREFS:
        assert placed("pet food {{< x >}}", href=href) == f"{expected} {{{{< x >}}}}"
        assert placed(f"{expected} and pet food", href=href) is Refusal.LINKED
    assert placed("pet food", "html", href='/a"b&c') == '<a href="/a&quot;b&amp;c">pet food</a>'
    assert placed("pet food", "html", href="{{ url('a') }}") == "<a href=\"{{ url('a') }}\">pet food</a>"


def test_an_insertion_says_where_it_is_and_can_be_undone() -> None:
    text = "One.\n\nOur **pet** food."
    placement = Placement(TARGET, "/x", "pet food", "Our pet food.", lambda _: False)
    found = insert(text, "markdown", placement)
    assert isinstance(found, Inserted)
    assert found.in_sentence
    assert found.text[found.start : found.end] == "[**pet** food](/x)"
    assert found.text[: found.start] + "**pet** food" + found.text[found.end :] == text
    assert insert(found.text, "markdown", placement) == Refusal.LINKED


TEXT = "Green tea likes soft water.\n\nA clay pot keeps it warm.\n\nA dark tin keeps it fresh.\n"


def wanted(*anchors: str) -> list[tuple[str, Placement]]:
    links = []
    for anchor in anchors:
        href = f"/{anchor.replace(' ', '-')}/"
        links.append((anchor, Placement(f"https://a.example{href}", href, anchor, "", href.__eq__)))
    return links


def test_lines_are_those_of_the_new_text() -> None:
    placed = place_links(TEXT, "markdown", wanted("dark tin", "soft water", "clay pot"), most=3)
    assert [(link.id, link.line) for link in placed.links] == [
        ("dark tin", 5),
        ("soft water", 1),
        ("clay pot", 3),
    ]
    assert placed.text == (
        "Green tea likes [soft water](/soft-water/).\n\nA [clay pot](/clay-pot/) keeps it warm.\n\n"
        "A [dark tin](/dark-tin/) keeps it fresh.\n"
    )


def test_the_limit_holds() -> None:
    """A page gets no more links than the limit; one that can't be placed leaves its place to the next.

    Links of ours that still stand in the text count; one that somebody linked by hand is none of ours.
    """

    def refusals(text: str, *anchors: str, applied: set[str] | frozenset[str] = frozenset()) -> list[object]:
        found = place_links(text, "markdown", wanted(*anchors), most=1, applied=applied)
        return [link.refusal for link in found.links]

    assert refusals(TEXT, "rain water", "clay pot", "dark tin") == [Refusal.NO_ANCHOR, None, HoldReason.FULL]
    text = TEXT.replace("dark tin", "[dark tin](/dark-tin/)")
    assert refusals(text, "clay pot", "dark tin", applied={"dark tin"}) == [HoldReason.FULL, Refusal.LINKED]
    assert refusals(text, "clay pot", "dark tin") == [None, Refusal.LINKED]
    assert refusals(TEXT, "clay pot", "dark tin", applied={"dark tin"}) == [HoldReason.FULL, None]
