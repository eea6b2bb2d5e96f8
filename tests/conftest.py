"""Fixtures that several files share."""

from collections.abc import Iterator

import pytest

from tests.sheets import HEADER, SITE
from tests.standins import GoogleStandIn


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    with GoogleStandIn({"Main": [HEADER, *([SITE + name, f"{name} query"] for name in "abc")]}) as stand_in:
        yield stand_in
