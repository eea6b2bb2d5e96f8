"""The store of experiments: which targets' links are held back, and which were drawn to go live."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import Column, Connection, Engine, Row, Table, select, update

from internal_linker.adapters.database.engine import key_text, lacks, note_damage, transact, upsert
from internal_linker.adapters.database.schema import (
    METADATA,
    CheckedInteger,
    CheckedString,
    CheckedText,
    Moment,
)
from internal_linker.core.experiments import DrawnTarget

DRAWN_TARGETS = Table(
    "drawn_targets",
    METADATA,
    Column("site", CheckedString(200), primary_key=True),
    Column("experiment", CheckedString(40), primary_key=True),
    Column("number", CheckedInteger, primary_key=True, autoincrement=False),
    Column("target", CheckedText, nullable=False),
    Column("links", CheckedInteger, nullable=False),
    Column("held", CheckedInteger, nullable=False),
    Column("first_day", CheckedString(10), nullable=False),
    Column("until_day", CheckedString(10), nullable=False),
    Column("drawn_at", Moment, nullable=False),
)


class Experiments:
    """The experiments of a site in a database; reading skips damaged rows and counts them.

    Args:
        engine: from `open_database`.
        site: the site; a team's sites share a database.
    """

    def __init__(self, engine: Engine, site: str) -> None:
        self._engine, self._site = engine, key_text(site, 200)

    def drawn(self) -> Sequence[DrawnTarget]:
        """Return all targets that were ever drawn, the earliest experiment first."""
        if lacks(self._engine, DRAWN_TARGETS):
            return []
        at = DRAWN_TARGETS.c
        wanted = (
            select(DRAWN_TARGETS)
            .where(at.site == self._site)
            .order_by(at.first_day, at.experiment, at.number)
        )
        rows = transact(self._engine, lambda connection: connection.execute(wanted).all())
        found = [*map(read_drawn, rows)]
        note_damage(self._engine, DRAWN_TARGETS, found.count(None))
        return [one for one in found if one is not None]

    def put(self, drawn: Sequence[DrawnTarget]) -> None:
        """Store the targets of one experiment; committed when this returns."""
        now = datetime.now(UTC)
        rows = [
            {
                "site": self._site,
                "experiment": one.experiment,
                "number": number,
                "target": one.target,
                "links": one.links,
                "held": int(one.held),
                "first_day": one.first.isoformat(),
                "until_day": one.until.isoformat(),
                "drawn_at": now,
            }
            for number, one in enumerate(drawn)
        ]
        transact(self._engine, lambda connection: upsert(connection, DRAWN_TARGETS, rows))

    def release(self, today: date) -> None:
        """End all experiments today: the links that they held back may go live."""
        at, day = DRAWN_TARGETS.c, today.isoformat()
        running = (at.site == self._site) & (at.until_day > day)

        def end(connection: Connection) -> None:
            connection.execute(update(DRAWN_TARGETS).where(running).values(until_day=day))

        transact(self._engine, end)


def is_sound(row: Row[Any]) -> bool:
    """Return whether a row of DRAWN_TARGETS can be read."""
    return read_drawn(row) is not None


def read_drawn(row: Row[Any]) -> DrawnTarget | None:
    """Return the drawn target of a row; None if it is damaged."""
    if any(value is None for value in (row.experiment, row.target, row.links, row.held)):
        return None
    try:
        first, until = (date.fromisoformat(day) for day in (row.first_day, row.until_day))
    except (TypeError, ValueError):
        return None
    return DrawnTarget(
        experiment=row.experiment,
        target=row.target,
        links=row.links,
        held=bool(row.held),
        first=first,
        until=until,
    )
