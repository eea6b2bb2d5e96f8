"""The input's tables -> what a run knows of the site; rows that can't be used go to the list of rejected rows."""

from collections.abc import Callable

from internal_linker.core.errors import InputError
from internal_linker.core.ports import Progress, RejectSink, StreamSource
from internal_linker.core.records import Collected, StoredText, TableStream
from internal_linker.ingest.collect import collect
from internal_linker.ingest.existing_links import add_links, doubt
from internal_linker.text.language import page_languages


def gather(
    queries: StreamSource | None,
    pages: StreamSource | None,
    links: StreamSource | None,
    rejects: RejectSink | None,
    *,
    queries_in_sheet: bool,
    progress: Progress,
    keep: Callable[[str], str | StoredText] = str,
) -> Collected:
    """Read all tables; None stands for one that the user does not have, and for no list of rejected rows.

    The pages' contents go to `keep`, row by row; a page whose row has no language gets that of its text.

    Raises:
        InputError: a table can't be read, lacks a column, or not one row of them can be used.
        OutputError: the contents find no room.
        ServiceError: the service that a table comes from failed.
    """
    collected = collect(
        _opened(queries, progress),
        _opened(pages, progress),
        queries_in_sheet=queries_in_sheet,
        keep=keep,
        languages=page_languages,
    )
    collected = with_links(collected, links, progress)
    if rejects and (queries or pages):
        for remark in rejects.write(collected.rejects):
            progress.warn(remark)
    if not collected.sources:
        raise InputError(_nothing_to_do([table.name for table in (queries, pages) if table]))
    return collected


def with_links(collected: Collected, links: StreamSource | None, progress: Progress) -> Collected:
    """Add the links of a table, and tell what is unusual about it.

    Raises:
        InputError: it can't be read, or has no column for a link's source or destination.
    """
    collected = add_links(collected, _opened(links, progress))
    if links and (sentence := doubt(collected, links.name)):
        progress.warn(sentence)
    return collected


def _opened(source: StreamSource | None, progress: Progress) -> TableStream | None:
    if source is None:
        return None
    table = source.stream()
    for remark in source.remarks:
        progress.warn(remark)
    return table


def _nothing_to_do(names: list[str]) -> str:
    if names:
        return f"{' and '.join(names)}: not one row can be used. files/rejected_rows.csv says why for each."
    return (
        "There is no input. Put your pages into files/urls_rawdata.csv (URL, Title, Main Content) "
        "and your queries into files/main_queries.csv (URL, Main Query) or a Google Sheet."
    )
