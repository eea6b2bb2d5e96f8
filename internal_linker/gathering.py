"""The input's tables -> what a run knows of the site; rows that can't be used go to the list of rejected rows."""

from dataclasses import replace

from internal_linker.errors import InputError
from internal_linker.ports import Progress, RejectSink, StreamSource, TableSource
from internal_linker.records import Collected, Table
from internal_linker.steps.collect import collect
from internal_linker.steps.language import page_languages
from internal_linker.steps.links import add_links, doubt


def gather(
    queries: TableSource | None,
    pages: TableSource | None,
    links: StreamSource | None,
    rejects: RejectSink | None,
    *,
    queries_in_sheet: bool,
    progress: Progress,
) -> Collected:
    """Read all tables; None stands for one that the user does not have, and for no list of rejected rows.

    Raises:
        InputError: a table can't be read, lacks a column, or not one row of them can be used.
        ServiceError: the service that a table comes from failed.
    """
    collected = collect(_read(queries, progress), _read(pages, progress), queries_in_sheet=queries_in_sheet)
    collected = with_links(_with_languages(collected), links, progress)
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
    if links is None:
        return add_links(collected, None)
    table = links.stream()
    for remark in links.remarks:
        progress.warn(remark)
    collected = add_links(collected, table)
    if sentence := doubt(collected, links.name):
        progress.warn(sentence)
    return collected


def _read(source: TableSource | None, progress: Progress) -> Table | None:
    if source is None:
        return None
    table = source.read()
    for remark in source.remarks:
        progress.warn(remark)
    return table


def _with_languages(collected: Collected) -> Collected:
    """With the language of each page that has none in its row, as far as its text tells."""
    texts = [f"{page.title}\n{page.content}" for page in collected.pages]
    languages = page_languages(texts, [page.lang for page in collected.pages])
    pages = {
        page.key: page if page.lang else replace(page, lang=language)
        for page, language in zip(collected.pages, languages, strict=True)
    }
    sources = (replace(each, page=pages[each.key]) if each.page else each for each in collected.sources)
    return replace(collected, pages=tuple(pages.values()), sources=tuple(sources))


def _nothing_to_do(names: list[str]) -> str:
    if names:
        return f"{' and '.join(names)}: not one row can be used. files/rejected_rows.csv says why for each."
    return (
        "There is no input. Put your pages into files/urls_rawdata.csv (URL, Title, Main Content) "
        "and your queries into files/main_queries.csv (URL, Main Query) or a Google Sheet."
    )
