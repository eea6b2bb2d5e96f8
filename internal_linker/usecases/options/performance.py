"""What is measured of links that went live, and when they are held back."""

from dataclasses import dataclass
from typing import Annotated

from internal_linker.usecases.option_records import Option, Options


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactOptions(Options):
    """How the impact of links is measured.

    Attributes:
        days: days after a link went live that are compared; whole weeks count.
        experiment: compare with targets whose links `plan` held back at random, rather than with similar pages.
        report: whether files/impact.html is written.
    """

    days: Annotated[
        int, Option("Days after a link went live that are compared; whole weeks count.", least=14, most=112)
    ] = 28
    experiment: Annotated[
        bool,
        Option(
            "Compare with the targets that --plan held back at random, rather than with similar pages.",
        ),
    ] = False
    report: Annotated[bool, Option("Write no files/impact.html.", flag="--no-report")] = True
