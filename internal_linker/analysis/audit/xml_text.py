"""Texts and numbers in, XML that every parser takes out: nothing in it that the format forbids."""

import re
from xml.sax.saxutils import escape

from internal_linker.analysis.audit.graph_tables import Cell

# What XML 1.0 allows; no escape makes the others legal, and one of them makes the whole file unreadable.
_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(cell: Cell) -> str:
    """The text of an element or of a double-quoted attribute; forbidden characters are left out.

    Floats are written so that they come back exactly.
    """
    if not isinstance(cell, str):
        return str(cell)
    return escape(_FORBIDDEN.sub("", cell), {'"': "&quot;"})
