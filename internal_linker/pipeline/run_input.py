"""The input of a run: the site's pages and links, the rows that get links, and where links may lead."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from internal_linker.core.ports import Progress
from internal_linker.core.records import Address, Choice, Collected, Source, Targets, Text
from internal_linker.core.sequences import counted
from internal_linker.embeddings.embed import all_texts
from internal_linker.ingest.collect import gather
from internal_linker.pipeline.context import Rules, RunContext
from internal_linker.pipeline.prepared import Prepared, Remarked
from internal_linker.pipeline.rows import Rows, misspelled, require_scope, rows_of
from internal_linker.ranking.selection import link_targets
from internal_linker.review.link_memory import Memory


@dataclass(frozen=True)
class RunInput:
    """The input of a run.

    Attributes:
        collected: the site's pages, queries and existing links.
        rows: the rows that get links, and those that get none.
        targets: where links may lead.
    """

    collected: Collected
    rows: Rows
    targets: Targets

    @property
    def sources(self) -> Sequence[Source]:
        """The rows that get links, in the input's order."""
        return self.rows.sources

    def texts(self) -> Sequence[Text]:
        """Return the whole text of every page, then of every source without a page."""
        queries = [source.query for source in self.sources if source.page is None]
        return all_texts(self.collected.pages, self.collected.queries, queries)

    def without_rejected(self, memory: Memory | None) -> "RunInput":
        """Return the input without the links that editors rejected as targets."""
        if memory is None:
            return self
        rejected = memory.decided.rejected_at_ends(self.collected.aliases)
        return replace(self, targets=replace(self.targets, rejected=rejected))


def read_input(
    context: RunContext,
    rules: Rules,
    choice: Choice,
    progress: Progress,
    *,
    prepared: Prepared,
    keep_rejects: bool = False,
) -> RunInput:
    """Read the input, from the index if that has it.

    Args:
        context: has the input tables.
        rules: which pages get links, and where links may lead.
        choice: which rows to take.
        progress: the display of the step.
        prepared: the index.
        keep_rejects: whether the rejected rows are written to their list.

    Raises:
        InputError: the input can't be used.
        ConfigurationError: an option names a section without a page.
        ServiceError: the input can't be read from its service.
    """
    progress.start("Input", 0, "rows")
    collected = collected_site(context, prepared, Remarked(context.rejects) if keep_rejects else None)
    require_scope(collected, rules, searching=context.serp is not None, warn=progress.warn)
    targets = prepared.targets(lambda: site_targets(collected, rules, collected.addresses, collected.linked))
    rows = rows_of(
        collected,
        choice,
        renewed=rules.renewed,
        scope=rules.scope,
        wanted=rules.linking.links_per_page,
    )
    queried = sum(map(bool, collected.source_queries))
    progress.finish(
        f"{counted(len(collected.pages), 'page')}, {counted(queried, 'query', 'queries')}, "
        f"{counted(len(targets.known), 'possible target')}, "
        f"{counted(collected.inner_links, 'existing link')}, "
        f"{counted(len(collected.rejects), 'row')} rejected, {collected.merged_rows} merged"
    )
    # A lookup tells of its own URL only.
    misspelt = misspelled(rows.sources, collected.pages) if context.sinks else ""
    for notice in filter(None, [*context.notices, misspelt]):
        progress.warn(notice)
    if (count := len(rows.without)) and not choice.only:
        many = f"{count} rows of the main queries get" if count > 1 else "1 row of the main queries gets"
        progress.warn(f"{many} no links: Note in Output.csv says why.")
    return RunInput(collected, rows, targets)


def collected_site(context: RunContext, prepared: Prepared, rejects: Remarked | None = None) -> Collected:
    """Return what the input tables say of the site, from the index if that has it.

    Args:
        context: has the tables.
        prepared: the index.
        rejects: takes the rejected rows; None: they are not listed.
    """
    return prepared.collected(
        lambda progress: gather(
            context.queries,
            context.pages,
            context.links,
            rejects,
            queries_in_sheet=context.queries_in_sheet,
            progress=progress,
            keep=context.keep,
            hosts=context.hosts,
        ),
        rejects,
    )


def site_targets(
    site: Collected,
    rules: Rules,
    listed: Iterable[Address],
    linked: Mapping[str, Collection[str]],
) -> Targets:
    """Return which of these pages of the site links may lead to."""
    return link_targets(
        listed,
        rules.search.excluded,
        any_on_site=rules.any_on_site,
        linked=linked,
        aliases=site.aliases,
        hosts=site.hosts,
        sections=rules.scope.targets,
    )
