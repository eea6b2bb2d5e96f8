"""What is audited and measured, and what links earn."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from internal_linker.project.option_records import Option, Options
from internal_linker.project.options import KeepAnchors, Sections


@dataclass(frozen=True, slots=True, kw_only=True)
class _Adoption(Options):
    """What clicks start from, and which links are adopted."""

    home: Annotated[str, Option("The home page, if it isn't detected.", metavar="URL")] = ""
    after: Annotated[
        str,
        Option(
            "The proposed links that count as adopted: those that editors accepted; these and the ones strong enough "
            "for the text; or all but rejected ones.",
            metavar="accepted|in-text|all",
            choices=("accepted", "in-text", "all"),
        ),
    ] = "in-text"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPathsOptions(_Adoption):
    """The two pages between which paths are looked for."""

    start: Annotated[str, Option("The URL of the first page.")]
    end: Annotated[str, Option("The URL of the last page.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions(_Adoption):
    """What an audit starts from, and when it fails."""

    fail_on: Annotated[
        Sequence[str],
        Option(
            "Exit with code 7 if RULE has at least COUNT findings (default 1); may be repeated.",
            metavar="RULE[=COUNT]",
            doc='Rules such as "orphan" or "orphan=10"; the audit fails from so many findings on (default 1).',
        ),
    ] = ()
    sections: Sections = ()
    report: Annotated[bool, Option("Write the workbook only.", flag="--no-report")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions(Options):
    """Which links are hidden, and from what text they are looked for."""

    hide: Annotated[str, Option("Which links are hidden.", metavar="all|half", choices=("all", "half"))] = (
        "all"
    )
    keep_anchors: KeepAnchors = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktestOptions(Options):
    """The site's links at two dates."""

    before: Annotated[Path, Option("The site's links at an earlier date.", metavar="CSV")]
    after: Annotated[Path, Option("The site's links at a later date.", metavar="CSV")]
    keep_anchors: KeepAnchors = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateOptions(Options):
    """How many pairs are drawn for labelling, and how good links beside the text must be."""

    pairs: Annotated[int, Option("Fill files/labels.csv up to N rows.", least=0)] = 100
    sidebar_precision: Annotated[
        float,
        Option("Wanted share of good or borderline links among links next to the text.", metavar="SHARE"),
    ] = 0.6


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
    report: Annotated[
        bool, Option("Write no files/impact.html.", flag="--no-report", doc="Write files/impact.html.")
    ] = True


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
