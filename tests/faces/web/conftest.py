"""One served app and one browser for all tests of a process: projects differ, and no test depends on another's."""

from collections.abc import Iterator

import pytest

from tests.support.app_browser import AppBrowser, open_browser
from tests.support.app_server import RunningApp, running_app


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    with running_app(tmp_path_factory.mktemp("app")) as running:
        yield running


# Not for the session: Playwright's event loop is in the way of others.
@pytest.fixture(scope="package")
def started() -> Iterator[AppBrowser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def browser(started: AppBrowser) -> Iterator[AppBrowser]:
    yield started
    for context in started.browser.contexts:
        context.close()
    started.problems.clear()
