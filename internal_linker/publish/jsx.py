"""JSX and module lines of MDX: where they are, what they hold, and the Markdown without them."""

import re
from dataclasses import dataclass

from internal_linker.publish.html import is_closing
from internal_linker.publish.passages import Span, UnreadableText
from internal_linker.publish.templates import covered

_NEXT = re.compile(
    r"(?P<fence>^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?P<sign>`{3,}|~{3,}))"
    r"|(?P<module>^(?:import|export)\b)|(?P<code>`+)|\\(?:[^\r\n])|(?P<brace>\{)"
    r"|<!--(?P<comment>.*?-->)|(?P<tag><(?:/?[A-Za-z_$]|/?\s*>))",
    re.MULTILINE | re.DOTALL,
)
_TAG_NAME = re.compile(r"<(/?)\s*([\w$.:-]*)")
_BLANK = re.compile(r"(?:\r\n?|\n)[ \t]*(?:\r\n?|\n)|\Z")
_ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*(?:\{\s*)?(?:"([^"]*)"|'([^']*)'|`([^`$]*)`)""")
_LEADING = frozenset({"href", "to", "url"})
_IN_EXPRESSION = re.compile(r"""["'`{}]|//[^\r\n]*|/\*.*?\*/""", re.DOTALL)
_IN_TAG = re.compile(r"""["'{>]""")


@dataclass(frozen=True)
class Jsx:
    """What was found."""

    text: str  # the text with characters without a meaning in place of tags, expressions and module lines
    closed: tuple[Span, ...]  # the places of these, and of elements whose content is no body text
    hrefs: tuple[str, ...]  # where elements lead


def without_jsx(text: str, start: int) -> Jsx:
    """Cover JSX in a text in MDX.

    `start` is where its front matter ends.

    Raises:
        Unreadable: a tag or an expression has no end.
    """
    found = list[Span]()
    closed = list[Span]()
    hrefs = list[str]()
    opened = list[tuple[str, bool, int]]()
    at = start
    while here := _NEXT.search(text, at):
        at = here.end()
        if here["fence"] is not None:
            at = _after_fence(text, here)
        elif here["code"]:
            at = _after_code(text, here)
        elif here["module"]:
            if _is_block_start(text, here.start(), start):
                at = _after_module(text, here.end())
                found.append((here.start(), at))
        elif here["brace"]:
            at = _after_braces(text, here.start())
            found.append((here.start(), at))
        elif here["comment"]:
            found.append(here.span())
        elif here["tag"]:
            at = _after_tag(text, here.start())
            found.append((here.start(), at))
            tag = text[here.start() : at]
            attributes = {each[1]: each[2] or each[3] or each[4] or "" for each in _ATTRIBUTE.finditer(tag)}
            hrefs += [value for name, value in attributes.items() if name in _LEADING]
            closed += _element(tag, (here.start(), at), attributes, opened)
    # An element without an end holds the rest.
    closed += [(begin, len(text)) for _, closes, begin in opened if closes]
    pieces, done = [], 0
    for first, last in found:
        pieces += [text[done:first], covered(text[first:last])]
        done = last
    return Jsx("".join([*pieces, text[done:]]), (*found, *closed), tuple(hrefs))


def _element(
    tag: str, span: Span, attributes: dict[str, str], opened: list[tuple[str, bool, int]]
) -> list[Span]:
    read = _TAG_NAME.match(tag)
    slash, name = (read[1], read[2]) if read else ("", "")
    if tag.endswith("/>") and not slash and name:
        return []
    if not slash:
        classes = {"class": attributes.get("className", ""), **attributes}
        opened.append((name, bool(name) and is_closing(name, classes), span[0]))
        return []
    ended = list[Span]()
    if any(name == one for one, _, _ in opened):
        while True:
            one, closes, begin = opened.pop()
            if closes:
                ended.append((begin, span[1]))
            if one == name:
                break
    return ended


def _after_fence(text: str, fence: re.Match[str]) -> int:
    sign = fence["sign"]
    end = re.compile(rf"^[ \t>]*{sign[0]}{{{len(sign)},}}[ \t]*(?=\r|$)|\Z", re.MULTILINE).search(
        text, fence.end()
    )
    return end.end() if end else len(text)


def _after_code(text: str, code: re.Match[str]) -> int:
    blank = _BLANK.search(text, code.end())
    end = re.compile(rf"(?<!`){code['code']}(?!`)").search(
        text, code.end(), blank.start() if blank else len(text)
    )
    return end.end() if end else code.end()


def _is_block_start(text: str, at: int, start: int) -> bool:
    before = text[start:at]
    return not before.strip() or _BLANK.match(text, len(text[:at].rstrip())) is not None


def _after_module(text: str, at: int) -> int:
    while True:
        line = re.compile(r"[{(\[]|\r\n?|\n|\Z").search(text, at)
        if line is None:
            return len(text)
        if line[0] == "{":
            at = _after_braces(text, line.start())
        elif line[0] in {"(", "["}:
            at = line.end()
        elif _BLANK.match(text, line.start()) or line.end() == len(text):
            return line.start()
        else:
            at = line.end()


def _after_braces(text: str, at: int) -> int:
    depth = 0
    while sign := _IN_EXPRESSION.search(text, at):
        at = sign.end()
        if sign[0] == "{":
            depth += 1
        elif sign[0] == "}":
            depth -= 1
            if not depth:
                return at
        elif sign[0] in {'"', "'", "`"}:
            at = _after_string(text, sign)
    raise UnreadableText


def _after_string(text: str, sign: re.Match[str]) -> int:
    end = re.compile(rf"(?:\\.|[^\\{sign[0]}])*{sign[0]}", re.DOTALL).match(text, sign.end())
    # An apostrophe in the text of an element in an expression.
    return end.end() if end and (sign[0] == "`" or "\n" not in end[0]) else sign.end()


def _after_tag(text: str, at: int) -> int:
    while sign := _IN_TAG.search(text, at):
        at = sign.end()
        if sign[0] == ">":
            return at
        if sign[0] == "{":
            at = _after_braces(text, sign.start())
        else:
            end = text.find(sign[0], at)
            if end < 0:
                break
            at = end + 1
    raise UnreadableText
