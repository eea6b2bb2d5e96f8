"""A site that stays open: lookups and content briefs in one process, which share what was read from the index."""

import functools
import io
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from internal_linker.model.ports import Progress
from internal_linker.project.index_inputs import inputs_status
from internal_linker.project.options.links import BriefOptions, LookupOptions
from internal_linker.project.project import open_project

if TYPE_CHECKING:
    from internal_linker.model.briefs import BriefLinks
    from internal_linker.project.pipeline.context import RunContext
    from internal_linker.project.run import PageLinks

# Seconds for which the rows of a Google Sheet are taken for what they were: Google allows 60 requests a minute.
_SHEET_S = 60.0


class OpenSite:
    """Answers as `lookup` and `content_brief` do, from what it keeps in memory; may be used by several threads.

    Before each answer it looks at the sizes and times of the tables and of the files in config/: after a change it
    reads them again. A Google Sheet is read again after a minute. Editors' decisions count at once.

    Args:
        root: the folder with config/ and files/.
        progress: opens what shows the steps of an answer.

    Raises:
        ConfigurationError: a setting is wrong.
    """

    def __init__(self, root: Path, progress: Callable[[], AbstractContextManager[Progress]]) -> None:
        self._root, self._progress = root, progress
        # Lookups are short, and share what they compare.
        self._lock = threading.Lock()
        self._open, self._of_one_answer = ExitStack(), ExitStack()
        self._kept: dict[str, tuple[str, Any]] = {}
        self._contexts: dict[bool, RunContext] = {}
        self._digest, self._project = "", open_project(root)
        self._status = self._look()

    def __enter__(self) -> "OpenSite":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close databases and services; the next answer opens them again."""
        with self._lock:
            self._close()

    def lookup(self, page: str, **options: Any) -> "PageLinks":
        """Return what `internal_linker.lookup` returns, with the same options.

        Raises:
            InternalLinkerError: it could not be done.
        """
        from internal_linker.project.run import look_up

        wanted = LookupOptions(page=page, **options)
        with self._lock, self._progress() as progress:
            context = self._context(progress, searches=wanted.search and not wanted.to)
            return look_up(self._project, context, wanted, progress)

    def content_brief(
        self, draft: str | Path, *, stdin: Callable[[], BinaryIO] = io.BytesIO, **options: Any
    ) -> "BriefLinks":
        """Return what `internal_linker.content_brief` returns, with the same options.

        Raises:
            InternalLinkerError: it could not be done.
        """
        from internal_linker.project.run import write_brief

        wanted = BriefOptions(draft=draft, **options)
        with self._lock, self._progress() as progress:
            context = self._context(progress, searches=wanted.search)
            return write_brief(self._project, context, wanted, progress, stdin=stdin)

    def _context(self, progress: Progress, *, searches: bool) -> "RunContext":
        """Return a context that is open, with or without the search service, after a look at the files."""
        status = self._look()
        if status != self._status:
            self._close()
            # Read before the files are, so that a change in the meantime is another change.
            self._status, self._project = status, open_project(self._root)
        if searches not in self._contexts:
            # Budgets and circuit breakers of services are those of one answer; without an index, each reads all texts.
            self._of_one_answer.close()
            opened = self._of_one_answer.enter_context(
                self._project.context(progress, serp=searches, deliver=False)
            )
            context = replace(opened, kept=self._kept, inputs=functools.partial(self._inputs, opened.inputs))
            paid = context.serp or context.encoder.name.startswith("openai/")
            if paid or context.index is None or not context.inputs():
                return context
            self._open.push(self._of_one_answer.pop_all())
            self._contexts[searches] = context
        return self._contexts[searches]

    def _inputs(self, digest: Callable[[], str]) -> str:
        """Return `inputs_digest`, computed once unless files change."""
        if not self._digest or self._look() != self._status:
            self._digest = digest()
        return self._digest

    def _look(self) -> tuple[object, ...]:
        settings = self._project.settings
        has_sheet = settings.google_sheet_id and settings.query_source != "csv"
        return *inputs_status(self._root, settings), time.monotonic() // _SHEET_S if has_sheet else 0

    def _close(self) -> None:
        self._open.close()
        self._of_one_answer.close()
        self._contexts, self._kept, self._digest = {}, {}, ""
