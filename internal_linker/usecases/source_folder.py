"""A folder of source files with the pages that they are, found once and kept in files/source_pages.csv."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from internal_linker.adapters.files.git import WorkTree, find_work_tree
from internal_linker.adapters.files.source_tree import read_tree
from internal_linker.adapters.tables.source_pages_csv import SourcePagesCsv
from internal_linker.cms.link_style import LinkStyle
from internal_linker.cms.source_pages import How, KnownPage, SourcePages, match_pages
from internal_linker.core.records import Collected
from internal_linker.core.sequences import counted
from internal_linker.core.source_files import SourceTree
from internal_linker.usecases.project import Project


@dataclass(frozen=True)
class SourceFolder:
    """A folder of source files.

    Attributes:
        folder: its resolved path.
        tree: its files.
        pages: which file is which page.
        style: how its files write links.
        work_tree: the git work tree that it is in; None outside of one.
        dirty: paths of files with changes that are in no commit.
        rows: the rows of files/source_pages.csv as they should be: URL, file, and how it was found.
        is_new: whether another page has another file than in the table.
    """

    folder: Path
    tree: SourceTree
    pages: SourcePages
    style: LinkStyle
    work_tree: WorkTree | None
    dirty: frozenset[str]
    rows: Sequence[tuple[str, str, str]]
    is_new: bool

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
        folder,
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
