"""An empty project and a site on loopback."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crawls import empty_project
from tests.support.web_server import Site


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return empty_project(tmp_path / "project")


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        yield running
