"""An empty project and a site on loopback, without the settings of the computer that runs the tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crawls import empty_project
from tests.support.small_project import forget_settings
from tests.support.web_server import Site


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_settings(monkeypatch)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return empty_project(tmp_path / "project")


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        yield running
