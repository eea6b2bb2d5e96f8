"""Use cases are tried without the settings of the computer that runs the tests."""

import pytest

from tests.support.small_project import forget_settings


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_settings(monkeypatch)
