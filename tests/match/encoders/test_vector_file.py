"""Vectors from the user's own file: one per page, from any supported format, and one sentence for a bad file."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from internal_linker.match.embed import embed, encodable
from internal_linker.match.encoders.vector_file import VectorFile, vector_file
from internal_linker.model.arrays import Vectors
from internal_linker.model.canonical_hosts import CanonicalHosts, host_map
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.records import Text
from tests.support.builders import MemoryVectors, Told
from tests.support.small_project import URLS, write_csv, write_text

NUMBERS = np.array([[3, 4, 0], [0, 0, 2], [1, 2, 2]], np.float32)
UNIT = NUMBERS / np.linalg.norm(NUMBERS, axis=1, keepdims=True)
THREE = URLS[:3]


def vectors_of(file: VectorFile, urls: Sequence[str]) -> Vectors:
    return embed([Text("", "", url.rstrip("/")) for url in urls], file, MemoryVectors(), Told()).vectors


def as_csv(folder: Path, cell: Callable[[list[float]], str]) -> str:
    rows = [(url, cell(row)) for url, row in zip(THREE, NUMBERS.tolist(), strict=True)]
    write_csv(folder / "v.csv", [("Address", "Extract embeddings from page 1"), *rows])
    return "v.csv"


def as_parquet(folder: Path, columns: dict[str, Any]) -> str:
    folder.mkdir(exist_ok=True)
    parquet.write_table(pyarrow.table({"url": THREE, **columns}), folder / "v.parquet")
    return "v.parquet"


def as_array(folder: Path, *, listed: bool) -> str:
    folder.mkdir(exist_ok=True)
    np.save(folder / "v.npy", NUMBERS.astype(np.float16))
    if listed:
        (folder / "v.urls.txt").write_text("\n".join(THREE), encoding="utf-8")
    else:
        rows = [(url, "text") for url in THREE]
        write_csv(folder / "files/urls_rawdata.csv", [("URL", "Main Content"), *rows])
    return "v.npy"


WRITERS: dict[str, Callable[[Path], str]] = {
    "CSV, JSON": lambda folder: as_csv(folder, json.dumps),
    "CSV, commas": lambda folder: as_csv(folder, lambda row: ",".join(map(str, row))),
    "CSV, spaces": lambda folder: as_csv(folder, lambda row: str(np.array(row))),
    "Parquet, lists": lambda folder: as_parquet(folder, {"embedding": NUMBERS.tolist()}),
    "Parquet, fixed lists": lambda folder: as_parquet(
        folder, {"n": ["a", "b", "c"], "e": pyarrow.FixedSizeListArray.from_arrays(NUMBERS.ravel(), 3)}
    ),
    "Parquet, columns": lambda folder: as_parquet(
        folder, {"id": [1, 2, 3], **{f"f{at}": NUMBERS[:, at] for at in range(3)}}
    ),
    "NumPy, list of URLs": lambda folder: as_array(folder, listed=True),
    "NumPy, rows of the pages": lambda folder: as_array(folder, listed=False),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_each_kind_of_file_gives_the_same_vectors(tmp_path: Path, kind: str) -> None:
    file = vector_file(tmp_path, WRITERS[kind](tmp_path))
    assert (file.dimensions, len(file.pages), list(file.remarks)) == (3, 3, [])
    np.testing.assert_allclose(vectors_of(file, THREE), UNIT, atol=1e-3)
    assert not vectors_of(file, [URLS[4]]).any()


def test_a_vector_belongs_to_its_page_and_another_content_is_another_model(tmp_path: Path) -> None:
    file = vector_file(tmp_path, WRITERS["CSV, JSON"](tmp_path))
    texts = [Text("Tea", "leaves", url.rstrip("/")) for url in THREE] + [Text("Tea", "leaves")]
    found = embed(texts, file, MemoryVectors(), Told())
    np.testing.assert_allclose(found.vectors, [*UNIT, np.zeros(3)], atol=1e-6)
    assert (found.encoded, found.missing) == (3, 0)
    _, left_out = encodable(texts, [""] * 3, file)
    assert left_out == (
        "1 query without a page has no vector in file/v.csv: it is matched by its words alone."
    )
    same = vector_file(tmp_path, WRITERS["Parquet, lists"](tmp_path))
    write_csv(tmp_path / "v.csv", [("URL", "Embedding"), *((url, "1 2 2") for url in THREE)])
    other = vector_file(tmp_path, "v.csv")
    assert file.model == same.model != other.model
    assert (file.name, file.recipe) == (other.name, other.recipe) == ("file/v.csv", "given/3")
    # Addresses with http://, without www., or of a mapped host are those of the site's pages.
    forms = [THREE[0].replace("https://www.", "http://"), THREE[1].replace("www.", "staging.")]
    write_csv(tmp_path / "v.csv", [("URL", "Embedding"), *((url, "[3, 4, 0]") for url in forms)])
    mapping = CanonicalHosts(host_map(["staging.tiny.example=www.tiny.example"]))
    known = vectors_of(vector_file(tmp_path, "v.csv", mapping), THREE)
    assert known.any(axis=1).tolist() == [True, True, False]


def test_what_is_left_out_of_a_file_is_told(tmp_path: Path) -> None:
    rows = [(THREE[0], "1 0"), ("tea", "1 1"), (THREE[1], ""), (THREE[2], "0 0"), (THREE[0], "0 1")]
    write_csv(tmp_path / "v.csv", [("URL", "Embedding"), *rows])
    file = vector_file(tmp_path, "v.csv")
    np.testing.assert_array_equal(vectors_of(file, THREE[:1]), [[0, 1]])
    assert [remark.removeprefix("v.csv: ") for remark in file.remarks] == [
        "1 row for a page that has one already; the last vector of a page is used.",
        "1 row left out, without a full URL.",
        "2 rows left out, without a vector.",
    ]
    rows = [(THREE[0], "3e300 4e300"), (THREE[1], "3e-310 -4e-310")]
    write_csv(tmp_path / "v.csv", [("URL", "Embedding"), *rows])
    np.testing.assert_allclose(
        vectors_of(vector_file(tmp_path, "v.csv"), THREE[:2]), [[0.6, 0.8], [0.6, -0.8]], atol=1e-6
    )
    with pytest.raises(ConfigurationError, match="must be a .csv, .parquet or .npy"):
        vector_file(tmp_path, "v.xlsx")


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("[1, two, 3]", "'1, two, 3' is not a list of numbers"),
        ("1;0", "'1;0' is not a list of numbers"),
        ('{"a": 1}', "is not a list of numbers"),
        ("[[1, 2], [3]]", "is not a list of numbers"),
        ("1 2 3 4", "the vector has 4 dimensions, earlier rows have 3"),
        ("1 " * 1_100_000, "the cell is too long for an embedding (2,200,000 characters)"),
        ("nan 1 2", "a number is missing or infinite"),
        ("1 inf 2", "a number is missing or infinite"),
    ],
)
def test_a_bad_vector_is_named_with_its_row_and_page(tmp_path: Path, cell: str, words: str) -> None:
    write_csv(tmp_path / "v.csv", [("URL", "Embedding"), (THREE[0], "1 2 3"), (THREE[1], cell)])
    with pytest.raises(InputError) as caught:
        vector_file(tmp_path, "v.csv")
    assert str(caught.value).startswith(f"v.csv, row 3 ({THREE[1]}): ") and words in str(caught.value)


def array(numbers: object, urls: Sequence[str] = ()) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        np.save(folder / "v.npy", np.asarray(numbers), allow_pickle=True)
        if urls:
            write_text(folder / "v.urls.txt", "\n".join(urls))

    return write


def table(**columns: object) -> Callable[[Path], object]:
    return lambda folder: as_parquet(folder, columns)


def cut(folder: Path) -> None:
    np.save(folder / "v.npy", NUMBERS)
    whole = (folder / "v.npy").read_bytes()
    (folder / "v.npy").write_bytes(whole[:-4])


def archive(folder: Path) -> None:
    with (folder / "v.npy").open("wb") as file:
        np.savez(file, a=NUMBERS)


MANY = pyarrow.array([[0.5] * 70_000] * 3, pyarrow.list_(pyarrow.float32()))


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (
            array(np.array([{"a": 1}], object)),
            "(Array can't be memory-mapped: Python objects in dtype)",
        ),
        (cut, "v.npy can't be read"),
        (array(NUMBERS.ravel()), "it is float32 of shape (9,)"),
        (archive, "it is an archive"),
        (array(NUMBERS, urls=THREE[:2]), "v.npy has 3 rows, and v.urls.txt has 2 URLs"),
        (array(NUMBERS), "one per line, into v.urls.txt"),
        (table(size=[1, 2, 3]), "(it has: url, size)"),
        (table(embedding=[[1.0, 2.0], [None, 1.0], [1.0, 1.0]]), "v.parquet, row 2"),
        (table(embedding=MANY), "unpacks to 210,000 numbers in 3 rows"),
        (lambda folder: write_text(folder / "v.npy", ""), "v.npy can't be read"),
        (lambda folder: write_text(folder / "v.parquet", "PAR1"), "v.parquet can't be read"),
        (lambda folder: write_text(folder / "v.csv", ""), "empty"),
        (lambda folder: write_text(folder / "v.csv", "URL,Text\nhttps://a.example/,1"), "'Embedding'"),
        (lambda folder: write_text(folder / "v.csv", "URL,Embedding\n"), "no page vectors"),
        (lambda folder: None, "v.npy not found"),
    ],
)
def test_a_bad_file_is_one_sentence(tmp_path: Path, write: Callable[[Path], object], words: str) -> None:
    """An unusable file is named with its reason; no pickled object is loaded, and unpacking is bounded."""
    write(tmp_path)
    name = next((path.name for path in tmp_path.iterdir() if path.suffix != ".txt"), "v.npy")
    with pytest.raises(InputError) as caught:
        vector_file(tmp_path, name)
    assert words in str(caught.value) and "\n" not in str(caught.value)


@settings(max_examples=2 * settings().max_examples)
@given(st.sampled_from(["npy", "parquet"]), st.data())
def test_a_damaged_file_never_ends_in_a_crash(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    name = WRITERS["NumPy, list of URLs" if kind == "npy" else "Parquet, lists"](folder)
    content = bytearray((folder / name).read_bytes())
    for at in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=5)):
        content[at] = data.draw(st.integers(0, 255))
    (folder / name).write_bytes(content)
    with suppress(InputError):
        assert len(vector_file(folder, name).pages) <= len(THREE)
