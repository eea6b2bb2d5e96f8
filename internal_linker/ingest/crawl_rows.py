"""What an import knows of a page -> the cells of its row, by the kinds of columns that are kept."""

import re

from internal_linker.adapters.tables.columns import Kind
from internal_linker.core.records import StoredText

# What tells whether a page stands on its own; these cells of a page are those of one row.
STANDING = (Kind.INDEXABILITY, Kind.STATUS, Kind.CANONICAL, Kind.REDIRECT)
PAGE_KINDS = (Kind.URL, Kind.TITLE, Kind.H1, Kind.CONTENT, Kind.LANG, *STANDING, Kind.ROLE)
LINK_KINDS = (*(Kind.SOURCE, Kind.DESTINATION, Kind.ANCHOR, Kind.LINK_POSITION, Kind.LINK_TYPE), Kind.START)
# The crawler's count of words is read and not written.
KEPT = (*PAGE_KINDS, Kind.WORDS)
AT = {kind: at for at, kind in enumerate(KEPT)}

# Cells in the order of `KEPT`.
Row = list[str | StoredText]


def cell(row: Row, kind: Kind) -> str:
    """A cell as text."""
    return str(row[AT[kind]])


def bad_status(row: Row) -> bool:
    """Whether a server gave something else than the page."""
    status = re.match(r"\d+", cell(row, Kind.STATUS))
    return status is not None and status[0] != "200"
