"""The pages of a site as its crawl has them: their keys, to which other data about them are matched."""

from collections.abc import Collection
from dataclasses import dataclass

from internal_linker.core.canonical_hosts import CanonicalHosts
from internal_linker.ingest.collect import collect
from internal_linker.usecases.project import Project


@dataclass(frozen=True, slots=True)
class SiteKeys:
    """The keys of a site's pages, and the form in which it writes its hosts."""

    keys: Collection[str]
    hosts: CanonicalHosts


def site_keys(project: Project) -> SiteKeys | None:
    """Return the keys of the pages in files/urls_rawdata.csv; None if there is no such file.

    Raises:
        InputError: the file can't be read.
    """
    pages = project.table("urls_rawdata.csv", [])
    if pages is None:
        return None
    found = collect(
        None,
        pages.stream(),
        queries_in_sheet=False,
        keep=lambda _: "",
        follow=False,
        needed=(),
        hosts=project.settings.hosts,
    )
    return SiteKeys(frozenset(found.rows), found.hosts)
