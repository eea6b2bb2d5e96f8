"""A crawler's exports in place of a project's tables, for commands that only compare pages."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from internal_linker.adapters.tables.csv_reader import CsvTable
from internal_linker.core.errors import InputError
from internal_linker.core.ports import Progress
from internal_linker.core.sequences import counted
from internal_linker.ingest.crawl_filters import Filters
from internal_linker.ingest.import_crawl import import_tables, recognise, told_reasons
from internal_linker.ingest.sources import crawl_tables, import_places, link_spool
from internal_linker.usecases.project import Project


@contextmanager
def compared_site(project: Project, files: Sequence[Path], progress: Progress) -> Iterator[Project]:
    """Yield the project with the pages and links of these files in place of its own; without files, as it is.

    The files are what `import` takes: exports of pages and links, saved pages and folders of them.

    Raises:
        InputError: a file can't be read, or no file has pages.
    """
    if not files:
        yield project
        return
    name = ", ".join(path.name for path in files)
    with TemporaryDirectory(prefix="internal-linker-", ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        with link_spool(place) as links, import_places(place) as (places, _):
            tables = recognise(crawl_tables(files, "", links), "", "", progress)
            done = import_tables(tables, Filters(), places, progress, hosts=project.settings.hosts)
        if done.pages is None:
            raise InputError(f"{name}: no table of pages. Name an export with one row per page as well.")
        if done.rejected:
            progress.warn(f"{name}: {counted(done.rejected, 'row')} rejected: {told_reasons(done.reasons)}.")
        given = {"urls_rawdata.csv": done.pages, "existing_links.csv": done.links, "main_queries.csv": None}
        yield replace(
            project,
            tables={table: CsvTable(place / table, name) if rows else None for table, rows in given.items()},
        )
