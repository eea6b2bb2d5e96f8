"""A project folder around a simulated site: its pages, its search data, and links that went live."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd

from internal_linker.model.edges import Anchor, Edge
from internal_linker.model.search_data import SearchTable
from internal_linker.project.project import open_project
from tests.support.impact_sites import Kind, Simulated, simulated
from tests.support.small_project import write_csv, write_settings

HOST = "https://simulated.example"
PROPERTY = "sc-domain:simulated.example"
TEXT = "A page about the leaves of the tea bush and the water that they are steeped in, in plain English."


def make_impact_project(folder: Path, site: Simulated, *, days: Sequence[date] = ()) -> Path:
    """Write a project whose link graph has a live link to each target, and whose store has the search data.

    Args:
        folder: the project folder.
        site: the simulated site.
        days: gets only these days' search data; empty: of all days.
    """
    rows = [(page, f"Page {at}", TEXT) for at, page in enumerate(site.panel.pages)]
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *rows])
    write_settings(folder, {"search_query_template": "site:simulated.example {main_query}"})
    project = open_project(folder)
    targets = dict(zip(site.treated["page"], site.treated["day"].tolist(), strict=True))
    source = next(page for page in site.panel.pages if page not in targets)
    with project.graph(read_only=False) as (edges, _):
        edges.put([live_link(source, page, date.fromordinal(day)) for page, day in targets.items()])
    add_search_data(folder, site, days)
    return folder


def make_experiment_project(folder: Path) -> tuple[Path, datetime]:
    """Write a project with accepted links to 160 pages, none of them live; return it and the day to plan on."""
    kind = Kind(pages=240, targets=160, clicks=6.0, weeks=24, campaigns=1, experiment=True)
    site = simulated(4, kind, 0.6)
    assert site.experiment is not None
    make_impact_project(folder, replace(site, treated=site.treated[:0]))
    drawn = sorted(site.experiment.held | site.experiment.released)
    source = next(page for page in site.panel.pages if page not in drawn)
    with open_project(folder).graph(read_only=False) as (edges, _):
        edges.put([live_link(source, page, date(2021, 1, 1), status="accepted") for page in drawn])
    day = date.fromordinal(site.experiment.first)
    return folder, datetime(day.year, day.month, day.day, 5, tzinfo=UTC)


def add_search_data(folder: Path, site: Simulated, days: Sequence[date] = ()) -> None:
    """Store the search data of these days; empty: of all days."""
    with open_project(folder).search_data(PROPERTY, read_only=False) as store:
        for at in range(site.panel.clicks.shape[1]):
            day = date.fromordinal(site.panel.first + at)
            if not days or day in days:
                store.put(SearchTable.PAGES, day, _rows(site, at, day))


def live_link(source: str, target: str, day: date, **more: object) -> Edge:
    """Return a link that a run found on the site on a day, for the first time."""
    at = datetime(day.year, day.month, day.day, 6, tzinfo=UTC).isoformat(timespec="seconds")
    facts: dict[str, object] = {"status": "live", "verdict": "accepted", "tier": "inline", "at": at, **more}
    return Edge(source, target, source, target, anchors=(Anchor("leaves"),), rank=1, **facts)  # type: ignore[arg-type]


def _rows(site: Simulated, at: int, day: date) -> pd.DataFrame:
    seen = np.flatnonzero(site.panel.impressions[:, at] > 0)
    impressions = site.panel.impressions[seen, at]
    return pd.DataFrame(
        {
            "date": pd.Timestamp(day),
            "page": [site.panel.pages[row] for row in seen],
            "clicks": site.panel.clicks[seen, at].astype(int),
            "impressions": impressions.astype(int),
            "position": site.panel.positions[seen, at] / impressions,
        }
    )


def days_from(first: date, count: int) -> list[date]:
    """Return so many days in a row."""
    return [first + timedelta(days=at) for at in range(count)]
