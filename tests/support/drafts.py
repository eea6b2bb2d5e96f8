"""Drafts of pages: minimal Word documents."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def paragraph(text: str, style: str = "") -> str:
    """Return a paragraph in Word's XML."""
    look = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{look}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def document(*body: str) -> str:
    """Return a document's main part with these pieces of XML."""
    return f'<w:document xmlns:w="{_W}" xmlns:r="{_R}"><w:body>{"".join(body)}</w:body></w:document>'


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive of these parts."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return raw.getvalue()


def write_docx(path: Path, *body: str, head: str = "", styles: str = "", link: str = "") -> Path:
    """Write a document of these pieces of XML; `head` goes before the root, `link` is the address of rId1."""
    target = f'<Relationship Id="rId1" Type="{_R}/hyperlink" Target="{link}" TargetMode="External"/>'
    parts = {
        "word/document.xml": f'<?xml version="1.0" encoding="UTF-8"?>{head}{document(*body)}',
        "word/styles.xml": f'<w:styles xmlns:w="{_W}">{styles}</w:styles>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{target}</Relationships>',
    }
    path.write_bytes(zipped(parts))
    return path


def style(name: str, key: str) -> str:
    """Return a paragraph style in Word's XML."""
    return f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/></w:style>'
