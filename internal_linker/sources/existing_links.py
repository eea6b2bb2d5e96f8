"""Existing links: adds the links of a table to those in the pages' own HTML."""

import re
from collections.abc import Mapping
from dataclasses import replace

from internal_linker.model.canonical_hosts import Variants
from internal_linker.model.records import Collected, ExistingLink, Reject, TableStream
from internal_linker.model.sequences import counted
from internal_linker.model.urls import NormalForms, leads_to_no_page, normal_form
from internal_linker.sources.crawler_vocabulary import CONTENT, HYPERLINK, english
from internal_linker.sources.tables.columns import Kind, columns_of
from internal_linker.text.html import is_followed


def reject_link(table: str, number: int, *ends: str) -> Reject:
    """Return the first of a row's ends (source, destination) that is not a URL, with the reason."""
    for kind, url in zip((Kind.SOURCE, Kind.DESTINATION), ends, strict=True):
        try:
            normal_form(url)
        except ValueError as error:
            return Reject(table, number, url.strip(), f"{kind}: {error}")
    raise AssertionError(f"both ends of row {number} are URLs")


_START = re.compile("[0-9]{1,9}")
# Characters; a longer anchor is the text of a whole page by mistake.
_LONGEST_ANCHOR = 1_000
# A crawler's column Follow, in its five languages.
_NO = frozenset(("false", "no", "0", "nofollow", "falsch", "nein", "falso", "faux", "non"))

# Source, target, anchor and start, and whether the link passes weight.
Found = dict[tuple[str, str, str, int], bool]


def add_links(collected: Collected, table: TableStream | None) -> Collected:
    """Add the links of a table to those in the pages' own HTML, and count the links between listed pages.

    The table has Source, Destination and optionally Anchor, Link Position, Type, Start, Follow and Rel.

    Raises:
        InputError: the table has no column for a link's source or destination.
    """
    found: Found = {
        (link.source, link.target, link.anchor, link.start): link.followed for link in collected.links
    }
    rejects: list[Reject] = []
    # Most links are between listed pages, whose spellings already have a normal form.
    forms = NormalForms({page.url: page.key for page in collected.pages}, collected.hosts.canonicalise)
    skipped = _read(table, forms, collected.aliases, found, rejects) if table else 0
    listed = {source.key for source in collected.sources}
    return replace(
        collected,
        links=tuple(ExistingLink(*link, followed=followed) for link, followed in found.items()),
        inner_links=sum(source in listed and target in listed for source, target, *_ in found),
        skipped_links=skipped,
        rejects=(*collected.rejects, *rejects),
        variants=collected.variants + Variants(len(forms.others), next(iter(forms.others), "")),
    )


def doubt(collected: Collected, name: str) -> str:
    """Return a sentence if the table `name` contains no link between listed pages, else ""."""
    if collected.inner_links or not (collected.links or collected.skipped_links):
        return ""
    if collected.links:
        return (
            f"{name}: {counted(len(collected.links), 'link')}, but none from one of your pages to another. "
            "Check that the file is from this site; if it is from a staging site, set map_hosts."
        )
    return (
        f"{name}: {counted(collected.skipped_links, 'row')}, but no link in a page's text "
        "(Type Hyperlink, Link Position Content). Delete these two columns if all its rows are such links."
    )


def _read(
    table: TableStream, forms: NormalForms, aliases: Mapping[str, str], found: Found, rejects: list[Reject]
) -> int:
    """Add the table's links to `found`; return how many rows are not links in a page's text."""
    optional = (Kind.ANCHOR, Kind.LINK_POSITION, Kind.LINK_TYPE, Kind.START, Kind.FOLLOW, Kind.REL)
    columns = columns_of(table, (Kind.SOURCE, Kind.DESTINATION), optional)
    positions = [columns.get(kind, -1) for kind in (Kind.SOURCE, Kind.DESTINATION, *optional)]
    # The table may have millions of rows with few different anchors.
    anchors, skipped = dict[str, str](), 0
    for number, row in table.rows:
        source, target, anchor, position, link_type, start, follow, rel = (
            row[at] if 0 <= at < len(row) else "" for at in positions
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
                rejects.append(reject_link(table.name, number, source, target))
            continue
        final = aliases.get(keys[1], keys[1])
        if final == keys[0]:
            skipped += 1
        else:
            anchor = " ".join(anchor[:_LONGEST_ANCHOR].split())
            offset = int(start) if _START.fullmatch(start.strip()) else -1
            link = keys[0], final, anchors.setdefault(anchor, anchor), offset
            followed = is_followed(rel) and follow.strip().lower() not in _NO
            found[link] = found.get(link, False) or followed
    return skipped


def _in_text(position: str, link_type: str) -> bool:
    """Return whether a row is a link in a page's text; a row without type and position counts as one."""
    return (not link_type or english(Kind.LINK_TYPE, link_type) == HYPERLINK) and (
        not position or english(Kind.LINK_POSITION, position) == CONTENT
    )
