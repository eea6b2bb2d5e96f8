"""The commands that measure how good the links are: evaluate."""

from typing import Annotated

import typer

from internal_linker.cli.project import ProjectOption, opened_project


def evaluate(
    context: typer.Context,
    project: ProjectOption = None,
    hide: Annotated[str, typer.Option("--hide", metavar="all|half", help="Which links are hidden.")] = "all",
    anchors: Annotated[
        str, typer.Option("--anchors", metavar="removed|kept", help="Whether their anchors leave the text.")
    ] = "removed",
) -> None:
    """Measure relevance on links that editors made."""
    from internal_linker.measuring import evaluate_project

    evaluate_project(opened_project(context, project), hide, anchors)
