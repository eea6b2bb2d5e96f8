"""A .docx file -> its text as HTML, with headings, lists, tables, links and notes; pictures are left out."""

import io
import zipfile
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

import mammoth

from internal_linker.core.errors import InputError

# Bytes of all parts, unpacked; elements in them, and elements in each other. Drafts have some thousand elements, a
# book 50,000; for so many as this mammoth takes 5 seconds, for some kinds that no draft has, ten.
_MOST_BYTES, _MOST_ELEMENTS, _DEEPEST = 10_000_000, 100_000, 80
# Parts that hold no text.
_OTHER_PARTS = ("customXml/", "docProps/", "word/charts/", "word/diagrams/", "word/theme/")
# Word's own style for a title is none of mammoth's headings.
_STYLES = "p[style-name='Title'] => h1:fresh"
_REMEDY = "Open it in Word or LibreOffice and save it again as .docx, or save its text as .txt."


class _TooLarge(ValueError):
    """A document that would fill the memory."""


def read_docx(path: Path) -> str:
    """The document's text as HTML, with insertions that are tracked and without deletions.

    Raises:
        InputError: it can't be read, is damaged, too large or no Word document.
    """
    try:
        with path.open("rb") as file:
            html = mammoth.convert_to_html(
                _checked(file), style_map=_STYLES, include_embedded_style_map=False
            ).value
    except _TooLarge as error:
        raise InputError(f"{path} can't be read: {error}. {_REMEDY}") from None
    except Exception as error:  # mammoth has no error of its own for what is no such document
        system = error.strerror if isinstance(error, OSError) else ""
        why = system or "it is damaged, protected by a password or no Word document"
        raise InputError(f"{path} can't be read: {why}. {_REMEDY}") from None
    return str(html)


def _checked(file: BinaryIO) -> BinaryIO:
    """The same document with nothing but parts that were looked at: no pictures, and no part by another name.

    Raises:
        _TooLarge: it unpacks without end, or holds too much.
    """
    checked, scan, left = io.BytesIO(), _Scan(), _MOST_BYTES
    with zipfile.ZipFile(file) as parts, zipfile.ZipFile(checked, "w") as kept:
        for part in parts.infolist():
            name = part.filename
            if not name.endswith((".xml", ".rels")) or name.startswith(_OTHER_PARTS):
                continue
            left -= part.file_size
            if left < 0:
                raise _TooLarge(f"it unpacks to more than {_MOST_BYTES:,} bytes of text")
            content = parts.read(part)
            scan.look(content)
            kept.writestr(name, content)
    checked.seek(0)
    return checked


class _Scan:
    """Counts elements, and refuses what a document has not: entities, or elements in elements without end."""

    def __init__(self) -> None:
        self._elements = self._depth = self._fields = 0

    def look(self, content: bytes) -> None:
        """Go through one part.

        Raises:
            _TooLarge: there is too much in it, or it could grow.
            xml.parsers.expat.ExpatError: it is damaged.
        """
        self._depth = self._fields = 0
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._begin, self._end
        parser.StartDoctypeDeclHandler = self._refuse
        parser.Parse(content, True)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._elements, self._depth = self._elements + 1, self._depth + 1
        if name.endswith("fldChar"):
            # Each open field is looked at for each run.
            kinds = attributes.values()
            self._fields += ("begin" in kinds) - ("end" in kinds)
        if self._elements > _MOST_ELEMENTS:
            raise _TooLarge(f"it has more than {_MOST_ELEMENTS:,} elements")
        if max(self._depth, self._fields) > _DEEPEST:
            raise _TooLarge(f"its elements lie in each other more than {_DEEPEST} deep")

    def _end(self, *_: object) -> None:
        self._depth -= 1

    @staticmethod
    def _refuse(*_: object) -> None:
        raise _TooLarge("it declares entities, which no Word document does")
