"""Word documents: converts a .docx file to HTML with headings, lists, tables, links and notes, without images."""

import io
import zipfile
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

from internal_linker.core.errors import InputError

# Limits of unpacked bytes, of elements and of their nesting. Drafts have a few thousand elements, a book 50,000; at the
# limit, mammoth takes 5 seconds, or 10 for some kinds of elements that drafts do not have.
_MOST_BYTES, _MOST_ELEMENTS, _DEEPEST = 10_000_000, 100_000, 80
# Parts without text.
_OTHER_PARTS = ("customXml/", "docProps/", "word/charts/", "word/diagrams/", "word/theme/")
# mammoth does not map Word's own style for titles to a heading.
_STYLES = "p[style-name='Title'] => h1:fresh"
_REMEDY = "Open it in Word or LibreOffice and save it again as .docx, or save its text as .txt."


class _TooLarge(ValueError):
    """A document that would fill the memory."""


def read_docx(path: Path) -> str:
    """Return the document's text as HTML, with tracked insertions and without tracked deletions.

    Raises:
        InputError: the file can't be read, is damaged, too large or not a Word document.
    """
    import mammoth

    try:
        with path.open("rb") as file:
            html = mammoth.convert_to_html(
                _checked(file), style_map=_STYLES, include_embedded_style_map=False
            ).value
    except _TooLarge as error:
        raise InputError(f"{path} can't be read: {error}. {_REMEDY}") from None
    except Exception as error:  # mammoth has no error of its own for other files
        system = error.strerror if isinstance(error, OSError) else ""
        why = system or "it is damaged, password-protected or not a Word document"
        raise InputError(f"{path} can't be read: {why}. {_REMEDY}") from None
    return str(html)


def _checked(file: BinaryIO) -> BinaryIO:
    """Return a copy of the document with only the checked parts: XML, without images."""
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
    """Counts elements, and rejects what documents never have: entities, or very deep nesting."""

    def __init__(self) -> None:
        self._elements = self._depth = self._fields = 0

    def look(self, content: bytes) -> None:
        """Check one part."""
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
