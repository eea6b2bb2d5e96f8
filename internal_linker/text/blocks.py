"""Blocks of a page's text that hold no anchor: headings, captions, code, tables, quotes, lists of links, templates.

    templates = Templates(str(page.content) for page in pages)
    closed_spans(str(page.content), page.headings, closed=page.closed, links=links, templates=templates)

Of the links that editors put into the texts of fourteen sites, they have at most 1 in 100 on each site, apart from
links in templates.
"""

import re
import zlib
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from internal_linker.model.arrays import Ints
from internal_linker.model.sequences import batched
from internal_linker.text.block_words import CREDITED, MADE_BY, NUMBERED, PICTURES, SEE_ALSO
from internal_linker.text.boilerplate import BLOCK, SLOT_BITS, TextCounts, block_slots
from internal_linker.text.code_lines import code_lines
from internal_linker.text.words import MARKS

Span = tuple[int, int]
# A line or sentence on so many pages, and on this share of the pages, is a template's; eight words in succession on a
# larger share, because people have habits.
TEMPLATE_PAGES, TEMPLATE_SHARE, BLOCK_SHARE = 5, 0.01, 0.02
# Lines and sentences are counted by 22 bits of their hash: 16 MB on a site of any size, and of a million that occur
# once about 200 share a slot with one of a thousand templates.
_SLOTS = 1 << SLOT_BITS
# Texts whose blocks are hashed together: one alone is too short for NumPy.
_AT_ONCE = 64
# The words of a text as `bytes.split` has them.
_WORD = re.compile(r"[^ \t\n\r\x0b\x0c]+")
# A good multiplier: the checksums of words have only 32 bits.
_MIX = np.uint64(0x9E3779B97F4A7C15)
_UNIT_END = re.compile(r"[\n.!?…؟۔।。！？](?:(?<=[\n。！？])[」』”）]*|[.!?…\"'”’»)\]]{0,8}\s+)")
# Shorter ones are words that a site needs on many pages.
_SHORTEST_UNIT = 16
# The years, versions and counts of templates differ.
_NO_DIGITS = bytes.maketrans(b"123456789", b"000000000")
# Patterns take time in proportion to the square of a row's length.
_LONGEST_ROW = 2000
# The share of a line's letters that links have in a list of links, and the longest item of such a list.
_LINKED, _LONGEST_ITEM = 0.8, 160
_LONGEST_CAPTION, _LONGEST_HEADING, _MOST_HEADING_WORDS = 300, 70, 10
_BULLET = re.compile(r"\s*(?:[-*+•·▪◦‣–—→»]|\d{1,3}[.)])\s+")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_MARKED = re.compile(r"\s{0,3}#{1,6}\s|\s{0,3}(?:\*\*[^*]+\*\*|__[^_]+__):?\s*$|={2,6}\s[^=]+\s={2,6}\s*$")
_UNDERLINE = re.compile(r"\s{0,3}(?:={2,}|-{2,})\s*$")
_QUOTE = re.compile(r"\s{0,3}(?:>|&gt;)(?!>> )")
_INLINE_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)[^`\n]+\1(?!`)")
# Blocks of HTML in Markdown, which generators leave as they are, and footnotes.
_RAW = re.compile(
    r" {0,3}(?:</?(?:article|aside|center|dd|details|div|dl|dt|figcaption|figure|h[1-6]|li|ol|p|section|summary|table"
    r"|tbody|td|th|thead|tr|ul)(?=[\s/>])|\[\^[^\]\n]+\]:)",
    re.IGNORECASE,
)
_BRACE = re.compile(r"[{}\n]")
# Markdown's links, where a crawl took their markup for text; a line may end within their words.
_WORDS = r"(?:[^\[\]\n]|\n(?!\s*\n))"
_LINK = re.compile(rf"\[{_WORDS}+\](?:\[{_WORDS}*\]|\([^()\s]*\))")
_ROW = re.compile(r"\s*\|.*\|\s*$|[-:+=| ]*(?:[-=:]{2,}[|+]|[|+][-=:]{2,})[-:+=| ]*$")
_COLUMNS = re.compile(r"\S(?:\t+| {3,}| \| )\S")
_SENTENCE_END = re.compile(r"[.!?…:;,،؛؟۔।。！？：；，、-][\"'”’»)\]」』）]*$")
_FULL_STOP = re.compile(r"[.!?…؟۔।。！？][\"'”’»)\]」』）]*\s*$")
# A label at the beginning of a line, its number, and what ends it.
_SIGN = rf"(?:[^\W\d_]|[{MARKS}\u0e31-\u0e4e])"
_LABEL = re.compile(
    rf"\W{{0,3}}({_SIGN}{{1,24}}(?: {_SIGN}{{1,10}})?)\.?\s*(\d{{1,3}}(?:[.-]\d+)*[a-z]?)?[^\S\u3000]*"
    r"([:：.–—|\u3000-]?)(?=\s|$|(?<=[：\u3000]))"
)
_PICTURE_BY = re.compile(r"\W{0,3}([^\W\d_]+) ([^\W\d_]+|©)")


class Block(StrEnum):
    """A kind of block that holds no anchor."""

    HEADING = "heading"
    CAPTION = "caption"
    CODE = "code"
    TABLE = "table"
    QUOTE = "quote"
    LINKS = "list of links"
    STRUCTURE = "structure"
    """Code, a table, a quote, a caption or a list of links, known from HTML."""
    TEMPLATE = "template"


class Templates:
    """The lines, sentences and blocks of eight words that stand on many pages of a site; can be pickled (1.5 MB).

    A line or sentence with other digits counts as the same. One on at least five pages and 1% of the pages is a
    template's, and a block on at least five pages and 2%. On a large site one in 5,000 other sentences is taken for a
    template's, too.

    Args:
        contents: the plain main contents of the pages, read once: 10,000 take one or two seconds; any number takes 48
            MB. On a larger site, some ten thousand spread evenly say as much as all.
    """

    def __init__(self, contents: Iterable[str]) -> None:
        units, blocks, pages = TextCounts(), (TextCounts(), TextCounts()), 0
        for some in batched(contents, _AT_ONCE):
            pages += len(some)
            for content in some:
                units.add(np.array([_slot(content[start:end]) for start, end in _units(content)], np.int64))
            hashes = [_word_hashes(content) for content in some]
            ends = np.cumsum([0, *map(len, hashes)]).tolist()
            for count, slots in zip(blocks, block_slots(np.concatenate(hashes)), strict=True):
                # Without the blocks that begin in one text and end in the next.
                for start, end in pairwise(ends):
                    count.add(slots[start : max(start, end - BLOCK + 1)])
        # A bit a slot.
        self._units = np.packbits(units.common(max(TEMPLATE_PAGES, TEMPLATE_SHARE * pages))).tobytes()
        least = max(TEMPLATE_PAGES, BLOCK_SHARE * pages)
        self._blocks = [np.packbits(count.common(least)) for count in blocks]

    def spans(self, content: str) -> Iterator[Span]:
        """Yield the spans (start, end) of templates in a text; they may overlap."""
        for start, end in _units(content):
            unit = content[start:end]
            slot = _slot(unit)
            if self._units[slot >> 3] >> (7 - (slot & 7)) & 1:
                yield start, start + len(unit.rstrip())
        first, second = _block_slots(content)
        begins = np.flatnonzero(_bits(self._blocks[0], first) & _bits(self._blocks[1], second)).tolist()
        if begins:
            words = [word.span() for word in _WORD.finditer(content)]
            yield from ((words[at][0], words[at + BLOCK - 1][1]) for at in begins)


def _block_slots(content: str) -> tuple[Ints, Ints]:
    return block_slots(_word_hashes(content))


def _word_hashes(content: str) -> NDArray[np.uint64]:
    words = content.encode("utf-8", "surrogatepass").split()
    return np.fromiter(map(zlib.crc32, words), np.uint64, len(words)) * _MIX


def _bits(packed: NDArray[np.uint8], slots: Ints) -> Ints:
    found: Ints = packed[slots >> 3] >> (7 - (slots & 7)) & 1
    return found


def is_marked(content: str) -> bool:
    """Return whether a text has headings or links in Markdown."""
    return _LINK.search(content) is not None or any(
        line and _is_heading(line) for line in content.split("\n")
    )


def closed_spans(
    content: str,
    headings: Sequence[int] = (),
    *,
    closed: Collection[int] = (),
    links: Iterable[Span] = (),
    templates: Templates | None = None,
) -> list[Span]:
    """Return the spans (start, end) of a text in which no anchor may stand, ascending and without overlaps.

    `headings` and `closed` are those of `Page`; without any headings, they are guessed. Of the `links`, only lists of
    links are closed, not the links themselves.
    """
    found = sorted(
        (start, end)
        for _, start, end in blocks(content, headings, closed=closed, links=links, templates=templates)
    )
    merged: list[Span] = []
    for start, end in found:
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def blocks(
    content: str,
    headings: Sequence[int] = (),
    *,
    closed: Collection[int] = (),
    links: Iterable[Span] = (),
    templates: Templates | None = None,
) -> Iterator[tuple[Block, int, int]]:
    """Yield kind, start and end of the blocks of a text that hold no anchor; they may overlap. See `closed_spans`."""
    lines = content.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    kinds = _kinds(lines, frozenset(headings), frozenset(closed))
    linked = _linked(starts, sorted(links))
    if Block.HEADING not in kinds:
        _mark_bare_headings(kinds, lines, linked)
    _mark_lists(kinds, lines, linked)
    for at, kind in enumerate(kinds):
        if kind is not None and lines[at]:
            yield kind, starts[at], starts[at] + len(lines[at])
    if "`" in content:
        for code in _INLINE_CODE.finditer(content):
            yield Block.CODE, code.start(), code.end()
    for start, end in _braces(content) if "{" in content else ():
        yield Block.CODE, start, end
    for link in _LINK.finditer(content) if "](" in content or "][" in content else ():
        yield Block.LINKS, link.start(), link.end()
    for start, end in templates.spans(content) if templates else ():
        yield Block.TEMPLATE, start, end


def _braces(content: str) -> Iterator[Span]:
    """Yield the spans of braces with what is between them; one that nothing closes goes on to the end of its line."""
    start = depth = 0
    for sign in _BRACE.finditer(content):
        if sign[0] == "{":
            start = start if depth else sign.start()
            depth += 1
        elif depth and sign[0] == "}":
            depth -= 1
            if not depth:
                yield start, sign.end()
        elif depth:
            yield start, sign.start()
            depth = 0
    if depth:
        yield start, len(content)


def _kinds(lines: Sequence[str], headings: Collection[int], closed: Collection[int]) -> list[Block | None]:
    kinds = [Block.CODE if code else None for code in code_lines(lines)]
    for at, line in enumerate(lines):
        if at in headings or (line and _is_heading(line)):
            kinds[at] = Block.HEADING
        elif at in closed:
            kinds[at] = Block.STRUCTURE
        elif line:
            kinds[at] = _kind(line) or kinds[at]
    _mark_underlined(kinds, lines)
    _mark_columns(kinds, lines)
    _mark_indented(kinds, lines)
    _mark_raw(kinds, lines)
    _mark_fenced(kinds, lines)
    return kinds


def _is_heading(line: str) -> bool:
    return line[0] in "#*_= " and len(line) <= _LONGEST_ROW and _MARKED.match(line) is not None


def _kind(line: str) -> Block | None:
    if len(line) > _LONGEST_ROW:
        return None
    if line[0] in "> &" and _QUOTE.match(line):
        return Block.QUOTE
    if ("|" in line or line[0] in "-:+=") and _ROW.match(line):
        return Block.TABLE
    return Block.CAPTION if len(line) <= _LONGEST_CAPTION and _is_caption(line) else None


def _is_caption(line: str) -> bool:
    if (picture := _PICTURE_BY.match(line)) and picture[1].lower() in PICTURES:
        rest = line[picture.end() :].lstrip()
        if picture[2].lower() in MADE_BY and (picture[2] in ("by", "courtesy") or not rest[:1].islower()):
            return True
    label = _LABEL.match(line)
    if label is None:
        return False
    name, number, mark = label[1].strip().lower(), label[2], label[3]
    if number:
        return name in NUMBERED and (bool(mark) or label.end() == len(line) or label[0][-1] == ".")
    return mark in (":", "：") and bool(mark) and name in CREDITED


def _mark_underlined(kinds: list[Block | None], lines: Sequence[str]) -> None:
    """Mark setext headings: a line above a line of = or -."""
    for at in range(1, len(lines)):
        line = lines[at]
        if line[:1] in ("=", "-", " ") and line and _UNDERLINE.match(line) and lines[at - 1].strip():
            kinds[at] = Block.HEADING
            if kinds[at - 1] is None and len(lines[at - 1]) <= _LONGEST_CAPTION:
                kinds[at - 1] = Block.HEADING


def _mark_columns(kinds: list[Block | None], lines: Sequence[str]) -> None:
    for one, other in pairwise(
        at for at, line in enumerate(lines) if kinds[at] is Block.TABLE or _in_columns(line)
    ):
        for at in (one, other) if other == one + 1 else ():
            kinds[at] = kinds[at] or Block.TABLE


def _in_columns(line: str) -> bool:
    return ("\t" in line or "   " in line or " | " in line) and _COLUMNS.search(line) is not None


def _mark_indented(kinds: list[Block | None], lines: Sequence[str]) -> None:
    """Mark Markdown's indented code: after a blank line that no list is before."""
    before, open_ = "", True
    for at, line in enumerate(lines):
        if not line.strip():
            open_ = True
        elif line[0] not in " \t" or not _INDENTED.match(line):
            before, open_ = line, False
        elif open_ and not _BULLET.match(before) and not _BULLET.match(line) and not _is_prose(line):
            kinds[at] = kinds[at] or Block.CODE


def _mark_raw(kinds: list[Block | None], lines: Sequence[str]) -> None:
    """Mark blocks of HTML and footnotes in Markdown, which end with a blank line.

    A text without blank lines was read from a page: its HTML is an example, and what follows is prose.
    """
    if all(line.strip() for line in lines[:-1]):
        return
    is_raw = False
    for at, line in enumerate(lines):
        is_raw = bool(line.strip()) and (is_raw or _RAW.match(line) is not None)
        if is_raw:
            kinds[at] = kinds[at] or Block.STRUCTURE


def _is_prose(line: str) -> bool:
    return len(line.split()) > _MOST_HEADING_WORDS or _SENTENCE_END.search(line.rstrip()) is not None


def _mark_fenced(kinds: list[Block | None], lines: Sequence[str]) -> None:
    """Mark the code between two fences; a fence without a second one is a line alone."""
    first, fence = 0, ""
    for at, line in enumerate(lines):
        mark = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if mark is None or (fence and not (mark[1].startswith(fence) and line.strip() == mark[1])):
            continue
        kinds[at] = Block.CODE
        if fence:
            kinds[first:at] = [Block.CODE] * (at - first)
        first, fence = at, "" if fence else mark[1]


def _mark_bare_headings(kinds: list[Block | None], lines: Sequence[str], linked: Collection[int]) -> None:
    """Mark headings without a mark: short lines, without full stop or link, after a sentence's end and before another.

    In a text with wrapped lines, the next line begins with a capital, and its first word would have had room.
    """
    width = max(map(len, lines), default=0)
    texts = [at for at, line in enumerate(lines) if line.strip()]
    for before, at, after in zip([-1, *texts], texts, texts[1:], strict=False):
        line, following = lines[at].strip(), lines[after].strip()
        if (
            kinds[at] is not None
            or at in linked
            or len(line) > _LONGEST_HEADING
            or _SENTENCE_END.search(line)
        ):
            continue
        if before >= 0 and kinds[before] is None and not _SENTENCE_END.search(lines[before].rstrip()):
            continue
        has_room = len(line) + 1 + len(following.split(maxsplit=1)[0]) < 0.9 * width
        if has_room and not line[0].islower() and not following[0].islower() and _is_sentence(following):
            kinds[at] = Block.HEADING


def _is_sentence(line: str) -> bool:
    return len(line) > _LONGEST_HEADING or _SENTENCE_END.search(line) is not None


def _mark_lists(kinds: list[Block | None], lines: Sequence[str], linked: Mapping[int, int]) -> None:
    for at, count in linked.items():
        if count >= _LINKED * len(_BULLET.sub("", lines[at], count=1).strip()):
            kinds[at] = kinds[at] or Block.LINKS
    following = False
    for at, line in enumerate(lines):
        if len(line) > _LONGEST_ITEM or (len(line) > _LONGEST_HEADING and _FULL_STOP.search(line)):
            following = False
            continue
        if _is_see_also(line):
            kinds[at], following = kinds[at] or Block.LINKS, True
        elif kinds[at] is Block.HEADING:
            following = False
        elif following and line.strip():
            kinds[at] = kinds[at] or Block.LINKS


def _is_see_also(line: str) -> bool:
    """Return whether a line is the heading of a list of related pages, or begins with one and a colon."""
    name = re.split(r"[:：]", line, maxsplit=1)[0] if ":" in line or "：" in line else line
    return name.strip(" \t#*_=>-–—•→»").lower() in SEE_ALSO


def _linked(starts: Sequence[int], links: Iterable[Span]) -> dict[int, int]:
    found: dict[int, int] = {}
    done = 0
    for start, end in links:
        at = bisect_right(starts, start) - 1
        last = min(end, starts[at + 1] - 1) if at + 1 < len(starts) else end
        found[at] = found.get(at, 0) + max(0, last - max(start, done))
        done = max(done, last)
    return found


def _units(content: str) -> Iterator[Span]:
    """Yield the spans of the lines and sentences that are long enough to be a template's."""
    start = 0
    for mark in _UNIT_END.finditer(content):
        if mark.start() - start >= _SHORTEST_UNIT:
            yield start, mark.end() - (mark[0] == "\n")
        start = mark.end()
    if len(content) - start >= _SHORTEST_UNIT:
        yield start, len(content)


def _slot(unit: str) -> int:
    return zlib.crc32(unit.strip().encode("utf-8", "surrogatepass").translate(_NO_DIGITS)) & (_SLOTS - 1)
