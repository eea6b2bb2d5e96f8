"""An encoder that runs an ONNX model from a folder on onnxruntime, without PyTorch or network."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from internal_linker.match.encoders import register_encoder
from internal_linker.match.encoders.minilm import CHUNKS, TITLE_TOKENS, LocalEncoder, open_session
from internal_linker.model.arrays import Vectors, unit_rows
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.records import Text
from internal_linker.store.files.plain_text import shortened

_MODEL, _TOKENIZER = "model.onnx", "tokenizer.json"
# BERT reads 512 tokens. Longer inputs would take much memory, and a page is read in chunks anyway.
_MOST_TOKENS, _LEAST_TOKENS = 512, 16
# The output of models that pool the tokens' vectors themselves, as they were trained.
_POOLED = "sentence_embedding"


class OnnxEncoder(LocalEncoder):
    """The mean of the first four chunks, each with the title, normalised; as the packaged model, but of any length.

    A chunk's vector is the model's output `sentence_embedding` or else the mean of its tokens' vectors.

    Args:
        folder: the folder with model.onnx and tokenizer.json, which says how many tokens the model reads.

    Raises:
        ConfigurationError: a file is missing, or the model can't encode a text.
    """

    languages: frozenset[str] = frozenset()

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder.resolve()
        for name in (_MODEL, _TOKENIZER):
            if not (folder / name).is_file():
                raise ConfigurationError(f"embedding_provider: {folder} has no {name}.")
        self.model = self._folder.name
        self.name = f"onnx/{self.model}"
        try:
            length = self._set_length()
            outputs = [output.name for output in self._session.get_outputs()]
            self._output = _POOLED if _POOLED in outputs else outputs[0]
            self.dimensions = self._forward(self._chunks([Text("A title", "and a body.")])[0]).shape[1]
        except Exception as error:  # onnxruntime and tokenizers have error classes of their own
            raise ConfigurationError(
                f"the model in {folder} can't encode a text ({shortened(str(error), 200)}). Check embedding_provider."
            ) from None
        pooling = "own" if self._output == _POOLED else "mean"
        self.recipe = f"title+{CHUNKS}x{length}/{pooling}/{self._digest()[:16]}/v1"

    @property
    def facts(self) -> str:
        """A description of the encoder for `check`."""
        return f"{self.name}, {self.dimensions} dimensions, {self.recipe}"

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(self._folder / _TOKENIZER))

    @cached_property
    def _session(self) -> Any:
        return open_session(self._folder / _MODEL)

    def _set_length(self) -> int:
        """Take over what the tokenizer says of a text's length and special tokens; return the length in tokens."""
        length: int = min((self._tokenizer.truncation or {}).get("max_length", _MOST_TOKENS), _MOST_TOKENS)
        if length < _LEAST_TOKENS:
            raise ValueError(f"{length} tokens per input are too few")
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        word = self._tokenizer.encode("a")
        first, end = word.special_tokens_mask.index(0), len(word) - word.special_tokens_mask[::-1].index(0)
        self._before, self._after = word.ids[:first], word.ids[end:]
        self._chunk_tokens = length - len(self._before) - len(self._after)
        self._title_tokens = min(TITLE_TOKENS, self._chunk_tokens // 2)
        return length

    def _forward(self, chunks: Sequence[Sequence[int]]) -> Vectors:
        """Return (n, d) float32: the normalised vectors of n chunks of equal length, so that none is padded."""
        ids = np.array(chunks, np.int64)
        feed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        wanted = {each.name: feed[each.name] for each in self._session.get_inputs()}
        found = self._session.run([self._output], wanted)[0]
        return unit_rows(found if found.ndim == 2 else found.mean(axis=1))

    def _digest(self) -> str:
        mark = hashlib.sha256()
        # A large model has its weights in files beside it, such as model.onnx_data.
        for path in (*sorted(self._folder.glob(f"{_MODEL}*")), self._folder / _TOKENIZER):
            with path.open("rb") as file:
                mark.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
        return mark.hexdigest()


register_encoder(
    "onnx",
    "a folder with model.onnx and tokenizer.json",
    lambda request: OnnxEncoder(request.root / request.argument),
    argument=":FOLDER",
    step="Model",
)
