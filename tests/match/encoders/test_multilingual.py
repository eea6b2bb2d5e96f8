"""The multilingual encoder: the real model, its languages, and what it reads of a page."""

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from internal_linker.match.encoders.multilingual import CHUNK_CHARACTERS, CHUNKS, MultilingualEncoder
from internal_linker.model.arrays import Vectors
from internal_linker.model.records import Text
from tests.support.sites import make_project, read_csv, use_standins
from tests.support.small_project import command, environment, write_csv

TEA = {
    "en": "Green tea leaves taste fresh and light.",
    "ar": "أوراق الشاي الأخضر طعمها طازج وخفيف.",
    "de": "Blätter von grünem Tee schmecken frisch und leicht.",
    "ja": "緑茶の葉は新鮮で軽い味がします。",
}
CAR = {
    "en": "The engine of the car needs new oil.",
    "ar": "محرك السيارة يحتاج إلى زيت جديد.",
    "de": "Der Motor des Autos braucht neues Öl.",
    "ja": "車のエンジンには新しいオイルが必要です。",
}
OTHER_PROCESS = """
import hashlib
from internal_linker.model.records import Text
from internal_linker.match.encoders.multilingual import MultilingualEncoder
batch = next(MultilingualEncoder().encode([Text("الشاي", "green tea " * 500)]))
print(hashlib.sha256(batch.vectors.tobytes()).hexdigest())
"""


@pytest.fixture(scope="module")
def encoder() -> MultilingualEncoder:
    return MultilingualEncoder()


def vectors(encoder: MultilingualEncoder, texts: Sequence[Text]) -> Vectors:
    found = np.zeros((len(texts), encoder.dimensions), np.float32)
    for batch in encoder.encode(texts):
        found[list(batch.positions)] = batch.vectors
    return found


@pytest.mark.parametrize("language", ["ar", "de", "ja"])
def test_a_text_is_nearest_to_its_translation(encoder: MultilingualEncoder, language: str) -> None:
    texts = [Text("", each) for each in (TEA["en"], CAR["en"], TEA[language], CAR[language])]
    found = vectors(encoder, texts)
    similar = found[:2] @ found[2:].T
    assert similar[0, 0] > similar[0, 1] + 0.1 and similar[1, 1] > similar[1, 0] + 0.1
    assert language in encoder.languages


def test_each_vector_has_unit_length_whatever_the_text(encoder: MultilingualEncoder) -> None:
    half = Text("\ud83c", "tea \ud83c")
    texts = [Text("Tea", ""), Text("", "tea"), Text("", "\u200c"), half, Text("t" * 10**6, "tea " * 10**6)]
    found = vectors(encoder, texts)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_title_and_the_first_chunks_count(encoder: MultilingualEncoder) -> None:
    body = ("tea leaves " * 1000)[: CHUNKS * CHUNK_CHARACTERS]
    fourth = body[: -CHUNK_CHARACTERS // 2] + "engine oil " * 30
    same, again, other, title = vectors(
        encoder, [Text("Tea", body), Text("Tea", f"{body}engine"), Text("Tea", fourth), Text("Car", body)]
    )
    np.testing.assert_array_equal(same, again)
    assert not np.allclose(same, other, atol=1e-3) and not np.allclose(same, title, atol=1e-3)


@pytest.mark.long
def test_every_process_computes_the_same() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", OTHER_PROCESS],
            env=environment(PYTHONHASHSEED=seed),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1 and len(found.pop().strip()) == hashlib.sha256().digest_size * 2


@pytest.mark.long
def test_a_run_says_that_it_was_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = make_project(tmp_path, 2)
    use_standins(project, settings={"embedding_provider": "multilingual"})
    rows = [
        *((f"https://a.example/{n}", "", text, "ar") for n, text in enumerate((TEA["ar"], CAR["ar"]))),
        *((f"https://a.example/fa{n}", "", f"چای سبز {n}", "fa") for n in range(2)),
    ]
    write_csv(project / "files/urls_rawdata.csv", [("URL", "Title", "Main Content", "Lang"), *rows])
    (project / "files/main_queries.csv").unlink()
    assert command("run", "--figures", "--project", str(project)) == 0
    told = capsys.readouterr()
    assert (
        f"2 pages are in a language that {MultilingualEncoder.name} does not support" in told.out + told.err
    )
    links = read_csv(project / "files/links.csv")
    assert {link["Model"] for link in links} == {MultilingualEncoder.name}
    assert {bool(link["Embedding Similarity"]) for link in links if "/fa" not in link["Source"]} == {True}
    assert {bool(link["Embedding Similarity"]) for link in links if "/fa" in link["Source"]} == {False}
