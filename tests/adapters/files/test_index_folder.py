"""The index folder gives back what was written for the same state, or nothing: whatever happened to its files."""

import os
import pickle
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from internal_linker.adapters.files import index_folder
from internal_linker.adapters.files.index_folder import ARRAYS, MANIFEST, OBJECTS, IndexFolder
from internal_linker.core.errors import OutputError
from internal_linker.core.records import ExistingLink


def written(folder: Path, value: int = 1, state: str = "a") -> IndexFolder:
    index = IndexFolder(folder)
    index.write("words", state, {"counts": np.full(1000, value), "link": ExistingLink("s", "t")}, {})
    return index


def value_of(index: IndexFolder, state: str = "a") -> int | None:
    """Return the value that `written` wrote."""
    found = index.read("words", state, {})
    if found is None:
        return None
    assert isinstance(found, dict) and found["link"] == ExistingLink("s", "t")
    assert not found["counts"].flags.writeable and len(found["counts"]) == 1000
    return int(found["counts"][0])


def the_part(folder: Path) -> Path:
    (part,) = folder.iterdir()
    return part


def test_a_part_belongs_to_one_state(tmp_path: Path) -> None:
    """Only the state that a part was written for finds it; the next state's replaces it."""
    index = written(tmp_path / "index")
    assert value_of(index) == 1 and value_of(index, "b") is None
    written(tmp_path / "index", 2, "b")
    assert value_of(index) is None and value_of(index, "b") == 2
    assert the_part(tmp_path / "index").name.startswith("words-")


def test_objects_that_the_reader_has_are_not_written(tmp_path: Path) -> None:
    index, pages = IndexFolder(tmp_path), ("page",) * 1000
    index.write("site", "a", {"pages": pages}, {"pages": pages})
    other = ("other",)
    assert index.read("site", "a", {"pages": other}) == {"pages": other}
    assert (the_part(tmp_path) / OBJECTS).stat().st_size < 100


@pytest.mark.parametrize("name", [MANIFEST, OBJECTS, ARRAYS])
@pytest.mark.parametrize("harm", ["removed", "cut", "changed", "empty"])
def test_damage_is_found_and_repaired_by_writing_again(tmp_path: Path, name: str, harm: str) -> None:
    """A file that is missing, cut or changed makes the part unknown; it can be written again."""
    index = written(tmp_path)
    file = the_part(tmp_path) / name
    data = file.read_bytes()
    match harm:
        case "removed":
            file.unlink()
        case "cut":
            file.write_bytes(data[: len(data) // 2])
        case "empty":
            file.write_bytes(b"")
        case "changed":
            at = len(data) // 2
            file.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
            # As from a restored copy: the time is that of another moment.
            os.utime(file, ns=(1, 1))
    assert value_of(index) is None
    written(tmp_path, 3)
    assert value_of(index) == 3


def test_a_copied_index_is_valid(tmp_path: Path) -> None:
    index = written(tmp_path)
    os.utime(the_part(tmp_path) / ARRAYS, ns=(1, 1))
    assert value_of(index) == 1


@pytest.mark.parametrize("before", [1, 2, 3])
def test_a_writer_that_is_killed_leaves_the_former_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    """Whichever file was the last, readers see the former part; what is left goes when it is old."""
    index = written(tmp_path, 1, "a")
    synced: list[int] = []

    def sync(number: int) -> None:
        synced.append(number)
        if len(synced) == before:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", sync)
        patched.setattr(index_folder, "shutil", SimpleNamespace(rmtree=lambda *_, **__: None))
        with pytest.raises(KeyboardInterrupt):
            written(tmp_path, 2, "b")
    assert len([*tmp_path.glob(".words-*.tmp")]) == 1
    assert value_of(index) == 1 and value_of(index, "b") is None
    for left in tmp_path.glob(".words-*.tmp"):
        os.utime(left, (1, 1))
    written(tmp_path, 3, "b")
    assert value_of(index, "b") == 3 and the_part(tmp_path)


def test_writers_and_readers_at_once(tmp_path: Path) -> None:
    index = written(tmp_path, 0)
    mapped = index.read("words", "a", {})
    failures: list[BaseException] = []

    def write(value: int) -> None:
        try:
            for _ in range(20):
                written(tmp_path, value)
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=write, args=(value,)) for value in (1, 2)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert value_of(index) in (None, 0, 1, 2)
    assert not failures and value_of(index) in (1, 2)
    assert isinstance(mapped, dict) and mapped["counts"].sum() == 0
    assert the_part(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """The error says what follows; reading finds nothing."""
    (tmp_path / "index").write_text("a file", encoding="utf-8")
    with pytest.raises(
        OutputError, match=r"index can't be written .*, so the next lookup prepares the site again"
    ):
        written(tmp_path / "index")
    assert value_of(IndexFolder(tmp_path / "index")) is None
    IndexFolder(tmp_path / "other", writes=False).write("words", "a", 1, {})
    assert not (tmp_path / "other").exists()


class Harmful:
    """Calls a function when it is unpickled."""

    def __init__(self, *call: object) -> None:
        self.call = call

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        function, *arguments = self.call
        return function, tuple(arguments)


@pytest.mark.parametrize(
    "call", [(os.mkdir,), (eval, "1"), (pickle.loads, b"N."), (index_folder.IndexFolder,)]
)
def test_a_foreign_index_cannot_call_anything(tmp_path: Path, call: tuple[object, ...]) -> None:
    """An index that came with somebody's project is data: names outside of the product's data classes are refused."""
    made = tmp_path / "made"
    harm = Harmful(*call, str(made)) if call == (os.mkdir,) else Harmful(*call)
    index = IndexFolder(tmp_path / "index")
    index.write("words", "a", harm, {})
    assert index.read("words", "a", {}) is None
    assert not made.exists()
