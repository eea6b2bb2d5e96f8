"""Settings, keys and exclusions are shown and changed, and what the user wrote around them stays."""

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest

from internal_linker.model.errors import ConfigurationError
from internal_linker.project.edit_settings import (
    SettingRow,
    SettingsChanged,
    SettingsResult,
    change_exclusions,
    change_settings,
    list_settings,
    set_key,
)
from internal_linker.project.settings.settings import KEY_FILES, Settings, load_settings
from internal_linker.project.settings.sources import masked, secrets_in
from internal_linker.project.settings.template import render_settings
from tests.support.small_project import snapshot, write_text

SECRET = "key-0123456789abcdef"
ACCOUNT = {"type": "service_account", "client_email": "a@b.example", "private_key": "x"}


def settings_file(folder: Path, text: str) -> Path:
    write_text(folder / "config/settings.toml", text)
    return folder / "config/settings.toml"


def row(result: SettingsResult, name: str) -> SettingRow:
    return next(each for each in result.settings if each.name == name)


def test_every_setting_is_shown_with_what_a_form_needs(tmp_path: Path) -> None:
    result = list_settings(tmp_path)
    assert [each.name for each in result.settings] == [
        name for name in Settings.model_fields if name not in KEY_FILES
    ]
    pages = row(result, "max_serp_pages")
    assert (pages.kind, pages.allowed, pages.default, pages.value) == ("whole number", "1 to 10", 2, 2)
    assert pages.group == "Search results (Serper, SerpApi)" and pages.source == "default"
    assert row(result, "fusion").choices == ("fill", "blend")
    assert row(result, "sections_off").kind == "list" and row(result, "sections_off").value == []
    always = row(result, "notify_always")
    assert (always.kind, always.value) == ("yes or no", False)
    assert row(result, "near_duplicate").kind == "number" and row(result, "gl").kind == "text"
    assert not result.problem and len(result.next_runs) == 3
    json.dumps([each.value for each in result.settings])


def test_a_value_says_whether_the_file_or_the_environment_set_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_file(tmp_path, 'links_per_page = 3\nmax_clicks = 9\nsections_off = ["/a"]\n')
    monkeypatch.setenv("INTERNAL_LINKER_LINKS_PER_PAGE", "7")
    monkeypatch.setenv("INTERNAL_LINKER_SECTIONS_OFF", '["/b"]')
    result = list_settings(tmp_path)
    assert (row(result, "links_per_page").value, row(result, "links_per_page").source) == (7, "environment")
    assert row(result, "sections_off").value == ["/b"]
    assert (row(result, "max_clicks").value, row(result, "max_clicks").source) == (9, "file")


def test_a_wrong_value_is_shown_with_its_problem(tmp_path: Path) -> None:
    """Settings that no run would accept can still be seen and repaired here."""
    settings_file(tmp_path, "links_per_page = 900\nmax_clicks = 9\n")
    result = list_settings(tmp_path)
    assert "links_per_page" in result.problem and row(result, "links_per_page").value == 900
    repaired = change_settings(tmp_path, {"links_per_page": 5})
    assert not repaired.problem and load_settings(tmp_path).max_clicks == 9


def test_a_change_keeps_comments_order_and_line_ends(tmp_path: Path) -> None:
    text = '# My site\r\nmax_clicks = 9 # agreed with Ann\r\n\r\nlinks_per_page = 3   # few\r\ngl = "de"\r\n'
    path = settings_file(tmp_path, "")
    path.write_bytes(text.encode())
    change_settings(tmp_path, {"links_per_page": 4, "gl": "US"})
    assert path.read_bytes().decode() == text.replace("= 3 ", "= 4 ").replace('"de"', '"us"')


def test_the_whole_template_survives_a_change(tmp_path: Path) -> None:
    """In the file that `init` wrote, one line changes."""
    path = settings_file(tmp_path, render_settings())
    change_settings(tmp_path, {"sections_off": ["/blog", '/"x"'], "lexical_weight": 1})
    before, after = render_settings().splitlines(), path.read_text(encoding="utf-8").splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert [old for old, _ in changed] == ["lexical_weight = 0.65", "sections_off = []"]
    assert load_settings(tmp_path).sections_off == ("/blog", '/"x"')
    assert load_settings(tmp_path).lexical_weight == 1.0


def test_a_setting_that_is_not_in_the_file_comes_with_its_explanation(tmp_path: Path) -> None:
    """A new setting is added at the end with the comment of the template; without a file, the template is written."""
    path = settings_file(tmp_path, "max_clicks = 9\n")
    change_settings(tmp_path, {"links_per_page": 4})
    text = path.read_text(encoding="utf-8")
    assert text.startswith("max_clicks = 9\n")
    assert text.endswith("\n# Links per page.\n# Default: 5; 1 to 50\nlinks_per_page = 4\n")
    change_settings(tmp_path / "new", {"links_per_page": 4})
    written = (tmp_path / "new/config/settings.toml").read_text(encoding="utf-8")
    assert written == render_settings({"links_per_page": 4})


def test_none_restores_the_default(tmp_path: Path) -> None:
    path = settings_file(tmp_path, 'source_include = ["/blog"]\nmax_serp_pages = 9\n')
    change_settings(tmp_path, {"source_include": None, "max_serp_pages": None})
    assert tomllib.loads(path.read_text(encoding="utf-8")) == {"source_include": [], "max_serp_pages": 2}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"links_per_page": 51}, "it must be 50 or less"),
        ({"links_per_page": True}, "it can't be true or false"),
        ({"links_per_pages": 5}, "Did you mean links_per_page?"),
        ({"serper_api_key": SECRET}, "does not belong in this file"),
        ({"search_query_template": "no site"}, "it must contain {main_query}"),
        ({"schedule_cron": "0 3 * * XYZ"}, "schedule_cron"),
        ({"schedule_timezone": "Berlin"}, "Europe/Berlin"),
        ({"base_url": "https://me:***@llm.example/v1"}, "*** only hides the present one"),
    ],
)
def test_a_wrong_value_changes_nothing(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    """A change that no run would accept is refused as a whole, with the reason."""
    settings_file(tmp_path, "max_clicks = 9\n")
    before = snapshot(tmp_path)
    with pytest.raises(ConfigurationError) as caught:
        change_settings(tmp_path, {"max_clicks": 3, **changes})
    assert words in str(caught.value) and SECRET not in str(caught.value)
    assert snapshot(tmp_path) == before


def test_what_the_environment_sets_cannot_be_changed_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that would have no effect is refused."""
    monkeypatch.setenv("INTERNAL_LINKER_MAX_CLICKS", "7")
    with pytest.raises(ConfigurationError, match="INTERNAL_LINKER_MAX_CLICKS"):
        change_settings(tmp_path, {"max_clicks": 3})
    assert not (tmp_path / "config").exists()


def test_a_change_of_an_older_state_is_refused(tmp_path: Path) -> None:
    settings_file(tmp_path, "max_clicks = 9\n")
    seen = list_settings(tmp_path).version
    change_settings(tmp_path, {"max_clicks": 5}, seen)
    with pytest.raises(SettingsChanged, match="changed in the meantime"):
        change_settings(tmp_path, {"max_clicks": 6}, seen)
    assert load_settings(tmp_path).max_clicks == 5


def test_passwords_in_addresses_are_hidden(tmp_path: Path) -> None:
    settings_file(tmp_path, 'store_url = "postgresql+psycopg://me:hunter2@db.example/links"\n')
    result = list_settings(tmp_path)
    assert row(result, "store_url").value == "postgresql+psycopg://me:***@db.example/links"
    assert "hunter2" not in str(vars(result))


def test_a_key_is_written_for_its_owner_only_and_never_shown(tmp_path: Path) -> None:
    """A key can be set and removed; results say only whether it is set."""
    set_key(tmp_path, "serper_api_key", f" {SECRET}\n")
    path = tmp_path / "config/serper_api_key.txt"
    assert load_settings(tmp_path).search_key("serper") == SECRET
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    result = list_settings(tmp_path)
    assert {key.name: key.source for key in result.keys}["serper_api_key"] == "file"
    assert SECRET not in str(vars(result))
    assert set_key(tmp_path, "serper_api_key", "").source == ""
    assert path.read_text(encoding="utf-8") == ""


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("serper_api_key", f"{SECRET} {SECRET}", "only the key, on one line"),
        ("service_account", json.dumps({**ACCOUNT, "secret": SECRET}), "it lacks token_uri"),
        (
            "site_access",
            f'["https://a.example"]\nuser = "me"\npasword = "{SECRET}"',
            "did you mean password?",
        ),
        ("settings", SECRET, "There is no key 'settings'"),
    ],
)
def test_a_wrong_key_is_refused_without_repeating_it(
    tmp_path: Path, name: str, text: str, words: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        set_key(tmp_path, name, text)
    assert words in str(caught.value) and SECRET not in str(caught.value)
    assert not (tmp_path / "config").exists()


def test_a_key_of_the_environment_is_named_and_not_overridden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    keys = {key.name: key.source for key in list_settings(tmp_path).keys}
    assert keys["openai_api_key"] == "environment"
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        set_key(tmp_path, "openai_api_key", "another")


def test_exclusions_are_changed_as_a_whole(tmp_path: Path) -> None:
    """The patterns can be edited as text; a wrong one is named by its line and nothing is written."""
    assert change_exclusions(tmp_path, "# tags\r\n/tag/\r\n").exclusions == "# tags\n/tag/\n"
    with pytest.raises(ConfigurationError, match="line 2"):
        change_exclusions(tmp_path, "/tag/\n(?=x)\n")
    assert list_settings(tmp_path).exclusions == "# tags\n/tag/\n"


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    settings_file(tmp_path, "max_clicks = nine\n")
    for call in (list_settings, lambda root: change_settings(root, {"max_clicks": 3})):
        with pytest.raises(ConfigurationError, match="can't be read"):
            call(tmp_path)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql+psycopg://ann:pa/s@s@db.example/links", "postgresql+psycopg://ann:***@db.example/links"),
        (
            "postgresql://ann@db/links?password=s3cret&connect_timeout=3",
            "postgresql://ann@db/links?password=***&connect_timeout=3",
        ),
        ("https://api.example/v1?api_key=s3cret", "https://api.example/v1?api_key=***"),
        ("https://api.example:8080/v1", "https://api.example:8080/v1"),
    ],
)
def test_no_form_of_a_password_in_an_address_is_shown(address: str, shown: str) -> None:
    assert masked(address) == shown
    secrets = secrets_in(address)
    assert bool(secrets) == (shown != address)
    for secret in secrets:
        address = address.replace(secret, "")
    assert "s3cret" not in address and "pa/s" not in address
