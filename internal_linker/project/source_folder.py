"""The folder of a site's source files: which one the settings name, and which file is which page.

What was found is kept in files/source_pages.csv.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from internal_linker.model.applied_links import PageWrite
from internal_linker.model.errors import ConfigurationError, InputError, OutputError
from internal_linker.model.records import Collected
from internal_linker.model.sequences import counted
from internal_linker.model.source_files import SourceFile, SourceTree, StoredSource
from internal_linker.project.edit_settings import change_settings
from internal_linker.project.log import LOGGER
from internal_linker.project.project import Project
from internal_linker.project.targets import SkipReason, TextState, UndoSkipReason, WriteFailure, compared
from internal_linker.publish.link_style import LinkStyle
from internal_linker.publish.source_pages import How, KnownPage, SourcePages, match_pages
from internal_linker.sources.tables.lists_csv import SourcePagesCsv
from internal_linker.store.files.atomic import replace_binary, require_in_place
from internal_linker.store.files.git import WorkTree, find_work_tree
from internal_linker.store.files.source_tree import is_inside, read_tree, write_file

SETTING = "source_folder"
# The project's own folders: links are never put into what the program writes.
_OWN = ("config", "files")
# Files of a kind that are named in a remark.
_MOST_NAMED = 3


@dataclass(frozen=True)
class FolderHome:
    """A folder whose files are replaced; see `PublishTarget`."""

    folder: Path  # resolved
    noun = "file"
    # A transaction takes longer than to write a file.
    block = 100

    @property
    def address(self) -> str:
        """The folder's path."""
        return str(self.folder)

    def state(self, write: PageWrite) -> TextState:
        """Return how a file is now, compared with a write of it."""
        path = self.folder / write.place
        # A link may have taken the place of the file or of a folder: what it leads to was not written by us.
        if path.is_symlink() or not is_inside(self.folder, path):
            return TextState.OTHER
        try:
            return compared(path.read_bytes(), write)
        except OSError:
            return TextState.GONE

    def write(self, text: StoredSource, new: str) -> WriteFailure | None:
        """Replace the text of a file that was read from the folder."""
        assert isinstance(text, SourceFile)
        try:
            write_file(self.folder, text, new)
        except (InputError, OutputError) as error:
            LOGGER.warning("%s", error)
            return WriteFailure(
                SkipReason.CHANGED if isinstance(error, InputError) else SkipReason.UNWRITABLE
            )
        return None

    def restore(self, write: PageWrite, former: bytes) -> UndoSkipReason | None:
        """Put the former content of a file back."""
        if not self.folder.is_dir():
            return UndoSkipReason.NO_FOLDER
        path = self.folder / write.place
        if not is_inside(self.folder, path.parent):
            return UndoSkipReason.OUTSIDE
        match self.state(write):
            case TextState.BEFORE:
                return None
            case TextState.AFTER:
                return self._put_back(path, former)
            case TextState.GONE:
                return UndoSkipReason.GONE
        return UndoSkipReason.CHANGED

    def _put_back(self, path: Path, former: bytes) -> UndoSkipReason | None:
        def write(file: BinaryIO) -> None:
            file.write(former)

        try:
            require_in_place(path, replace_binary(path, write))
        except OutputError as error:
            LOGGER.warning("%s", error)
            return UndoSkipReason.UNWRITABLE
        return None


@dataclass(frozen=True)
class SourceFolder:
    """The files of a folder; see `SourceTexts`."""

    home: FolderHome
    tree: SourceTree
    pages: SourcePages
    style: LinkStyle
    work_tree: WorkTree | None  # None outside of one
    dirty: frozenset[str]  # paths of files with changes that are in no commit
    # The rows of files/source_pages.csv as they should be: URL, file, and how it was found.
    rows: Sequence[tuple[str, str, str]]
    is_new: bool  # whether another page has another file than in the table

    @cached_property
    def unsure(self) -> Mapping[str, str]:
        """The pages of which several files may be the source, with these files in words."""
        asked = {url for one in self.pages.unsure for url in ((one.url,) if one.url else one.candidates)}
        return {url: how for url, file, how in self.rows if not file and url in asked}

    @property
    def summary(self) -> str:
        """What was found, in a sentence."""
        found = Counter(how for _, file, how in self.rows if file)
        ways = ", ".join(f"{count} by {how}" for how, count in found.most_common())
        missing = len(self.rows) - found.total() - len(self.unsure)
        return (
            f"{counted(len(self.tree.files), 'source file')}; {counted(found.total(), 'page')} found"
            f"{f' ({ways})' if ways else ''}, {len(self.unsure)} unsure, {missing} without a file. "
            "All are in files/source_pages.csv."
        )

    @property
    def remarks(self) -> Sequence[str]:
        """What the mapping lacks, and what of the folder was not read, one sentence for each reason."""
        by_reason = defaultdict[str, list[str]](list)
        for one in self.tree.left_out:
            by_reason[one.reason].append(one.path)
        remarks = [*self.pages.problems]
        for reason, paths in by_reason.items():
            more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
            remarks.append(f"Not read: {', '.join(paths[:_MOST_NAMED])}{more} ({reason}).")
        for suffix, count in self.tree.unsupported.items():
            remarks.append(
                f"{counted(count, 'file')} of type {suffix} left alone: only Markdown, MDX and HTML are supported."
            )
        return remarks

    def find(self, url: str) -> StoredSource | SkipReason:
        """Return the file of a page, or why it has none."""
        if path := self.pages.file_of(url):
            return self.tree.files[path]
        return SkipReason.UNSURE if url in self.unsure else SkipReason.NO_FILE

    def href(self, text: StoredSource, target: str) -> str:
        """Return how a file writes a link to a page."""
        return self.style.href(text.path, self.pages.file_of(target), target)

    def leads_to(self, text: StoredSource, href: str) -> str | None:
        """Return the key of the page that a link in a file leads to."""
        return self.style.leads_to(text.path, href)

    def held(self, text: StoredSource, new: str) -> SkipReason | None:
        """Return why a file must not be written: it has changes that are in no commit."""
        return SkipReason.DIRTY if text.path in self.dirty else None


def open_source_folder(project: Project, folder: Path, site: Collected) -> SourceFolder:
    """Read a folder and find which file is which page; what files/source_pages.csv says wins.

    Raises:
        InputError: the folder or the table can't be read.
    """
    folder, table = folder.resolve(), source_pages_csv(project)
    tree, saved = read_tree(folder), table.read()
    known = (KnownPage(page.url, page.title or page.h1, str(page.content)) for page in site.pages)
    pages, found_by = match_pages(tree, known, saved), table.found_by()
    work_tree = find_work_tree(folder)
    return SourceFolder(
        FolderHome(folder),
        tree,
        pages,
        LinkStyle.learn(tree, pages),
        work_tree,
        work_tree.dirty() if work_tree else frozenset(),
        [(url, file, _how(how, found_by.get(url, ""))) for url, file, how in pages.rows()],
        {one.url: one.file for one in pages.matched} != saved or not table.path.exists(),
    )


def source_pages_csv(project: Project) -> SourcePagesCsv:
    """Return the table that says which source file is which page."""
    return SourcePagesCsv(project.file("source_pages.csv"))


def _how(how: str, before: str) -> str:
    """Return how a file was found; one that the table has was found in the way that the table has, or by a person."""
    return before if how == How.SAVED and before in {*map(str, How)} else how


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
    """Return a path with the home folder in place of ~."""
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
