"""Measuring relevance on a site's own links."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from internal_linker.api.opening import opened_project, shown_reporter
from internal_linker.usecases.option_records import takes
from internal_linker.usecases.options.evaluation import (
    BacktestOptions,
    CalibrateOptions,
    EvaluateOptions,
)

# Each function imports its own use case: scikit-learn alone takes a second to load.
if TYPE_CHECKING:
    from internal_linker.usecases.calibrate import Calibration
    from internal_linker.usecases.evaluate import AnchorEvaluation, Backtest, Evaluation


@takes(EvaluateOptions)
def evaluate(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "Evaluation":
    """Measure relevance on links that editors made, as the command `evaluate` does.

    Returns:
        `.measurements`, and their figures as a DataFrame: `.to_frame()`.
    """
    from internal_linker.usecases import evaluate as usecase

    with shown_reporter(progress) as reporter:
        return usecase.evaluate(opened_project(project), EvaluateOptions(**options), reporter)


@takes()
def evaluate_anchors(project: str | Path = ".", *, progress: bool = False) -> "AnchorEvaluation":
    """Compare proposed anchors with the editors', and look for flaws in those of a run, as `evaluate --anchors` does.

    Returns:
        `.agreement` and `.proposals`, and their figures as DataFrames: `.frames`.
    """
    from internal_linker.usecases import evaluate as usecase

    with shown_reporter(progress) as reporter:
        return usecase.evaluate_anchors(opened_project(project), reporter)


@takes(BacktestOptions)
def backtest(
    before: str | Path,
    after: str | Path,
    project: str | Path = ".",
    *,
    write: bool = False,
    progress: bool = False,
    **options: Any,
) -> "Backtest":
    """Measure relevance on the links that were added between two crawls, as the command `backtest` does.

    Args:
        before: CSV of the site's links at a date.
        after: CSV of its links at a later date.
        write: write files/backtest.csv, too.

    Returns:
        The DataFrames `.frames["figures"]` and `.frames["links"]`.
    """
    from internal_linker.usecases import evaluate as usecase

    with shown_reporter(progress) as reporter:
        wanted = BacktestOptions(before=Path(before), after=Path(after), **options)
        return usecase.backtest(opened_project(project), wanted, reporter, write=write)


@takes(CalibrateOptions)
def calibrate(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "Calibration":
    """Fill files/labels.csv and measure precision and recall by threshold, as the command `calibrate` does.

    Returns:
        `.tier_inline` and `.tier_sidebar`, and the curve as a DataFrame: `.to_frame()`.
    """
    from internal_linker.usecases import calibrate as usecase

    with shown_reporter(progress) as reporter:
        return usecase.calibrate(opened_project(project), CalibrateOptions(**options), reporter)
