"""How main queries are chosen from search data, and whether they are written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from internal_linker.usecases.option_records import Option, Options


@dataclass(frozen=True, slots=True, kw_only=True)
class QueriesOptions(Options):
    """Which queries count, and whether they are written.

    Attributes:
        brand: further names of the site; queries with one are left out.
        write: fill the empty main queries; otherwise they are only shown.
    """

    brand: Annotated[
        Sequence[str],
        Option("Also leave out queries with this name of the site; may be repeated.", metavar="WORD"),
    ] = ()
    write: Annotated[
        bool, Option("Fill empty main queries; without this option, only show what would be filled.")
    ] = False
