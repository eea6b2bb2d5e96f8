"""Drafts: reads the brief of a page that does not exist yet from a file, standard input or a text."""

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

from internal_linker.model.briefs import Brief
from internal_linker.model.cli_commands import needs_extra
from internal_linker.model.errors import InputError
from internal_linker.store.files.encodings import Shape, recognise, recognise_open, unreadable
from internal_linker.text.html import HtmlText, is_html, read_html

# The block that Hugo, Jekyll and others put above the text.
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"^#{1,6}[ \t]+\S", re.MULTILINE)
_TITLE = re.compile(r"^title[ \t]*:[ \t]*(\"|'|)(.*?)\1[ \t]*$", re.MULTILINE)


def read_markdown(text: str) -> tuple[str, str]:
    """Return the text as HTML, and the front matter's title, "" if there is none."""
    title = ""
    if front := _FRONT_MATTER.match(text):
        text = text[front.end() :]
        named = _TITLE.search(front[1])
        title = named[2] if named else ""
    from markdown_it import MarkdownIt

    return str(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)), title


_MARKDOWN, _WORD = (".md", ".markdown"), ".docx"
_KNOWN = (".txt", *_MARKDOWN, _WORD, ".html", ".htm")
_REMEDY = "Save the draft as .docx, .md, .html or .txt (UTF-8)."
_SHAPE = Shape("a draft", _REMEDY, html=True)
# Maximum bytes of a text; and the characters that a run reads, as of any page.
_MOST_BYTES, _LONGEST = 10_000_000, 1_000_000
# Maximum characters of a title; a longer first line is a paragraph.
_LONGEST_TITLE = 300
_STDIN = "The text of standard input"


def read_brief(given: str, stdin: Callable[[], BinaryIO], title: str = "") -> Brief:
    """Read a new page's title (by default the first heading or line), and its outline or draft.

    `given` is a file's path, "-" for standard input, else the text itself.

    Raises:
        InputError: the file can't be used, or the text has no words.
    """
    # A command line may contain lone surrogates.
    given, title = (text.encode("utf-8", "replace").decode() for text in (given, title))
    title = " ".join(title.split())
    if given == "-":
        raw = stdin().read(_MOST_BYTES + 1)
        _refuse_large(_STDIN, len(raw))
        known = recognise_open(_STDIN, io.BytesIO(raw), _SHAPE)
        whole, named = _read_any(raw.decode(known.encoding, "replace"))
        return _brief(_STDIN, whole, title or named, known.remarks)
    path = _path(given)
    if path is None:
        whole, named = _read_any(given)
        return _brief("The text", whole, title or named)
    if path.suffix.lower() == _WORD:
        return _brief(str(path), read_html(read_docx(path)), title)
    text, remarks = _text(path)
    if path.suffix.lower() in _MARKDOWN:
        # A parser takes 10 seconds for a million brackets.
        html, named = read_markdown(text[:_LONGEST])
        remarks = (*remarks, *_rest_left_out(str(path), text))
        return _brief(str(path), read_html(html), title or named, remarks)
    return _brief(str(path), _read(text), title, remarks)


def _path(given: str) -> Path | None:
    if not given.strip():
        return None
    path = Path(given)
    try:
        there = path.exists()
    except OSError:  # longer than any name
        there = False
    named = path.suffix.lower() in _KNOWN and "\n" not in given
    if not there and named:
        raise InputError(f"{given} not found: check the path, or pass the text itself instead.")
    if not there:
        return None
    if path.is_file() and not named:
        raise InputError(f"{given} is not a draft in a supported format. {_REMEDY}")
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "a pipe or a device"
        raise InputError(
            f"{given} is {kind}, not {_SHAPE.name}. Name a file, or use '-' to read standard input."
        )
    return path


def _text(path: Path) -> tuple[str, tuple[str, ...]]:
    try:
        _refuse_large(str(path), path.stat().st_size)
        known = recognise(path, _SHAPE)
        return path.read_text(known.encoding, "replace"), known.remarks
    except OSError as error:
        raise unreadable(path, error) from error


def _refuse_large(name: str, size: int) -> None:
    if size > _MOST_BYTES:
        raise InputError(
            f"{name} is larger than {_MOST_BYTES:,} bytes, too large for a page. Give only the page's text."
        )


def _read(text: str) -> HtmlText:
    if is_html(text):
        return read_html(text)
    lines = (" ".join(line.split()) for line in text.replace("\0", "").splitlines())
    return HtmlText("\n".join(filter(None, lines)), ())


def _read_any(text: str) -> tuple[HtmlText, str]:
    """Read a text without a file name: HTML, Markdown or plain; also return the title of its front matter, else ""."""
    if is_html(text) or not (_HEADING.search(text) or _FRONT_MATTER.match(text)):
        return _read(text), ""
    html, named = read_markdown(text[:_LONGEST])
    return read_html(html), named


def _rest_left_out(name: str, text: str) -> Iterator[str]:
    if len(text) > _LONGEST:
        yield f"{name} is longer than {_LONGEST:,} characters: the rest is left out."


def _brief(name: str, read: HtmlText, title: str, remarks: tuple[str, ...] = ()) -> Brief:
    if not any(letter.isalnum() for letter in f"{title}{read.text}"):
        raise InputError(f"{name} has no words. Give a title, an outline or a draft.")
    text, headings = read.text[:_LONGEST], read.headings
    remarks = (*remarks, *_rest_left_out(name, read.text))
    lines = text.split("\n")
    headings = tuple(number for number in headings if number < len(lines))
    closed = tuple(number for number in read.closed if number < len(lines))
    row = next(iter(headings), 0)
    if not title and len(lines[row]) <= _LONGEST_TITLE:
        title = lines[row]
        if row == 0:
            text, headings = "\n".join(lines[1:]), tuple(number - 1 for number in headings[1:])
            closed = tuple(number - 1 for number in closed if number)
    return Brief(title, text, headings, read.links, remarks=remarks, closed=closed)


# Limits of unpacked bytes, of elements and of their nesting. Drafts have a few thousand elements, a book 50,000; at the
# limit, mammoth takes 5 seconds, or 10 for some kinds of elements that drafts do not have.
_MOST_UNPACKED, _MOST_ELEMENTS, _DEEPEST = 10_000_000, 100_000, 80
# Parts without text.
_OTHER_PARTS = ("customXml/", "docProps/", "word/charts/", "word/diagrams/", "word/theme/")
# mammoth does not map Word's own style for titles to a heading.
_STYLES = "p[style-name='Title'] => h1:fresh"
_WORD_REMEDY = "Open it in Word or LibreOffice and save it again as .docx, or save its text as .txt."


class _TooLarge(ValueError):
    """A document that would fill the memory."""


def read_docx(path: Path) -> str:
    """Return the document's text as HTML, with tracked insertions and without tracked deletions.

    Raises:
        InputError: the file can't be read, is damaged, too large or not a Word document.
    """
    with needs_extra("docx", "Reading a .docx file"):
        import mammoth

    try:
        with path.open("rb") as file:
            html = mammoth.convert_to_html(
                _checked(file), style_map=_STYLES, include_embedded_style_map=False
            ).value
    except _TooLarge as error:
        raise InputError(f"{path} can't be read: {error}. {_WORD_REMEDY}") from None
    except Exception as error:  # mammoth has no error of its own for other files
        system = error.strerror if isinstance(error, OSError) else ""
        why = system or "it is damaged, password-protected or not a Word document"
        raise InputError(f"{path} can't be read: {why}. {_WORD_REMEDY}") from None
    return str(html)


def _checked(file: BinaryIO) -> BinaryIO:
    """Return a copy of the document with only the checked parts: XML, without images."""
    checked, scan, left = io.BytesIO(), _Scan(), _MOST_UNPACKED
    with zipfile.ZipFile(file) as parts, zipfile.ZipFile(checked, "w") as kept:
        for part in parts.infolist():
            name = part.filename
            if not name.endswith((".xml", ".rels")) or name.startswith(_OTHER_PARTS):
                continue
            left -= part.file_size
            if left < 0:
                raise _TooLarge(f"it unpacks to more than {_MOST_UNPACKED:,} bytes of text")
            content = parts.read(part)
            scan.look(content)
            kept.writestr(name, content)
    checked.seek(0)
    return checked


class _Scan:
    """Counts elements, and rejects what documents never have: entities, or very deep nesting."""

    def __init__(self) -> None:
        self._elements = self._depth = self._fields = 0

    def look(self, content: bytes) -> None:
        self._depth = self._fields = 0
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._begin, self._end
        parser.StartDoctypeDeclHandler = self._refuse
        parser.Parse(content, True)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._elements, self._depth = self._elements + 1, self._depth + 1
        if name.endswith("fldChar"):
            # mammoth goes through all open fields for each run of text.
            kinds = attributes.values()
            self._fields += ("begin" in kinds) - ("end" in kinds)
        if self._elements > _MOST_ELEMENTS:
            raise _TooLarge(f"it has more than {_MOST_ELEMENTS:,} elements")
        if max(self._depth, self._fields) > _DEEPEST:
            raise _TooLarge(f"its elements are nested more than {_DEEPEST} levels deep")

    def _end(self, *_: object) -> None:
        self._depth -= 1

    @staticmethod
    def _refuse(*_: object) -> None:
        raise _TooLarge("it declares entities, which no Word document does")
