"""The table of existing links -> what was collected, with every link that stands in a page's text already."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import starmap

from internal_linker.adapters.tables.columns import Kind, columns_of
from internal_linker.core.records import Collected, ExistingLink, Reject, TableStream
from internal_linker.core.urls import NormalForms, leads_to_no_page, normal_form
from internal_linker.ingest.crawler_vocabulary import CONTENT, HYPERLINK, english


def rejected_link(table: str, number: int, *ends: str) -> Reject:
    """The first of a row's ends (source, destination) that is no URL, with the reason."""
    for kind, url in zip((Kind.SOURCE, Kind.DESTINATION), ends, strict=True):
        try:
            normal_form(url)
        except ValueError as error:
            return Reject(table, number, url.strip(), f"{kind}: {error}")
    raise AssertionError(f"both ends of row {number} are URLs")


_PLACE = re.compile("[0-9]{1,9}")
# Characters; what is longer is the text of a whole page by mistake.
_LONGEST_ANCHOR = 1_000

Found = dict[tuple[str, str, str, int], None]


def add_links(collected: Collected, table: TableStream | None) -> Collected:
    """Add the links of a table to those of the pages' own HTML, and count what leads from page to page.

    Args:
        collected: pages and sources, with the aliases of redirects and copies.
        table: Source, Destination and, if there, Anchor, Link Position, Type, Start; None where there is none.

    Raises:
        InputError: the table has no column for a link's source or destination.
    """
    found: Found = dict.fromkeys(
        (link.source, link.target, link.anchor, link.start) for link in collected.links
    )
    rejects: list[Reject] = []
    # Most links are between the pages, and those are known as they are written.
    forms = NormalForms({page.url: page.key for page in collected.pages})
    skipped = _read(table, forms, collected.aliases, found, rejects) if table else 0
    listed = {source.key for source in collected.sources}
    return replace(
        collected,
        links=tuple(starmap(ExistingLink, found)),
        inner_links=sum(source in listed and target in listed for source, target, *_ in found),
        skipped_links=skipped,
        rejects=(*collected.rejects, *rejects),
    )


def doubt(collected: Collected, name: str) -> str:
    """A sentence where the table `name` tells of no link between the listed pages, else ""."""
    if collected.inner_links or not (collected.links or collected.skipped_links):
        return ""
    if collected.links:
        return (
            f"{name}: none of its {len(collected.links)} links leads from one of your pages to another. "
            "See whether it is of this site and writes the host as your pages do (https, www)."
        )
    return (
        f"{name}: none of its {collected.skipped_links} rows is a link in a page's text "
        "(Type Hyperlink, Link Position Content). Delete these two columns if all its rows are such links."
    )


def _read(
    table: TableStream, forms: NormalForms, aliases: Mapping[str, str], found: Found, rejects: list[Reject]
) -> int:
    """Put the table's links into `found`; tells how many rows are no links in a page's text."""
    optional = (Kind.ANCHOR, Kind.LINK_POSITION, Kind.LINK_TYPE, Kind.START)
    columns = columns_of(table, (Kind.SOURCE, Kind.DESTINATION), optional)
    places = [columns.get(kind, -1) for kind in (Kind.SOURCE, Kind.DESTINATION, *optional)]
    # Such a table may have millions of rows, but few pages.
    anchors, skipped = dict[str, str](), 0
    for number, row in table.rows:
        source, target, anchor, position, link_type, start = (
            row[at] if 0 <= at < len(row) else "" for at in places
        )
        if not (source.strip() or target.strip()):
            continue
        if not _in_text(position, link_type):
            skipped += 1
            continue
        keys = forms[source], forms[target]
        if not all(keys):
            if keys[0] and leads_to_no_page(target):
                skipped += 1
            else:
                rejects.append(rejected_link(table.name, number, source, target))
            continue
        final = aliases.get(keys[1], keys[1])
        if final == keys[0]:
            skipped += 1
        else:
            anchor = " ".join(anchor[:_LONGEST_ANCHOR].split())
            place = int(start) if _PLACE.fullmatch(start.strip()) else -1
            found.setdefault((keys[0], final, anchors.setdefault(anchor, anchor), place))
    return skipped


def _in_text(position: str, link_type: str) -> bool:
    """Whether a row is a link in a page's text, as far as it says so."""
    return (not link_type or english(Kind.LINK_TYPE, link_type) == HYPERLINK) and (
        not position or english(Kind.LINK_POSITION, position) == CONTENT
    )
