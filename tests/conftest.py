"""The two tiers of tests, and fixtures that several files share."""

import os

if "PYTEST_XDIST_WORKER" in os.environ:
    # Each core has a process of its own: more threads in each would only wait for each other. NumPy reads this once.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import URL
from tenacity import wait_random_exponential

from internal_linker.sources.http import limits
from tests.standins import GoogleStandIn
from tests.support.databases import fresh_database, running_server
from tests.support.sheets import HEADER, SITE
from tests.support.small_project import forget_settings
from tests.support.wordpress import WordPress, make_template, missing, running_site

# The number of examples hypothesis tries. The quick tier always tries the same ones.
settings.register_profile("quick", max_examples=10, deadline=None, derandomize=True)
settings.register_profile("all", max_examples=100, deadline=None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all", action="store_true", help="run the long trials as well: both tiers of the tests"
    )


def pytest_xdist_auto_num_workers() -> int:
    """Start one process more than there are cores, since tests wait for servers, too."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    """Deselect the long tests, unless --all or an -m expression asks for them; the user's settings don't count."""
    forget_settings()
    settings.load_profile("all" if config.option.all else "quick")
    if not config.option.all and not config.option.markexpr:
        config.option.markexpr = "not long"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file of long tests alone that would load PyTorch in each process."""
    long_only = collection_path.name == "test_sentence_transformers.py"
    return True if long_only and config.option.markexpr == "not long" else None


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses between retries to a hundredth, unless the service asks for longer ones."""
    monkeypatch.setattr(limits, "_backoff", wait_random_exponential(multiplier=0.005, max=0.15))


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    with GoogleStandIn({"Main": [HEADER, *([SITE + name, f"{name} query"] for name in "abc")]}) as stand_in:
        yield stand_in


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[URL]:
    with running_server() as address:
        yield address


@pytest.fixture
def postgres(postgres_server: URL) -> Iterator[str]:
    """Yield the store_url of an empty PostgreSQL database that belongs to the test."""
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def store_url(request: pytest.FixtureRequest) -> str:
    """Yield the store_url of an empty database that belongs to the test, once for each kind of database."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres"))
    return "sqlite:///files/cache.sqlite3"


@pytest.fixture(scope="session")
def wordpress_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if reason := missing():
        pytest.skip(reason)
    return make_template(tmp_path_factory.mktemp("wordpress") / "template")


@pytest.fixture
def wordpress(wordpress_template: Path, tmp_path: Path) -> Iterator[WordPress]:
    """Yield a real WordPress with 120 posts that belongs to the test."""
    with running_site(wordpress_template, tmp_path / "wordpress") as site:
        yield site
