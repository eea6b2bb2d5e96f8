"""Places are judged, and anchors found there, in other processes as in this one."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import Anchoring
from internal_linker.match.compute.processes import Processes
from internal_linker.model.arrays import Ints
from internal_linker.model.house_rules import LinkRule
from internal_linker.model.ports import Wanted
from internal_linker.model.records import Collected, Source, Targets
from internal_linker.project.pipeline import site_places
from internal_linker.project.pipeline.site_places import SitePlaces
from internal_linker.rank.promising_targets import PAIR_COLUMNS, Promising
from internal_linker.rank.rules import BALANCED
from tests.support.builders import collected, page, url

TOPICS = ("green tea", "black tea", "milk jugs", "paper filters", "clay pots", "water kettles")
COUNT = 60
# Many pages share each word of a title here.
LEAST = 0.1


def site() -> Collected:
    """Return pages whose texts name each other's topics."""
    texts = (
        f"We like {TOPICS[at % 6]} number {at}. Some people prefer {TOPICS[(at + 1) % 6]} number {(at + 1) % COUNT} "
        f"in the morning. Nobody forgets {TOPICS[(at + 3) % 6]} number {(at + 3) % COUNT} at night."
        for at in range(COUNT)
    )
    return collected(
        page(at, text, title=f"{TOPICS[at % 6].capitalize()} number {at}", lang="en")
        for at, text in enumerate(texts)
    )


def wanted() -> list[Wanted]:
    """Return two targets for each page; every seventh page needs no anchors."""
    return [
        (url(at), () if at % 7 == 0 else [url((at + 1) % COUNT), url((at + 3) % COUNT)], ())
        for at in range(COUNT)
    ]


def promising() -> tuple[Ints, Promising]:
    """Return the sources and targets of `wanted`, with one more target that no text names, in random order."""
    of = np.repeat(np.arange(COUNT), 3)
    rows = np.concatenate([np.array([at + 1, at + 2, at + 3]) % COUNT for at in range(COUNT)])
    columns = np.full((len(of), len(PAIR_COLUMNS)), np.nan, np.float16)
    return of, Promising(of, rows, columns)


@pytest.mark.parametrize("processes", [2, 0])
def test_other_processes_find_the_same_places_and_anchors(
    processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page gets the places and anchors that it would get in this process, in order, with and without others."""
    for name, size in (("_ALONE", 5), ("_AT_ONCE", 8), ("_TOGETHER", 4)):
        monkeypatch.setattr(site_places, name, size)
    whole, started = site(), list[Processes]()

    @contextmanager
    def workers(step: str, warn: Callable[[str], None]) -> Iterator[Processes | None]:
        with opened(processes, tmp_path / f"{step}.tmp", warn) as found:
            started.extend([found] if found else [])
            yield found

    notes = list[str]()
    with SitePlaces(whole, Anchoring(CountedSite(whole)), workers, notes.append, LEAST) as shared:
        quality = shared.judge(*promising())
        found = [*shared.propose_each(wanted())]
    alone = SitePlaces(whole, Anchoring(CountedSite(whole)), lambda *_: nullcontext(), notes.append, LEAST)
    assert np.array_equal(quality, alone.judge(*promising()), equal_nan=True)
    named = np.tile([True, False, True], COUNT)
    assert np.nanmean(quality[named]) > 5 * np.nanmean(quality[~named])
    assert found == [*alone.propose_each(wanted())]
    assert [len(each) for each in found] == [len(targets) for _, targets, _ in wanted()]
    assert any(one.verbatim for each in found for anchors in each for one in anchors)
    assert (len(started), notes) == (bool(processes), [])
    assert not [*tmp_path.iterdir()]


def test_few_pages_start_no_processes() -> None:
    def none(step: str, warn: Callable[[str], None]) -> AbstractContextManager[Processes | None]:
        raise AssertionError("processes were started")

    whole = site()
    shared = SitePlaces(whole, Anchoring(CountedSite(whole)), none, print, BALANCED)
    assert len(shared.judge(*promising())) == 3 * COUNT
    assert len([*shared.propose_each(wanted())]) == COUNT


def opened(count: int, file: Path, warn: Callable[[str], None]) -> AbstractContextManager[Processes | None]:
    """Return this many processes, None for none."""
    return Processes(count, file, warn) if count else nullcontext()


@pytest.mark.parametrize("processes", [2, 0])
def test_other_processes_obey_the_rules_of_the_house(
    processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No page links the words that a rule forbids; where another rule asks for words, they come first."""
    monkeypatch.setattr(site_places, "_ALONE", 0)
    whole = site()

    def workers(step: str, warn: Callable[[str], None]) -> AbstractContextManager[Processes | None]:
        return opened(processes, tmp_path / f"{step}.tmp", warn)

    anchoring = Anchoring(CountedSite(whole))
    anchoring.house = (
        LinkRule(2, "Green tea number 0", "", "never"),
        LinkRule(3, "some people", url(5), "always", most=5),
    )
    with SitePlaces(whole, anchoring, workers, print, 0.1) as places:
        known = Targets({page.key: page.url for page in whole.pages}, {})
        ruled = places.ruled(
            [Source(each.key, each.url, "", each, in_sheet=False) for each in whole.pages],
            known,
            whole=True,
        )
        assert (ruled.of.tolist(), set(ruled.rows.tolist())) == ([0, 1, 2, 3, 4], {5})
        places.judge(*promising())
        asked = [(url(at), [url(5), url(0)], ()) for at in range(1, 5)]
        for first, second in places.propose_each(asked):
            assert (first[0].text, first[0].quality) == ("Some people", 1)
            assert all(one.text.casefold() != "green tea number 0" for one in second)
