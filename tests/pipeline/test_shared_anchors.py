"""Other processes find the anchors that this one would find."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import pytest

from internal_linker.adapters.compute.processes import Processes
from internal_linker.anchors.finder import Anchoring
from internal_linker.core.ports import Wanted, Workers
from internal_linker.core.records import Collected
from internal_linker.pipeline import shared_anchors
from internal_linker.pipeline.shared_anchors import SharedAnchors
from tests.support.builders import collected, page, url

TOPICS = ("green tea", "black tea", "milk jugs", "paper filters", "clay pots", "water kettles")
COUNT = 60


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


@pytest.mark.parametrize("processes", [2, 0])
def test_other_processes_find_the_same_anchors(
    processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page gets the anchors that it would get in this process, in the same order, with and without others."""
    monkeypatch.setattr(shared_anchors, "_ALONE", 5)
    monkeypatch.setattr(shared_anchors, "_AT_ONCE", 8)
    whole, started = site(), list[Workers]()

    @contextmanager
    def workers(warn: Callable[[str], None]) -> Iterator[Workers | None]:
        with opened(processes, tmp_path / "matching.tmp", warn) as found:
            started.extend([found] if found else [])
            yield found

    notes = list[str]()
    shared = SharedAnchors(whole, Anchoring(whole), workers, notes.append)
    alone = [*Anchoring(whole).propose_each(wanted())]
    assert [*shared.propose_each(wanted())] == alone
    assert any(one.verbatim for found in alone for each in found for one in each)
    assert (len(started), notes) == (bool(processes), [])
    assert not (tmp_path / "matching.tmp").exists()


def test_few_pages_start_no_processes() -> None:
    def none(warn: Callable[[str], None]) -> AbstractContextManager[Workers | None]:
        raise AssertionError("processes were started")

    whole = site()
    assert len([*SharedAnchors(whole, Anchoring(whole), none, print).propose_each(wanted())]) == COUNT


def opened(count: int, file: Path, warn: Callable[[str], None]) -> AbstractContextManager[Workers | None]:
    """Return this many processes, None for none."""
    return Processes(count, file, warn) if count else nullcontext()
