"""Show the settings of a project with where each value comes from, and change settings, keys and exclusions."""

import hashlib
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TextIO, get_args, get_origin

import tomlkit
from pydantic.fields import FieldInfo
from tomlkit.exceptions import TOMLKitError

from internal_linker.model.cli_commands import command, typed_path
from internal_linker.model.errors import ConfigurationError, OutputError
from internal_linker.model.results import Columns, Result, columns_of
from internal_linker.project.schedule import Timetable, timetable
from internal_linker.project.settings.accounts import require_addresses, site_accesses, wordpress_account
from internal_linker.project.settings.exclusions import (
    MOST_BYTES,
    Exclusions,
    numbered_patterns,
    read_exclusions,
)
from internal_linker.project.settings.settings import (
    ENV_PREFIX,
    EXCLUSIONS_FILE,
    KEY_FILES,
    SETTINGS_FILE,
    Settings,
    settings_from,
)
from internal_linker.project.settings.sources import key_texts, masked, toml_values
from internal_linker.project.settings.template import allowed, comment, render_settings
from internal_linker.sources.http.google import key_fields
from internal_linker.store.files.atomic import replace_whole, require_in_place
from internal_linker.store.files.plain_text import plain_text

Source = Literal["default", "file", "environment"]
Kind = Literal["text", "whole number", "number", "yes or no", "choice", "list"]
_RUNS_SHOWN = 3
# Two changes at once would lose one of them.
_CHANGING = threading.Lock()


class SettingsChanged(ConfigurationError):
    """Somebody else has changed settings.toml since it was read."""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting.

    Attributes:
        name: its name in settings.toml.
        group: the heading above it.
        help: what it means.
        kind: what values it takes.
        choices: the texts that a choice takes; empty for other kinds.
        allowed: the range of a number, such as "1 to 10"; "": any.
        default: its default.
        value: its present value; a password in an address is shown as ***.
        source: where the value comes from.
        variable: the environment variable that overrides the file.
    """

    name: str
    group: str
    help: str
    kind: Kind
    choices: tuple[str, ...]
    allowed: str
    default: Any
    value: Any
    source: Source
    variable: str


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One key or password; its text is never part of a result.

    Attributes:
        name: its name.
        help: what it is for.
        file: its file within the project.
        variable: the environment variable that other tools use for it.
        source: where it comes from; "": it isn't set.
    """

    name: str
    help: str
    file: str
    variable: str
    source: Literal["", "file", "environment"]


@dataclass(frozen=True, repr=False)
class SettingsResult(Result):
    """All settings of a project.

    Attributes:
        settings: the settings, in the order of settings.toml.
        keys: the keys and passwords.
        exclusions: the text of config/excluded_urls.txt.
        next_runs: when the command schedule starts the next runs; empty if `problem` is about the settings.
        schedule_command: the command line that starts runs at these times, from any folder.
        run_command: the command line of one run, for the computer's own scheduler.
        problem: what is wrong with the present settings; "": nothing.
        version: changes whenever settings.toml does.
    """

    settings: tuple[SettingRow, ...]
    keys: tuple[KeyRow, ...]
    exclusions: str
    next_runs: tuple[datetime, ...]
    schedule_command: str
    run_command: str
    problem: str
    version: str

    def tables(self) -> dict[str, Columns]:
        """Return `settings` and `keys`."""
        settings = columns_of(self.settings, "name", "value", "default", "source", "group", "help")
        return {"settings": settings, "keys": columns_of(self.keys, "name", "source", "file", "help")}


def list_settings(root: Path) -> SettingsResult:
    """Return all settings of a project folder; wrong values are shown as they are, with what is wrong.

    Raises:
        ConfigurationError: a file of config/ can't be read, or settings.toml is not valid TOML.
    """
    values, problem = toml_values(root), ""
    settings: Settings | None = None
    runs: tuple[datetime, ...] = ()
    try:
        settings = settings_from(values, key_texts(root))
        runs = _next_runs(_times(settings))
        read_exclusions(root / EXCLUSIONS_FILE, settings.hosts)
    except ConfigurationError as error:
        problem = str(error)
    rows, group = [], ""
    for name, field in Settings.model_fields.items():
        group = field.title or group
        if name not in KEY_FILES:
            rows.append(_row(name, group, values, settings))
    project = f"--project {typed_path(root, anywhere=True)}"
    return SettingsResult(
        tuple(rows),
        tuple(_key_row(root, name) for name in KEY_FILES),
        _exclusions(root),
        runs,
        command(f"schedule {project}", anywhere=True),
        command(f"run {project}", anywhere=True),
        problem,
        _version(root),
    )


def change_settings(root: Path, changes: Mapping[str, Any], version: str = "") -> SettingsResult:
    """Change settings in settings.toml, and keep its comments and order; nothing is written if a value is wrong.

    Args:
        changes: new values by name; None: the default.
        version: the `SettingsResult.version` that the changes start from; "": any.

    Returns:
        All settings after the change.

    Raises:
        ConfigurationError: a value is wrong, or an environment variable overrides the setting.
        SettingsChanged: settings.toml has changed since `version`.
        OutputError: settings.toml can't be written.
    """
    with _CHANGING:
        if version and version != _version(root):
            raise SettingsChanged(
                f"{SETTINGS_FILE.as_posix()} has changed in the meantime. Load the settings again, then repeat it."
            )
        for name, value in changes.items():
            _changeable(name, value)
        defaults = {
            name: Settings.model_fields[name].default for name in changes if name in Settings.model_fields
        }
        given = {name: defaults.get(name) if value is None else value for name, value in changes.items()}
        settings = settings_from({**toml_values(root), **given}, key_texts(root))
        if any(name.startswith("schedule_") for name in given):
            _times(settings)
        text = _edited(root, {name: _plain(getattr(settings, name)) for name in given})
        _write(root / SETTINGS_FILE, text)
    return list_settings(root)


def set_key(root: Path, name: str, text: str) -> KeyRow:
    """Write a key or password into its file, which only the owner may read; "" removes it.

    Args:
        name: one of KEY_FILES.

    Raises:
        ConfigurationError: the key can't be right, or an environment variable overrides its file.
        OutputError: the file can't be written.
    """
    if name not in KEY_FILES:
        raise ConfigurationError(f"There is no key '{name[:40]}'. There are {', '.join(KEY_FILES)}.")
    if variable := _key_variable(name):
        raise ConfigurationError(
            f"The environment variable {variable} sets {name}, so its file would have no effect. Change the variable."
        )
    text = text.strip()
    # The other settings may be wrong while a key is set.
    settings_from({}, {name: text})
    if text and name == "service_account":
        key_fields(text)
    if name == "site_access":
        site_accesses(text)
    if name == "wordpress":
        wordpress_account(text)
    if name == "notify":
        require_addresses(text)
    path = root / KEY_FILES[name][0]
    with _CHANGING:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Replacing a file keeps its permissions.
            path.touch(mode=0o600)
        except OSError as error:
            raise OutputError(f"{path} can't be written ({error.strerror}). Check its permissions.") from None
        _write(path, text and f"{text}\n")
    return _key_row(root, name)


def change_exclusions(root: Path, text: str) -> SettingsResult:
    """Replace the text of config/excluded_urls.txt; nothing is written if a pattern is wrong.

    Raises:
        ConfigurationError: a pattern is not valid RE2; the message names the line.
        OutputError: the file can't be written.
    """
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise ConfigurationError(
            f"{EXCLUSIONS_FILE.as_posix()} can't be larger than {MOST_BYTES:,} bytes. Combine patterns, as in /(a|b)/."
        )
    Exclusions(numbered_patterns(text))
    with _CHANGING:
        _write(root / EXCLUSIONS_FILE, text.replace("\r\n", "\n"))
    return list_settings(root)


def _row(name: str, group: str, values: Mapping[str, Any], settings: Settings | None) -> SettingRow:
    """Return one setting; without valid settings, its value as the file or the environment has it."""
    field, variable = Settings.model_fields[name], f"{ENV_PREFIX}{name.upper()}"
    default = _plain(field.default)
    overriding = _environment(variable)
    source: Source = "file" if name in values else "default"
    value = values.get(name, default)
    if overriding is not None:
        source, value = "environment", overriding
    if settings:
        value = _plain(getattr(settings, name))
    kind, choices = _kind(field)
    return SettingRow(
        name,
        group,
        str(field.description),
        kind,
        choices,
        allowed(field),
        default,
        masked(value) if isinstance(value, str) else value,
        source,
        variable,
    )


def _kind(field: FieldInfo) -> tuple[Kind, tuple[str, ...]]:
    annotation = field.annotation
    if get_origin(annotation) is Literal:
        return "choice", get_args(annotation)
    kinds: Mapping[Any, Kind] = {int: "whole number", float: "number", bool: "yes or no"}
    return ("list" if get_origin(annotation) is tuple else kinds.get(annotation, "text")), ()


def _key_row(root: Path, name: str) -> KeyRow:
    file, variable = KEY_FILES[name]
    path = root / file
    source: Literal["", "file", "environment"] = "environment" if _key_variable(name) else ""
    if not source and path.exists() and plain_text(path, file.as_posix()).strip():
        source = "file"
    return KeyRow(name, str(Settings.model_fields[name].description), file.as_posix(), variable, source)


def _key_variable(name: str) -> str:
    """Return the environment variable that sets a key; "" if none does."""
    ours, common = f"{ENV_PREFIX}{name.upper()}", KEY_FILES[name][1]
    if _environment(ours) is not None:
        return ours
    return common if _environment(common) else ""


def _environment(variable: str) -> str | None:
    """Return the text of an environment variable, in any case as the settings read it; None without one."""
    return next((text.strip() for name, text in os.environ.items() if name.upper() == variable), None)


def _changeable(name: str, value: Any) -> None:
    """Refuse a change that would have no effect, or would put the *** of a hidden password into the file."""
    variable = f"{ENV_PREFIX}{name.upper()}"
    if name not in KEY_FILES and _environment(variable) is not None:
        raise ConfigurationError(
            f"The environment variable {variable} sets {name}, so the file would have no effect. Change the variable."
        )
    if isinstance(value, str) and ":***@" in value:
        raise ConfigurationError(
            f"{name}: enter the address with its password; *** only hides the present one."
        )


def _edited(root: Path, values: Mapping[str, Any]) -> str:
    path = root / SETTINGS_FILE
    if not path.exists():
        return render_settings(dict(values))
    try:
        document = tomlkit.parse(plain_text(path, SETTINGS_FILE.as_posix()))
    except TOMLKitError as error:
        raise ConfigurationError(
            f"{SETTINGS_FILE.as_posix()} can't be edited here ({error}). Change it in a text editor."
        ) from None
    for name, value in values.items():
        if name not in document:
            document.add(tomlkit.nl())
            for line in comment(name):
                document.add(tomlkit.comment(line))
        document[name] = value
    return tomlkit.dumps(document)


def _write(path: Path, text: str) -> None:
    def write(file: TextIO) -> None:
        file.write(text)

    require_in_place(path, replace_whole(path, write))


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _times(settings: Settings) -> Timetable:
    return timetable(settings.schedule_cron, settings.schedule_timezone)


def _next_runs(times: Timetable) -> tuple[datetime, ...]:
    """Return the next planned times, in the schedule's time zone."""

    def following() -> Iterator[datetime]:
        moment = datetime.now(times.zone)
        while found := times.after(moment):
            moment = found.astimezone(times.zone)
            yield moment

    return tuple(islice(following(), _RUNS_SHOWN))


def _exclusions(root: Path) -> str:
    path = root / EXCLUSIONS_FILE
    return plain_text(path, EXCLUSIONS_FILE.as_posix(), MOST_BYTES) if path.exists() else ""


def _version(root: Path) -> str:
    path = root / SETTINGS_FILE
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else "new"
