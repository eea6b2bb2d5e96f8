"""Content management systems whose sites `import` reads; each registers itself in a file of its own.

The options of a command name all of them, so a file here imports what it reads with only when it reads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from internal_linker.model.errors import ConfigurationError
from internal_linker.sources.web.access import origin_of

if TYPE_CHECKING:
    from internal_linker.model.ports import StreamSource
    from internal_linker.model.records import ReadReport
    from internal_linker.sources.import_sources import SiteReader


@dataclass(frozen=True, slots=True)
class SitePost:
    """A published post or page of a site."""

    url: str
    title: str  # plain text
    html: str  # its content as the site shows it, without header, menus and footer
    lang: str = ""  # the code of its language; "": the site does not say
    canonical: str = ""  # its canonical URL; "": the site does not say
    indexable: bool = True  # whether search engines may index it, as far as the site says
    categories: Sequence[str] = ()  # their names


ReadExport = Callable[[Path, str, "ReadReport"], Sequence[SitePost]]
"""Returns the posts of an exported file, given the site's address, and notes what else there is."""


@dataclass(frozen=True, slots=True)
class SiteSource:
    """A content management system."""

    title: str  # what people call it
    help: str  # what its option does
    note: str  # what the app says of a site's address
    # Returns the tables of the pages and links of the site at an address
    read: Callable[[str, "SiteReader"], "list[StreamSource]"]
    exports: Mapping[str, ReadExport] = field(default_factory=dict)  # what reads its exports, by their suffix


_sources = dict[str, SiteSource]()


def register_site(name: str, source: SiteSource) -> None:
    """Add a content management system by the name of the option that takes the address of a site."""
    _sources[name] = source


@cache
def site_sources() -> Mapping[str, SiteSource]:
    """Return the content management systems by the names of their options, in alphabetical order."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return dict(sorted(_sources.items()))


def export_formats() -> Mapping[str, ReadExport]:
    """Return what reads exported files, by their suffixes."""
    return {suffix: read for source in site_sources().values() for suffix, read in source.exports.items()}


def site_address(option: str, address: str) -> str:
    """Return the full address of a site in one spelling, without a slash at its end; without a scheme, it is https.

    Raises:
        ConfigurationError: it is not an address; the message names the option.
    """
    site = address.strip() if "://" in address else f"https://{address.strip()}"
    parts = urlsplit(site)
    if not origin_of(site) or "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigurationError(
            f"--{option} {address}: name the site's address, such as https://www.example.com."
        )
    return f"{origin_of(site)}{parts.path}".rstrip("/")
