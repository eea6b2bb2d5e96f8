"""The commented settings.toml that `init` writes and the repository contains."""

import tomllib
from pathlib import Path

from internal_linker.project.settings.settings import KEY_FILES, Settings, load_settings
from internal_linker.project.settings.template import render_settings
from tests.docs.generated import sample_settings
from tests.support.small_project import REPOSITORY, write_text


def test_the_file_holds_every_setting_with_its_default() -> None:
    written = tomllib.loads(render_settings())
    wanted = {name: field.default for name, field in Settings.model_fields.items() if name not in KEY_FILES}
    assert written == {
        name: [*value] if isinstance(value, tuple) else value for name, value in wanted.items()
    }


def test_the_file_read_back_changes_nothing(tmp_path: Path) -> None:
    write_text(tmp_path / "config/settings.toml", render_settings())
    assert load_settings(tmp_path) == Settings.model_validate({})


def test_each_setting_is_explained_above_it_with_default_and_range() -> None:
    lines = render_settings().splitlines()
    for name, field in Settings.model_fields.items():
        if name in KEY_FILES:
            continue
        at = next(place for place, line in enumerate(lines) if line.startswith(f"{name} = "))
        first = max(place for place in range(at) if not lines[place]) + 1
        comment = " ".join(line.removeprefix("# ") for line in lines[first:at])
        assert comment.startswith(f"{field.description} Default: ")
    text = "\n".join(lines)
    assert "# Default: 2; 1 to 10\nmax_serp_pages = 2" in text
    assert "# Default: 5.0; above 0\nserp_requests_per_second = 5.0" in text


def test_no_line_is_longer_than_an_editors_window() -> None:
    assert max(map(len, render_settings().splitlines())) <= 110


def test_given_values_stand_in_the_place_of_defaults() -> None:
    """Given values replace the defaults; TOML keeps quotes, backslashes and any script intact."""
    value = 'site:shop.com/"mag"\\ {main_query} چای'
    assert tomllib.loads(render_settings({"search_query_template": value}))["search_query_template"] == value


def test_the_repositorys_file_is_the_one_that_would_be_written() -> None:
    tracked = (REPOSITORY / "config/settings.toml").read_text(encoding="utf-8")
    assert tracked == sample_settings()
