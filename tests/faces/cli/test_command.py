"""Options records become commands: every field is an option or argument, with one check of bounds and choices."""

from importlib import import_module
from pkgutil import iter_modules

import pytest
import typer
from typer.testing import CliRunner

from internal_linker.faces.cli.command import ProjectOption, with_options
from internal_linker.model.errors import ConfigurationError
from internal_linker.project import options as package
from internal_linker.project.option_records import Options, declared_options
from internal_linker.project.options.links import RunOptions
from internal_linker.project.options.similarity import PairsOptions


def made(*arguments: str) -> tuple[int, list[Options], str]:
    """Run a command that takes `RunOptions`, and return the exit code, the options and the output."""
    got: list[Options] = []
    app = typer.Typer()

    @app.command()
    @with_options(RunOptions)
    def sample(context: typer.Context, project: ProjectOption = None, *, options: RunOptions) -> None:
        """Run."""
        got.append(options)

    result = CliRunner().invoke(app, arguments)
    return result.exit_code, got, result.output


def test_fields_become_options() -> None:
    """Values reach the record, a --no- flag turns its field off, and several values become a tuple."""
    code, (options,), _ = made(
        "--limit", "2", "--only", "a", "--only", "b", "--no-serp", "--section", "/blog=off"
    )
    assert code == 0
    assert options == RunOptions(limit=2, only=("a", "b"), search=False, sections=("/blog=off",))


def test_defaults_are_the_records() -> None:
    assert made()[1] == [RunOptions()]


def test_bounds_hold_on_the_command_line_and_in_python() -> None:
    code, got, output = made("--limit", "-1")
    assert code == 2 and not got and "--limit" in output
    with pytest.raises(ConfigurationError, match=r"--limit 'x': it must be a whole number\."):
        RunOptions(limit="x")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"--min-similarity 'x': it must be a number"):
        PairsOptions(min_similarity="x")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"--limit -1: the number must be 0 or more\."):
        RunOptions(limit=-1)
    with pytest.raises(ConfigurationError, match=r"--min-similarity 1\.5: the number must be 0 to 1\."):
        PairsOptions(min_similarity=1.5)


def test_one_text_is_one_value() -> None:
    assert RunOptions(only="https://a.example/").only == ("https://a.example/",)


def test_every_field_of_every_record_is_described() -> None:
    modules = [import_module(f"{package.__name__}.{each.name}") for each in iter_modules(package.__path__)]
    named = {name: each for module in modules for name, each in vars(module).items()}
    records = [each for each in named.values() if isinstance(each, type) and issubclass(each, Options)]
    assert len(records) > 12
    for record in records:
        for declared in declared_options(record):
            assert declared.option.help.endswith(".") and declared.described.endswith("."), declared
