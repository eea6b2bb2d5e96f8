"""The search for anchors on a large site, shared with other processes."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import chain
from typing import Any

from internal_linker.anchors.finder import Anchoring
from internal_linker.core.edges import Anchor
from internal_linker.core.ports import Wanted, Workers
from internal_linker.core.records import Collected
from internal_linker.core.sequences import batched
from internal_linker.pipeline.packed import packed, unpacked

# Pages whose anchors this process finds before it starts others: it takes them a second or two to begin.
_ALONE = 500
# Pages that another process takes at a time.
_AT_ONCE = 64
Found = Sequence[tuple[Anchor, ...]]


class SharedAnchors:
    """Finds anchors as `Anchoring.propose` does, for many pages in other processes.

    Args:
        workers: opens the other processes; see `RunContext.workers`.
        warn: takes a note if they can't be started.
    """

    def __init__(
        self,
        collected: Collected,
        anchoring: Anchoring,
        workers: Callable[[Callable[[str], None]], AbstractContextManager[Workers | None]],
        warn: Callable[[str], None],
    ) -> None:
        self._collected, self._anchoring = collected, anchoring
        self._workers, self._warn = workers, warn

    def propose_each(self, wanted: Iterable[Wanted]) -> Iterator[Found]:
        """Yield the anchors of each page; see `ports.Anchors`."""
        rest, alone = iter(wanted), 0
        for one in rest:
            if alone == _ALONE:
                yield from self._shared(chain([one], rest))
                return
            alone += bool(one[1])
            yield self._anchoring.propose(*one) if one[1] else ()

    def _shared(self, wanted: Iterable[Wanted]) -> Iterator[Found]:
        with self._workers(self._warn) as workers:
            if workers is None:
                yield from self._anchoring.propose_each(wanted)
                return
            workers.share(_Site(packed(self._collected), self._anchoring.lasting()))
            ahead = deque[list[bool]]()

            def tasks() -> Iterator[tuple[Sequence[Wanted]]]:
                for some in batched(wanted, _AT_ONCE):
                    ahead.append([bool(one[1]) for one in some])
                    yield ([one for one in some if one[1]],)

            for found in workers.run(_Site.propose, tasks()):
                each = iter(found)
                yield from (next(each) if needs else () for needs in ahead.popleft())


class _Site:
    """The site in another process."""

    def __init__(self, columns: dict[str, Any], counted: dict[str, Any]) -> None:
        self._columns, self._counted = columns, counted

    @cached_property
    def _anchoring(self) -> Anchoring:
        found = Anchoring(unpacked(self._columns))
        found.resume(self._counted)
        return found

    def propose(self, wanted: Sequence[Wanted]) -> list[Found]:
        """Return the anchors of some pages."""
        return [self._anchoring.propose(*one) for one in wanted]
