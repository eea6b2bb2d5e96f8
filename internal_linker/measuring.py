"""A project -> how many of its editors' links each way of ranking finds again, as a table for a person."""

from collections.abc import Iterator, Sequence

from internal_linker.embedding import embed, encodable
from internal_linker.errors import ConfigurationError
from internal_linker.evaluating import REACH, Row, evaluate, hide
from internal_linker.gathering import gather
from internal_linker.records import Text, Vectors
from internal_linker.steps.select import link_targets
from internal_linker.terminal import Reporter, open_console
from internal_linker.wiring import Project


def evaluate_project(project: Project, hiding: str, anchors: str) -> None:
    """Hide links, rank, and print the table; nothing is written but vectors to the cache.

    Raises:
        ConfigurationError: an option has no such value.
        InputError: there are no pages, or no links to hide.
    """
    for name, value, known in (
        ("--hide", hiding, ("all", "half")),
        ("--anchors", anchors, ("removed", "kept")),
    ):
        if value not in known:
            raise ConfigurationError(
                f"{name} {value}: there is no such choice. Take {known[0]} or {known[1]}."
            )
    reporter = Reporter(open_console(stderr=True))
    rules = project.rules()
    with project.parts(serp=False, deliver=False) as parts:
        try:
            collected = gather(
                None, parts.pages, parts.links, None, queries_in_sheet=False, progress=reporter
            )
            site = hide(collected, half=hiding == "half", cut_anchors=anchors == "removed")
            targets = link_targets(
                collected.pages,
                collected.sources,
                rules.search.excluded,
                False,
                site.visible,
                collected.aliases,
            )

            def vectors(texts: Sequence[Text]) -> Vectors:
                known, _ = encodable(texts, [page.lang for page in site.pages], parts.encoder)
                return embed(known, parts.encoder, parts.vector_cache, reporter).vectors

            rows = evaluate(site, targets, vectors, rules.linking)
        finally:
            reporter.close()
    console = open_console()
    console.print(
        f"{site.pairs} hidden links of {len(site.truth)} pages, anchors {anchors}; "
        f"encoder {parts.encoder.name}; means with 95% intervals"
    )
    for line in _table(rows):
        console.print(line, soft_wrap=True)


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield f"{'ranked by':38}" + "".join(
        f"{name:24}" for name in ("Hit@5", "Recall@5", "NDCG@5", "MRR", f"among {REACH}")
    )
    for row in rows:
        figures = (row.measured.hit, row.measured.recall, row.measured.ndcg, row.measured.mrr)
        yield f"{row.name:38}" + "".join(f"{each!s:24}" for each in figures) + f"{row.reach:.4f}"
