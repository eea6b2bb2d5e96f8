"""A project -> how many of its editors' links each way of ranking finds again, as a table for a person."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from internal_linker.core.arrays import Vectors, unit_rows
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.records import Collected, ExistingLink, Targets, Text
from internal_linker.embeddings.embed import embed, encodable
from internal_linker.evaluation.anchors import agreement
from internal_linker.evaluation.backtest import Changes, as_it_was, backtest, compare, placed
from internal_linker.evaluation.holdout import HIDINGS, REACH, Hidden, Row, evaluate, hide
from internal_linker.ingest.collect import gather, with_links
from internal_linker.pipeline.context import Parts
from internal_linker.ranking.selection import link_targets
from internal_linker.ranking.training import TOO_FEW, Lesson
from internal_linker.serp.search import search_cached
from internal_linker.usecases.console import Reporter, open_console, print_rows
from internal_linker.usecases.project import Project

COLD_HEADING = "hidden links to new pages (a fifth of all, none of whose in-links is known)"
NO_COLD_LINKS = (
    "There is no table for new pages: none of the links leads to the fifth of the pages that stands for them."
)


def evaluate_project(project: Project, hiding: str, keep_anchors: bool) -> None:
    """Hide links, rank, and print both tables; nothing is written but vectors to the cache.

    Raises:
        ConfigurationError: an option has no such value.
        InputError: there are no pages, or no links to hide.
    """
    if hiding not in ("all", "half"):
        raise ConfigurationError(f"--hide {hiding}: there is no such choice. Take all or half.")
    with opened(project) as (parts, reporter):
        collected = gather(
            *(parts.queries, parts.pages, parts.links, None),
            queries_in_sheet=False,
            progress=reporter,
            keep=parts.keep,
        )
        sites = {"hidden links": hide(collected, HIDINGS[hiding], cut_anchors=not keep_anchors)}
        with suppress(InputError):
            sites[COLD_HEADING] = hide(collected, HIDINGS["cold"], cut_anchors=not keep_anchors)
        tables = []
        for heading, site in sites.items():
            targets = targets_of(project, collected, site.visible)
            vectors = encoding(site, parts, reporter)
            rules = project.rules()
            searched = search_cached(site.sources, project.market, parts.serp_cache, targets, rules.search)
            rows, lesson = evaluate(
                site, targets, vectors, rules.linking, searched=searched, progress=reporter
            )
            tables.append((site, heading, rows, lesson))
    for site, heading, rows, lesson in tables:
        _print_figures(f"{_asked(site, heading, keep_anchors)}; encoder {parts.encoder.name}", rows)
        _print_lesson(lesson)
    if COLD_HEADING not in sites:
        open_console().print(NO_COLD_LINKS, soft_wrap=True)


def evaluate_anchors(project: Project) -> None:
    """Propose anchors for the links that editors made, and print how far they agree with the editors'.

    Raises:
        InputError: there are no pages, or no anchors in them.
    """
    with opened(project) as (parts, reporter):
        tables = parts.queries, parts.pages, parts.links, None
        collected = gather(*tables, queries_in_sheet=False, progress=reporter, keep=parts.keep)
        found = agreement(collected)
    console = open_console()
    console.print(
        f"{found.pairs} linked pairs of pages whose anchor stands in the source's main content "
        f"({found.absent} others left out); means with 95% intervals",
        soft_wrap=True,
    )
    for name, share in (
        ("an anchor overlaps the editors'", found.overlap),
        ("the first anchor does", found.first),
        ("an anchor is the editors' own", found.exact),
        ("an anchor stands in the text", found.found),
        ("of these, can be inserted as they are", found.verbatim),
    ):
        console.print(f"{name:40}{share!s}")


def backtest_project(project: Project, before: Path, after: Path, keep_anchors: bool) -> None:
    """Rank with the links of one table, print how many of those added since are found, and list them.

    Nothing is written but files/backtest.csv, and vectors to the cache.

    Raises:
        ConfigurationError: both tables are one file.
        InputError: a table can't be read, there are no pages, or no link to look for.
        OutputError: the list can't be written.
    """
    if before.resolve() == after.resolve():
        raise ConfigurationError(
            f"--before and --after are the same file ({before}). Give the links of two dates."
        )
    with opened(project) as (parts, reporter):
        collected = gather(
            None, parts.pages, None, None, queries_in_sheet=False, progress=reporter, keep=parts.keep
        )
        # The links in the pages' own HTML may be younger than the earlier table: nobody may know them.
        bare = replace(collected, links=())
        tables = [with_links(bare, project.link_table(path), reporter) for path in (before, after)]
        earlier, later = (table.links for table in tables)
        targets = targets_of(project, bare, earlier)
        changes = compare(bare, earlier, later, targets)
        site = as_it_was(bare, earlier, changes, cut_anchors=not keep_anchors)
        rows, orders = backtest(
            site, targets, encoding(site, parts, reporter), project.rules().linking, reporter
        )
    print_rows(open_console(), "Links between the two tables", list(_counts(bare, tables, changes)))
    _print_figures(f"{_asked(site, 'added links', keep_anchors)}; encoder {parts.encoder.name}", rows)
    remarks = project.backtest_csv().write(placed(changes, bare.pages, orders))
    open_console().print(" ".join(remarks) or "The place of each of them is in files/backtest.csv.")


@contextmanager
def opened(project: Project) -> Iterator[tuple[Parts, Reporter]]:
    """What a command that measures works with, its progress on stderr; no search is paid for."""
    with (
        closing(Reporter(open_console(stderr=True))) as reporter,
        project.parts(reporter, serp=False, deliver=False) as parts,
    ):
        yield parts, reporter


def targets_of(project: Project, collected: Collected, links: Sequence[ExistingLink]) -> Targets:
    """Where links may lead, with these links known."""
    excluded = project.rules().search.excluded
    return link_targets(
        collected.pages,
        collected.sources,
        excluded,
        any_on_site=False,
        links=links,
        aliases=collected.aliases,
    )


def encoding(site: Hidden, parts: Parts, reporter: Reporter) -> Callable[[Sequence[Text]], Vectors]:
    """What gives the vectors of the site's texts, (n, d) unit rows, zeros where there is none."""

    def vectors(texts: Sequence[Text]) -> Vectors:
        known, _ = encodable(texts, [page.lang for page in site.pages], parts.encoder)
        embedded = embed(known, parts.encoder, parts.vector_cache, reporter)
        if embedded.problem:
            reporter.warn(f"{embedded.problem} Without all vectors, the figures are not those of a run.")
        return unit_rows(embedded.vectors)

    return vectors


def _counts(bare: Collected, tables: Sequence[Collected], changes: Changes) -> Iterator[tuple[str, str]]:
    links = (len({(link.source, link.target) for link in table.links}) for table in tables)
    yield "Links in the pages' text, before / after", " / ".join(map(str, links))
    skipped = (table.skipped_links for table in tables)
    yield "Rows left out (menus, images, ...)", " / ".join(map(str, skipped))
    rejected = (len(table.rejects) - len(bare.rejects) for table in tables)
    yield "Rows rejected (no URL)", " / ".join(map(str, rejected))
    yield "Removed", str(changes.removed)
    yield "Added", str(changes.added)
    yield "  between two listed pages of one language", str(changes.inner)
    for reason, count in sorted(changes.left_out.items()):
        yield f"  left out: {reason}", str(count)


def _asked(site: Hidden, which: str, keep_anchors: bool) -> str:
    anchors = "kept" if keep_anchors else "removed"
    return f"{site.pairs} {which} from {len(site.truth)} pages, anchors {anchors}"


def _print_figures(heading: str, rows: Sequence[Row]) -> None:
    console = open_console()
    console.print(f"{heading}; means with 95% intervals")
    for line in _table(rows):
        console.print(line, soft_wrap=True)


def _print_lesson(lesson: Lesson | None) -> None:
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


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield f"{'ranked by':38}" + "".join(
        f"{name:24}" for name in ("Hit@5", "Recall@5", "NDCG@5", "MRR", f"among {REACH}")
    )
    for row in rows:
        figures = (row.measured.hit, row.measured.recall, row.measured.ndcg, row.measured.mrr)
        yield f"{row.name:38}" + "".join(f"{each!s:24}" for each in figures) + f"{row.reach:.4f}"
