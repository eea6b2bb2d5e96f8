"""A run's progress and results -> bars and tables on a terminal, plain lines elsewhere, lines in the log."""

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence

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
from rich.table import Table

from internal_linker.adapters.files.plain_text import shortened
from internal_linker.core.briefs import BriefLink, BriefLinks
from internal_linker.core.reasons import FewLinks, NoTarget, Reason
from internal_linker.core.records import Candidate, Recommendation
from internal_linker.pipeline.report import Plan, Report
from internal_linker.ranking.training import TOO_FEW
from internal_linker.usecases.log import LOGGER

# Of tiers, origins and sections, those with most decisions.
MOST_GROUPS = 12
# Of pages that are like a new one.
MOST_LIKE = 5


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
        self.seconds: dict[str, float] = {}
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
        self.seconds[self._step] = self.seconds.get(self._step, 0.0) + seconds
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


def summary_rows(report: Report, seconds: dict[str, float], wanted: int) -> list[tuple[str, str]]:
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


def print_summary(console: Console, rows: Sequence[tuple[str, str]]) -> None:
    """The summary as a table, and line by line in the log."""
    for name, value in rows:
        LOGGER.info("Summary: %s: %s", name.strip(), value)
    print_rows(console, "Summary", rows)


def print_plan(console: Console, plan: Plan) -> None:
    """What a run would do."""
    rows = [
        ("Pages", str(len(plan.collected.pages))),
        ("Rows with links wanted", str(plan.sources)),
        ("Rows rejected / merged", f"{len(plan.collected.rejects)} / {plan.collected.merged_rows}"),
        ("Searches", str(plan.searches)),
        ("SERP credits", f"{plan.least_credits} to {plan.most_credits}"),
        ("Texts to embed / in the cache", f"{plan.texts} / {plan.cached_texts}"),
        ("Tokens / cost", f"{plan.usage.tokens} / ${plan.usage.cost_usd:.4f}"),
        ("Rows of the Sheet to write", str(plan.sheet_rows)),
        ("Rows of files/Output.csv to write", str(plan.sources)),
    ]
    print_rows(console, "Dry run: nothing was spent or written", rows)


def print_links(console: Console, recommendation: Recommendation) -> None:
    """The links of one page or query, with the reason for each; no table, since it would cut the URLs."""
    console.print(f"Links for {recommendation.source.name}")
    for link in recommendation.links:
        console.print(f"{link.rank:>2}  {link.target.url}  ({_reason(link.target)})", soft_wrap=True)
    if recommendation.note:
        console.print(f"Note: {recommendation.note}")


def _reason(target: Candidate | BriefLink) -> str:
    origin = f"search, rank {target.serp_rank}" if target.serp_rank else "similarity"
    figures = (
        ("score", target.score),
        ("embedding", target.similarity),
        ("words", target.lexical),
        ("probability", target.probability),
    )
    return origin + "".join(f", {name} {value:.2f}" for name, value in figures if not math.isnan(value))


def print_brief(console: Console, brief: BriefLinks) -> None:
    """The links of a page that does not exist yet, both ways, with texts for them."""
    for page in brief.like[:MOST_LIKE]:
        cosine = "" if math.isnan(page.similarity) else f", embedding {page.similarity:.2f}"
        console.print(f"There already: {page.url}  ({page.why}{cosine})", soft_wrap=True)
    if len(brief.like) > MOST_LIKE:
        console.print(f"... and {len(brief.like) - MOST_LIKE} more: --json names all.")
    name = shortened(brief.title, 100)
    console.print(f"{name} should link to", soft_wrap=True)
    for link in brief.links_to:
        _print_link(console, link, link.target)
    console.print(f"{name} should be linked to by", soft_wrap=True)
    for link in brief.links_from:
        _print_link(console, link, link.source)
    for note in brief.notes:
        console.print(f"Note: {note}", soft_wrap=True)


def _print_link(console: Console, link: BriefLink, url: str) -> None:
    console.print(f"{link.rank:>2}  {url}  ({_reason(link)})", soft_wrap=True)
    if link.anchor:
        texts = [link.anchor, *(other.text for other in link.more_anchors)]
        told = " | ".join(f'"{shortened(text, 100)}"' for text in texts)
        where = "in" if link.verbatim else "to be written, perhaps in"
        place = f"  {where}: {shortened(link.sentence, 200)}" if link.sentence else ""
        console.print(f"    {told}{place}", soft_wrap=True)


def _by_reason(excluded: Mapping[Reason[NoTarget], int]) -> str:
    """The counts in one line, the largest first."""
    ranked = sorted(excluded.items(), key=lambda item: (-item[1], item[0]))
    counts = ", ".join(f"{count} {reason}" for reason, count in ranked)
    return f"{counts} (files/excluded_targets.csv)" if counts else "none"


def _listed(count: int, thing: str, file: str) -> str:
    return f"{count} {thing}{'s' if count > 1 else ''} (files/{file})" if count else "none"


def print_columns(console: Console, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on a terminal; elsewhere a line a row, its cells divided by tabs."""
    if not console.is_terminal:
        # Past the console, which would turn tabs into spaces.
        console.file.writelines("\t".join(row) + "\n" for row in (header, *rows))
        return
    table = Table(*header)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def print_rows(console: Console, title: str, rows: Sequence[tuple[str, str]]) -> None:
    """Names and values: a table on a terminal, a line each elsewhere."""
    if not console.is_terminal:
        console.print(title)
        for name, value in rows:
            console.print(f"  {name}: {value}")
        return
    table = Table(title=title, show_header=False)
    for row in rows:
        table.add_row(*row)
    console.print(table)
