"""What generators, page builders and templates write into a text: front matter, template tags, shortcodes, math."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from zlib import crc32

from internal_linker.publish.passages import Span, UnreadableText

# Characters of a plane for private use: no parser gives them a meaning, and no text has them.
_FIRST, _FILL, _DIGIT, _BASE = "\U000f0000", "\U000f0001", 0xF1000, 4096
_MASKED = re.compile(f"{_FIRST}(..){_FILL}*")
# To a parser, JSX begins and ends with punctuation; this sign is as rare as it means little.
_PUNCTUATION = "\U00012470"
_OF_MASKS = re.compile("[\U000f0000-\U000ffffd]")
_RESERVED = re.compile(f"[\U000f0000-\U000ffffd{_PUNCTUATION}]")
_FRONT_MATTER = re.compile(
    r"(?:---[ \t]*(?:\r\n?|\n)(?:.*?(?:\r\n?|\n))??(?:---|\.\.\.)"
    r"|\+\+\+[ \t]*(?:\r\n?|\n)(?:.*?(?:\r\n?|\n))??\+\+\+)"
    r"[ \t]*(?:\r\n?|\n|\Z)",
    re.DOTALL,
)
_TAG = re.compile(
    r"\{\{(?P<comment>!--.*?--|[<%]?-?\s*/\*.*?\*/\s*-?[>%]?)\}\}"
    r"|\{\{<(?P<angled>.*?)>\}\}|\{\{%(?P<marked>.*?)%\}\}|\{\{(?P<braced>.*?)\}\}\}?"
    r"|\{%(?P<liquid>.*?)%\}|\{#(?P<note>[^\n]*?)#\}|<%(?P<erb>.*?)%>|<\?(?P<php>php|=).*?(?:\?>|\Z)",
    re.DOTALL,
)
_NAME = re.compile(r"[-~\s]*([/#^]?)\s*([\w./:@-]*)")
# Blocks of templates that a bare {{ end }} ends.
_ENDED = frozenset({"if", "range", "with", "define", "block"})
_SHORTCODE = re.compile(r"\[(/?)([A-Za-z][\w-]*)(\s[^\[\]]*|)(/?)\]")
_ATTRIBUTED = re.compile(r"""\s[\w-]+=["'\w]""")
_MATH = re.compile(
    # Brackets with backslashes may be mere brackets: they are a formula's in one paragraph only.
    r"(?<!\\)\$\$.+?\$\$|\\\((?:(?!\n\s*\n).)+?\\\)|\\\[(?:(?!\n\s*\n).)+?\\\]",
    re.DOTALL,
)
# Which of two dollars is a price's, and which begins a formula, only the generator knows: each may.
_INLINE_MATH = re.compile(r"(?<![\\$\w])(?=(\$(?=[^\s$])(?:[^$\n\\]|\\.)*?(?<=[^\s\\])\$(?![\d$])))")


@dataclass(frozen=True)
class Masked:
    """A text without template tags, of the same length and with the same lines."""

    text: str  # the text; in place of each tag are characters without a meaning
    tags: Mapping[str, str]  # the tags by what stands for them
    closed: tuple[Span, ...]  # the tags' places, and what stands between two that belong together

    def unmasked(self, href: str) -> str:
        """Return an href of the masked text as the text itself writes it."""
        if _FIRST not in href:
            return href
        return _MASKED.sub(lambda found: self.tags.get(found[1], found[0]), href)


def mask_tags(text: str) -> Masked:
    """Mask the template tags of a text.

    Raises:
        Unreadable: the text has characters that the mask needs.
    """
    if _RESERVED.search(text):
        raise UnreadableText
    if not any(sign in text for sign in ("{{", "{%", "{#", "<%", "<?")):
        return Masked(text, {}, ())
    tags: dict[str, str] = {}

    def mask(found: re.Match[str]) -> str:
        # A tag is masked alike wherever it stands, so that texts can be compared.
        code = crc32(found[0].encode("utf-8", "surrogatepass"))
        digits = chr(_DIGIT + code // _BASE % _BASE) + chr(_DIGIT + code % _BASE)
        tags[digits] = found[0]
        return _covered(found[0], (_FIRST + digits).ljust(len(found[0]), _FILL))

    return Masked(_TAG.sub(mask, text), tags, tuple(_closed(text)))


def as_punctuation(text: str) -> str:
    """Return a masked text in which template tags count as punctuation, as in raw Markdown, not as letters."""
    return _OF_MASKS.sub(_PUNCTUATION, text)


def covered(text: str) -> str:
    """Return punctuation without a meaning, as many characters as the text has and in the same lines."""
    return _covered(text, _PUNCTUATION * len(text))


def _covered(text: str, signs: str) -> str:
    return "".join(char if char in "\r\n" else sign for char, sign in zip(text, signs, strict=True))


def front_matter(text: str) -> int:
    """Return where a text's front matter ends (YAML, TOML or JSON), 0 without any."""
    if found := _FRONT_MATTER.match(text):
        return found.end()
    if text.startswith("{") and not text.startswith(("{{", "{%", "{#")):
        with suppress(ValueError):
            return json.JSONDecoder().raw_decode(text)[1]
    return 0


def shortcodes(text: str, *, only_pairs: bool = False) -> Iterator[Span]:
    """Yield the shortcodes in square brackets; of two that belong together, all from the first to the last."""
    opened: list[tuple[str, int]] = []
    for found in _SHORTCODE.finditer(text) if "[" in text else ():
        name, start, end = found[2].lower(), found.start(), found.end()
        if not found[1]:
            if not found[4]:
                opened.append((name, start))
            # In Markdown, brackets alone are more often a link's.
            if not only_pairs or _ATTRIBUTED.match(found[3]):
                yield start, end
        else:
            while any(name == other for other, _ in opened):
                other, start = opened.pop()
                if other == name:
                    break
            yield start, end


def math(text: str) -> Iterator[Span]:
    """Yield the formulas of a text, in dollars or in brackets with backslashes."""
    if "$" in text or "\\(" in text or "\\[" in text:
        yield from (found.span() for found in _MATH.finditer(text))
        yield from (found.span(1) for found in _INLINE_MATH.finditer(text))


def _closed(text: str) -> Iterator[Span]:
    opened: list[tuple[str, int]] = []
    for found in _TAG.finditer(text):
        yield found.span()
        kind = found.lastgroup or ""
        if kind in {"comment", "note", "erb", "php"}:
            continue
        read = _NAME.match(found[kind])
        sign, name = (read[1], read[2]) if read else ("", "")
        if kind == "liquid" and name.startswith("end"):
            ends = {f"liquid {name[3:]}"} if name != "end" else {f"liquid {one}" for one in _ENDED}
        elif kind == "braced" and name == "end":
            ends = {f"braced {one}" for one in _ENDED}
        elif sign == "/":
            ends = {f"{kind} {name}"}
        else:
            opened.append((f"{kind} {name}", found.start()))
            continue
        if any(one in ends for one, _ in opened):
            while True:
                one, start = opened.pop()
                if one in ends:
                    break
            # A layout's block holds the page's own text.
            if one not in {"liquid block", "liquid extends"}:
                yield start, found.end()
