"""Files and environment become one Settings object, and errors say how to fix them."""

import codecs
import json
import re
import traceback
from pathlib import Path

import pytest
from pydantic import ValidationError

from internal_linker.model.errors import ConfigurationError
from internal_linker.project.settings.settings import (
    ENV_PREFIX,
    KEY_FILES,
    Settings,
    former_settings,
    load_settings,
)
from tests.support.small_project import write_text

KEY = "key-0123456789abcdef"
ACCOUNT = json.dumps({"type": "service_account", "private_key": "-----BEGIN\nMIIEvQIBADANBg\n-----END"})
UNITS = re.compile(
    r"\b(days?|backups|credits?|dollars?|tokens?|minutes?|pages?|searches|requests|numbers|links|dimensions|share"
    r"|0 to 1)\b",
    re.I,
)


def toml(folder: Path, text: str) -> Path:
    write_text(folder / "config/settings.toml", text)
    return folder


def refusal(folder: Path, text: str = "") -> str:
    """Return the error message for these settings."""
    if text:
        toml(folder, text)
    with pytest.raises(ConfigurationError) as caught:
        load_settings(folder)
    return str(caught.value)


def test_an_empty_folder_means_all_defaults(tmp_path: Path) -> None:
    assert load_settings(tmp_path) == Settings.model_validate({})


def test_every_setting_says_what_it_is_and_each_number_its_unit() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description and field.description.endswith((".", ")")), name
        if field.annotation in (int, float):
            assert UNITS.search(field.description), name


def test_every_line_of_the_seeds_configuration_has_its_setting() -> None:
    seed = ("GOOGLE_SHEET_ID", "GOOGLE_SHEET_NAME", "SEARCH_QUERY_TEMPLATE", "MAX_SERP_PAGES")
    assert {name.lower() for name in seed} <= set(Settings.model_fields)
    files = {"serper_api_key.txt", "openai_api_key.txt", "service_account.txt"}
    assert files < {path.name for path, _ in KEY_FILES.values()}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("max_serp_page", "max_serp_pages"),
        ("serp_pages_max", "max_serp_pages"),
        ("SEARCH_QUERY_TEMPLATE", "search_query_template"),
    ],
)
def test_a_mistyped_name_is_refused_with_the_nearest_right_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, meant: str
) -> None:
    said = refusal(tmp_path, f"{given} = 1")
    assert said == f"config/settings.toml: there is no setting '{given}'. Did you mean {meant}?"
    toml(tmp_path, "")
    if not given.isupper():
        monkeypatch.setenv(f"{ENV_PREFIX}{given.upper()}", "1")
        assert f"Did you mean {ENV_PREFIX}{meant.upper()}?" in refusal(tmp_path)


def test_all_mistyped_names_are_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{ENV_PREFIX}LINK_PER_PAGE", "5")
    said = refusal(tmp_path, "max_serp_page = 1\nlinks_per_page = 5\nzzz = 1\ngoogle_sheet = 'x'")
    assert said.split("config/settings.toml: ") == [
        "",
        "there is no setting 'max_serp_page'. Did you mean max_serp_pages? ",
        "there is no setting 'zzz'. ",
        "there is no setting 'google_sheet'. Did you mean google_sheet_id? the environment: there is no setting "
        f"'{ENV_PREFIX}LINK_PER_PAGE'. Did you mean {ENV_PREFIX}LINKS_PER_PAGE?",
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("max_serp_pages = 0", "max_serp_pages: it must be 1 or more (it is 0)"),
        ('max_serp_pages = "two"', "max_serp_pages: it must be a whole number (it is 'two')"),
        ("max_serp_pages = 2.5", "max_serp_pages: it must be a whole number (it is 2.5)"),
        ("links_per_page = true", "links_per_page: it can't be true or false"),
        ('max_cost_usd = "0,5"', "max_cost_usd: it must be a number, with a point as in 0.5 (it is '0,5')"),
        ("max_cost_usd = inf", "max_cost_usd: it must be a number"),
        ("google_sheet_name = 7", "google_sheet_name: it must be a text in double quotes"),
        (
            'embedding_provider = "lokal"',
            "it must be auto, openai, lsa, local, fast, multilingual, onnx:FOLDER, sentence-transformers:MODEL "
            "or file:PATH; did you mean local? (it is 'lokal')",
        ),
        ('embedding_provider = "files:v.csv"', "did you mean file:PATH? (it is 'files:v.csv')"),
        ('fusion = "mix"', "fusion: it must be 'fill' or 'blend' (it is 'mix')"),
        ('gl = "usa"', "gl: it must be a two-letter country code, such as us or de (it is 'usa')"),
        ('base_url = "localhost"', "base_url: it must be an address that begins with https:// or http://"),
        ('schedule_timezone = "berlin"', "it must be a time zone such as Europe/Berlin (it is 'berlin')"),
        ("max_serp_pages = two", "can't be read: "),
        ("serp_requests_per_second = 0", "it must be above 0 (it is 0)"),
        ('anchors = "some"', "anchors: it must be 'strict', 'balanced' or 'broad' (it is 'some')"),
        ('store_url = "sqlite:///C:\\data"', "with / instead of \\"),
    ],
)
def test_a_wrong_value_is_named_with_its_place_and_what_would_be_right(
    tmp_path: Path, line: str, words: str
) -> None:
    said = refusal(tmp_path, line)
    assert said.startswith("config/settings.toml")
    assert words in said
    assert not re.search(r"pydantic|validation|regex|pattern|Input should|For further", said)


def test_a_list_in_a_variable_is_told_how_to_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{ENV_PREFIX}SECTIONS_OFF", "/blog")
    assert f'{ENV_PREFIX}SECTIONS_OFF: it must be a list of texts, as in ["/blog"' in refusal(tmp_path)


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml(tmp_path, "max_serp_pages = 3\nlinks_per_page = 4")
    monkeypatch.setenv(f"{ENV_PREFIX}MAX_SERP_PAGES", "7")
    found = load_settings(tmp_path)
    assert (found.max_serp_pages, found.links_per_page) == (7, 4)
    monkeypatch.setenv(f"{ENV_PREFIX}MAX_SERP_PAGES", "70")
    assert refusal(tmp_path).startswith(f"environment variable {ENV_PREFIX}MAX_SERP_PAGES: it must be")


@pytest.mark.parametrize("name", KEY_FILES)
def test_a_key_comes_from_its_file_the_plain_variable_or_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    file, variable = KEY_FILES[name]
    write_text(tmp_path / file, "from-the-file")
    seen = [getattr(load_settings(tmp_path), name).get_secret_value()]
    for each in (variable, f"{ENV_PREFIX}{name.upper()}"):
        monkeypatch.setenv(each, f"from-{each}")
        seen.append(getattr(load_settings(tmp_path), name).get_secret_value())
    assert seen == ["from-the-file", f"from-{variable}", f"from-{ENV_PREFIX}{name.upper()}"]


@pytest.mark.parametrize(
    "content",
    [
        codecs.BOM_UTF8 + KEY.encode() + b"\r\n",
        f"\r\n\r\n  {KEY}  \r\n\r\n".encode(),
        f'"{KEY}"\n'.encode(),
        KEY.encode("utf-16"),
    ],
    ids=["BOM and CRLF", "blank lines", "quotes", "PowerShell's UTF-16"],
)
def test_a_key_file_may_be_written_by_any_editor(tmp_path: Path, content: bytes) -> None:
    """A BOM, blank lines, spaces, quotes and UTF-16 around a key do no harm."""
    path = tmp_path / "config/serper_api_key.txt"
    write_text(path, "")
    path.write_bytes(content)
    assert load_settings(tmp_path).serper_api_key.get_secret_value() == KEY


@pytest.mark.parametrize("content", [f"{KEY}\nanother-key".encode(), b"\xff\xfe\x00", b"k\xe4y"])
def test_a_key_file_that_holds_more_than_a_key_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config/openai_api_key.txt"
    write_text(path, "")
    path.write_bytes(content)
    said = refusal(tmp_path)
    assert said.startswith("config/openai_api_key.txt") and KEY not in said


def test_a_bad_key_in_a_variable_is_not_blamed_on_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERPER_API_KEY", f"{KEY} {KEY}")
    said = refusal(tmp_path)
    assert said == "environment variable SERPER_API_KEY: it must contain only the key, on one line."


@pytest.mark.parametrize("name", KEY_FILES)
def test_a_secret_in_settings_toml_is_refused(tmp_path: Path, name: str) -> None:
    """A key in settings.toml, which is shared and tracked, is an error that doesn't repeat it."""
    said = refusal(tmp_path, f'{name} = "{KEY}"')
    assert said.endswith(f"Move it to {KEY_FILES[name][0].as_posix()}.") and KEY not in said


def test_no_secret_is_ever_shown(tmp_path: Path) -> None:
    keys = {name: f"{KEY}-{name}" for name in KEY_FILES} | {"service_account": ACCOUNT}
    for name, text in keys.items():
        write_text(tmp_path / KEY_FILES[name][0], text)
    url = 'store_url = "postgresql://me:pass-word-1@db/links"\nserpapi_url = "https://me:pass-word-2@proxy"'
    found = load_settings(toml(tmp_path, url))
    addresses = {"store_url", "serpapi_url"}
    shown = f"{found!r} {found} {found.model_dump()} {found.model_dump_json(exclude=addresses)}"
    for secret in (KEY, "MIIEvQIBADANBg"):
        assert secret not in shown
    assert "pass-word-1" not in f"{found!r} {found}"
    assert {*keys.values(), ":pass-word-1@", ":pass-word-2@"} == set(found.secrets)


def test_no_secret_stands_in_an_errors_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the error, nor its cause, nor pydantic's text repeats a key or a URL's password."""
    monkeypatch.setenv(f"{ENV_PREFIX}OPENAI_API_KEY", f"{KEY} and more")
    toml(tmp_path, 'base_url = "ftp://me:pass-word-1@host"')
    try:
        load_settings(tmp_path)
    except ConfigurationError as error:
        text = "".join(traceback.format_exception(error)) + repr(error)
    assert "openai" in text.lower() and KEY not in text and "pass-word-1" not in text
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"serper_api_key": [KEY]})
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "written",
    [
        "143mV47WgY5xAd0KVPFZ50cF-YaQHYJI",
        "https://docs.google.com/spreadsheets/d/143mV47WgY5xAd0KVPFZ50cF-YaQHYJI/edit#gid=0",
        "https://docs.google.com/spreadsheets/d/143mV47WgY5xAd0KVPFZ50cF-YaQHYJI",
        " https://docs.google.com/spreadsheets/u/1/d/143mV47WgY5xAd0KVPFZ50cF-YaQHYJI/edit?gid=7#gid=7 ",
    ],
)
def test_a_sheets_address_is_as_good_as_its_id(tmp_path: Path, written: str) -> None:
    """The Sheet's URL from the browser is accepted as its id."""
    found = load_settings(toml(tmp_path, f'google_sheet_id = "{written}"'))
    assert found.google_sheet_id == "143mV47WgY5xAd0KVPFZ50cF-YaQHYJI"


@pytest.mark.parametrize("written", ["my sheet", "https://docs.google.com/spreadsheets/d/e/2PACX-1v/pubhtml"])
def test_what_is_no_sheet_is_refused_before_google_is_asked(tmp_path: Path, written: str) -> None:
    """A title or the URL of a published copy is rejected as an id."""
    assert "copy the address bar" in refusal(tmp_path, f'google_sheet_id = "{written}"')


@pytest.mark.parametrize(
    ("template", "site"),
    [
        ("site:yoursite.com {main_query}", "yoursite.com"),
        ("site:www.shop.com/mag/ {main_query}", "www.shop.com/mag"),
        ("{main_query} site:shop.co.uk -inurl:tag", "shop.co.uk"),
        ("site:فروشگاه.com {main_query}", "فروشگاه.com"),
    ],
)
def test_a_template_names_the_site_with_or_without_a_path(tmp_path: Path, template: str, site: str) -> None:
    """The host and path after site: limit where links may lead."""
    assert load_settings(toml(tmp_path, f'search_query_template = "{template}"')).site == site


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("site:shop.com", "it must contain {main_query}"),
        ("{main_query}", "it must contain site: and your host exactly once"),
        ("site:shop.com OR site:shop.de {main_query}", "it must contain site: and your host exactly once"),
        ("site:https://shop.com {main_query}", "leave out https://"),
    ],
)
def test_a_template_that_would_waste_credits_is_refused(tmp_path: Path, template: str, words: str) -> None:
    said = refusal(tmp_path, f'search_query_template = "{template}"')
    assert words in said and "site:yoursite.com {main_query}" in said


@pytest.mark.parametrize(
    "address", ["10.0.0.5:8786", "http://10.0.0.5:8786", "tcp://me:secret@host:1", "tcp://host"]
)
def test_another_address_is_no_schedulers(tmp_path: Path, address: str) -> None:
    """An address without tcp:// or port, or with a password, is rejected without showing the password."""
    told = refusal(tmp_path, f'dask_scheduler = "{address}"')
    assert "dask_scheduler: it must be an address such as tcp://10.0.0.5:8786" in told
    assert "secret" not in told


@pytest.mark.parametrize(
    ("written", "price"),
    [
        ('"auto"', "auto"),
        ("-1", "auto"),
        ("0.13", 0.13),
        ('"2"', 2),
        ("-0.5", None),
        ("inf", None),
        ("true", None),
    ],
)
def test_a_price_is_a_number_or_auto(tmp_path: Path, written: str, price: float | str | None) -> None:
    """embedding_price takes dollars or auto; -1, the default of version 0.1, means auto; no price is negative."""
    if price is None:
        assert "embedding_price: it" in refusal(tmp_path, f"embedding_price = {written}")
    else:
        assert load_settings(toml(tmp_path, f"embedding_price = {written}")).embedding_price == price


def test_only_switches_are_true_or_false(tmp_path: Path) -> None:
    """A setting that is true or false takes both words; a number takes neither."""
    assert load_settings(toml(tmp_path, "notify_always = true")).notify_always is True
    assert "notify_always: it must be true or false" in refusal(tmp_path, 'notify_always = "often"')
    assert "notify_not_live_days: it can't be true or false" in refusal(
        tmp_path, "notify_not_live_days = true"
    )


def test_a_setting_of_an_earlier_version_no_longer_counts(tmp_path: Path) -> None:
    toml(tmp_path, "tier_inline = 0.7")
    load_settings(tmp_path)
    (said,) = former_settings(tmp_path)
    assert "tier_inline no longer counts: anchors = " in said and "Remove the line." in said
