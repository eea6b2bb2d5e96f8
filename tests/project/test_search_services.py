"""The choice of the search service, and the parts of each: client, setting, key and URL."""

from pathlib import Path
from typing import get_args

import pytest

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.records import SerpMarket
from internal_linker.project.project import Project, open_project
from internal_linker.project.providers import Clients, search_services
from internal_linker.project.settings.settings import KEY_FILES, SEARCH_PROVIDERS, Settings
from tests.support.small_project import make_project, write_text


def project(folder: Path, provider: str, keys: str) -> Project:
    """Return a project with the keys of these services."""
    make_project(folder, {"serp_provider": provider})
    for name in keys.split():
        write_text(folder / f"config/{name}_api_key.txt", f"key-of-{name}")
    return open_project(folder)


def test_every_search_service_is_there_whole() -> None:
    """Each service has a client, a value of serp_provider, a key and a URL."""
    values = get_args(Settings.model_fields["serp_provider"].annotation)
    assert values == ("auto", *SEARCH_PROVIDERS, "none")
    assert tuple(search_services()) == SEARCH_PROVIDERS
    keys = {f"{name}_api_key": "a-key" for name in SEARCH_PROVIDERS}
    for name in SEARCH_PROVIDERS:
        assert KEY_FILES[f"{name}_api_key"][0].as_posix() == f"config/{name}_api_key.txt"
        settings = Settings.model_validate({**keys, "serp_provider": name, "gl": "de"})
        client = Clients(settings, Path()).search_client()
        client.close()
        assert (client.name, client.market) == (search_services()[name].name, SerpMarket(name, "de"))


@pytest.mark.parametrize(
    ("provider", "keys", "used"),
    [
        ("auto", "serper serpapi", "Serper"),
        ("auto", "serper", "Serper"),
        ("auto", "serpapi", "SerpApi"),
        ("serper", "serper serpapi", "Serper"),
        ("serpapi", "serper serpapi", "SerpApi"),
    ],
)
def test_the_service_with_a_key_is_used(provider: str, keys: str, used: str, tmp_path: Path) -> None:
    """The requested service is used; with auto it is Serper if it has a key, else SerpApi."""
    notices: list[str] = []
    client = project(tmp_path, provider, keys).clients.search_service(True, notices)
    assert client is not None and client.name == used and notices == []
    assert client.market == SerpMarket(used.lower())
    client.close()


@pytest.mark.parametrize(
    ("provider", "keys", "told"), [("auto", "", True), ("none", "serper serpapi", False)]
)
def test_without_a_key_a_notice_says_so(provider: str, keys: str, told: bool, tmp_path: Path) -> None:
    """A key that is missing is one notice, a service that is switched off none; cached results are still found."""
    notices: list[str] = []
    of = project(tmp_path, provider, keys)
    assert of.clients.search_service(True, notices) is None
    assert ["because config/serper_api_key.txt contains no key" in each for each in notices] == [True] * told
    assert of.clients.search_service(False, notices) is None and len(notices) == told
    assert of.clients.market == SerpMarket("serper")


@pytest.mark.parametrize("provider", SEARCH_PROVIDERS)
def test_a_service_that_is_asked_for_needs_its_key(provider: str, tmp_path: Path) -> None:
    """A requested service needs its own key, not another's; the error names the file to fill."""
    others = " ".join(set(SEARCH_PROVIDERS) - {provider})
    with pytest.raises(ConfigurationError, match=f"needs a key in config/{provider}_api_key.txt"):
        project(tmp_path, provider, others).clients.search_service(True, [])
