"""How main queries are chosen from search data, and what is measured of links that went live."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from internal_linker.usecases.option_records import Option, Options


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactOptions(Options):
    """How the impact of links is measured."""

    days: Annotated[
        int, Option("Days after a link went live that are compared; whole weeks count.", least=14, most=112)
    ] = 28
    experiment: Annotated[
        bool,
        Option(
            "Compare with the targets that --plan held back at random, rather than with similar pages.",
            doc="Compare with targets whose links `plan_experiment` held back at random, not with similar pages.",
        ),
    ] = False
    report: Annotated[bool, Option("Write no files/impact.html.", flag="--no-report")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class QueriesOptions(Options):
    """Which queries count, and whether they are written."""

    brand: Annotated[
        Sequence[str],
        Option("Also leave out queries with this name of the site; may be repeated.", metavar="WORD"),
    ] = ()
    write: Annotated[
        bool,
        Option(
            "Fill empty main queries; without this option, only show what would be filled.",
            doc="Fill the empty main queries; otherwise they are only shown.",
        ),
    ] = False
