"""The store of experiments: which targets' links are held back, and which were drawn to go live."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import Column, Connection, Engine, Integer, Row, String, Table, Text, select, update

from internal_linker.adapters.database.engine import fetch, key_text, readable, transact, upsert
from internal_linker.adapters.database.schema import LASTING, METADATA, Moment
from internal_linker.core.experiments import DrawnTarget

DRAWN_TARGETS = Table(
    "drawn_targets",
    METADATA,
    Column("site", String(200), primary_key=True),
    Column("experiment", String(40), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("target", Text, nullable=False),
    Column("links", Integer, nullable=False),
    Column("held", Integer, nullable=False),
    Column("first_day", String(10), nullable=False),
    Column("until_day", String(10), nullable=False),
    Column("drawn_at", Moment, nullable=False),
    info={LASTING: True},
)


class Experiments:
    """The experiments of a site in a database.

    Args:
        engine: from `open_database`.
        site: the site; a team's sites share a database.
    """

    def __init__(self, engine: Engine, site: str) -> None:
        self._engine, self._site = engine, key_text(site, 200)

    def drawn(self) -> Sequence[DrawnTarget]:
        """Return all targets that were ever drawn, the earliest experiment first."""
        at = DRAWN_TARGETS.c
        wanted = (
            select(DRAWN_TARGETS)
            .where(at.site == self._site)
            .order_by(at.first_day, at.experiment, at.number)
        )
        return [
            *readable(self._engine, DRAWN_TARGETS, fetch(self._engine, DRAWN_TARGETS, wanted), read_drawn)
        ]

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


def read_drawn(row: Row[Any]) -> DrawnTarget:
    """Return the target of a row of DRAWN_TARGETS."""
    return DrawnTarget(
        experiment=row.experiment,
        target=row.target,
        links=row.links,
        held=bool(row.held),
        first=date.fromisoformat(row.first_day),
        until=date.fromisoformat(row.until_day),
    )
