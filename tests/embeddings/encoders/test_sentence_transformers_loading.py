"""Models of sentence-transformers: where they load from, which of their code never runs, and a run with one."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from internal_linker.core.errors import ConfigurationError
from internal_linker.embeddings.encoders.sentence_transformers import ModelOptions, loaded_model
from tests.support.sites import read_csv
from tests.support.small_project import command, environment, make_project
from tests.support.tiny_models import (
    COMMIT,
    HIDDEN,
    POSITIONS,
    TEXTS,
    encoder_of,
    hub_of,
    save_bert,
    torch,
    transformers,
    vectors,
)

pytestmark = pytest.mark.long
# Reads the models named on the command line; prints the recipe or the error of each.
LOAD = """
import sys
from pathlib import Path
from internal_linker.core.errors import ConfigurationError
from internal_linker.embeddings.encoders.sentence_transformers import TransformerEncoder
from internal_linker.embeddings.encoders.sentence_transformers import ModelOptions, loaded_model
for name in sys.argv[1:]:
    try:
        print(TransformerEncoder(loaded_model(name, Path("."), ModelOptions())).recipe)
    except ConfigurationError as error:
        print(error)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bert(tmp_path_factory.mktemp("models") / "tiny")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an NVIDIA GPU")
def test_a_device_that_is_not_there_is_told(folder: Path) -> None:
    """A missing GPU is an error instead of a slow run on the CPU; "auto" uses the available device."""
    with pytest.raises(ConfigurationError, match="PyTorch finds no cuda device on this computer"):
        encoder_of(folder, device="cuda")
    assert "on cpu" in encoder_of(folder, device="auto").facts or torch.backends.mps.is_available()


class Payload:
    """An object that creates a file when it is unpickled."""

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
    """Copy the model with its weights in a pickle."""
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
    """A model folder in the project works: links.csv names it, the next run uses the cache, and check reports it."""
    project = make_project(tmp_path, {"embedding_provider": "sentence-transformers:models/tiny"})
    shutil.copytree(folder, project / "models/tiny")
    where = ("--project", str(project))
    assert command("run", *where) == 0
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


DEVICE = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
