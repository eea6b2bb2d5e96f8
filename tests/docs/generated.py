"""The documentation's tables that are generated from the code, and where they belong.

A page marks the place of each table with `<!-- generated: NAME -->` ... `<!-- end -->`.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args, get_origin

import typer

from internal_linker.faces.cli.main import program
from internal_linker.insight.audit.records import Rule
from internal_linker.match.candidates import SERVED
from internal_linker.match.encoders.openai import KNOWN_MODELS
from internal_linker.project.settings.settings import KEY_FILES, Settings
from internal_linker.project.settings.template import allowed, render_settings
from tests.docs.ranker import ranker_figures, ranker_sites

_PLACE = re.compile(r"(<!-- generated: ([\w -]+) -->\n).*?(<!-- end -->)", re.DOTALL)
# Every command has this option; the page says so once.
COMMON = "--project"

# What docs/scaling.md says of a text and a core.
CORE = 75e9  # operations a second; half as many with IVF
SITES = (100_000, 1_000_000, 10_000_000)
TOKENS = 667
TEXT_BYTES = 3000
PAGE_SECONDS = 0.23


# The sample site's own host is the one value in config/settings.toml that is not a default.
SAMPLE = {"search_query_template": "site:www.slowkettle.example {main_query}"}


def sample_settings() -> str:
    """Return the text of config/settings.toml."""
    return render_settings(dict(SAMPLE))


def renewed(text: str) -> str:
    """Return a page with its generated tables up to date.

    Raises:
        KeyError: the page marks a table that doesn't exist.
    """
    return _PLACE.sub(lambda found: f"{found[1]}{table(found[2])}\n{found[3]}", text)


def places(text: str) -> list[str]:
    """Return the names of the tables that a page marks."""
    return [name for _, name, _ in _PLACE.findall(text)]


def table(name: str) -> str:
    """Return the generated table of this name."""
    if name.startswith("options of "):
        return options_table(COMMANDS[name.removeprefix("options of ")])
    return TABLES[name]()


def settings() -> str:
    """Return every setting by topic, grouped as in settings.toml."""
    parts: list[str] = []
    for name, field in Settings.model_fields.items():
        if name in KEY_FILES:
            continue
        if field.title:
            parts += ["", f"## {field.title}", "", *_head("setting", "default and range", "meaning")]
        kinds = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
        bounds = ", ".join(f"`{json.dumps(kind)}`" for kind in kinds) or allowed(field)
        default = f"`{json.dumps(field.default, ensure_ascii=False)}`{bounds and f'<br>({bounds})'}"
        parts.append(_row(f"`{name}`", default, str(field.description)))
    return "\n".join(parts[1:])


def rules() -> str:
    """Return the rules of an audit."""
    rows = [_row(f"`{rule}`", rule.severity, rule.message) for rule in Rule]
    return "\n".join([*_head("rule", "severity", "meaning"), *rows])


def embedding() -> str:
    """Return the cost of embedding by the formulas of docs/scaling.md."""
    head = ("pages", "texts", "local model, 2 cores", "64 cores", "OpenAI small", "OpenAI large")
    lines = _head(*head, "neighbours in the cache")
    for pages in SITES:
        work = pages * PAGE_SECONDS * CORE
        prices = [KNOWN_MODELS[f"text-embedding-3-{name}"][1] for name in ("small", "large")]
        dollars = [f"${pages * TOKENS / 1e6 * price:,.0f}" for price in prices]
        texts, near = _gigabytes(pages * TEXT_BYTES), _gigabytes(16.0 * SERVED * pages)
        lines.append(_row(f"{pages:,}", texts, _time(work, 2), _time(work, 64), *dollars, near))
    return "\n".join(lines)


TABLES: dict[str, Callable[[], str]] = {
    "settings": settings,
    "rules": rules,
    "embedding": embedding,
    "ranker figures": ranker_figures,
    "ranker sites": ranker_sites,
}


def options_table(command: Any) -> str:
    """Return the arguments and options of a command, as in its --help."""
    rows = [
        _row(_usage(each), f"{each.help}{_default(each)}")
        for each in command.params
        if COMMON not in each.opts
    ]
    if not rows:
        return "No options of its own."
    return "\n".join([*_head("option", "meaning"), *rows])


def _commands(command: Any, *path: str) -> Iterator[tuple[str, Any]]:
    for name, each in getattr(command, "commands", {}).items():
        yield from _commands(each, *path, name)
    if not hasattr(command, "commands"):
        yield " ".join(path), command


# Keyed by what users type: "run", "cache verify".
COMMANDS: dict[str, Any] = dict(_commands(typer.main.get_command(program())))


def _usage(parameter: Any) -> str:
    """Return `--limit N`, or an argument's name."""
    is_option = parameter.param_type_name == "option"
    value = parameter.metavar or ("N" if isinstance(parameter.default, int | float) else "TEXT")
    if is_option and parameter.is_flag:
        value = ""
    return f"`{' '.join(filter(None, [*parameter.opts[:is_option], value]))}`"


def _default(parameter: Any) -> str:
    if parameter.required:
        return " Required."
    return f" Default: `{parameter.default}`." if parameter.default else ""


def _head(*names: str) -> list[str]:
    return [_row(*names), "|---" * len(names) + "|"]


def _row(*cells: str) -> str:
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _time(operations: float, cores: int) -> str:
    """Return how long these operations take on these cores, in the unit that fits."""
    seconds = operations / CORE / cores
    unit, length = next(
        (unit, one)
        for unit, one in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))
        if seconds >= one or one == 1
    )
    return f"{seconds / length:.2g} {unit}" if seconds / length < 10 else f"{seconds / length:.0f} {unit}"


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.2g} GB" if size < 10e9 else f"{size / 1e9:.0f} GB"
