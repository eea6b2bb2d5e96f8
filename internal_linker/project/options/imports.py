"""What an import reads, and what it leaves out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, make_dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from internal_linker.project.option_records import Option, Options
from internal_linker.project.options import TargetExclude, TargetInclude
from internal_linker.sources.sites import site_sources

# What an import of pages needs one of.
SOURCES = ("a file", "a folder", *(f"--{name}" for name in ("sitemap", "urls", *site_sources())))

if TYPE_CHECKING:
    SiteOptions = Options
else:
    # An option for each content management system.
    SiteOptions = make_dataclass(
        "SiteOptions",
        [
            (name, Annotated[str, Option(source.help, metavar="URL")], "")
            for name, source in site_sources().items()
        ],
        bases=(Options,),
        frozen=True,
        slots=True,
        kw_only=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions(SiteOptions):
    """What to import, and which pages to leave out."""

    files: Annotated[
        Sequence[Path],
        Option(
            "Exports of pages, links or search data (.csv, .xlsx, .zip); saved pages (.html, or a folder).",
            metavar="FILE",
            argument=True,
        ),
    ] = ()
    sitemap: Annotated[
        str, Option("Fetch the pages of this sitemap, or of the sitemap of this host.", metavar="URL|HOST")
    ] = ""
    urls: Annotated[
        Path | None, Option("Fetch the pages listed in this file, one URL per line.", metavar="FILE")
    ] = None
    delay: Annotated[float, Option("Seconds between two requests to a host.", least=0, most=60)] = 0.5
    allow_private: Annotated[bool, Option("Allow fetching from private networks.")] = False
    url_column: Annotated[str, Option("The column of the pages' URLs.", metavar="NAME")] = ""
    content_column: Annotated[str, Option("The column of the pages' main content.", metavar="NAME")] = ""
    sheets: Annotated[
        Sequence[str],
        Option(
            "The sheet of a workbook; may be repeated. Default: the first one with pages or links.",
            flag="--sheet",
            metavar="NAME",
        ),
    ] = ()
    base_url: Annotated[str, Option("The URL at which saved pages are online.", metavar="URL")] = ""
    map_host: Annotated[
        Sequence[str],
        Option(
            "Write URLs of the host HOST (a staging site) as URLs of the host OTHER; may be repeated.",
            metavar="HOST=OTHER",
        ),
    ] = ()
    pagination: Annotated[
        bool, Option("Leave out /page/2, ?page=2 and the like.", flag="--no-pagination")
    ] = True
    parameters: Annotated[
        bool, Option("Leave out URLs with parameters, except tracking parameters.", flag="--no-parameters")
    ] = True
    only_indexable: Annotated[bool, Option("Leave out pages that are not indexable.")] = False
    only_200: Annotated[bool, Option("Leave out pages whose status is not 200.")] = False
    canonicalised: Annotated[
        bool, Option("Leave out pages whose canonical is another page.", flag="--no-canonicalised")
    ] = True
    include: Annotated[Sequence[str], Option("Only pages below PATH; may be repeated.", metavar="PATH")] = ()
    exclude: Annotated[Sequence[str], Option("No pages below PATH; may be repeated.", metavar="PATH")] = ()
    source_include: Annotated[
        Sequence[str], Option("Propose links only on pages below PATH; may be repeated.", metavar="PATH")
    ] = ()
    source_exclude: Annotated[
        Sequence[str], Option("Propose no links on pages below PATH; may be repeated.", metavar="PATH")
    ] = ()
    target_include: TargetInclude = ()
    target_exclude: TargetExclude = ()
    duplicates: Annotated[
        bool, Option("Leave out pages with the same text as an earlier page.", flag="--no-duplicates")
    ] = True
    min_words: Annotated[int, Option("Leave out pages with fewer than N words.", least=0)] = 0
    limit: Annotated[int, Option("Keep only the first N pages (0: all).", least=0)] = 0

    @property
    def sites(self) -> Mapping[str, str]:
        """The addresses of sites, by the names of their content management systems."""
        return {name: address for name in site_sources() if (address := getattr(self, name))}

    @property
    def fetches(self) -> bool:
        """Whether there is a site to fetch pages from."""
        return bool(self.sitemap or self.urls or self.sites)

    @property
    def pages(self) -> bool:
        """Whether there are pages or links to import."""
        return bool(self.files) or self.fetches


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCommandOptions(ImportOptions):
    """What the command `import` reads: pages and links, and search data."""

    search_console: Annotated[
        str,
        Option(
            "Fetch clicks and impressions of this Search Console property: sc-domain:HOST or https://HOST/.",
            metavar="PROPERTY",
        ),
    ] = ""
    days: Annotated[
        int, Option("With --search-console: only the last N days (0: 16 months).", least=0, most=486)
    ] = 0

    analytics: Annotated[
        str,
        Option("Fetch sessions of this Google Analytics property, by its number.", metavar="PROPERTY"),
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConsoleOptions(Options):
    """Which search data to fetch."""

    property: Annotated[
        str,
        Option(
            "The Search Console property.",
            metavar="PROPERTY",
            argument=True,
            doc='"sc-domain:example.com" for a domain property, "https://www.example.com/" for a URL prefix.',
        ),
    ]
    days: Annotated[int, Option("Only the last N days (0: 16 months).", least=0, most=486)] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyticsOptions(Options):
    """Whose sessions to fetch."""

    property: Annotated[str, Option('The property\'s number, such as "123456789".')]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilesOptions(Options):
    """Files of search data."""

    files: Annotated[
        Sequence[Path],
        Option(
            "Exports of Search Console or Google Analytics (.zip, .csv, .xlsx), or tables of their figures."
        ),
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDataOptions(Options):
    """Which stored search data to read."""

    since: Annotated[date | None, Option("The first day. Default: the first that is stored.")] = None
    until: Annotated[date | None, Option("The last day. Default: the last that is stored.")] = None
    source: Annotated[
        str,
        Option(
            'Where they are from, such as "sc-domain:example.com". Default: of each table, the source with most days.'
        ),
    ] = ""
