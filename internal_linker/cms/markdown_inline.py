"""The text of one block of Markdown: what readers see of it, and where each character is in the source."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from internal_linker.cms.html import VOID, Elements, tags
from internal_linker.cms.passages import Mark, Piece, Span


class _Event(NamedTuple):
    """What a rule of the parser made of a part of a text."""

    rule: str
    start: int
    end: int
    tokens: Sequence[Token]
    label: int


_RULES = frozenset(
    "newline escape backticks strikethrough emphasis link image autolink html_inline entity".split()
)


@cache
def parser() -> MarkdownIt:
    """Return the parser; it notes in the environment what each rule made of which part of the text."""
    noting = plain_parser()
    rules = noting.inline.ruler
    for name, rule in zip(rules.get_active_rules(), rules.getRules(""), strict=True):
        if name in _RULES:
            rules.at(name, _noting(name, rule))
    noting.inline.ruler2.disable("fragments_join")
    return noting


def plain_parser() -> MarkdownIt:
    """Return a parser of blocks for CommonMark with GitHub's tables and strikethrough; all destinations are links."""
    found = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(["inline", "text_join"])
    # An href stays as it is written, whatever it leads to.
    found.normalizeLink = lambda url: url  # type: ignore[method-assign]
    found.validateLink = lambda url: True  # type: ignore[method-assign]
    return found


def _noting(name: str, rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    def noting(state: StateInline, silent: bool) -> bool:
        start, known = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        # The texts of pictures are parsed by themselves.
        if not silent and state.src == state.env.get("noted"):
            label, after = -1, state.pos
            if name == "link":
                label = state.md.helpers.parseLinkLabel(state, start, True)
                state.pos = after
            state.env["events"].append(_Event(name, start, state.pos, state.tokens[known:], label))
        return True

    return noting


class Places:
    """Where the characters of a block's text are in the source."""

    def __init__(self, starts: Sequence[int], places: Sequence[int]) -> None:
        self.starts = starts
        self.places = places

    def of(self, at: int) -> int:
        """Return the place of a character, counted from 0."""
        part = bisect_right(self.starts, at) - 1
        return self.places[part] + at - self.starts[part]

    def parts(self, start: int, end: int) -> Iterator[Span]:
        """Yield spans of the block's text that stand in one piece in the source."""
        for part in range(bisect_right(self.starts, start), len(self.starts)):
            if self.starts[part] >= end:
                break
            yield start, self.starts[part]
            start = self.starts[part]
        yield start, end


class Inline:
    """Reads the text of a block."""

    def __init__(self, text: str, places: Places, elements: Elements, env: dict[str, Any]) -> None:
        self.text = text
        self.places = places
        self.elements = elements
        self.pieces: list[Piece] = []
        self.marks: list[Mark] = []
        self.hrefs: list[str] = []
        noted = {**env, "noted": text, "events": []}
        parser().inline.parse(text, parser(), noted, [])
        self.events = sorted(noted["events"], key=lambda event: (event.start, -event.end))
        self.next = 0
        self.is_open = True

    def read(self) -> None:
        """Fill `pieces`, `marks` and `hrefs`."""
        self._walk(0, len(self.text))

    def _walk(self, start: int, end: int) -> None:
        while self.next < len(self.events) and self.events[self.next].start < end:
            event = self.events[self.next]
            self.next += 1
            self._literal(start, event.start)
            getattr(self, f"_{event.rule}")(event)
            start = event.end
        self._literal(start, end)

    def _literal(self, start: int, end: int) -> None:
        if start < end:
            is_open = self.is_open and not self.elements.is_closed
            for first, last in self.places.parts(start, end):
                place = self.places.of(first)
                self.pieces.append(Piece(self.text[first:last], place, place + last - first, is_open))

    def _stands_for(self, text: str, event: _Event, *, is_open: bool = True) -> None:
        is_open = is_open and self.is_open and not self.elements.is_closed
        self.pieces.append(Piece(text, self.places.of(event.start), self._end(event.end), is_open))

    def _end(self, end: int) -> int:
        return self.places.of(end - 1) + 1

    def _mark(self, start: int, end: int, nesting: int) -> None:
        self.marks.append(Mark(self.places.of(start), self._end(end), nesting))

    def _newline(self, event: _Event) -> None:
        self._stands_for("\n", event)

    def _escape(self, event: _Event) -> None:
        sign = self.text[event.start + 1 : event.start + 2]
        self._stands_for(sign, event, is_open=sign != "\n")

    def _backticks(self, event: _Event) -> None:
        code = [token for token in event.tokens if token.type == "code_inline"]
        if code:
            self._stands_for(code[0].content, event, is_open=False)
        else:
            self._literal(event.start, event.end)

    def _emphasis(self, event: _Event) -> None:
        made = [token for token in event.tokens if token.nesting or len(token.content) <= 1]
        tokens = made[len(made) - (event.end - event.start) :]
        at, nesting = event.start, 0
        for place, token in enumerate(tokens):
            # The second sign of a strong emphasis has no token of its own: it opens or closes as the first does.
            if token.nesting:
                nesting = token.nesting
            elif token.content:
                self._literal(at, at + 1)
                at += 1
                continue
            elif place + 1 < len(tokens) and tokens[place + 1].type == "strong_open":
                nesting = 1
            self._mark(at, at + 1, nesting)
            at += 1

    def _strikethrough(self, event: _Event) -> None:
        at = event.start
        if (event.end - event.start) % 2:
            self._literal(at, at + 1)
            at += 1
        pairs = (event.end - at) // 2
        for token in event.tokens[len(event.tokens) - pairs :]:
            if token.nesting:
                self._mark(at, at + 2, token.nesting)
            else:
                self._literal(at, at + 2)
            at += 2

    def _link(self, event: _Event) -> None:
        link = next(token for token in event.tokens if token.type == "link_open")
        self.hrefs.append(str(link.attrs.get("href", "")))
        was_open, self.is_open = self.is_open, False
        self._walk(event.start + 1, event.label)
        self.is_open = was_open

    def _image(self, event: _Event) -> None:
        self._stands_for("\ufffc", event, is_open=False)

    def _autolink(self, event: _Event) -> None:
        address = self.text[event.start + 1 : event.end - 1]
        self.hrefs.append(address)
        self._stands_for(address, event, is_open=False)

    def _entity(self, event: _Event) -> None:
        self._stands_for(event.tokens[-1].content, event)

    def _html_inline(self, event: _Event) -> None:
        html = self.text[event.start : event.end]
        for name, ends, attributes in tags(html):
            if ends:
                self.elements.end(name)
            else:
                self.elements.begin(name, attributes)
                if "href" in attributes:
                    self.hrefs.append(attributes["href"])
            if name in VOID and name != "wbr":
                self._stands_for("\n" if name == "br" else "\ufffc", event, is_open=False)
            else:
                self._mark(event.start, event.end, -1 if ends else 1)
            return
        self._mark(event.start, event.end, 0)
