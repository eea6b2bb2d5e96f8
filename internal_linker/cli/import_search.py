"""What `import` does with exported files of search data, and with a property of Google Analytics."""

from typing import TYPE_CHECKING

from internal_linker.cli.command import reporting
from internal_linker.core.sequences import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from internal_linker.usecases.import_search_exports import SearchDataImported
    from internal_linker.usecases.project import Project


def import_files(project: "Project", exports: "Sequence[Path]", *, quiet: bool) -> "SearchDataImported":
    """Import exported files, and say what was stored unless `quiet`."""
    from internal_linker.cli.output import print_columns, print_rows
    from internal_linker.usecases.console import open_console
    from internal_linker.usecases.import_search_exports import import_search_exports

    with reporting() as reporter:
        done = import_search_exports(project, exports, reporter)
    if not quiet:
        console = open_console()
        print_columns(console, ("File", "Rows are", "Column", "Taken from"), done.columns)
        print_rows(console, "Imported search data", _rows(done))
    return done


def import_property(project: "Project", property_: str, *, quiet: bool) -> "SearchDataImported":
    """Import sessions from Google Analytics, and say what was stored unless `quiet`."""
    from internal_linker.cli.output import print_rows
    from internal_linker.usecases.console import open_console
    from internal_linker.usecases.import_analytics import import_analytics

    with reporting() as reporter:
        done = import_analytics(project, property_, reporter)
    if not quiet:
        print_rows(open_console(), "Imported sessions", _rows(done))
    return done


def as_json(done: "SearchDataImported") -> dict[str, object]:
    """Return what was stored, and counts of what was not, for JSON."""
    return {
        "stored": [
            {
                "source": each.source,
                "table": each.table.value,
                "rows": each.rows,
                "days": each.days,
                "first": str(each.first),
                "last": str(each.last),
                "replaced": each.replaced,
                "replaced_days": each.replaced_days,
            }
            for each in done.stored
        ],
        "rejected_because": dict(done.rejected),
        "left_out": dict(done.left_out),
        "facts": dict(done.facts),
        "remarks": list(done.remarks),
        "gaps": list(done.gaps),
    }


def _rows(done: "SearchDataImported") -> list[tuple[str, str]]:
    from internal_linker.usecases.import_search_exports import REJECTED

    rows = [
        (
            f"{each.table.capitalize()} ({each.source})",
            counted(each.rows, "row")
            + ("" if each.sums else f" of {counted(each.days, 'day')}, {each.first} to {each.last}"),
        )
        for each in done.stored
    ]
    rows += [
        (
            f"Replaced by fewer rows: {each.table} ({each.source})",
            counted(each.replaced, "row")
            + ("" if each.sums else f" of {counted(each.replaced_days, 'day')}"),
        )
        for each in done.stored
        if each.replaced
    ]
    if done.listed:
        rows.append((f"Rejected rows, in files/{REJECTED}", str(sum(done.rejected.values()))))
    rows += [(f"Rejected: {reason}", str(count)) for reason, count in done.rejected.items()]
    rows += [(f"Left out: {reason}", str(count)) for reason, count in done.left_out.items()]
    return rows + [(name[:1].upper() + name[1:], str(count)) for name, count in done.facts.items()]
