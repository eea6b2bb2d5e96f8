"""A served app, an app with a project, and a browser on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.app_browser import AppBrowser, open_browser
from tests.support.app_server import RunningApp, running_app


@pytest.fixture
def app(tmp_path: Path) -> Iterator[RunningApp]:
    with running_app(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[AppBrowser]:
    with open_browser() as opened:
        yield opened
