"""The command that finds a site's thresholds: calibrate."""

from typing import Annotated

import typer

from internal_linker.cli.options import ProjectOption, opened_project


def calibrate(
    context: typer.Context,
    project: ProjectOption = None,
    pairs: Annotated[
        int, typer.Option("--pairs", min=0, help="Rows that files/labels.csv should have at the least.")
    ] = 100,
    precision: Annotated[
        float, typer.Option("--precision", metavar="SHARE", help="Good ones among the links in the text.")
    ] = 0.8,
    sidebar_precision: Annotated[
        float,
        typer.Option(
            "--sidebar-precision", metavar="SHARE", help="Good or borderline ones among links beside it."
        ),
    ] = 0.6,
) -> None:
    """Find the strengths from which links are good enough.

    Pairs of pages, weak and strong ones of all sections, are drawn into files/labels.csv: write good,
    borderline or bad beside each. From 50 labels on, the command prints how many of the pairs above each
    strength are good, and proposes tier_inline and tier_sidebar; before, existing links say as much as
    they can.
    """
    from internal_linker.usecases.calibrate import calibrate_project

    calibrate_project(opened_project(context, project), pairs, precision, sidebar_precision)
