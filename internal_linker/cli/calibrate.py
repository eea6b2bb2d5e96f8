"""The command that finds a site's thresholds: calibrate."""

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING

import typer

from internal_linker.cli.command import ProjectOption, opened_project, reporting, typed, with_options
from internal_linker.core.sequences import counted
from internal_linker.usecases.options.evaluation import CalibrateOptions

if TYPE_CHECKING:
    from internal_linker.evaluation.calibration import Share
    from internal_linker.usecases.calibrate import Calibration
    from internal_linker.usecases.settings.settings import Settings


@with_options(CalibrateOptions)
def calibrate(context: typer.Context, project: ProjectOption = None, *, options: CalibrateOptions) -> None:
    """Find the lowest score of links that are good enough.

    Sample weak and strong pairs of pages from all sections into files/labels.csv; write good, borderline or bad next
    to each. With 50 labels or more, the command prints which share of the pairs above each score is good, and
    proposes tier_inline and tier_sidebar. With fewer, it prints what to do next and how many of your existing links
    today's thresholds would find.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases import calibrate as usecase
    from internal_linker.usecases.console import open_console

    with reporting() as reporter:
        found = usecase.calibrate(opened, options, reporter)
    told = (
        _by_labels(found)
        if found.by_labels
        else _without_labels(found, opened.settings, typed(context, "calibrate"))
    )
    for line in (*found.remarks, _drawn(found), *told):
        open_console().print(line, soft_wrap=True)


def _drawn(found: "Calibration") -> str:
    there = f"files/labels.csv holds {counted(found.pairs, 'pair')}, {found.labelled} of them labelled"
    if not found.new:
        return f"{there}; none were added."
    return f"{there}; {found.new} {'is' if found.new == 1 else 'are'} new."


def _by_labels(found: "Calibration") -> Iterator[str]:
    from internal_linker.core.edges import score_of

    if found.gone:
        yield (
            f"{found.gone} of the labelled pairs are no longer candidates: they count with the score in the file."
        )
    yield (
        "Computed from the labels: each labelled pair represents the other pairs of its band and section. In brackets: "
        "95% intervals (Wilson)."
    )
    yield (
        "Good: of the links with this score or more, the share that you would accept. Recall: of all links that you "
        "would accept, the share with this score or more. tier_inline = 0.8 stands for score 80."
    )
    yield f"{'score':10}{'labels':8}{'good':22}{'good or borderline':22}{'recall of good':22}"
    for one, other in zip(found.strict, found.mild, strict=True):
        shares = map(_share, (one.precision, other.precision, one.recall))
        yield f"{score_of(one.threshold) or 0:<10}{one.pairs:<8}" + "".join(f"{share:22}" for share in shares)
    yield from _proposed(found)


def _without_labels(found: "Calibration", settings: "Settings", again: str) -> Iterator[str]:
    """Say what to do next, and how today's thresholds suit the existing links."""
    from internal_linker.core.edges import score_of
    from internal_linker.usecases.calibrate import LEAST_LABELS

    lacking = LEAST_LABELS - found.labelled
    yield (
        f"Next: open files/labels.csv, write good, borderline or bad into the column Label of {lacking} more "
        f"{'row' if lacking == 1 else 'rows'}, and start `{again}` again. It then prints how many links above each "
        "score are good, and proposes tier_inline and tier_sidebar."
    )
    yield f"Until then keep tier_inline = {settings.tier_inline:g} and tier_sidebar = {settings.tier_sidebar:g}."
    if not found.strict:
        return
    yield "Of your existing links, each hidden while it was ranked:"
    for setting in ("tier_inline", "tier_sidebar"):
        threshold = getattr(settings, setting)
        point = min(found.strict, key=lambda point: abs(point.threshold - threshold))
        yield f"  {point.recall.value:.0%} have a score of at least {score_of(point.threshold)} ({setting})"


def _share(share: "Share") -> str:
    return "-" if isnan(share.value) else f"{share.value:.3f} [{share.low:.2f}, {share.high:.2f}]"


def _proposed(found: "Calibration") -> Iterator[str]:
    from internal_linker.evaluation.calibration import LEAST_PAIRS

    yield "For config/settings.toml:"
    for setting, threshold in (("tier_inline", found.tier_inline), ("tier_sidebar", found.tier_sidebar)):
        if isnan(threshold):
            why = f"no score with {LEAST_PAIRS} pairs or more reaches the requested precision"
            yield f"# {setting}: {why}. Label more pairs (--pairs), or request a lower precision."
        else:
            yield f"{setting} = {threshold:g}"
