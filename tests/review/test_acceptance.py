"""Acceptance rates of proposed links, and the warning when editors reject more of them."""

from collections import Counter
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.edges import Edge, Status, Tier
from internal_linker.model.records import Origin
from internal_linker.review.acceptance import LEAST_DECISIONS, acceptance, rising_rejections


def link(tier: Tier, origin: Origin, section: str, status: Status) -> Edge:
    """Return a link from a page of a section; "": from a query."""
    source = f"https://shop.com{section.rstrip('/')}/page" if section else "tea"
    return Edge(source, "t", source, "t", tier=tier, origin=origin, status=status)


LINKS = st.lists(
    st.builds(
        link,
        st.sampled_from(("inline", "sidebar", "review")),
        st.sampled_from(("serp", "semantic")),
        st.sampled_from(("/blog", "/shop", "/", "")),
        st.sampled_from(("proposed", "accepted", "rejected", "edited", "live", "withdrawn")),
    )
)


@given(LINKS)
def test_each_grouping_counts_every_link_once(links: list[Edge]) -> None:
    sums: dict[str, Counter[str]] = {}
    for row in acceptance(links):
        counts = {"accepted": row.accepted, "rejected": row.rejected, "waiting": row.waiting}
        sums.setdefault(row.by, Counter()).update(counts)
    statuses = Counter(each.status for each in links)
    for each in sums.values():
        assert each["rejected"] == statuses["rejected"] and each["waiting"] == statuses["proposed"]
        assert each["accepted"] == statuses["accepted"] + statuses["edited"] + statuses["live"]
    assert set(sums) == ({"all", "tier", "origin", "section"} if links else set())


@given(LINKS)
def test_a_rate_is_a_share_of_the_decided(links: list[Edge]) -> None:
    """A rate is between 0 and 1, and None without a decision."""
    for row in acceptance(links):
        assert isnan(row.rate) if not row.decided else 0 <= row.rate <= 1


def test_rates_are_told_by_tier_origin_and_section() -> None:
    """All links come first; in each grouping, the value with the most decisions comes first."""
    found = acceptance(
        [
            link("inline", "serp", "/blog", "accepted"),
            link("inline", "semantic", "/blog", "edited"),
            link("review", "semantic", "/shop", "rejected"),
            link("review", "semantic", "/shop", "proposed"),
            link("review", "semantic", "/shop", "withdrawn"),
        ]
    )
    assert [(row.by, row.name, row.accepted, row.rejected, row.waiting) for row in found] == [
        ("all", "", 2, 1, 1),
        ("tier", "inline", 2, 0, 0),
        ("tier", "review", 0, 1, 1),
        ("origin", "semantic", 1, 1, 1),
        ("origin", "serp", 1, 0, 0),
        ("section", "/blog", 2, 0, 0),
        ("section", "/shop", 0, 1, 1),
    ]


def verdicts(count: int, rejected: int) -> list[Status]:
    kinds: tuple[Status, Status] = ("rejected", "accepted")
    return [kinds[at >= rejected] for at in range(count)]


def test_a_clear_rise_of_rejections_warns() -> None:
    told = rising_rejections([*verdicts(100, 20), *verdicts(40, 24)], 40)
    assert "60% of the last 40" in told and "20% of the 100 before" in told


def test_few_new_decisions_are_seen_together_with_those_before() -> None:
    """If fewer than 20 decisions are new, the last 20 count."""
    assert "of the last 20" in rising_rejections([*verdicts(50, 5), *verdicts(20, 16)], 3)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (verdicts(100, 20), verdicts(40, 12)),
        (verdicts(5000, 1000), verdicts(5000, 1300)),
        (verdicts(19, 0), verdicts(20, 20)),
        (verdicts(100, 60), verdicts(40, 8)),
        (verdicts(50, 50), verdicts(50, 50)),
        ([], []),
    ],
    ids=["by chance", "too small to matter", "too few before", "fewer rejections", "always all", "none"],
)
def test_nothing_warns_that_is_no_clear_rise(before: list[Status], after: list[Status]) -> None:
    assert rising_rejections([*before, *after], len(after)) == ""


@given(st.integers(0, LEAST_DECISIONS), st.integers(0, LEAST_DECISIONS))
def test_more_rejections_never_silence_the_warning(one: int, other: int) -> None:
    few, many = sorted((one, other))
    past = verdicts(60, 12)
    if rising_rejections([*past, *verdicts(LEAST_DECISIONS, few)], LEAST_DECISIONS):
        assert rising_rejections([*past, *verdicts(LEAST_DECISIONS, many)], LEAST_DECISIONS)
