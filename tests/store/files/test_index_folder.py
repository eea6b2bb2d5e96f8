"""The index folder gives back what was written for the same state, or nothing: whatever happened to its files."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from internal_linker.model.errors import OutputError
from internal_linker.model.records import ExistingLink
from internal_linker.store.files import index_folder
from internal_linker.store.files.index_folder import ARRAYS, MANIFEST, OBJECTS, IndexFolder


def written(folder: Path, value: int = 1, state: str = "a") -> IndexFolder:
    index = IndexFolder(folder)
    index.write("words", state, {"counts": np.full(1000, value), "link": ExistingLink("s", "t")}, {})
    return index


def value_of(index: IndexFolder, state: str = "a") -> int | None:
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
def test_damage_is_found_and_repaired_by_writing_again(tmp_path: Path, name: str) -> None:
    """A copy has other times and is valid; a file that is missing, cut, empty or changed makes the part unknown."""
    index = written(tmp_path)
    os.utime(the_part(tmp_path) / name, ns=(1, 1))
    assert value_of(index) == 1
    data = (the_part(tmp_path) / name).read_bytes()
    at = len(data) // 2
    for harmed in (data[:at], b"", data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :], None):
        file = the_part(tmp_path) / name
        if harmed is None:
            file.unlink()
        else:
            file.write_bytes(harmed)
            # As from a restored copy: the time is that of another moment.
            os.utime(file, ns=(1, 1))
        assert value_of(index) is None
        written(tmp_path, 3)
        assert value_of(index) == 3
        data = data if harmed is None else (the_part(tmp_path) / name).read_bytes()


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

    def write(value: int) -> None:
        for _ in range(20):
            written(tmp_path, value)

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write, value) for value in (1, 2)]
        while not all(writer.done() for writer in writers):
            assert value_of(index) in (None, 0, 1, 2)
        for writer in writers:
            writer.result()
    assert value_of(index) in (1, 2)
    assert isinstance(mapped, dict) and mapped["counts"].sum() == 0
    assert the_part(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
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


def test_a_foreign_index_cannot_call_anything(tmp_path: Path) -> None:
    """An index that came with somebody's project is data: names outside of the product's data classes are refused."""
    made, index = str(tmp_path / "made"), IndexFolder(tmp_path / "index")
    for call in ((os.mkdir, made), (eval, "1"), (pickle.loads, b"N."), (IndexFolder, made)):
        index.write("words", "a", Harmful(*call), {})
        assert index.read("words", "a", {}) is None
    assert not Path(made).exists()
