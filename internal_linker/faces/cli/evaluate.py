"""The commands that measure how good the links are: evaluate, backtest and calibrate."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.faces.cli.command import (
    Call,
    ProjectOption,
    opened_project,
    prints,
    reporting,
    with_options,
)
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.redact import escape_control_chars
from internal_linker.model.sequences import counted
from internal_linker.project.options.evaluation import BacktestOptions, CalibrateOptions, EvaluateOptions
from internal_linker.store.files.plain_text import shortened

if TYPE_CHECKING:
    from rich.console import Console

    from internal_linker.insight.evaluation.anchors import Agreement, ProposedAnchors
    from internal_linker.insight.evaluation.holdout import Row
    from internal_linker.project.calibrate import Calibration
    from internal_linker.project.evaluate import AnchorEvaluation, Backtest, Measurement
    from internal_linker.project.settings.settings import Settings
    from internal_linker.rank.adaptation import Adaptation
    from internal_linker.rank.calibration import Range
    from internal_linker.rank.metrics import Estimate

ARRIVALS_MEANING = (
    "Simulated arrivals: a third of the pages at a time counts as new, so that no link from or to them is known. To be "
    "found are their links to other pages, half of the links to them, and some links between the others: about the mix "
    "that editors add in a year."
)
NO_ANCHORS = (
    "No anchors can be compared: no link between your pages has an anchor that is in the source's main content. Check "
    "that files/existing_links.csv has the column Anchor."
)


@with_options(EvaluateOptions)
def evaluate(
    context: typer.Context,
    project: ProjectOption = None,
    anchors: Annotated[
        bool, typer.Option("--anchors", help="Measure the proposed anchors, and nothing else.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --anchors: print the result as JSON.")
    ] = False,
    *,
    options: EvaluateOptions,
) -> None:
    """Measure relevance on links that editors made.

    Hide links of files/existing_links.csv, rank without them, and measure how well each way of ranking finds them.
    The first table simulates arrivals: all links from and to a third of the pages are hidden together, as if these were
    new, for each third in turn. The second hides all links, or half of them. Below each table, the command prints what
    the ranker gains from the links that were not hidden; below the first, how reliable its probabilities are.

    With --anchors, compare the first anchor proposed for each linked pair of pages with the editors' own, and count
    what is wrong with the anchors of the links that a run would propose; nothing is searched for.
    """
    if as_json and not anchors:
        raise ConfigurationError("--json requires --anchors.")
    if anchors and options != EvaluateOptions():
        raise ConfigurationError(
            "--anchors measures the anchors of all links: leave out --hide and --keep-anchors."
        )
    opened = opened_project(context, project)
    from internal_linker.project import evaluate as usecase
    from internal_linker.project.console import open_console

    with reporting() as reporter:
        if anchors:
            measured = usecase.evaluate_anchors(opened, reporter)
        else:
            found = usecase.evaluate(opened, options, reporter)
    if anchors:
        if as_json:
            typer.echo(escape_control_chars(_as_json(measured)))
        else:
            _print_agreement(measured.agreement)
            _print_proposals(measured.proposals)
        return
    for each in found.measurements:
        _print_figures(f"{_heading(each, found.keep_anchors)}; encoder {found.encoder}", each.rows)
        if each.links == usecase.ARRIVALS:
            open_console().print(ARRIVALS_MEANING, soft_wrap=True)
        if any(each.adaptations):
            for number, adaptation in enumerate(each.adaptations, 1):
                _print_adaptation(adaptation, number if len(each.adaptations) > 1 else 0)
        else:
            _print_adaptation(None)
        if each.links == usecase.ARRIVALS:
            _print_reliability(each.reliability)
        open_console().print()
    _print_meanings()


@prints("backtest", BacktestOptions)
def backtest(found: "Backtest", _: Call) -> None:
    """Measure relevance on links added between two crawls.

    Measure which of them a run would have proposed when only the first crawl's links were known. Both files are
    tables like files/existing_links.csv; a relative path starts at the current folder. files/backtest.csv lists the
    place of each added link.
    """
    from internal_linker.faces.cli.output import print_rows
    from internal_linker.project.console import open_console

    print_rows(open_console(), "Links between the two tables", found.counts)
    heading = _heading(found.measurement, found.keep_anchors)
    _print_figures(f"{heading}; encoder {found.encoder}", found.measurement.rows)
    _print_meanings()
    open_console().print(" ".join(found.remarks) or "files/backtest.csv lists the place of each added link.")


def _heading(measurement: "Measurement", keep_anchors: bool) -> str:
    anchors = "kept" if keep_anchors else "removed"
    pages = counted(measurement.sources, "page")
    return f"{measurement.pairs} {measurement.links} from {pages}, anchors {anchors}"


def _print_agreement(found: "Agreement | None") -> None:
    from internal_linker.insight.evaluation.anchors import LENGTHS
    from internal_linker.project.console import open_console

    console = open_console()
    if found is None:
        console.print(f"{NO_ANCHORS}\n", soft_wrap=True)
        return
    console.print(
        f"{found.pairs} linked pairs of pages whose anchor is in the source's main content "
        f"({found.absent} others left out); means with 95% intervals",
        soft_wrap=True,
    )
    languages = {"": found, **found.by_language}
    console.print(" " * 40 + "".join(f"{name or 'all':24}" for name in languages).rstrip(), soft_wrap=True)
    for name, attribute in (
        ("token F1 of the first anchor", "f1"),
        ("the first anchor equals the editors'", "exact"),
        ("an anchor was found in the text", "found"),
        ("it is good enough to be proposed", "good"),
        ("anchors that stand at their place", "verbatim"),
    ):
        shares = "".join(f"{getattr(one, attribute)!s:24}" for one in languages.values())
        console.print(f"{name:40}{shares}".rstrip(), soft_wrap=True)
    console.print(
        "From 0 to 1; higher is better. Token F1: how many words both anchors have in common, 1 if all, 0 if none; the "
        "others are shares of the pairs.",
        soft_wrap=True,
    )
    console.print()
    console.print(f"{'words of an anchor':24}" + "".join(f"{words:>8}" for words in LENGTHS))
    for name, one in languages.items():
        of_language = f" ({name})" if name else ""
        _print_lengths(console, f"first anchors{of_language}", one.lengths)
        _print_lengths(console, f"editors' anchors{of_language}", one.editors_lengths)
    console.print()


def _print_proposals(found: "ProposedAnchors") -> None:
    from internal_linker.insight.evaluation.anchors import LENGTHS
    from internal_linker.insight.evaluation.hygiene import MOST_WORDS
    from internal_linker.project.console import open_console

    console = open_console()
    if not found.pairs:
        console.print("A run proposes no links, so there are no anchors to look at.", soft_wrap=True)
        return
    console.print(
        f"{found.pairs} links that a run proposes, {found.anchors} with an anchor in the text; "
        f"share with 95% interval {found.found}",
        soft_wrap=True,
    )
    console.print(f"{'words of an anchor':24}" + "".join(f"{words:>8}" for words in LENGTHS))
    _print_lengths(console, "first anchors", found.lengths)
    console.print()
    console.print(f"{'an anchor that ...':64}{'anchors':>8}")
    for flaw, count in found.hygiene.counts.items():
        console.print(f"{flaw.message:64}{count:>8}")
    console.print(f"{f'(for information) has more than {MOST_WORDS} words':64}{found.hygiene.long:>8}")
    for flaw, examples in found.hygiene.examples.items():
        some = ", ".join(f'"{shortened(anchor, 60)}"' for _, anchor, _ in examples[:2])
        console.print(f"{flaw.message}: {some}", soft_wrap=True)


def _print_lengths(console: "Console", name: str, shares: "Sequence[Estimate]") -> None:
    console.print(f"{name:24}" + "".join(f"{100 * share.mean:7.1f}%" for share in shares), soft_wrap=True)


def _as_json(measured: "AnchorEvaluation") -> str:
    import json

    agreement, proposals = measured.agreement, measured.proposals
    counts = {
        "linked_pairs": agreement.pairs if agreement else 0,
        "linked_pairs_left_out": agreement.absent if agreement else 0,
        "proposed_links": proposals.pairs,
        "anchors_in_text": proposals.anchors,
        "anchors_of_more_than_5_words": proposals.hygiene.long,
    }
    return json.dumps(counts | measured.records(), ensure_ascii=False, allow_nan=False)


def _print_figures(heading: str, rows: "Sequence[Row]") -> None:
    from internal_linker.project.console import open_console

    console = open_console()
    console.print(f"{heading}; means with 95% intervals")
    for line in _table(rows):
        console.print(line, soft_wrap=True)


def _print_meanings() -> None:
    from internal_linker.insight.evaluation.holdout import REACH
    from internal_linker.project.console import open_console

    console = open_console()
    console.print("All figures are from 0 to 1; higher is better. In brackets: 95% intervals.")
    for name, meaning in (
        (
            "Hit@5",
            "share of the pages with at least one of their hidden links among the first five proposals",
        ),
        ("Recall@5", "share of a page's hidden links among the first five proposals"),
        ("NDCG@5", "the same, but the first places count more; 1 if the best proposals are all hidden links"),
        (
            "MRR",
            "1 if a page's first proposal is a hidden link, 1/2 if only the second is, 1/3 the third, ...",
        ),
        (f"among {REACH}", f"share of the hidden links among the first {REACH} candidates"),
    ):
        console.print(f"  {name:10}{meaning}", soft_wrap=True)


def _print_adaptation(adaptation: "Adaptation | None", group: int = 0) -> None:
    """Print what the ranker gains, with the number of the group of new pages; 0 if there is only one."""
    from internal_linker.project.console import open_console
    from internal_linker.rank.adaptation import TOO_FEW

    name = f"Ranker, third {group}" if group else "Ranker"
    open_console().print(f"{name}: {adaptation or TOO_FEW}.", soft_wrap=True)


def _print_reliability(ranges: "Sequence[Range]") -> None:
    from internal_linker.project.console import open_console

    console = open_console()
    console.print(f"{'probability':16}{'expected':>10}{'links':>10}{'pairs':>10}")
    for part in ranges:
        bounds = f"{part.low:g} to {min(part.high, 1):g}"
        console.print(f"{bounds:16}{part.expected:>10.4f}{part.links:>10.4f}{part.pairs:>10}")
    console.print(
        "Probability: how probable it is that editors add the link, if they add any to the page. Expected: the mean "
        "probability of the pairs in this range; links: the share of them that are arrivals. Both should be close.",
        soft_wrap=True,
    )


def _table(rows: "Sequence[Row]") -> Iterator[str]:
    from internal_linker.insight.evaluation.holdout import REACH

    yield f"{'ranked by':38}" + "".join(
        f"{name:24}" for name in ("Hit@5", "Recall@5", "NDCG@5", "MRR", f"among {REACH}")
    )
    for row in rows:
        figures = (row.measured.hit, row.measured.recall, row.measured.ndcg, row.measured.mrr)
        yield f"{row.name:38}" + "".join(f"{each!s:24}" for each in figures) + f"{row.reach:.4f}"


@prints("calibrate", CalibrateOptions)
def calibrate(found: "Calibration", call: Call) -> None:
    """Find how well pages must fit for a related box.

    Sample weak and strong pairs of pages from all sections into files/labels.csv; write good, borderline or bad next
    to each. With 50 labels or more, the command prints which share of the pairs above each score is good, and
    proposes tier_sidebar. With fewer, it prints what to do next and how many of your existing links today's
    threshold would find. The scores are those of pages: a link without a place in the text has a third.
    """
    from internal_linker.project.console import open_console

    told = (
        _by_labels(found)
        if found.by_labels
        else _without_labels(found, call.project.settings, call.typed("calibrate"))
    )
    for line in (*found.remarks, _drawn(found), *told):
        open_console().print(line, soft_wrap=True)


def _drawn(found: "Calibration") -> str:
    there = f"files/labels.csv holds {counted(found.pairs, 'pair')}, {found.labelled} of them labelled"
    if not found.new:
        return f"{there}; none were added."
    return f"{there}; {found.new} {'is' if found.new == 1 else 'are'} new."


def _by_labels(found: "Calibration") -> Iterator[str]:
    from internal_linker.model.edges import score_of

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
        "would accept, the share with this score or more. tier_sidebar = 0.8 stands for score 80."
    )
    yield f"{'score':10}{'labels':8}{'good':22}{'good or borderline':22}{'recall of good':22}"
    columns = [
        map(_share, *(points[f"{name}{end}"] for end in ("", "_low", "_high")))
        for points, name in ((found.strict, "precision"), (found.mild, "precision"), (found.strict, "recall"))
    ]
    for one, *shares in zip(found.strict.itertuples(), *columns, strict=True):
        yield f"{score_of(one.threshold) or 0:<10}{one.pairs:<8}" + "".join(f"{share:22}" for share in shares)
    yield from _proposed(found)


def _without_labels(found: "Calibration", settings: "Settings", again: str) -> Iterator[str]:
    """Say what to do next, and how today's thresholds suit the existing links."""
    from internal_linker.model.edges import score_of
    from internal_linker.project.calibrate import LEAST_LABELS

    lacking = LEAST_LABELS - found.labelled
    yield (
        f"Next: open files/labels.csv, write good, borderline or bad into the column Label of {lacking} more "
        f"{'row' if lacking == 1 else 'rows'}, and start `{again}` again. It then prints how many links above each "
        "score are good, and proposes tier_sidebar."
    )
    yield f"Until then keep tier_sidebar = {settings.tier_sidebar:g}."
    if found.strict.empty:
        return
    yield "Of your existing links, each hidden while it was ranked:"
    point = found.strict.loc[(found.strict["threshold"] - settings.tier_sidebar).abs().idxmin()]
    yield f"  {point['recall']:.0%} have a score of at least {score_of(point['threshold'])} (tier_sidebar)"


def _share(share: float, low: float, high: float) -> str:
    return "-" if isnan(share) else f"{share:.3f} [{low:.2f}, {high:.2f}]"


def _proposed(found: "Calibration") -> Iterator[str]:
    from internal_linker.insight.evaluation.calibration import LEAST_PAIRS

    yield "For config/settings.toml:"
    if isnan(found.tier_sidebar):
        why = f"no score with {LEAST_PAIRS} pairs or more reaches the requested precision"
        yield f"# tier_sidebar: {why}. Label more pairs (--pairs), or request a lower precision."
    else:
        yield f"tier_sidebar = {found.tier_sidebar:g}"
