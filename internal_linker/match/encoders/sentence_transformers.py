"""An encoder that runs any sentence-transformers model, by its name or from a folder.

The extra `transformers` installs the package and PyTorch. Code that comes with a model never runs:
`trust_remote_code` stays off, weights come from safetensors or PyTorch's loader for plain numbers
(`weights_only`), and sentence-transformers accepts only its own classes in `modules.json`.
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

from internal_linker.match.encoders import EncoderRequest, register_encoder
from internal_linker.model.arrays import Vectors, unit_rows
from internal_linker.model.cli_commands import installation
from internal_linker.model.errors import ConfigurationError, ServiceError
from internal_linker.model.records import EncodedBatch, Text, Usage
from internal_linker.store.files.plain_text import shortened

# Files that vectors depend on: not the model card or a training log.
_FILES = frozenset({".json", ".txt", ".model", ".safetensors", ".bin"})
# Of a model from the hub: its versions for other libraries, and the file that connects its modules.
_OTHERS, _LAST = ["onnx/*", "openvino/*", "modules.json"], "modules.json"
# A tokenizer without a maximum length reports a huge number; BERT reads 512 tokens.
_ENDLESS, _USUAL = 131_072, 512


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How to use a model; see the settings transformer_*."""

    pooling: Literal["", "mean", "cls", "max"] = ""
    max_length: int = 0
    device: Literal["auto", "cuda", "mps", "cpu"] = "auto"
    precision: Literal["auto", "float32", "float16"] = "auto"


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A loaded model, by its name in links.csv and the cache."""

    name: str
    model: Any  # a `SentenceTransformer`
    mark: str  # hexadecimal digest of a folder's files, or the commit of a model from the hub
    device: str  # "cuda", "mps" or "cpu"
    length: int  # maximum of tokens per input, special tokens included
    pooling: str  # how the model pools the tokens' vectors, such as "mean"


def loaded_model(name: str, root: Path, options: ModelOptions) -> LoadedModel:
    """Load a model from a folder, else from this computer's hub cache, else from the Hugging Face hub.

    Raises:
        ConfigurationError: a package or the model is missing, or the model does not support the options.
    """
    own = _folder(root / name)
    torch, sentences = _packages()
    device = _device(torch, options.device)
    problem = ""
    for folder in (own,) if own else _snapshots(name):
        try:
            model = sentences.SentenceTransformer(
                str(folder), device=device, trust_remote_code=False, local_files_only=True
            )
            break
        except Exception as error:  # any of four packages may fail with its own errors
            problem = shortened(str(error), 200)
    else:
        raise ConfigurationError(f"the model {name} can't be loaded ({problem}). Check embedding_provider.")
    half = options.precision == "float16" or (options.precision == "auto" and device == "cuda")
    model = model.half() if half else model.float()
    pooling, length = _set_pooling(model, options.pooling), _set_length(model, options.max_length)
    mark = _digest(folder) if own else folder.name
    return LoadedModel(own.name if own else name, model, mark, device, length, pooling)


def _folder(path: Path) -> Path | None:
    """Return the resolved folder, None if the path is not a folder."""
    if not path.is_dir():
        return None
    if not any((path / name).is_file() for name in ("modules.json", "config.json")):
        raise ConfigurationError(
            f"embedding_provider: {path} does not contain a model (it has neither modules.json nor config.json)."
        )
    return path.resolve()


def _packages() -> tuple[Any, Any]:
    # Telemetry would send the hub facts about this computer. The package reads the variable on import.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        torch, sentences = import_module("torch"), import_module("sentence_transformers")
        chatter = import_module("transformers.utils.logging")
    except Exception as error:  # a broken PyTorch may raise anything
        raise ConfigurationError(
            f"sentence-transformers can't be loaded ({shortened(str(error), 200)}). Install it: "
            f"{installation('transformers')}"
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
            f'transformer_device: PyTorch finds no {wanted} device on this computer. Set it to "auto", '
            "or install the PyTorch build for this device."
        )
    return wanted


def _snapshots(name: str) -> Iterator[Path]:
    """Yield the folder of a model from the hub, named by its commit: the cached one, then the downloaded one."""
    hub = import_module("huggingface_hub")
    hub.utils.disable_progress_bars()  # they would overlap the step's own progress bar
    repository = name if "/" in name else f"sentence-transformers/{name}"
    fetch = partial(hub.snapshot_download, repository, ignore_patterns=_OTHERS)
    sound = [f"*{kind}" for kind in _FILES - {".bin"}]
    try:
        # The download asks for this file last: its entry in the cache, even "not found", means a complete download.
        if hub.try_to_load_from_cache(repository, _LAST) is not None:
            with suppress(hub.errors.LocalEntryNotFoundError):
                yield Path(fetch(allow_patterns=sound, local_files_only=True))
        folder = Path(fetch(allow_patterns=sound))
        if not any(folder.rglob("*.safetensors")):
            fetch(allow_patterns=["*.bin"])
        with suppress(hub.errors.RemoteEntryNotFoundError):
            hub.hf_hub_download(repository, _LAST)
    except Exception as error:  # errors of the hub, of its HTTP library and of the system
        raise ConfigurationError(
            f"the model {name} can't be downloaded ({shortened(str(error), 200)}). Check embedding_provider: "
            "it must name a folder, or a public model on huggingface.co, which is then downloaded once."
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


def _set_pooling(model: Any, wanted: str) -> str:
    """Set the pooling unless `wanted` is empty; return the model's pooling."""
    at = next((at for at, module in enumerate(model) if type(module).__name__ == "Pooling"), -1)
    if at < 0:
        if wanted:
            raise ConfigurationError(
                "transformer_pooling: this model's pooling can't be changed. Leave the setting empty."
            )
        return "own"
    if wanted:
        model[at] = type(model[at])(model[at].embedding_dimension, wanted)
    modes = model[at].pooling_mode
    return modes if isinstance(modes, str) else "+".join(modes)


def _set_length(model: Any, wanted: int) -> int:
    """Set and return the maximum of tokens per input; 0: the model's own."""
    own = model.max_seq_length or _ENDLESS + 1
    most = getattr(model.config, "max_position_embeddings", -1)
    if 0 < most < wanted:
        raise ConfigurationError(
            f"transformer_max_length: this model reads at most {most} tokens, not {wanted}."
        )
    length: int = wanted or (own if own <= _ENDLESS else _USUAL)
    model.max_seq_length = length
    return length


# On a processor, more are not clearly faster (tests/research/quality/ENCODERS.md); on GPUs this was not measured.
MOST_TOKENS = {"cpu": 4_096, "mps": 16_384, "cuda": 65_536}
# The rest is for the libraries' reserves and for other programs.
_SHARE = 0.5
# Assumed for a model that does not state its width: a large one, BERT-large.
_WIDTH, _HEADS = 1_024, 16


def tokens_at_once(loaded: LoadedModel) -> int:
    """Return the tokens of a batch: what fits half of a GPU's free memory, from one full input to `MOST_TOKENS`.

    On a processor it is `MOST_TOKENS`, which takes 350 MB with BERT-large.
    """
    most = MOST_TOKENS[loaded.device]
    if loaded.device == "cpu":
        return most
    fits = int(_free(import_module("torch"), loaded.device) * _SHARE) // bytes_a_token(loaded)
    return max(loaded.length, min(fits, most))


def bytes_a_token(loaded: LoadedModel) -> int:
    """Return an upper bound of a layer's memory per token, in bytes, without the weights.

    Twenty times the width covers hidden states, their projections and the wider inner ones; the attention to all
    tokens of the text counts twice, before and after scaling. On a processor, BERTs of three widths took between a
    third and nine tenths of this.
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
    # Apple's GPUs share the computer's memory: subtract what they use from what they should use at most.
    left: int = torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
    return max(left, 0)


# Chunks as of the packaged model (see minilm.py): the title before each of the first four.
CHUNKS = 4
TITLE_TOKENS = 48
_CHARS_A_TOKEN, _LEAST_ROOM = 24, 8
# Pages that are finished, and so cached, at a time; a GPU needs many chunks to form batches of equal length.
PAGES_A_ROUND = {"cpu": 16, "mps": 64, "cuda": 256}
# Messages of CUDA, Metal and the processor's allocator, whose error classes vary.
_NO_MEMORY = re.compile(r"out of memory|can't allocate memory|not enough memory", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Chunk:
    text: str
    tokens: int


class TransformerEncoder:
    """Implements `ports.Encoder`: the mean of the first four chunks, each with the title and pooled by the model.

    The device's free memory limits the tokens of a batch; a batch that runs out of memory is halved and tried
    again, and later batches stay as small.

    Raises:
        ConfigurationError: the model can't encode a text.
    """

    corpus_bound = False
    languages: frozenset[str] = frozenset()
    pages = None

    def __init__(self, loaded: LoadedModel) -> None:
        self._loaded, self._model, self._tokens = loaded, loaded.model, tokens_at_once(loaded)
        self.name, self.model = f"transformers/{loaded.name}", loaded.name
        self.recipe = f"title+{CHUNKS}x{loaded.length}/{loaded.pooling}/{loaded.mark[:16]}/v1"
        try:
            self._room = loaded.length - self._fixed_tokens()
            if self._room < _LEAST_ROOM:
                raise ValueError(f"{loaded.length} tokens per input are too few")
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
                f"the model {loaded.name} can't encode a text ({shortened(str(error), 200)}). Check embedding_provider."
            ) from None

    @property
    def facts(self) -> str:
        """A description of the encoder for `check`."""
        loaded = self._loaded
        return (
            f"{self.name} on {loaded.device}, {self.dimensions} dimensions, {loaded.length} tokens per input, "
            f"pooling {loaded.pooling}"
        )

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield (len, d) float32 unit vectors, in order.

        Raises:
            ServiceError: the memory is too small for one chunk, or the model fails.
        """
        round_ = PAGES_A_ROUND[self._loaded.device]
        for first in range(0, len(texts), round_):
            positions = range(first, min(first + round_, len(texts)))
            yield EncodedBatch(positions, self._vectors([texts[at] for at in positions]))

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Return a usage of zero: the model runs on this computer."""
        return Usage()

    def _fixed_tokens(self) -> int:
        """Return the count of tokens in every chunk: special ones, and the model's own prompt."""
        tokenizer, prompts = self._model.tokenizer, self._model.prompts or {}
        prompt = prompts.get(self._model.default_prompt_name or "", "")
        return int(tokenizer.num_special_tokens_to_add()) + len(tokenizer.tokenize(prompt))

    def _vectors(self, texts: Sequence[Text]) -> Vectors:
        """Return (n, d) float32: each text's normalised mean of its chunks' vectors."""
        chunks = [self._chunks(text) for text in texts]
        found = unit_rows(self._forward([chunk for some in chunks for chunk in some]))
        if not np.isfinite(found).all():
            raise self._failure('its vectors are not finite. Set transformer_precision = "float32"')
        starts = np.cumsum([0, *map(len, chunks[:-1])])
        return unit_rows(np.add.reduceat(found, starts, axis=0))

    def _chunks(self, text: Text) -> list[_Chunk]:
        """Return one to four chunks, cut between tokens so that the model reads each token unchanged."""
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
        """Return a beginning of the text with at least `tokens` tokens, if it is that long, and each token's span."""
        # The tokenizer rejects lone surrogates, which broken exports contain.
        start = text[: tokens * _CHARS_A_TOKEN].encode("utf-8", "replace").decode()
        found = self._model.tokenizer(
            start, add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False
        )
        return start, [(first, last) for first, last in found["offset_mapping"] if last > first]

    def _forward(self, chunks: Sequence[_Chunk]) -> Vectors:
        """Return (n, d) float32, in the order of the chunks; batches have chunks of similar length, longest first."""
        order = sorted(range(len(chunks)), key=lambda at: -chunks[at].tokens)
        found: dict[int, Vectors] = {}
        while rest := order[len(found) :]:
            longest = max(chunks[rest[0]].tokens, 1)
            some = rest[: max(self._tokens // longest, 1)]
            vectors = self._encoded([chunks[at].text for at in some])
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

    def _encoded(self, texts: list[str]) -> Vectors | None:
        """Return (n, d) float32; None if the memory is too small for these texts together."""
        try:
            vectors: Any = self._model.encode(texts, batch_size=len(texts), show_progress_bar=False)
            return np.asarray(vectors, np.float32)
        except (RuntimeError, MemoryError) as error:
            if not (isinstance(error, MemoryError) or _NO_MEMORY.search(str(error))):
                raise self._failure(shortened(str(error), 200)) from None
        # Outside the handler, because the error's frames keep the tensors alive.
        if self._loaded.device != "cpu":
            getattr(import_module("torch"), self._loaded.device).empty_cache()
        return None

    def _failure(self, problem: str) -> ServiceError:
        return ServiceError(self.name, f"{problem}.")


def _transformer_encoder(request: EncoderRequest) -> TransformerEncoder:
    settings = request.settings
    options = ModelOptions(
        settings["transformer_pooling"],
        settings["transformer_max_length"],
        settings["transformer_device"],
        settings["transformer_precision"],
    )
    return TransformerEncoder(loaded_model(request.argument, request.root, options))


register_encoder(
    "sentence-transformers",
    "any such model, by name or folder (extra package)",
    _transformer_encoder,
    argument=":MODEL",
    step="Model",
)
