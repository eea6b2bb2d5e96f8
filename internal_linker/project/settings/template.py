"""The commented text of config/settings.toml, as `init` writes it and the repository has it."""

import json
import textwrap
from typing import Any

from pydantic.fields import FieldInfo

from internal_linker.project.settings.settings import ENV_PREFIX, KEY_FILES, Settings

*_OTHERS, _LAST = (file.name for file, _ in KEY_FILES.values())
_FILES = textwrap.fill(f"{', '.join(_OTHERS)} and {_LAST}", 110, initial_indent="# ", subsequent_indent="# ")
_HEAD = f"""\
# Settings of Internal Linker. Every setting is listed with its default; change what you need.
# An environment variable named {ENV_PREFIX} plus the setting in capitals overrides this file.
# Keys and passwords do not belong in this file. Put them into the files next to it:
{_FILES}.
"""


def render_settings(values: dict[str, Any] | None = None) -> str:
    """Return the whole file; `values` replace defaults."""
    lines = [_HEAD]
    for name, field in Settings.model_fields.items():
        if name in KEY_FILES:
            continue
        if field.title:
            lines.append(f"\n# --- {field.title} ---\n")
        lines += [f"# {line}" for line in comment(name)]
        lines.append(f"{name} = {_toml((values or {}).get(name, field.default))}\n")
    return "\n".join(lines)


def comment(name: str) -> list[str]:
    """Return the lines above a setting: its meaning, default and range, without the signs of a comment."""
    field = Settings.model_fields[name]
    bounds = allowed(field)
    meaning = textwrap.wrap(str(field.description), 108, break_on_hyphens=False)
    return [*meaning, f"Default: {_toml(field.default)}{bounds and f'; {bounds}'}"]


def _toml(value: str | float) -> str:
    """Return a value as TOML: JSON's strings and numbers are valid TOML."""
    return json.dumps(value, ensure_ascii=False)


def allowed(field: FieldInfo) -> str:
    """Return the range of a number, as "1 to 10", "0 or more" or "above 0"; "" for a setting without one."""
    names = ("ge", "gt", "le")
    bounds = {name: getattr(each, name) for each in field.metadata for name in names if hasattr(each, name)}
    if "le" in bounds:
        return f"{bounds['ge']:g} to {bounds['le']:g}"
    if "ge" in bounds:
        return f"{bounds['ge']:g} or more"
    return f"above {bounds['gt']:g}" if "gt" in bounds else ""
