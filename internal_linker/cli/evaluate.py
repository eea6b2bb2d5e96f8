"""The commands that measure how good the links are: evaluate and backtest."""

from pathlib import Path
from typing import Annotated

import typer

from internal_linker.cli.options import ProjectOption, opened_project

KeepAnchorsOption = Annotated[
    bool, typer.Option("--keep-anchors", help="Leave the links' anchors in the text.")
]


def evaluate(
    context: typer.Context,
    project: ProjectOption = None,
    hide: Annotated[str, typer.Option("--hide", metavar="all|half", help="Which links are hidden.")] = "all",
    keep_anchors: KeepAnchorsOption = False,
    anchors: Annotated[
        bool, typer.Option("--anchors", help="Measure the proposed anchors, and nothing else.")
    ] = False,
) -> None:
    """Measure relevance on links that editors made.

    Links of files/existing_links.csv are hidden: which way of ranking finds them again? One table hides
    all of them, or half; another all links to a fifth of the pages, as if these were new. Behind each
    stands what was learned of the links that were not hidden, and how far its probabilities are right.

    With --anchors: of the pages that editors linked, how many get an anchor where the editors' own stands?
    """
    from internal_linker.usecases.evaluate import evaluate_anchors, evaluate_project

    if anchors:
        evaluate_anchors(opened_project(context, project))
    else:
        evaluate_project(opened_project(context, project), hide, keep_anchors)


def backtest(
    context: typer.Context,
    before: Annotated[Path, typer.Option("--before", metavar="CSV", help="The site's links at a date.")],
    after: Annotated[Path, typer.Option("--after", metavar="CSV", help="Its links at a later date.")],
    project: ProjectOption = None,
    keep_anchors: KeepAnchorsOption = False,
) -> None:
    """Measure relevance on links added between two crawls.

    Which of them would have been proposed from the first crawl's links? Both files are tables like
    files/existing_links.csv; a relative path starts at the current directory. Each link's place is
    written to files/backtest.csv.
    """
    from internal_linker.usecases.evaluate import backtest_project

    backtest_project(opened_project(context, project), before, after, keep_anchors)
