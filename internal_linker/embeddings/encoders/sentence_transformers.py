"""A model's name or folder -> the model, loaded by sentence-transformers and ready on its device.

The package and PyTorch behind it are installed on wish only: the extra `transformers`. No code that comes with a model
is run: `trust_remote_code` stays off, weights are read from safetensors or by PyTorch's loader for plain numbers
(`weights_only`), and sentence-transformers takes from `modules.json` no class but its own.
"""

import hashlib
import logging
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

from internal_linker.adapters.files.plain_text import shortened
from internal_linker.core.arrays import Vectors, unit_rows
from internal_linker.core.errors import ConfigurationError, ServiceError
from internal_linker.core.records import EncodedBatch, Text, Usage

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


# On a processor more are not surely quicker (tests/quality/ENCODERS.md); what GPUs gain from more was not measured.
MOST_TOKENS = {"cpu": 4_096, "mps": 16_384, "cuda": 65_536}
# The other half is for what the libraries keep aside, and for other programs.
_SHARE = 0.5
# A model that doesn't say how wide it is counts as one of the large ones, as BERT-large.
_WIDTH, _HEADS = 1_024, 16


def tokens_at_once(loaded: LoadedModel) -> int:
    """As many as half of a GPU's free memory takes, one text of full length at least, `MOST_TOKENS` at the most.

    The processor's memory isn't asked: so many tokens take it 350 MB with BERT-large.
    """
    most = MOST_TOKENS[loaded.device]
    if loaded.device == "cpu":
        return most
    fits = int(_free(import_module("torch"), loaded.device) * _SHARE) // bytes_a_token(loaded)
    return max(loaded.length, min(fits, most))


def bytes_a_token(loaded: LoadedModel) -> int:
    """What a layer holds of one token at a time, beside the weights; an upper bound.

    Twenty times the width for hidden states, their projections and the wider inner ones, and the attention to all
    tokens of the text before and after it is scaled. On a processor BERTs of three widths took between a third and
    nine tenths of it.
    """
    config = loaded.model.config
    width = getattr(config, "hidden_size", _WIDTH)
    heads = getattr(config, "num_attention_heads", _HEADS)
    sizes = [weights.element_size() for weights in loaded.model.parameters()]
    return (20 * width + 2 * heads * loaded.length) * max(sizes, default=4)


def _free(torch: Any, device: str) -> int:
    if device == "cuda":
        free: int = torch.cuda.mem_get_info()[0]
        return free
    # Apple's GPUs share the memory of the computer: what they should take of it, less what they have.
    left: int = torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
    return max(left, 0)


# As the packaged model reads a page (see minilm.py): the title before each of the first four chunks.
CHUNKS = 4
TITLE_TOKENS = 48
_CHARS_A_TOKEN, _LEAST_ROOM = 24, 8
# Finished, and so cached, at a time; a GPU wants many chunks to choose batches of one length from.
PAGES_A_ROUND = {"cpu": 16, "mps": 64, "cuda": 256}
# What CUDA, Metal and the processor's allocator say, in errors of one class or another.
_NO_MEMORY = re.compile(r"out of memory|can't allocate memory|not enough memory", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Chunk:
    text: str
    tokens: int


class TransformerEncoder:
    """Implements `ports.Encoder`: title-prefixed chunks, the first four, each pooled as the model does, their mean.

    A batch has as many tokens as the device's free memory takes; one that finds none all the same is tried again in
    halves, and later batches stay as small.

    Args:
        loaded: the model.

    Raises:
        ConfigurationError: the model gives no vector of a text.
    """

    corpus_bound = False
    languages: frozenset[str] = frozenset()
    pages = None

    def __init__(self, loaded: LoadedModel) -> None:
        self._loaded, self._model, self._tokens = loaded, loaded.model, tokens_at_once(loaded)
        self.name, self.model = f"transformers/{loaded.name}", loaded.name
        self.recipe = f"title+{CHUNKS}x{loaded.length}/{loaded.pooling}/{loaded.mark[:16]}/v1"
        try:
            self._room = loaded.length - self._length_of_nothing()
            if self._room < _LEAST_ROOM:
                raise ValueError(f"{loaded.length} tokens at a time are too few")
            self.dimensions = self._vectors([Text("A title", "and a body.")]).shape[1]
        except (
            ServiceError,
            NotImplementedError,
            TypeError,
            ValueError,
            LookupError,
            AttributeError,
        ) as error:
            raise ConfigurationError(
                f"the model {loaded.name} gives no vector of a text ({shortened(str(error), 200)})."
            ) from None

    @property
    def facts(self) -> str:
        """What `check` says of it."""
        loaded = self._loaded
        return (
            f"{self.name} on {loaded.device}, {self.dimensions} numbers each, {loaded.length} tokens at a time, "
            f"pooling {loaded.pooling}"
        )

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield (len, d) float32 unit vectors, in order.

        Raises:
            ServiceError: not even one chunk finds memory, or the model fails.
        """
        round_ = PAGES_A_ROUND[self._loaded.device]
        for first in range(0, len(texts), round_):
            positions = range(first, min(first + round_, len(texts)))
            yield EncodedBatch(positions, self._vectors([texts[at] for at in positions]))

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Nothing: the model runs here."""
        return Usage()

    def _length_of_nothing(self) -> int:
        """Tokens that stand in each chunk: special ones, and the model's own prompt."""
        tokenizer, prompts = self._model.tokenizer, self._model.prompts or {}
        prompt = prompts.get(self._model.default_prompt_name or "", "")
        return int(tokenizer.num_special_tokens_to_add()) + len(tokenizer.tokenize(prompt))

    def _vectors(self, texts: Sequence[Text]) -> Vectors:
        """(n, d) float32: for each text the mean of its chunks' vectors, of length one."""
        chunks = [self._chunks(text) for text in texts]
        found = unit_rows(self._forward([chunk for some in chunks for chunk in some]))
        if not np.isfinite(found).all():
            raise self._failure('its vectors are not finite. Set transformer_precision = "float32"')
        starts = np.cumsum([0, *map(len, chunks[:-1])])
        return unit_rows(np.add.reduceat(found, starts, axis=0))

    def _chunks(self, text: Text) -> list[_Chunk]:
        """One at least, four at most; cut between tokens, so that the model reads each as it stands."""
        title, ends = self._cut(text.title, TITLE_TOKENS)
        used = min(len(ends), TITLE_TOKENS, self._room // 2)
        head, room = title[: ends[used - 1][1]] if used else "", self._room - used
        body, spans = self._cut(text.body, CHUNKS * room)
        pieces = [spans[at : at + room] for at in range(0, min(len(spans), CHUNKS * room), room)] or [[]]
        return [
            _Chunk(f"{head}\n{body[piece[0][0] : piece[-1][1]] if piece else ''}".strip(), used + len(piece))
            for piece in pieces
        ]

    def _cut(self, text: str, tokens: int) -> tuple[str, list[tuple[int, int]]]:
        """The beginning that so many tokens can need, and where its tokens begin and end."""
        # The tokenizer refuses half a surrogate pair, as broken exports hold it.
        start = text[: tokens * _CHARS_A_TOKEN].encode("utf-8", "replace").decode()
        found = self._model.tokenizer(
            start, add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False
        )
        return start, [(first, last) for first, last in found["offset_mapping"] if last > first]

    def _forward(self, chunks: Sequence[_Chunk]) -> Vectors:
        """(n, d) float32, in the order of the chunks; the longest go first, side by side with their like."""
        order = sorted(range(len(chunks)), key=lambda at: -chunks[at].tokens)
        found: dict[int, Vectors] = {}
        while rest := order[len(found) :]:
            longest = max(chunks[rest[0]].tokens, 1)
            some = rest[: max(self._tokens // longest, 1)]
            vectors = self._tried([chunks[at].text for at in some])
            if vectors is not None:
                found |= zip(some, vectors, strict=True)
            elif len(some) > 1:
                self._tokens = longest * (len(some) // 2)
            else:
                raise self._failure(
                    f"the memory of {self._loaded.device} is too small for {longest} tokens. "
                    'Lower transformer_max_length, or set transformer_device = "cpu"'
                )
        return np.stack([found[at] for at in range(len(chunks))])

    def _tried(self, texts: list[str]) -> Vectors | None:
        """(n, d) float32; None where there is too little memory for so many."""
        try:
            vectors: Any = self._model.encode(texts, batch_size=len(texts), show_progress_bar=False)
            return np.asarray(vectors, np.float32)
        except (RuntimeError, MemoryError) as error:
            if not (isinstance(error, MemoryError) or _NO_MEMORY.search(str(error))):
                raise self._failure(shortened(str(error), 200)) from None
        # Not in the handler: the error's frames hold what fills the memory.
        if self._loaded.device != "cpu":
            getattr(import_module("torch"), self._loaded.device).empty_cache()
        return None

    def _failure(self, problem: str) -> ServiceError:
        return ServiceError(self.name, f"{problem}.")
