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
def started() -> Iterator[AppBrowser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def browser(app: RunningApp, started: AppBrowser) -> Iterator[AppBrowser]:
    """Return the browser, which leaves the app before that ends: pages would miss it in the next test."""
    yield started
    for context in started.browser.contexts:
        context.close()
    started.problems.clear()
