"""A second look at a page's raw text, independent of the search for anchors: code, blocks and the ends of words."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from internal_linker.core.records import ExistingLink
from internal_linker.text.spans import spans
from internal_linker.text.words import INSIDE, normalise

Span = tuple[int, int]

_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_INLINE_CODE = re.compile(r"(`+)[^`\n]+\1")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•·–]|\d{1,3}[.)])\s+")
# Lines that are surely source code or a command.
_CODE_LINE = re.compile(
    r"\s*(?:[\[\](){}<>;,]+|//.*|/\*.*\*/|\*/|<!--.*|[$>] \S.*"
    r"|(?:import|export|const|let|var|return|function|async|await|class|def|interface|type)\b.*(?:[{}\[=<>;]|\w\().*"
    r"|(?:npm|npx|yarn|pnpm|git|pip|sudo|curl|docker)\b.* (?:-|install\b|clone\b|run\b|add\b).*"
    r"|</?[\w.-]+(?:\s[^<>]*=[^<>]*)?/?>(?:.*[<{/].*)?|\S+\+\+;?|.*=> ?[({].*|.*[\w)]\s*\{|\}.{0,12}"
    r"|\S+(?:\s\S+){0,3};|[\w$.\"'-]+\s*[:=]\s*[\[{(\"'].*[\]}),;\"']|[\w$.]+\([^()]*\)[;,]?)\s*"
)
# What only code has; between two lines of code, a line without a word in another script or a sentence is code, too.
_CODE_SIGN = re.compile(r"[{}=<>$;`]|\w\(| --?\w")
_GAP = 6
_NOT_ASCII_LETTERS = re.compile(r"[^\W\d_\x00-\x7f]{2,}")
_PROSE = re.compile(r"(?:\S+\s+){5,}\S*[.!?:]\s*|(?=(?:\S+\s+){5})[^{}=<>$;`]*")

_CAPTION = re.compile(
    r"\s*(?:(?:figure|fig\.|table|abbildung|tabelle|tableau|figura|tabla|شکل|جدول|الشكل|图|表|図)\s*[\d۰-۹٠-٩]+\s*[:.–—-]"
    r"|(?:photo|image) (?:credit|courtesy|by)\b|image:|caption:)",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"\s{0,3}>")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_UNDERLINE = re.compile(r"\s{0,3}(?:={3,}|-{3,})\s*")
_TABLE = re.compile(r".*\|.*\||.*\S\t+\S")

# Parts of one word: a-b, example.com, 92.5, 1,000, I/O, app_config. An apostrophe parts words in many languages.
# A full stop between two letters of other scripts lacks its space.
_JOINED = re.compile(r"(?<=\w)(?:[-‐‑/_@&+:]|(?<=[A-Za-z0-9])\.(?=[A-Za-z0-9])|(?<=\d),(?=\d))(?=\w)")
# Arabic prefixes are written onto Latin words; after a tatweel, a prefix stands apart.
_ARABIC = "\u0600-\u06ff"
_PREFIXED = re.compile(rf"(?<=[{_ARABIC}])(?=[A-Za-z])|(?<=[A-Za-z])(?=[{_ARABIC}])|(?<=\u0640)")
_UNIT_BEHIND = re.compile(r"\s?(?:[%‰°℃℉€£¥₽₹٪]|[.,٫]\d)|[+#]{1,2}(?!\w)")
_SIGN_BEFORE = re.compile(r"(?:[$€£¥₽₹#.@]|\d[.,٫])\Z")


def link_spans(content: str, link: ExistingLink) -> list[Span]:
    """Return the spans (start, end) in a plain main content that may be an existing link; its known place, if any."""
    if not link.anchor:
        return []
    if link.start >= 0 and content.startswith(link.anchor, link.start):
        return [(link.start, link.start + len(link.anchor))]
    if not all(word in content for word in link.anchor.split()):
        return []
    return spans(content, " ".join(link.anchor.split()))


def lines(content: str) -> Iterator[tuple[int, str]]:
    """Yield where each line begins, and the line without its line break."""
    start = 0
    for line in content.split("\n"):
        yield start, line
        start += len(line) + 1


def code_spans(content: str) -> list[Span]:
    """Return the spans of fenced, indented and unmarked code, and of inline code between backticks."""
    rows = list(lines(content))
    is_code = _code_lines([line for _, line in rows])
    found: list[Span] = []
    for (start, line), code in zip(rows, is_code, strict=True):
        if code:
            found.append((start, start + len(line)))
        else:
            found += ((start + at.start(), start + at.end()) for at in _INLINE_CODE.finditer(line))
    return found


def _code_lines(rows: Sequence[str]) -> list[bool]:
    """Return whether each line is code."""
    found: list[bool] = []
    fence, indented, before = "", False, ""
    flush = any(line[:1].strip() for line in rows)
    last = {mark[1]: at for at, line in enumerate(rows) if (mark := _FENCE.match(line))}
    for number, line in enumerate(rows):
        mark = _FENCE.match(line)
        # A fence that nothing closes is not one.
        if mark and (fence == mark[1] or (not fence and number < last[mark[1]])):
            fence = "" if fence else mark[1]
            found.append(True)
        else:
            begins = flush and bool(_INDENTED.match(line)) and not _LIST_ITEM.match(line)
            indented = begins and (indented or not before.strip()) and bool(_CODE_SIGN.search(line))
            found.append(bool(fence) or indented or _is_code(line))
        before = line
    code = [at for at, one in enumerate(found) if one]
    for at, following in pairwise(code):
        between = rows[at + 1 : following]
        if len(between) <= _GAP and not any(_is_prose(line) for line in between):
            found[at:following] = [True] * (following - at)
    return found


def _is_code(line: str) -> bool:
    if line.lstrip().startswith(("//", "/*")):
        return True
    return bool(line.strip()) and not _is_prose(line) and _CODE_LINE.fullmatch(line) is not None


def _is_prose(line: str) -> bool:
    return _NOT_ASCII_LETTERS.search(line) is not None or _PROSE.fullmatch(line) is not None


def block_spans(
    content: str, headings: Collection[int], titles: Collection[str], links: Sequence[Span]
) -> list[Span]:
    """Return the spans of lines that hold no sentence: headings, captions, tables, quotes and lists of links.

    Args:
        content: the page's plain main content.
        headings: the numbers of the lines known to be headings, from 0.
        titles: folded titles and H1 of the site's pages: a line that is one of them is a heading or a list of links.
        links: the spans of existing links.
    """
    found: list[Span] = []
    before = (0, "")
    for number, (start, line) in enumerate(lines(content)):
        span = (start, start + len(line))
        if _UNDERLINE.fullmatch(line) and before[1].strip():
            found.append((before[0], start - 1))
        item = _LIST_ITEM.sub("", line, count=1).strip()
        covered = sum(max(0, min(end, span[1]) - max(begin, start)) for begin, end in links)
        if (
            number in headings
            or any(pattern.match(line) for pattern in (_HEADING, _QUOTE, _CAPTION, _TABLE))
            or (item and normalise(item) in titles)
            # A line of several links with separators between them.
            or (item and covered >= 0.8 * len(item))
        ):
            found.append(span)
        before = (start, line)
    return found


def cuts(content: str, start: int, end: int) -> bool:
    """Return whether a span begins or ends in a word, number or joined name, or between a number and its unit."""
    if any(INSIDE.match(content, at) and not _PREFIXED.match(content, at) for at in (start, end)):
        return True
    if any(
        joint.start() in (start - 1, end) for joint in _JOINED.finditer(content, max(0, start - 2), end + 2)
    ):
        return True
    number_first = content[start : start + 1].isdigit()
    number_last = content[end - 1 : end].isdigit()
    if number_first and _SIGN_BEFORE.search(content, max(0, start - 2), start):
        return True
    return bool(
        (number_last and _UNIT_BEHIND.match(content, end))
        or re.match(r"[+#]{1,2}(?![\w+#])", content[end : end + 3])
    )


def unbalanced(text: str) -> bool:
    """Return whether a bracket or quotation mark of the text has no counterpart in it."""
    if text.count('"') % 2:
        return True
    return any(text.count(one) != text.count(other) for one, other in ("()", "[]", "{}", "“”", "«»", "「」"))


def overlaps(span: Span, others: Sequence[Span]) -> bool:
    """Return whether a span has a character in common with one of the others."""
    return any(span[0] < end and start < span[1] for start, end in others)
