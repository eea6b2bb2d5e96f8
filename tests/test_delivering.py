"""What a run found goes to every place that takes it, whatever the others do."""

from internal_linker.delivering import deliver
from internal_linker.errors import OutputError
from internal_linker.records import ExcludedTarget, Recommendation
from tests.builders import Kept, KeptExclusions, Told, source, url

LINKS = [Recommendation(source("a"), ())]
EXCLUDED = [
    ExcludedTarget("", url("gone"), "status 404"),
    ExcludedTarget(url("a"), url("b"), "already linked"),
    ExcludedTarget(url("a"), url("c"), "already linked"),
]


def test_excluded_targets_are_kept_and_counted() -> None:
    """Each place gets the links, the list gets every excluded target, and reasons are counted."""
    sink, exclusions, told = Kept(), KeptExclusions(), Told()
    done = deliver(LINKS, iter(EXCLUDED), [sink], exclusions, "r1", told)
    assert (sink.links, exclusions.excluded) == (LINKS, EXCLUDED)
    assert done.excluded == {"status 404": 1, "already linked": 2}
    assert (done.failure, told.outcomes) == (None, ["kept, excluded"])


def test_a_list_that_cant_be_written_keeps_no_link_back() -> None:
    """A failing list of excluded targets is the run's failure; the links are delivered all the same."""
    sink, told = Kept(), Told()
    error = OutputError("excluded_targets.csv can't be written.")
    done = deliver(LINKS, EXCLUDED, [sink], KeptExclusions(error=error), "r1", told)
    assert (sink.links, done.failure, told.warnings) == (LINKS, error, [str(error)])


def test_the_first_failure_counts() -> None:
    """Where links and list both fail, the links' failure decides how the run ends."""
    first, second = OutputError("Output.csv"), OutputError("excluded_targets.csv")
    done = deliver(LINKS, EXCLUDED, [Kept(error=first)], KeptExclusions(error=second), "r1", Told())
    assert done.failure is first


def test_without_a_place_for_links_nothing_is_written() -> None:
    """A look-up leaves the list of the last run as it is."""
    exclusions, told = KeptExclusions(), Told()
    deliver(LINKS, EXCLUDED, [], exclusions, "r1", told)
    assert (exclusions.writes, told.outcomes) == (0, ["nothing to write"])
