"""The documentation's pages and their parts: fenced blocks, headings, links and names in backticks."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.support.small_project import REPOSITORY

_COMMAND = re.compile(r"^ *\$ \./run_main\.sh(.*)$", re.MULTILINE)

_PARAGRAPH = {"paragraph_open", "inline", "paragraph_close"}


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and its text."""

    language: str
    text: str


@dataclass(frozen=True)
class Page:
    """A Markdown file of the repository."""

    path: Path

    @property
    def name(self) -> str:
        """The path from the repository's root, as readers write it."""
        return self.path.relative_to(REPOSITORY).as_posix()

    @cached_property
    def text(self) -> str:
        """The file's text."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def blocks(self) -> list[Block]:
        """All fenced blocks, in order."""
        return [Block(each.info, each.content) for each in self._tokens if each.type == "fence"]

    @property
    def commands(self) -> list[str]:
        """The commands after `$ ./run_main.sh` in terminal blocks."""
        shown = (block.text for block in self.blocks if block.language == "console")
        return [arguments.strip() for text in shown for arguments in _COMMAND.findall(text)]

    @property
    def outputs(self) -> Iterator[tuple[str, str]]:
        """Each command with the output that the page shows for it: the next block, or the one after a paragraph."""
        for place, token in enumerate(self._tokens):
            if (
                token.type != "fence"
                or token.info != "console"
                or not (found := _COMMAND.findall(token.content))
            ):
                continue
            following = self._tokens[place + 1 : place + 5]
            after = next((each for each in following if each.type not in _PARAGRAPH), None)
            if after and after.type == "fence" and after.info == "text":
                yield found[-1].strip(), after.content

    @cached_property
    def anchors(self) -> set[str]:
        """The anchors that GitHub gives the headings."""
        seen, found = Counter[str](), set[str]()
        for opening, inline in zip(self._tokens, self._tokens[1:], strict=False):
            if opening.type == "heading_open":
                slug = _slug("".join(part.content for part in inline.children or ()))
                found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
                seen[slug] += 1
        return found

    @property
    def links(self) -> list[str]:
        """The targets of links and pictures."""
        parts = [part for token in self._tokens for part in token.children or ()]
        found = [part.attrGet("href") or part.attrGet("src") for part in parts]
        return [str(address) for address in found if address]

    @property
    def code(self) -> list[str]:
        """All texts in backticks."""
        parts = (part for token in self._tokens for part in token.children or ())
        return [part.content for part in parts if part.type == "code_inline"]

    @cached_property
    def _tokens(self) -> list[Token]:
        return MarkdownIt("commonmark").enable("table").parse(self.text)


def _slug(heading: str) -> str:
    """Return GitHub's anchor of a heading: lower-case letters, digits, hyphens and underscores."""
    kept = (
        letter
        for letter in heading.strip().lower()
        if letter in "-_ " or unicodedata.category(letter)[0] in "LNM"
    )
    return "".join(kept).replace(" ", "-")


README = Page(REPOSITORY / "README.md")
PAGES = [
    README,
    Page(REPOSITORY / "CHANGELOG.md"),
    *map(Page, sorted((REPOSITORY / "docs").glob("*.md"))),
    *map(Page, sorted((REPOSITORY / ".github").glob("*.md"))),
]


def doc(name: str) -> Page:
    """Return the page of docs/ with this name, as in "settings"."""
    return Page(REPOSITORY / f"docs/{name}.md")
