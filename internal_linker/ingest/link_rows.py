"""A row of a table of links whose ends can't both be read -> why, for the list of rejected rows."""

from internal_linker.adapters.tables.columns import Kind
from internal_linker.core.records import Reject
from internal_linker.core.urls import normal_form


def rejected_link(table: str, number: int, *ends: str) -> Reject:
    """The first of a row's ends (source, destination) that is no URL, with the reason."""
    for kind, url in zip((Kind.SOURCE, Kind.DESTINATION), ends, strict=True):
        try:
            normal_form(url)
        except ValueError as error:
            return Reject(table, number, url.strip(), f"{kind}: {error}")
    raise AssertionError(f"both ends of row {number} are URLs")
