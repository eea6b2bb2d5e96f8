"""After adoption, a site has the links that were asked for, and every number of links says how it comes about."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.insight.audit.links import Proposals, Proposed, proposed_links
from internal_linker.insight.audit.records import ADOPTIONS, Adoption, Limits
from internal_linker.insight.graph import graph_of
from internal_linker.model.count_breakdown import CountBreakdown, count_waiting
from internal_linker.model.edges import Anchor, Edge, edge_id, strength
from internal_linker.model.records import Candidate, Collected, Link, Recommendation, Source
from internal_linker.model.runs import VersionRow
from internal_linker.project.project import open_project
from tests.support.builders import page, url
from tests.support.small_project import SITE, URLS, command, make_project, write_csv

N = 5
ENDS = st.tuples(st.integers(0, N), st.integers(0, N))
SCORES = st.floats(-1, 8) | st.just(float("nan"))


def proposed(
    links: Sequence[tuple[tuple[int, int], float]],
    *,
    existing: Sequence[tuple[int, int]] = (),
    rejected: Sequence[tuple[int, int]] = (),
    accepted: Sequence[tuple[int, int]] = (),
    adoption: Adoption = "all",
    room: int = 9,
    stored: Sequence[Edge] = (),
) -> Proposed:
    """Return what is adopted of a run's links between N pages; page N is none of them, and source -1 is a query."""
    rows = [
        VersionRow(
            Recommendation(
                Source(url(source) if source >= 0 else "", "", "query", None, False),
                (Link(Candidate(url(target), url(target), score), 1, "semantic"),),
            )
        )
        for (source, target), score in links
    ]
    decisions: dict[str, list[str]] = {}
    for source, target in rejected:
        decisions.setdefault(url(source), []).append(url(target))
    edges: dict[str, list[Edge]] = {}
    for source, target in accepted:
        edges.setdefault(url(source), []).append(Edge(url(source), url(target), "", "", strength=0.1))
    pages = tuple(page(at) for at in range(N))
    today = np.array(existing, np.int64).reshape(-1, 2)
    return proposed_links(
        Proposals("1", rows, decisions, edges, adoption, stored),
        Collected(pages, (), (), 0),
        {one.key: row for row, one in enumerate(pages)},
        graph_of(today[:, 0], today[:, 1], np.ones(len(today)), N),
        limits=Limits(),
        room=np.full(N, room),
    )


def ends(found: Proposed) -> list[tuple[int, int]]:
    return list(zip(found.adopted.sources.tolist(), found.adopted.targets.tolist(), strict=True))


def test_the_stored_strength_covers_the_anchor_too() -> None:
    def edge(target: int, strength: float, *, verbatim: bool = True) -> Edge:
        return Edge(url(0), url(target), "", "", strength=strength, anchors=(Anchor("x", verbatim=verbatim),))

    links = [((0, 1), 6.0), ((0, 2), 6.0), ((0, 3), 6.0), ((1, 2), 6.0)]
    stored = [edge(1, 0.85), edge(2, 0.3), edge(3, 0.9, verbatim=False), edge(4, 0.9)]
    found = proposed(links, adoption="in-text", stored=stored)
    assert ends(found) == [(0, 1), (1, 2)]
    assert found.strengths.tolist() == [0.85, 0.3, 0.9, strength(6.0)]
    assert found.tiers == (2, 1, 1)


@pytest.mark.parametrize(
    ("adoption", "expected"),
    [
        ("accepted", [(1, 2), (3, 0)]),
        ("in-text", [(0, 1), (1, 2), (3, 0)]),
        ("all", [(0, 1), (0, 2), (0, 3), (1, 2), (3, 0)]),
    ],
)
def test_after_adopts_what_was_asked_for(adoption: Adoption, expected: list[tuple[int, int]]) -> None:
    links = [((0, 1), 6.0), ((0, 2), 2.0), ((0, 3), -1.0), ((0, 4), 6.0), ((1, 0), 6.0), ((1, 2), 1.0)]
    found = proposed(
        links, existing=[(1, 0)], rejected=[(0, 4)], accepted=[(1, 2), (3, 0), (1, 0)], adoption=adoption
    )
    assert ends(found) == expected
    assert found.tiers == (3, 1, 1)


def test_every_subtraction_is_named() -> None:
    links = [((0, 1), 6.0), ((0, 1), 6.0), ((0, 2), 5.9), ((0, 3), 1.0), ((0, 4), 6.0), ((2, 2), 6.0)]
    links += [((-1, 2), 6.0), ((1, N), 6.0), ((1, 0), 6.0)]
    found = proposed(
        links, existing=[(1, 0)], rejected=[(0, 4)], accepted=[(3, 0)], adoption="in-text", room=1
    )
    assert str(found.counted) == (
        "2 = 9 links of run 1 - 1 suggestions for queries without a page "
        "- 1 with an end that is none of the audited pages - 1 of a page to itself "
        "- 1 repeated between the same two pages - 1 that exist already "
        "- 1 that editors rejected - 1 not strong enough for the text "
        "- 1 from pages whose text can carry no more links + 1 accepted in earlier runs"
    )
    assert ends(found) == [(0, 1), (3, 0)]


@given(
    st.lists(st.tuples(ENDS, SCORES), max_size=25),
    st.lists(ENDS, max_size=5),
    st.lists(ENDS, max_size=5),
    st.lists(ENDS, max_size=5),
    st.integers(0, 3),
)
def test_numbers_add_up(
    links: list[tuple[tuple[int, int], float]],
    existing: list[tuple[int, int]],
    rejected: list[tuple[int, int]],
    accepted: list[tuple[int, int]],
    room: int,
) -> None:
    old = [pair for pair in existing if N not in pair]
    found = {
        adoption: proposed(
            links, existing=old, rejected=rejected, accepted=accepted, adoption=adoption, room=room
        )
        for adoption in ADOPTIONS
    }
    for one in found.values():
        assert one.counted.total == len(one.adopted.sources) == len(set(ends(one)))
        assert sum(one.tiers) == len(one.candidates.sources)
        assert not set(ends(one)) & {*rejected, *old}
    assert set(ends(found["accepted"])) <= set(ends(found["in-text"])) <= set(ends(found["all"]))
    free = np.bincount(found["in-text"].adopted.sources, minlength=N)
    kept = np.bincount(found["accepted"].adopted.sources, minlength=N)
    assert (free <= np.maximum(room, kept)).all()


def test_strong_links_are_in_the_text() -> None:
    """A link whose strength is exactly the threshold of the text belongs to it."""
    at = next(score / 100 for score in range(1000) if strength(score / 100) >= Limits().inline)
    assert ends(proposed([((0, 1), at), ((0, 2), at - 0.01)], adoption="in-text")) == [(0, 1)]


def test_a_balance_reads_as_a_sum() -> None:
    told = CountBreakdown([(1234, "links"), (-1000, "of menus"), (0, "of others"), (3, "new")])
    assert (told.total, str(told)) == (237, "237 = 1,234 links - 1,000 of menus + 3 new")
    assert str(CountBreakdown([(7, "links"), (0, "lost")])) == "7 links"
    assert str(count_waiting({"proposed": 5, "rejected": 1, "accepted": 2})) == (
        "5 = 8 links of all runs - 2 accepted - 1 rejected"
    )


def test_a_site_is_audited_with_each_adoption(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_project(tmp_path)
    write_csv(folder / "files/existing_links.csv", [("Source", "Destination"), (URLS[0], URLS[1])])
    where = ("--project", str(folder))
    assert command("run", *where) == 0
    with open_project(folder).graph(read_only=False) as (store, runs):
        (run,) = (version.run for version in runs.versions())
        accepted, rejected = sorted(store.each(), key=lambda edge: edge.strength)[:2]
        for edge, verdict in ((accepted, "accepted"), (rejected, "rejected")):
            store.put([replace(edge, verdict=verdict, status=verdict)])  # type: ignore[arg-type]
        total = sum(len(row.recommendation.links) for row in runs.rows(run))
    counts = {}
    for after in ("accepted", "in-text"):
        capsys.readouterr()
        assert command("audit", *where, "--after", after) == 0
        told = capsys.readouterr().out
        assert "Links today: 1 links in the pages' texts" in told and f"(--after {after})" in told
        counts[after] = int(told.partition("New links after adoption: ")[2].split()[0])
        limited = "with a score of 33 or more, but no more on a page than suit the length of its text"
        assert (limited in told) is (after == "in-text")
        assert f"--after {after}" in (folder / "files/audit.html").read_text("utf-8")
    assert counts["accepted"] == 1 <= counts["in-text"] < total
    assert command("audit", *where, "--after", "some") == 2
    assert "accepted" in capsys.readouterr().err
    assert edge_id(accepted.source, accepted.target) == accepted.id and accepted.source.startswith(SITE)
