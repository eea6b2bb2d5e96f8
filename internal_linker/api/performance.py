"""What links earn: their impact, and experiments that make it certain."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from internal_linker.api.opening import opened_project, shown_reporter
from internal_linker.usecases.option_records import takes
from internal_linker.usecases.options.performance import ImpactOptions

# Each function imports its own use case: scikit-learn alone takes a second to load.
if TYPE_CHECKING:
    from internal_linker.usecases.experiments import PlanResult
    from internal_linker.usecases.impact import ImpactResult


@takes(ImpactOptions)
def impact(
    project: str | Path = ".", *, report: bool = False, progress: bool = False, **options: Any
) -> "ImpactResult":
    """Measure what links that went live did to their targets, as the command `impact` does.

    Args:
        project: the folder with config/ and files/.
        report: write files/impact.html.
        progress: show steps and notes on stderr.
        options: as below.

    Returns:
        `.sentence`, `.verdict` and `.findings`; the frames `effects`, `weeks` and `pairs`.

    Raises:
        InternalLinkerError: the pages or the search data can't be read.
    """
    from internal_linker.usecases import impact as usecase

    with shown_reporter(progress) as reporter:
        return usecase.impact(opened_project(project), ImpactOptions(report=report, **options), reporter)


def plan_experiment(project: str | Path = ".") -> "PlanResult":
    """Hold back the accepted links to one in five of their targets, at random, as `impact --plan` does.

    Args:
        project: the folder with config/ and files/.

    Returns:
        `.sentence`, `.drawn` and `.links`; the frames `held_back` and `targets`.

    Raises:
        InternalLinkerError: the links can't be read.
    """
    from internal_linker.usecases import experiments as usecase

    return usecase.plan_experiment(opened_project(project))


def end_experiment(project: str | Path = ".") -> "PlanResult":
    """Let the links go live that are held back, as `impact --release` does.

    Args:
        project: the folder with config/ and files/.

    Returns:
        `.sentence`.

    Raises:
        InternalLinkerError: the store can't be written.
    """
    from internal_linker.usecases import experiments as usecase

    return usecase.end_experiment(opened_project(project))
