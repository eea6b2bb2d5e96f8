"""A pytest plugin that records each test's processor seconds and whether it starts other processes.

Load it with `-p tests.research.mutations.recorder`; each process writes its own file into the folder that FOLDER names.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Generator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

FOLDER = "TEST_RECORDS"


class Recorder:
    """Writes one line of JSON per test: its id, its seconds, and whether it or its fixtures started a process."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / f"{os.getpid()}.jsonl").open("w", encoding="utf-8", buffering=1)
        self._process = os.getpid()
        self._started = self._prepared = False
        sys.addaudithook(self._heard)
        # The only way to start a process that triggers no audit hook.
        start: Callable[[BaseProcess], None] = BaseProcess.start

        def noted(process: BaseProcess) -> None:
            self._started = True
            start(process)

        setattr(BaseProcess, "start", noted)  # noqa: B010  # mypy allows no assignment to a method

    def _heard(self, event: str, _: tuple[Any, ...]) -> None:
        if event in ("subprocess.Popen", "os.fork", "os.posix_spawn"):
            self._started = True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Watch one test with its fixtures."""
        self._started = self._prepared = False
        began = _seconds()
        try:
            return (yield)
        finally:
            if os.getpid() == self._process:
                seconds = round(_seconds() - began, 3)
                self._file.write(json.dumps([item.nodeid, seconds, self._started, self._prepared]) + "\n")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        """Tell what the fixtures start from what the test does."""
        try:
            return (yield)
        finally:
            self._prepared = self._started


def _seconds() -> float:
    """Return the processor seconds so far, with those of ended children: a busy machine hardly changes them."""
    return time.process_time() + sum(os.times()[2:4])


def pytest_configure(config: pytest.Config) -> None:
    """Start recording, in each process that runs tests."""
    config.pluginmanager.register(Recorder(Path(os.environ[FOLDER])))
