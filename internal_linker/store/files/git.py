"""The git work tree that a folder of source files is in: its uncommitted files, patches, and branches of commits.

Branches are written without a checkout: neither the files nor the index nor the branch that is checked out change.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import BinaryIO

from internal_linker.model.errors import InputError, OutputError
from internal_linker.model.source_files import StoredSource
from internal_linker.store.files.atomic import replace_binary, require_in_place

# Seconds; `git status` of a large repository on a slow drive takes some.
_TIMEOUT_S = 120
# Lines around a change, as git shows them.
_CONTEXT = 3
# Names that git writes in quotes, and what it escapes in them.
_QUOTED = re.compile(r'[\x00-\x1f"\\\x7f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
# Set by a hook or another git for a repository of its own.
_OF_ANOTHER = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_PREFIX",
        "GIT_OBJECT_DIRECTORY",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
    }
)
_NO_END = "\\ No newline at end of file\n"


@dataclass(frozen=True)
class Change:
    """A source file, or another text of the site, and its new text."""

    file: StoredSource
    text: str


@dataclass(frozen=True)
class Commit:
    """Changes that belong together, and the message that says what they are."""

    message: str
    changes: Sequence[Change]


@dataclass(frozen=True)
class WorkTree:
    """The git work tree around a folder."""

    folder: Path  # the folder of source files
    prefix: str  # the folder's path in the repository with `/` at its end; "" for the repository's own folder

    def dirty(self) -> frozenset[str]:
        """Return the paths, relative to the folder, of files that differ from the last commit or are in none.

        Raises:
            InputError: git fails; the message has its words.
        """
        listed = _git(
            self.folder, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", "."
        )
        paths = (entry[3:] for entry in listed.decode("utf-8", "surrogateescape").split("\0") if entry)
        return frozenset(path.removeprefix(self.prefix) for path in paths)

    def write_branch(self, name: str, commits: Sequence[Commit]) -> str:
        """Make a branch from the last commit, with one commit after the other; nothing is checked out or pushed.

        A file that several commits change has in each the text of that commit.

        Returns:
            The last commit's id.

        Raises:
            InputError: the branch exists, its name is not allowed, the repository has no commit, a file is not in the
                last commit, or git does not know who commits.
        """
        if not _succeeds(self.folder, "check-ref-format", "--branch", name) or name.startswith("-"):
            raise InputError(f"'{name}' can't be the name of a git branch. Choose another name.")
        reference = f"refs/heads/{name}"
        if _succeeds(self.folder, "show-ref", "--verify", "--quiet", reference):
            raise InputError(f"The git branch '{name}' exists already. Choose another name, or delete it.")
        if not _succeeds(self.folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"):
            raise InputError(f"{self.folder} has no git commit yet. Commit the site's files first.")
        parent = _line(_git(self.folder, "rev-parse", "HEAD^{commit}"))
        with tempfile.TemporaryDirectory(prefix="internal-linker-") as temporary:
            index = {"GIT_INDEX_FILE": str(Path(temporary) / "index")}
            _git(self.folder, "read-tree", parent, extra=index)
            for commit in commits:
                self._stage(commit.changes, index)
                tree = _line(_git(self.folder, "write-tree", extra=index))
                parent = _line(
                    _git(
                        self.folder,
                        "commit-tree",
                        tree,
                        "-p",
                        parent,
                        "-F",
                        "-",
                        given=commit.message.encode(),
                    )
                )
        _git(self.folder, "update-ref", "-m", "internal-linker apply", reference, parent, "0" * len(parent))
        return parent

    def _stage(self, changes: Sequence[Change], index: Mapping[str, str]) -> None:
        modes = self._modes([change.file.path for change in changes], index)
        lines = list[str]()
        for change in changes:
            path = change.file.path
            if path not in modes:
                raise InputError(f"{self.folder / path} is not in the last git commit. Commit it first.")
            # With --path git changes line endings as it does when the file is added by hand.
            whole = change.file.encoded(change.text)
            blob = _line(
                _git(self.folder, "hash-object", "-w", "--stdin", f"--path={self.prefix}{path}", given=whole)
            )
            lines.append(f"{modes[path]} {blob}\t{self.prefix}{path}\0")
        given = "".join(lines).encode("utf-8", "surrogateescape")
        _git(self.folder, "update-index", "-z", "--index-info", given=given, extra=index)

    def _modes(self, paths: Sequence[str], index: Mapping[str, str]) -> dict[str, str]:
        listed = _git(self.folder, "ls-files", "-s", "-z", "--full-name", extra=index)
        wanted, modes = set(paths), dict[str, str]()
        for entry in listed.decode("utf-8", "surrogateescape").split("\0"):
            facts, _, path = entry.partition("\t")
            if (short := path.removeprefix(self.prefix)) in wanted and path:
                modes[short] = facts.split(" ", 1)[0]
        return modes


def find_work_tree(folder: Path) -> WorkTree | None:
    """Return the git work tree that a folder is in; None outside of one, or where git is not installed.

    Raises:
        InputError: git refuses the folder, for example because another user owns it; the message has its words.
    """
    try:
        found = _run(folder, ("rev-parse", "--is-inside-work-tree", "--show-prefix"))
    except FileNotFoundError:
        return None
    if found.returncode:
        words = found.stderr.decode("utf-8", "replace").strip()
        if "not a git repository" in words:
            return None
        raise _failure(folder, words)
    inside, _, prefix = found.stdout.decode("utf-8", "surrogateescape").partition("\n")
    return WorkTree(folder, prefix.rstrip("\n")) if inside == "true" else None


def write_patch(path: Path, changes: Iterable[Change], prefix: str = "") -> None:
    """Write a patch for `git apply`, to be run in the repository's own folder.

    `prefix` is the tree's path in it, as `WorkTree.prefix` has it.

    Raises:
        OutputError: the patch can't be written.
    """
    whole = "".join(patch_of(change.file, change.text, prefix) for change in changes).encode()

    def write(file: BinaryIO) -> None:
        file.write(whole)

    require_in_place(path, replace_binary(path, write))


def patch_of(file: StoredSource, text: str, prefix: str = "") -> str:
    """Return the unified diff from a file's text to another one, "" if they are equal; lines end as the file's do."""
    old, new = _lines(file, file.text), _lines(file, text)
    if old == new:
        return ""
    before, after = (_shown(f"{side}/{prefix}{file.path}") for side in "ab")
    out = [f"diff --git {before} {after}\n", f"--- {_tabbed(before)}\n", f"+++ {_tabbed(after)}\n"]
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        (_, first, _, new_first, _), (_, _, last, _, new_last) = group[0], group[-1]
        out.append(f"@@ -{_range(first, last)} +{_range(new_first, new_last)} @@\n")
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                out += (_marked(" ", line) for line in old[start:end])
            else:
                out += (_marked("-", line) for line in old[start:end])
                out += (_marked("+", line) for line in new[new_start:new_end])
    return "".join(out)


def _lines(file: StoredSource, text: str) -> list[str]:
    """Split at line feeds only, as git does: Python knows other line ends, which may stand in a text."""
    whole = ("\ufeff" if file.bom else "") + text
    lines = whole.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _marked(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n{_NO_END}"


def _range(start: int, end: int) -> str:
    count = end - start
    return f"{start + 1 if count else start},{count}"


def _shown(name: str) -> str:
    """Return a name as patches have it: in quotes if it holds quotes, backslashes or control characters."""
    if not _QUOTED.search(name):
        return name
    escaped = _QUOTED.sub(lambda found: _ESCAPES.get(found[0], f"\\{ord(found[0]):03o}"), name)
    return f'"{escaped}"'


def _tabbed(name: str) -> str:
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def _succeeds(folder: Path, *arguments: str) -> bool:
    return _run(folder, arguments).returncode == 0


def _line(output: bytes) -> str:
    return output.decode().strip()


def _git(folder: Path, *arguments: str, given: bytes = b"", extra: Mapping[str, str] | None = None) -> bytes:
    done = _run(folder, arguments, given, extra)
    if done.returncode:
        raise _failure(folder, done.stderr.decode("utf-8", "replace").strip())
    return done.stdout


def _failure(folder: Path, words: str) -> InputError:
    said = " ".join(words.split()) or "git gave no reason"
    return InputError(f"git failed in {folder}: {said}")


def _run(
    folder: Path, arguments: Sequence[str], given: bytes = b"", extra: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder; raise FileNotFoundError if it is not installed, OutputError if it takes too long."""
    environment = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER}
    environment |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", **(extra or {})}
    try:
        return subprocess.run(
            ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments],
            cwd=folder,
            input=given,
            capture_output=True,
            timeout=_TIMEOUT_S,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise OutputError(
            f"git took longer than {_TIMEOUT_S} seconds in {folder}. Run `git status` there, and try again."
        ) from None
