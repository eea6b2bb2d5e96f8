"""Random documents in Markdown, MDX and HTML, made of body text and of parts that must stay as they are.

Each part knows whether a link may stand in it. The same phrase stands in parts of both kinds.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

# A phrase as readers see it, and some ways to write it.
PHRASES = {
    "pet food": (
        "pet food",
        "pet food",
        "**pet** food",
        "pet\nfood",
        "pet&nbsp;food",
        "_pet food_",
        "Pet food",
    ),
    "café noir": ("café noir", "cafe\u0301 noir", "caf&eacute; noir", "café **noir**", "caf&#233; noir"),
    "R&D team": ("R&amp;D team", "R&D team", "*R&D* team", "R\\&D team"),
    "غذای گربه‌ها": ("غذای گربه‌ها", "غذای گربه&zwnj;ها", "**غذای** گربه‌ها", "غذای\nگربه‌ها"),
    "طعام القطط": ("طعام القطط", "*طعام القطط*", "طعام القطط، ثم"),
    "ペットフード": (
        "ペットフード",
        "これは**ペットフード**です",
        "ペットフードの作り方",
        "新しいペットフード。",
    ),
}
WORDS = (
    "we", "sell", "the", "best", "of", "all", "snow", "party", "it's", "naïve", "10%", "C++", "a*b", "x_y", "(see",
    "here)", "و", "این", "سگ", "犬", "です", "—", "“so”", "1.", "#1", "$5", "and $10", "a | b", "!", "[1]", "&amp;",
    "\\*", "<br/>", "e.g.",
)  # fmt: skip
# What must never hold a link, with the phrase inside; in one line.
CLOSED_INLINE = (
    "`{0}`", "``a ` {0}``", "[{0}](/other)", "[{0} **x**][ref]", "![{0}](/i.png)", "<https://e.com/{1}>",
    "https://e.com/{1}", '<a href="/raw">{0}</a>', '<span title="{0}">x</span>', "<code>{0}</code>",
    '{{{{< fig alt="{0}" >}}}}', "{{{{< note >}}}}{0}{{{{< /note >}}}}", '{{% include "{0}" %}}',
    "{{{{ '{0}' | t }}}}", "<!-- {0} -->", "$x {0}$", "[^{1}]", "<button>{0}</button>", "[[{0}]]",
    "{{: title=\"{0}\" }}",
)  # fmt: skip
CLOSED_BLOCKS = (
    "# {0}", "### {0} ###", "{0}\n===", "{0}\n---", "```\n{0}\n```", "~~~ md\n# x\n{0}\n~~~",
    "<!-- x -->\n\n    {0}", "<!-- x -->\n\n\t{0}", '<div class="x">\n{0}\n</div>',
    "<figure>\n<figcaption>\n\n{0}\n\n</figcaption>\n</figure>", "[r2]: /x '{0}'", "[^n1]: {0}",
    "{{{{< highlight go >}}}}\n{0}\n\n{0}\n{{{{< /highlight >}}}}", "{{% raw %}}\n{0}\n{{% endraw %}}",
    ":::note {0}", '!!! note "{0}"', "<!-- {0}\n\n{0} -->", "<!-- wp:image {{\"alt\":\"{0}\"}} -->",
    "| {0} | b |\n|---|---|\n| x | y |", "$$\n{0}\n$$", "<script>\n{0}\n</script>", "<pre>\n{0}\n\n{0}\n</pre>",
    "*[HTML]: {0}", "<details>\n<summary>\n\n{0}\n\n</summary>\n</details>",
)  # fmt: skip
MDX_INLINE = (
    "`{0}`", "[{0}](/other)", "![{0}](/i.png)", "<Tip>{0}</Tip>", "{{'{0}'}}", '<Img alt="{0}" a={{{{b: 1}}}} />',
    "{{/* {0} */}}", "<code>{0}</code>", "https://e.com/{1}", "[^{1}]",
    "<A.B c={{() => 1 > 2}}>{0}</A.B>", "{{a ? `{0}` : 'b'}}",
)  # fmt: skip
MDX_BLOCKS = (
    "# {0}", "{0}\n===", "```js\nimport {{ a {0}\n```", "<Note>\n{0}\n\n{0}\n</Note>", "<Note>\n\n{0}\n\n</Note>",
    "import a from '{0}'", "export const a = {{\n\n  b: '{0}'\n}}", "<Tabs a={{['{0}']}}>\n  <Tab>{0}</Tab>\n</Tabs>",
    "{{/*\n{0}\n\n*/}}", ":::tip {0}", "<Card\n  title='{0}'\n/>", "| {0} | b |\n|---|---|\n| x | y |",
)  # fmt: skip
FRONT_MATTER = (
    "---\ntitle: {0}\ntags: [a]\n---\n", "+++\ntitle = '{0}'\n+++\n", '{{\n"title": "{0}"\n}}\n', "", "", "\ufeff",
)  # fmt: skip


@dataclass(frozen=True)
class Made:
    """A document."""

    text: str
    phrase: str  # the anchor, as readers see it
    closed: tuple[str, ...]  # what must stay as it is, as it is written
    has_place: bool  # whether the phrase stands as it is in a paragraph of its own


@st.composite
def _inline(draw: st.DrawFn, phrase: str, closed: list[str], *, is_mdx: bool) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.integers(0, 9))
        if kind <= 4:
            parts.append(" ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))))
        elif kind <= 7:
            parts.append(draw(st.sampled_from(PHRASES[phrase])))
        elif kind == 8:
            form = draw(st.sampled_from(MDX_INLINE if is_mdx else CLOSED_INLINE))
            part = form.format(phrase, phrase.split(maxsplit=1)[0])
            closed.append(part)
            parts.append(part)
        else:
            mark = draw(st.sampled_from(("*", "**", "_", "~~", "***")))
            parts.append(f"{mark}{draw(st.sampled_from(WORDS))} {phrase}{mark}")
    return draw(st.sampled_from((" ", " ", " ", "\n", "", "  \n"))).join(parts)


@st.composite
def markdown(draw: st.DrawFn, *, is_mdx: bool = False) -> Made:
    phrase = draw(st.sampled_from(sorted(PHRASES)))
    closed: list[str] = []
    front = draw(st.sampled_from(FRONT_MATTER)).format(phrase)
    closed.append(front)
    blocks = []
    for _ in range(draw(st.integers(1, 7))):
        blocks.append(_block(draw, phrase, closed, is_mdx=is_mdx))
    has_place = draw(st.booleans())
    if has_place:
        blocks.append(f"Now {phrase} it is")
    blocks.append("[ref]: /elsewhere")
    text = front + "\n\n".join(blocks) + draw(st.sampled_from(("", "\n")))
    ending = draw(st.sampled_from(("\n", "\n", "\r\n")))
    return Made(
        text.replace("\n", ending), phrase, tuple(one.replace("\n", ending) for one in closed), has_place
    )


def _block(draw: st.DrawFn, phrase: str, closed: list[str], *, is_mdx: bool) -> str:
    kind = draw(st.integers(0, 8))
    if kind <= 1:
        block = draw(st.sampled_from(MDX_BLOCKS if is_mdx else CLOSED_BLOCKS)).format(phrase)
        closed.append(block)
        return block
    text = draw(_inline(phrase, closed, is_mdx=is_mdx))
    line = text.replace("\n", " ")
    if kind == 2:
        return f"- {line}\n  - {line}\n\n    more {line}\n- x"
    if kind == 3:
        return "> " + text.replace("\n", "\n> ")
    if kind == 4:
        return f"1. {line}\n\n   > {line}\n\n2. {line}"
    if kind == 5:
        cell = line.replace("|", "\\|")
        return f"| a | b |\n|:--|--:|\n| {cell} | {phrase} |\n| | x |"
    if kind == 6:
        return f"<section>\n\n{text}\n\n</section>"
    return text


HTML_PHRASES = {
    phrase: tuple(
        form.replace("**pet**", "<b>pet</b>")
        .replace("**noir**", "<i>noir</i>")
        .replace("\\&", "&")
        .replace("**", "")
        .replace("_", "")
        .replace("*", "")
        for form in forms
    )
    for phrase, forms in PHRASES.items()
}
HTML_WORDS = (
    "we", "sell", "best", "it's", "10% < x", "a &lt; b", "x & y", "سگ", "犬です", "<br>", "<br/>",
    "<img alt='pet food' src=x>", "[1]", "<em>so</em>", "<b><i>x</i></b>", "<!-- more -->", "&hellip;", "</p>",
    "<span class='a'>y</span>", "<wbr>",
)  # fmt: skip
HTML_CLOSED = (
    "<a href='/other'>{0}</a>", '<a name="x">{0}</a>', "<code>{0}</code>", '<img src="x" alt="{0}">',
    '<i title="{0}">x</i>', "<button>{0}</button>", "<!-- {0} -->", '[video src="{0}"]', "[box]{0}[/box]",
    "https://e.com/{1}", "<label>{0}</label>", "<script>let a = '{0}</b>'</script>", "<style>{0}</style>",
    "<kbd>{0}</kbd>", "<textarea>{0}</textarea>", "<svg><text>{0}</text></svg>", "<x-card>{0}</x-card>",
    "<span hidden>{0}</span>", "<span role='button'>{0}</span>", "{{{{ '{0}' }}}}", '<a\nhref="/a>b">{0}</a >',
)  # fmt: skip
HTML_BLOCKS = (
    "<h2>{0}</h2>", "<h1 id='a'>a <b>{0}</b></h1>", "<pre>{0}\n\n{0}</pre>",
    "<figure><img src=x><figcaption>{0}</figcaption></figure>",
    "<table><caption>{0}</caption><tr><th>{0}<td>x</table>", "<nav><ul><li>{0}</ul></nav>",
    "<dl><dt>{0}<dd>x</dl>", '<!-- wp:heading {{"level":3}} -->\n<h3>{0}</h3>\n<!-- /wp:heading -->',
    "<!-- wp:code -->\n<p>{0}</p>\n<!-- /wp:code -->", '<!-- wp:button {{"text":"{0}"}} /-->',
    "<!-- wp:html -->\n<p>{0}</p>\n<!-- /wp:html -->", "[vc_row][vc_column]\n<p>{0}</p>\n[/vc_column][/vc_row]",
    '[caption id="a" width="3"]<img src="x"> {0}[/caption]', '<p class="wp-caption-text">{0}</p>',
    "<details><summary>{0}</summary>x</details>", "<!-- wp:verse -->\n{0}\n<!-- /wp:verse -->",
    "<header>{0}</header>", "<footer><p>{0}</p></footer>", "<form><p>{0}</p></form>",
)  # fmt: skip
HTML_BODIES = (
    "<p>{0}</p>", "<p>{0}", "{0}", "<div>{0}</div>", "<ul><li>{0}<li>{0}</li></ul>",
    "<blockquote><p>{0}</p></blockquote>", "<table><tbody><tr><td>{0}</td><td>x</td></tr></tbody></table>",
    "<div><div>{0}</div>{0}</div>", "<!-- wp:paragraph -->\n<p>{0}</p>\n<!-- /wp:paragraph -->",
    '<!-- wp:list {{"ordered":true}} -->\n<ol><li>{0}</li></ol>\n<!-- /wp:list -->',
    '<!-- wp:quote -->\n<blockquote class="wp-block-quote"><p>{0}</p></blockquote>\n<!-- /wp:quote -->',
)  # fmt: skip
SHELLS = (
    "{0}",
    "{0}",
    "<!doctype html><html><head><title>{1}</title></head><body><main>\n{0}\n</main></body></html>",
)


@st.composite
def html(draw: st.DrawFn) -> Made:
    phrase = draw(st.sampled_from(sorted(PHRASES)))
    first = phrase.split()[0]
    closed: list[str] = []
    blocks = []
    for _ in range(draw(st.integers(1, 6))):
        if draw(st.integers(0, 2)) == 0:
            blocks.append(draw(st.sampled_from(HTML_BLOCKS)).format(phrase))
            closed.append(blocks[-1])
            continue
        parts = []
        for _ in range(draw(st.integers(1, 5))):
            kind = draw(st.integers(0, 7))
            if kind <= 2:
                parts.append(draw(st.sampled_from(HTML_WORDS)))
            elif kind <= 5:
                parts.append(draw(st.sampled_from(HTML_PHRASES[phrase])))
            else:
                parts.append(draw(st.sampled_from(HTML_CLOSED)).format(phrase, first))
                closed.append(parts[-1])
        text = draw(st.sampled_from((" ", " ", "\n", ""))).join(parts)
        blocks.append(draw(st.sampled_from(HTML_BODIES)).format(text))
    has_place = draw(st.booleans())
    if has_place:
        plain = phrase.replace("&", "&amp;")
        blocks.append(f"<p>Now {plain} it is</p>")
    shell = draw(st.sampled_from(SHELLS))
    return Made(shell.format("\n\n".join(blocks), phrase), phrase, tuple(closed), has_place)
