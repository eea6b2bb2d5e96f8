"""The commands that measure how good the links are: evaluate and backtest."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.cli.command import ProjectOption, opened_project, reporting, with_options
from internal_linker.core.errors import ConfigurationError
from internal_linker.core.sequences import counted
from internal_linker.usecases.options import BacktestOptions, EvaluateOptions

if TYPE_CHECKING:
    from internal_linker.evaluation.anchors import Agreement
    from internal_linker.evaluation.holdout import Row
    from internal_linker.ranking.training import Lesson
    from internal_linker.usecases.evaluate import Measurement

COLD_HEADING = "hidden links to new pages (a fifth of all, none of whose inlinks is known)"
NO_COLD_LINKS = "There is no table for new pages: no link leads to the fifth of the pages that counts as new."


@with_options(EvaluateOptions)
def evaluate(
    context: typer.Context,
    project: ProjectOption = None,
    anchors: Annotated[
        bool, typer.Option("--anchors", help="Measure the proposed anchors, and nothing else.")
    ] = False,
    *,
    options: EvaluateOptions,
) -> None:
    """Measure relevance on links that editors made.

    Hide links of files/existing_links.csv, rank without them, and measure how well each way of ranking finds them.
    One table hides all links, or half of them; another hides all links to a fifth of the pages, as if these were
    new. Below each table, the command prints what the ranker learned from the links that were not hidden, and how
    reliable its probabilities are.

    With --anchors, measure how many linked pairs of pages get an anchor that overlaps the editors' own.
    """
    if anchors and options != EvaluateOptions():
        raise ConfigurationError(
            "--anchors measures the anchors of all links: leave out --hide and --keep-anchors."
        )
    opened = opened_project(context, project)
    from internal_linker.usecases import evaluate as usecase
    from internal_linker.usecases.console import open_console

    with reporting() as reporter:
        if anchors:
            agreement = usecase.evaluate_anchors(opened, reporter).agreement
        else:
            found = usecase.evaluate(opened, options, reporter)
    if anchors:
        _print_anchors(agreement)
        return
    for each in found.measurements:
        _print_figures(f"{_heading(each, found.keep_anchors)}; encoder {found.encoder}", each.rows)
        _print_lesson(each.lesson)
    if len(found.measurements) == 1:
        open_console().print(NO_COLD_LINKS, soft_wrap=True)


@with_options(BacktestOptions)
def backtest(context: typer.Context, project: ProjectOption = None, *, options: BacktestOptions) -> None:
    """Measure relevance on links added between two crawls.

    Measure which of them a run would have proposed when only the first crawl's links were known. Both files are
    tables like files/existing_links.csv; a relative path starts at the current folder. files/backtest.csv lists the
    place of each added link.
    """
    opened = opened_project(context, project)
    from internal_linker.cli.output import print_rows
    from internal_linker.usecases import evaluate as usecase
    from internal_linker.usecases.console import open_console

    with reporting() as reporter:
        found = usecase.backtest(opened, options, reporter)
    print_rows(open_console(), "Links between the two tables", found.counts)
    heading = _heading(found.measurement, found.keep_anchors)
    _print_figures(f"{heading}; encoder {found.encoder}", found.measurement.rows)
    open_console().print(" ".join(found.remarks) or "files/backtest.csv lists the place of each added link.")


def _heading(measurement: "Measurement", keep_anchors: bool) -> str:
    from internal_linker.usecases.evaluate import COLD

    site, which = measurement.site, measurement.links
    anchors = "kept" if keep_anchors else "removed"
    links = COLD_HEADING if which == COLD else which
    return f"{site.pairs} {links} from {counted(len(site.truth), 'page')}, anchors {anchors}"


def _print_anchors(found: "Agreement") -> None:
    from internal_linker.usecases.console import open_console

    console = open_console()
    console.print(
        f"{found.pairs} linked pairs of pages whose anchor is in the source's main content "
        f"({found.absent} others left out); means with 95% intervals",
        soft_wrap=True,
    )
    for name, share in (
        ("an anchor overlaps the editors'", found.overlap),
        ("the first anchor overlaps the editors'", found.first),
        ("an anchor equals the editors'", found.exact),
        ("an anchor was found in the text", found.found),
        ("of these, anchors usable unchanged", found.verbatim),
    ):
        console.print(f"{name:40}{share!s}")


def _print_figures(heading: str, rows: "Sequence[Row]") -> None:
    from internal_linker.usecases.console import open_console

    console = open_console()
    console.print(f"{heading}; means with 95% intervals")
    for line in _table(rows):
        console.print(line, soft_wrap=True)


def _print_lesson(lesson: "Lesson | None") -> None:
    from internal_linker.ranking.training import TOO_FEW
    from internal_linker.usecases.console import open_console

    console = open_console()
    if lesson is None:
        console.print(f"Ranker: {TOO_FEW}.\n", soft_wrap=True)
        return
    console.print(f"Ranker: {lesson}", soft_wrap=True)
    console.print(f"{'probability':16}{'expected':>10}{'links':>10}{'pairs':>10}")
    for part in lesson.reliability:
        bounds = f"{part.low:g} to {part.high:g}"
        console.print(f"{bounds:16}{part.expected:>10.4f}{part.links:>10.4f}{part.pairs:>10}")
    console.print()


def _table(rows: "Sequence[Row]") -> Iterator[str]:
    from internal_linker.evaluation.holdout import REACH

    yield f"{'ranked by':38}" + "".join(
        f"{name:24}" for name in ("Hit@5", "Recall@5", "NDCG@5", "MRR", f"among {REACH}")
    )
    for row in rows:
        figures = (row.measured.hit, row.measured.recall, row.measured.ndcg, row.measured.mrr)
        yield f"{row.name:38}" + "".join(f"{each!s:24}" for each in figures) + f"{row.reach:.4f}"
