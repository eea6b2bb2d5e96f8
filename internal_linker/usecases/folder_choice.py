"""The folder of a site's source files that a project's settings name: who may be written to, and what is refused."""

import os
from pathlib import Path

from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.usecases.edit_settings import change_settings
from internal_linker.usecases.project import Project

SETTING = "source_folder"
# The project's own folders: links are never put into what the program writes.
_OWN = ("config", "files")


def source_folder(project: Project) -> Path:
    """Return the folder that the setting names.

    Raises:
        ConfigurationError: none is set, or it can't be a folder of source files.
        InputError: there is no such folder.
    """
    if not project.settings.source_folder:
        raise ConfigurationError(
            f"Name where the site's texts are: --files DIR or --wordpress URL, or the setting {SETTING}."
        )
    folder = project.root.resolve() / _expanded(project.settings.source_folder)
    found = _required(project, folder)
    # Whoever can write beside the folder could otherwise put a link in its place, and changes would go elsewhere.
    if found != Path(os.path.normpath(folder)):
        raise ConfigurationError(
            f"{folder} is or contains a link to another folder: set {SETTING} to {found}, if it is that one."
        )
    return found


def choose_source_folder(project: Project, text: str) -> Path:
    """Keep a folder in the settings, without links in its path; return it.

    Args:
        project: whose settings change.
        text: the folder's whole path, as a person writes it.

    Raises:
        ConfigurationError: it can't be a folder of source files, or an environment variable overrides the setting.
        InputError: there is no such folder.
        OutputError: config/settings.toml can't be written.
    """
    given = _expanded(text.strip())
    if not given.is_absolute():
        raise InputError(f"{text[:200]!r} is not a whole path: begin with the drive, / or ~.")
    found = _required(project, given)
    change_settings(project.root, {SETTING: str(found)})
    return found


def _expanded(text: str) -> Path:
    """Return a path with the home folder in place of ~.

    Raises:
        InputError: it is no path, or there is no such user.
    """
    try:
        if "\0" not in text:
            return Path(text).expanduser()
    except RuntimeError:
        pass
    raise InputError(f"{text[:200]!r} is no path of a folder: check it.")


def _required(project: Project, folder: Path) -> Path:
    """Return a folder without links in its path, if it can be one of source files."""
    try:
        found = folder.resolve()
        is_folder, exists = found.is_dir(), found.exists()
    except (OSError, RuntimeError) as error:  # a loop of links, or a name that is too long
        raise InputError(f"{str(folder)[:200]} can't be read ({error}): check the path.") from None
    if not is_folder:
        what = "is a file, not a folder" if exists else "not found: check the path"
        raise InputError(f"{folder} {what}. Name the folder with the site's source files.")
    if found in (Path(found.anchor), Path.home().resolve()):
        raise ConfigurationError(
            f"{found} holds far more than one site. Name the folder of the site's source files."
        )
    own = [(project.root / name).resolve() for name in _OWN]
    if any(found.is_relative_to(each) for each in own):
        raise ConfigurationError(f"{found} is the project's own. Name the folder of the site's source files.")
    return found
