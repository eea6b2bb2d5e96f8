"""A text in Markdown -> the same as HTML, and the title that its front matter names."""

import re

from markdown_it import MarkdownIt

# What Hugo, Jekyll and others keep above the text.
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title[ \t]*:[ \t]*(\"|'|)(.*?)\1[ \t]*$", re.MULTILINE)


def read_markdown(text: str) -> tuple[str, str]:
    """HTML, and the front matter's title, "" where there is none."""
    title = ""
    if front := _FRONT_MATTER.match(text):
        text = text[front.end() :]
        named = _TITLE.search(front[1])
        title = named[2] if named else ""
    return str(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)), title
