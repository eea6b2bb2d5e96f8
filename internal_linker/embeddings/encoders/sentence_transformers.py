"""A model's name or folder -> the model, loaded by sentence-transformers and ready on its device.

The package and PyTorch behind it are installed on wish only: the extra `transformers`. No code that comes with a model
is run: `trust_remote_code` stays off, weights are read from safetensors or by PyTorch's loader for plain numbers
(`weights_only`), and sentence-transformers takes from `modules.json` no class but its own.
"""

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from internal_linker.adapters.files.plain_text import shortened
from internal_linker.core.errors import ConfigurationError

# What a vector depends on; a model card or a training log is none of it.
_FILES = frozenset({".json", ".txt", ".model", ".safetensors", ".bin"})
# Of a model from the hub: its forms for other libraries, and the file that says how its modules work together.
_OTHERS, _LAST = ["onnx/*", "openvino/*", "modules.json"], "modules.json"
# A tokenizer that doesn't know how long a text may be says so by an astronomic number; BERT reads 512.
_ENDLESS, _USUAL = 131_072, 512


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a model is used; see the settings transformer_*."""

    pooling: Literal["", "mean", "cls", "max"] = ""
    max_length: int = 0
    device: Literal["auto", "cuda", "mps", "cpu"] = "auto"
    precision: Literal["auto", "float32", "float16"] = "auto"


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model that is ready.

    Attributes:
        name: as links.csv and the cache have it.
        model: a `SentenceTransformer`.
        mark: hexadecimal: of the files of a folder, or the commit of a model from the hub.
        device: "cuda", "mps" or "cpu".
        length: tokens that it reads at a time, special ones included.
        pooling: how it makes one vector of the tokens', as "mean".
    """

    name: str
    model: Any
    mark: str
    device: str
    length: int
    pooling: str


def loaded_model(name: str, root: Path, wishes: Wishes) -> LoadedModel:
    """Load a model; the hub is asked for it only where it is no folder and was never fetched to this computer.

    Args:
        name: a folder, or a name on the Hugging Face hub.
        root: where a relative path starts.
        wishes: how it is used.

    Raises:
        ConfigurationError: a package is missing, there is no such model, or it can't be used so.
    """
    own = _folder(root / name)
    torch, sentences = _packages()
    device = _device(torch, wishes.device)
    problem = ""
    for folder in (own,) if own else _snapshots(name):
        try:
            model = sentences.SentenceTransformer(
                str(folder), device=device, trust_remote_code=False, local_files_only=True
            )
            break
        except Exception as error:  # each of four packages has its own errors
            problem = shortened(str(error), 200)
    else:
        raise ConfigurationError(f"the model {name} can't be loaded ({problem}). Check embedding_provider.")
    half = wishes.precision == "float16" or (wishes.precision == "auto" and device == "cuda")
    model = model.half() if half else model.float()
    pooling, length = _pool(model, wishes.pooling), _read_at_once(model, wishes.max_length)
    mark = _digest(folder) if own else folder.name
    return LoadedModel(own.name if own else name, model, mark, device, length, pooling)


def _folder(path: Path) -> Path | None:
    """The folder, None where there is none.

    Raises:
        ConfigurationError: it holds no model.
    """
    if not path.is_dir():
        return None
    if not any((path / name).is_file() for name in ("modules.json", "config.json")):
        raise ConfigurationError(
            f"embedding_provider: {path} holds no model (no modules.json, no config.json)."
        )
    return path.resolve()


def _packages() -> tuple[Any, Any]:
    # It would tell the hub about this computer. The package reads this when it is imported.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        torch, sentences = import_module("torch"), import_module("sentence_transformers")
        chatter = import_module("transformers.utils.logging")
    except Exception as error:  # a broken PyTorch fails in any way
        raise ConfigurationError(
            f"sentence-transformers can't be loaded ({shortened(str(error), 200)}). Install it into the project's own "
            'Python (in the folder .venv): python -m pip install "sentence-transformers>=6,<7" "torch>=2.6"'
        ) from None
    chatter.disable_progress_bar()
    chatter.set_verbosity_error()
    for name in ("sentence_transformers", "huggingface_hub"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return torch, sentences


def _device(torch: Any, wanted: str) -> str:
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wanted == "auto":
        return next(name for name, is_there in there.items() if is_there)
    if not there[wanted]:
        raise ConfigurationError(
            f'transformer_device: PyTorch finds no {wanted} on this computer. Set it to "auto", '
            "or install the PyTorch for it."
        )
    return wanted


def _snapshots(name: str) -> Iterator[Path]:
    """The folder with a model of the hub, named by its commit: as it was fetched before, then as it is fetched now.

    Raises:
        ConfigurationError: it can't be fetched.
    """
    hub = import_module("huggingface_hub")
    hub.utils.disable_progress_bars()  # they would stand across the step's own
    repository = name if "/" in name else f"sentence-transformers/{name}"
    fetch = partial(hub.snapshot_download, repository, ignore_patterns=_OTHERS)
    sound = [f"*{kind}" for kind in _FILES - {".bin"}]
    try:
        # What is fetched last tells that all is there, also where it is known that there is none.
        if hub.try_to_load_from_cache(repository, _LAST) is not None:
            with suppress(hub.errors.LocalEntryNotFoundError):
                yield Path(fetch(allow_patterns=sound, local_files_only=True))
        folder = Path(fetch(allow_patterns=sound))
        if not any(folder.rglob("*.safetensors")):
            fetch(allow_patterns=["*.bin"])
        with suppress(hub.errors.RemoteEntryNotFoundError):
            hub.hf_hub_download(repository, _LAST)
    except Exception as error:  # the hub's, its HTTP library's and the system's
        raise ConfigurationError(
            f"the model {name} can't be fetched ({shortened(str(error), 200)}). Check embedding_provider: it must name "
            "a folder or a public model of huggingface.co, which is fetched once."
        ) from None
    yield folder


def _digest(folder: Path) -> str:
    mark = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _FILES and path.is_file():
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            mark.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return mark.hexdigest()


def _pool(model: Any, wanted: str) -> str:
    """Set the pooling if one is wanted; what it is then."""
    at = next((at for at, module in enumerate(model) if type(module).__name__ == "Pooling"), -1)
    if at < 0:
        if wanted:
            raise ConfigurationError(
                "transformer_pooling: this model has none that could be changed. Leave it empty."
            )
        return "own"
    if wanted:
        model[at] = type(model[at])(model[at].embedding_dimension, wanted)
    modes = model[at].pooling_mode
    return modes if isinstance(modes, str) else "+".join(modes)


def _read_at_once(model: Any, wanted: int) -> int:
    own = model.max_seq_length or _ENDLESS + 1
    most = getattr(model.config, "max_position_embeddings", -1)
    if 0 < most < wanted:
        raise ConfigurationError(
            f"transformer_max_length: this model reads {most} tokens at the most, not {wanted}."
        )
    length: int = wanted or (own if own <= _ENDLESS else _USUAL)
    model.max_seq_length = length
    return length
