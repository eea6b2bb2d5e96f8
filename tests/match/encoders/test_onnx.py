"""ONNX models from a folder: what they read of a page, by which names their vectors are kept, and what they need."""

from pathlib import Path

import numpy as np
import pytest

from internal_linker.match.encoders.onnx import OnnxEncoder
from internal_linker.model.arrays import Vectors
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.records import Text
from tests.support.onnx_models import CLS, DIMENSIONS, LENGTH, SEP, UNK, WORDS, save_onnx, token_vectors
from tests.support.sites import read_csv
from tests.support.small_project import command, make_project

TEXTS = [
    Text("green tea", "fresh water " * 20),
    Text("", "black cup"),
    Text("white tea", ""),
    Text("tea " * 30, "leaves steep " * 60),
    Text("", ""),
    Text("الشاي \ud83c", "green " * 5),
]


def vectors(encoder: OnnxEncoder) -> Vectors:
    batches = list(encoder.encode(TEXTS))
    assert [at for batch in batches for at in batch.positions] == list(range(len(TEXTS)))
    return np.concatenate([batch.vectors for batch in batches])


def by_the_recipe(text: Text, pooling: str = "mean") -> Vectors:
    """Compute the recipe's vector in the plainest way: chunks one by one, from the table of the words' vectors."""
    table, room = token_vectors(), LENGTH - 2
    title, body = (
        [
            WORDS.index(word) if word in WORDS else UNK
            for word in part.encode("utf-8", "replace").decode().split()
        ]
        for part in (text.title, text.body)
    )
    title = title[: room // 2]
    room -= len(title)
    chunks = [body[at : at + room] for at in range(0, min(len(body), 4 * room), room)] or [[]]
    tokens = [table[[CLS, *title, *chunk, SEP]] for chunk in chunks]
    pooled = [each.mean(axis=0) if pooling == "mean" else each[0] for each in tokens]
    total = np.sum([each / np.linalg.norm(each) for each in pooled], axis=0)
    return np.asarray(total / np.linalg.norm(total))


@pytest.mark.parametrize(
    ("output", "pooling"), [("last_hidden_state", "mean"), ("sentence_embedding", "own")]
)
def test_vectors_are_those_of_the_recipe(tmp_path: Path, output: str, pooling: str) -> None:
    """Chunks are pooled by their mean, unless the model pools them itself, and each text is normalised."""
    encoder = OnnxEncoder(save_onnx(tmp_path / "tiny", output=output))
    found = vectors(encoder)
    assert found.shape == (len(TEXTS), encoder.dimensions) == (len(TEXTS), DIMENSIONS)
    np.testing.assert_allclose(found, [by_the_recipe(text, pooling) for text in TEXTS], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert (encoder.name, encoder.model) == (
        "onnx/tiny",
        "tiny",
    ) and f"4x{LENGTH}/{pooling}/" in encoder.recipe


def test_the_recipe_follows_the_content_of_the_files(tmp_path: Path) -> None:
    """Vectors of a model with other weights or another tokenizer are never mixed with it; a copy's are the same."""
    made = [
        OnnxEncoder(save_onnx(tmp_path / name / "tiny", seed=seed, length=length)).recipe
        for name, seed, length in (("a", 0, 16), ("copy", 0, 16), ("weights", 1, 16), ("tokens", 0, 32))
    ]
    assert made[0] == made[1] and len({*made}) == 3
    (tmp_path / "a/tiny/model.onnx_data").write_bytes(b"weights")
    assert OnnxEncoder(tmp_path / "a/tiny").recipe not in made


def test_without_a_length_a_model_reads_512_tokens(tmp_path: Path) -> None:
    assert "4x512/" in OnnxEncoder(save_onnx(tmp_path, length=0)).recipe


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("model.onnx", None, "has no model.onnx"),
        ("tokenizer.json", None, "has no tokenizer.json"),
        ("model.onnx", b"no model", "can't encode a text"),
        ("tokenizer.json", b"{}", "can't encode a text"),
    ],
)
def test_a_folder_without_a_usable_model_is_told(
    tmp_path: Path, name: str, content: bytes | None, sentence: str
) -> None:
    file = save_onnx(tmp_path / "tiny") / name
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=sentence):
        OnnxEncoder(tmp_path / "tiny")


def test_a_model_that_reads_too_few_tokens_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="8 tokens per input are too few"):
        OnnxEncoder(save_onnx(tmp_path, length=8))


def test_a_run_uses_the_model_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder may be relative to the project's."""
    folder = make_project(tmp_path, {"embedding_provider": "onnx:models/tiny"})
    save_onnx(folder / "models/tiny")
    where = ("--project", str(folder))
    assert command("run", "--figures", *where) == 0
    assert {row["Model"] for row in read_csv(folder / "files/links.csv")} == {"onnx/tiny"}
    assert command("check", *where) == 0
    assert f"onnx/tiny, {DIMENSIONS} dimensions" in capsys.readouterr().out
