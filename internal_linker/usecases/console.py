"""Progress for people: a bar per step on a terminal, a line per step elsewhere, and lines in the log."""

import time
from collections import Counter
from collections.abc import Mapping

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from internal_linker.core.reasons import FewLinks, NoTarget, Reason
from internal_linker.pipeline.report import Report
from internal_linker.ranking.training import TOO_FEW
from internal_linker.usecases.log import LOGGER

# Of tiers, origins and sections, those with most decisions.
MOST_GROUPS = 12


def open_console(*, stderr: bool = False) -> Console:
    """A console that prints texts as they are: a query in square brackets is no markup, ":key:" no picture.

    Where there is no terminal, no line is broken: what reads it next knows no 80 columns.
    """
    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    console.soft_wrap = not console.is_terminal
    return console


class Reporter:
    """`ports.Progress` for people: a bar a step on a terminal, a line a step elsewhere, all of it logged."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._step, self._unit, self._began, self._done = "", "", 0.0, 0
        self._bar: Progress | None = None
        self._task = TaskID(0)

    def start(self, step: str, total: int, unit: str) -> None:
        """A step begins; where nobody knows how long it is, the bar only shows that it goes on."""
        self.close()
        self._step, self._unit, self._began, self._done = step, unit, time.monotonic(), 0
        LOGGER.info("%s: start%s", step, f", {total} {unit}" if total else "")
        if self.console.is_terminal:
            # The usual spinner's dots end a run on Windows consoles with a code page of their own.
            columns = [SpinnerColumn("line"), TextColumn("{task.description:<15}"), BarColumn()]
            known = MofNCompleteColumn(), TextColumn("{task.fields[speed]}")
            left = TextColumn("left"), TimeRemainingColumn()
            columns += [*known, TimeElapsedColumn(), *left] if total else [TimeElapsedColumn()]
            self._bar = Progress(*columns, console=self.console, transient=True)
            self._task = self._bar.add_task(step, total=total or None, speed="")
            self._bar.start()

    def advance(self, count: int = 1) -> None:
        """`count` more pieces are done."""
        self._done += count
        if self._bar:
            rate = self._done / max(time.monotonic() - self._began, 1e-3)
            self._bar.update(self._task, advance=count, speed=f"{rate:.1f} {self._unit}/s")

    def finish(self, outcome: str) -> None:
        """The step is done."""
        self.close()
        seconds = time.monotonic() - self._began
        LOGGER.info("%s: %s (%.1f s)", self._step, outcome, seconds)
        self.console.print(f"{self._step + ':':<16}{outcome} ({seconds:.1f} s)")

    def warn(self, message: str) -> None:
        """Something a person should know."""
        LOGGER.warning("%s", message)
        self.console.print(f"Note: {message}", style="yellow")

    def close(self) -> None:
        """Take a bar that is still shown from the terminal."""
        if self._bar:
            self._bar.stop()
            self._bar = None


def summary_rows(report: Report, seconds: Mapping[str, float], wanted: int) -> list[tuple[str, str]]:
    """The lines of a run's summary, name and value."""
    collected, searched, embedded = report.collected, report.searched, report.embedded
    origins: Counter[str] = Counter()
    reasons: Counter[Reason[FewLinks]] = Counter()
    for each in report.recommendations:
        origins.update(link.origin for link in each.links)
        if each.shortage:
            reasons[each.shortage.reason] += 1
    rows = [
        ("Run", report.run_id),
        ("Pages", str(len(collected.pages))),
        ("Main queries", str(sum(bool(source.query) for source in collected.sources))),
        ("Rows with links wanted", str(len(report.recommendations))),
        ("Rows rejected / merged", f"{len(collected.rejects)} / {collected.merged_rows}"),
        ("Existing links / rows left out", f"{collected.inner_links} / {collected.skipped_links}"),
        ("SERP calls / credits", f"{searched.calls} / {searched.credits}"),
        ("SERP pages from the cache", str(searched.cached_pages)),
        ("Search results below serp_floor / dropped", f"{report.below_floor} / {report.dropped}"),
        ("Texts embedded / from the cache", f"{embedded.encoded} / {embedded.cached}"),
        ("Tokens / cost", f"{embedded.usage.tokens} / ${embedded.usage.cost_usd:.4f}"),
        ("Links by search / by similarity", f"{origins['serp']} / {origins['semantic']}"),
        *_graph_rows(report),
        ("Pages compared", str(report.joined or "each when its turn came")),
        (f"Rows with fewer than {wanted} links", str(reasons.total())),
    ]
    rows += [(f"  {reason}", str(count)) for reason, count in sorted(reasons.items())]
    rows.append(("Excluded targets", _by_reason(report.excluded)))
    if report.listed:
        twins, orphans = report.listed.duplicates, report.listed.orphans
        rows.append(("Near-duplicates", _listed(len(twins), "pair", "duplicates.csv")))
        unknown = "not known without existing links"
        rows.append(("Orphans", unknown if orphans is None else _listed(len(orphans), "page", "orphans.csv")))
    rows.append(("Ranker", str(report.lesson or TOO_FEW)))
    timing = ", ".join(f"{step} {value:.1f}" for step, value in seconds.items())
    return [*rows, ("Seconds", timing)]


def _graph_rows(report: Report) -> list[tuple[str, str]]:
    """What is remembered of links, and what editors made of them."""
    if report.memory is None:
        return []
    counts = ((name, report.memory.tiers[name]) for name in ("inline", "sidebar", "review"))
    rows = [
        ("Links by tier", ", ".join(f"{count} {name}" for name, count in counts)),
        *_rephrased(report),
        ("Links remembered", ", ".join(f"{n} {name}" for name, n in sorted(report.memory.statuses.items()))),
    ]
    for each in report.accepted[:MOST_GROUPS]:
        name = {"all": "Accepted by editors"}.get(each.by, f"  of {each.by} {each.name or 'of queries'}")
        if each.decided:
            rows.append((name, f"{each.rate:.0%} ({each.accepted} of {each.decided} decided)"))
    return rows


def _rephrased(report: Report) -> list[tuple[str, str]]:
    if not (chat := report.rephrased):
        return []
    return [("Anchors by the model / tokens", f"{chat.chosen} of {chat.asked} asked for / {chat.tokens}")]


def _by_reason(excluded: Mapping[Reason[NoTarget], int]) -> str:
    """The counts in one line, the largest first."""
    ranked = sorted(excluded.items(), key=lambda item: (-item[1], item[0]))
    counts = ", ".join(f"{count} {reason}" for reason, count in ranked)
    return f"{counts} (files/excluded_targets.csv)" if counts else "none"


def _listed(count: int, thing: str, file: str) -> str:
    return f"{count} {thing}{'s' if count > 1 else ''} (files/{file})" if count else "none"
