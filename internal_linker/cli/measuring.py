"""The commands that measure how good the links are: evaluate and backtest."""

from pathlib import Path
from typing import Annotated

import typer

from internal_linker.cli.project import ProjectOption, opened_project

AnchorsOption = Annotated[
    str, typer.Option("--anchors", metavar="removed|kept", help="Whether their anchors leave the text.")
]


def evaluate(
    context: typer.Context,
    project: ProjectOption = None,
    hide: Annotated[str, typer.Option("--hide", metavar="all|half", help="Which links are hidden.")] = "all",
    anchors: AnchorsOption = "removed",
) -> None:
    """Measure relevance on links that editors made.

    Links of files/existing_links.csv are hidden: which way of ranking finds them again? One table hides
    all of them, or half; another all links to a fifth of the pages, as if these were new. Behind each
    stands what was learned of the links that were not hidden, and how far its probabilities are right.
    """
    from internal_linker.measuring import evaluate_project

    evaluate_project(opened_project(context, project), hide, anchors)


def backtest(
    context: typer.Context,
    before: Annotated[Path, typer.Option("--before", metavar="CSV", help="The site's links at a date.")],
    after: Annotated[Path, typer.Option("--after", metavar="CSV", help="Its links at a later date.")],
    project: ProjectOption = None,
    anchors: AnchorsOption = "removed",
) -> None:
    """Measure relevance on links added between two crawls.

    Which of them would have been proposed from the first crawl's links? Both files are tables like
    files/existing_links.csv; a relative path starts at the current directory. Each link's place is
    written to files/backtest.csv.
    """
    from internal_linker.measuring import backtest_project

    backtest_project(opened_project(context, project), before, after, anchors)
