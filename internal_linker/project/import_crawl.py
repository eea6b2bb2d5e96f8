"""Import a crawl: make files/urls_rawdata.csv and files/existing_links.csv of exports, saved pages or a site."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from internal_linker.model.canonical_hosts import CanonicalHosts, host_map
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.ports import Progress, StreamSource
from internal_linker.model.sections import NamedSections, SectionFilter, Sections, SectionUse
from internal_linker.model.sequences import counted
from internal_linker.project.capabilities import capability
from internal_linker.project.options.imports import SOURCES, ImportOptions
from internal_linker.project.project import Project
from internal_linker.project.settings.accounts import exposed_keys, site_accesses, unencrypted_sites
from internal_linker.project.wordpress import account_for
from internal_linker.sources.crawl import CrawlTable
from internal_linker.sources.crawl_filters import Filters, address_reason
from internal_linker.sources.import_crawl import Imported, import_tables, recognise, told_reasons
from internal_linker.sources.import_sources import SiteReader, crawl_tables, import_places, site_tables
from internal_linker.sources.sites import site_sources
from internal_linker.sources.tables.columns import Kind, display
from internal_linker.sources.tables.csv_reader import CsvTable
from internal_linker.sources.web.access import SiteAccess
from internal_linker.sources.web.client import SiteClient
from internal_linker.sources.web.page_table import LinkSpool

NO_CONTENT = (
    "No file contains the pages' text, but a run needs a column 'Main Content': let your crawler extract it and import "
    "again, or name the column with --content-column. clusters, pairs and audit work without it."
)


@dataclass(frozen=True)
class CrawlImport:
    """An import that is ready to start: what the files hold is recognised, nothing is fetched or written."""

    project: Project  # whose files/ are written
    options: ImportOptions  # what to import
    progress: Progress  # shows the steps
    tables: Sequence[CrawlTable]  # the tables of the given files, with the columns that were recognised
    links: LinkSpool  # keeps the links of saved pages until all pages were read

    def execute(self) -> Imported:
        """Fetch what is to be fetched, filter, and write; files that change are copied aside first.

        Raises:
            InternalLinkerError: it could not be done; files/ is as it was.
        """
        options, files = self.options, self.project.root / "files"
        use = SectionUse(_named_sections(options))
        filters = filters_of(options, use.note)
        tables = list(self.tables)
        with ExitStack() as stack:
            stack.enter_context(self.project.lock())
            places, keeping = stack.enter_context(import_places(files))
            if options.fetches:
                reader = stack.enter_context(self._reader(filters))
                fetched = list[StreamSource]()
                if options.sitemap or options.urls:
                    fetched += site_tables(options.sitemap, options.urls, reader)
                for name, address in options.sites.items():
                    fetched += site_sources()[name].read(address, reader)
                tables += recognise(fetched, "", "", self.progress)
            done = import_tables(
                tables,
                filters,
                places,
                self.progress,
                partial(use.verify, self.progress.warn),
                hosts=self.hosts,
            )
            if done.pages and display(Kind.CONTENT) not in done.page_columns:
                self.progress.warn(NO_CONTENT)
            return replace(done, tables_read=tables, copies=[copy.name for copy in keeping.copies])

    @property
    def hosts(self) -> CanonicalHosts:
        """The hosts that stand for others, by the settings and the options.

        Raises:
            ConfigurationError: an option is not a mapping of hosts.
        """
        try:
            return CanonicalHosts(host_map([*self.project.settings.map_hosts, *self.options.map_host]))
        except ValueError as error:
            raise ConfigurationError(f"--map-host {error}.") from None

    @contextmanager
    def _reader(self, filters: Filters) -> Iterator[SiteReader]:
        options = self.options
        client = SiteClient(options.delay, allow_private=options.allow_private, access=self._access())
        with self.project.page_cache() as cache, closing(client):
            yield SiteReader(
                client,
                partial(account_for, self.project, progress=self.progress),
                partial(address_reason, filters=filters),
                options.limit,
                cache,
                self.links,
                self.progress,
            )

    def _access(self) -> Mapping[str, SiteAccess]:
        """Return what protected sites need; warn if others could read it."""
        access = site_accesses(self.project.settings.site_access.get_secret_value())
        if access:
            for sentence in chain(exposed_keys(self.project.root), unencrypted_sites(access)):
                self.progress.warn(sentence)
        return access


@contextmanager
def prepared_import(project: Project, options: ImportOptions, progress: Progress) -> Iterator[CrawlImport]:
    """Look at the given files and recognise their columns.

    Raises:
        ConfigurationError: neither files nor a site nor a list of URLs are given.
        InputError: a file can't be read, or a named column is missing.
    """
    if not options.pages:
        raise ConfigurationError(f"Nothing to import: name {', '.join(SOURCES[:-1])} or {SOURCES[-1]}.")
    with LinkSpool(project.root / "files") as links:
        sources = crawl_tables(options.files, options.base_url, links, options.sheets)
        tables = recognise(sources, options.url_column, options.content_column, progress)
        prepared = CrawlImport(project, options, progress, tables, links)
        _ = prepared.hosts  # a wrong mapping is said before a person is asked about the columns
        yield prepared


@capability(positional=("files",))
def import_crawl(project: Project, options: ImportOptions, progress: Progress) -> Imported:
    """Make files/urls_rawdata.csv and files/existing_links.csv, as the command `import` does without asking.

    Returns:
        `.pages`, `.links` and other counts, in `.gaps` what is missing because a site failed, and the DataFrames
        `.frames["counts"]` and `.frames["columns"]`.

    Raises:
        InternalLinkerError: it could not be done; files/ is as it was.
    """
    with prepared_import(project, options, progress) as prepared:
        return prepared.execute()


def _named_sections(options: ImportOptions) -> list[NamedSections]:
    # A limit ends the fetching before all pages of the site are seen.
    every = not (options.limit and options.fetches)
    names = (
        *("include", "exclude", "source_include", "source_exclude"),
        *("target_include", "target_exclude"),
    )
    return [
        NamedSections(
            f"--{name.replace('_', '-')}", Sections(getattr(options, name)), "each" if every else "none"
        )
        for name in names
    ]


def filters_of(options: ImportOptions, noted: Callable[[str], None] = lambda _: None) -> Filters:
    """Return the filters of the options; `noted` as in `Filters`."""
    return Filters(
        no_pagination=not options.pagination,
        no_parameters=not options.parameters,
        only_indexable=options.only_indexable,
        only_200=options.only_200,
        no_canonicalised=not options.canonicalised,
        no_duplicates=not options.duplicates,
        pages=_section_filter(options.include, options.exclude),
        sources=_section_filter(options.source_include, options.source_exclude),
        targets=_section_filter(options.target_include, options.target_exclude),
        noted=noted,
        min_words=options.min_words,
        limit=options.limit,
    )


def _section_filter(include: Sequence[str], exclude: Sequence[str]) -> SectionFilter:
    return SectionFilter(Sections(include), Sections(exclude))


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
        with LinkSpool(place) as links, import_places(place) as (places, _):
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
