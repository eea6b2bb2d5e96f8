"""Delivering a run's results to every sink, whatever the other sinks do."""

from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.errors import OutputError, ServiceError
from internal_linker.model.evidence import Evidence
from internal_linker.model.reasons import FewLinks, NoTarget, Reason
from internal_linker.model.records import Candidate, ExcludedTarget, Link, Recommendation, Shortage
from internal_linker.project.pipeline.columns import in_columns
from internal_linker.project.pipeline.deliver import deliver
from tests.support.builders import GONE, Kept, Told, source, url

LINKS = [Recommendation(source("a"), ())]
EXCLUDED = [
    ExcludedTarget("", url("gone"), GONE),
    ExcludedTarget(url("a"), url("b"), Reason(NoTarget.ALREADY_LINKED)),
    ExcludedTarget(url("a"), url("c"), Reason(NoTarget.ALREADY_LINKED)),
]


CANDIDATES = st.builds(Candidate, serp_rank=st.integers(0, 99))
# Hypothesis would choose values of need for a named tuple, too, which only needed links have.
EVIDENCE = st.tuples(*[st.integers(-1, 2**31 - 1)] * 7, st.text(max_size=3), st.integers(0, 3)).map(
    lambda values: Evidence(*values)
)


@given(
    st.lists(
        st.builds(
            Recommendation,
            st.sampled_from([source("a"), source("b", "tea"), source(query="pots")]),
            st.lists(st.builds(Link, CANDIDATES, st.integers(1, 9), evidence=EVIDENCE), max_size=3).map(
                tuple
            ),
            st.sampled_from(["", "no search: empty"]),
            shortage=st.sampled_from([None, Shortage(1, 5, Reason(FewLinks.WAITING, "2"))]),
        ),
        max_size=5,
    ),
    st.sampled_from([0, 3, 5]),
)
def test_compact_recommendations_are_the_same(items: list[Recommendation], few: int) -> None:
    """Compact recommendations return every field of every link on each reading; a missing signal stays NaN."""
    kept = in_columns(iter(items), few)
    assert repr(list(kept)) == repr(items)
    assert list(kept) == list(kept)
    assert [kept[at].source for at in range(len(items))] == [item.source for item in items]


def test_lists_are_kept_beside_the_links() -> None:
    sink, exclusions, others, told = Kept(), Kept("excluded"), Kept("others"), Told()
    _, failure = deliver(LINKS, [sink], [(exclusions, iter(EXCLUDED)), (others, ["a"])], "r1", told)
    assert (sink.links, exclusions.items, others.items) == (LINKS, EXCLUDED, ["a"])
    assert (failure, told.outcomes) == (None, ["kept, excluded, others"])


def test_a_list_that_cant_be_written_keeps_nothing_else_back() -> None:
    sink, others, told = Kept(), Kept(), Told()
    error = OutputError("excluded_targets.csv can't be written.")
    failing = Kept(error=error)
    _, failure = deliver(LINKS, [sink], [(failing, EXCLUDED), (others, ["a"])], "r1", told)
    assert (sink.links, others.items) == (LINKS, ["a"])
    assert (failure, told.warnings) == (error, [str(error)])


def test_the_outcome_names_what_was_written_and_what_was_not() -> None:
    refused, told = ServiceError("Google Sheets", "the Sheet is read-only."), Told()
    lists = [(Kept("Google Sheet 'Review'", error=refused), EXCLUDED)]
    deliver(LINKS, [Kept("Output.csv"), Kept("Google Sheet", error=refused)], lists, "r1", told)
    deliver(LINKS, [Kept("Output.csv", error=OutputError("full"))], [], "r1", told)
    assert told.outcomes == [
        "Output.csv; not written: Google Sheet, Google Sheet 'Review'",
        "not written: Output.csv",
    ]


def test_the_first_failure_counts() -> None:
    first, second = OutputError("Output.csv"), OutputError("excluded_targets.csv")
    lists = [(Kept(error=second), EXCLUDED)]
    _, failure = deliver(LINKS, [Kept(error=first)], lists, "r1", Told())
    assert failure is first


def test_without_a_place_for_links_nothing_is_written() -> None:
    exclusions, told = Kept(), Told()
    deliver(LINKS, [], [(exclusions, EXCLUDED)], "r1", told)
    assert (exclusions.writes, told.outcomes) == (0, ["nothing to write"])
