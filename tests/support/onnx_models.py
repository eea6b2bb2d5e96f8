"""A folder with the smallest model that an ONNX runtime takes: each token has a vector, and nothing mixes them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing

DIMENSIONS, LENGTH = 8, 16
WORDS = ["[CLS]", "[SEP]", "[UNK]", *"tea green black white cup water leaves steep fresh a".split()]
CLS, SEP, UNK = range(3)


def token_vectors(seed: int = 0, width: int = DIMENSIONS) -> Any:
    """Return the model's weights: (words, width) float32."""
    return np.random.default_rng(seed).normal(size=(len(WORDS), width)).astype(np.float32)


def save_onnx(
    folder: Path, *, seed: int = 0, output: str = "last_hidden_state", length: int = LENGTH
) -> Path:
    """Write model.onnx and tokenizer.json; with the output sentence_embedding, the model takes a text's first token."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(_model(token_vectors(seed), output))
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    if length:
        tokenizer.enable_truncation(length)
    tokenizer.enable_padding()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


# Protocol buffers, written by hand: the package onnx is large, and a model of one node has few fields.
_INT64, _FLOAT = 7, 1


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _tensor(name: str, kind: int, values: Any) -> bytes:
    shape = b"".join(_field(1, size) for size in values.shape)
    return shape + _field(2, kind) + _field(8, name) + _field(9, values.tobytes())


def _value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    sizes = [_field(2 if isinstance(size, str) else 1, size) for size in shape]
    tensor = _field(1, kind) + _field(2, b"".join(_field(1, size) for size in sizes))
    return _field(1, name) + _field(2, _field(1, tensor))


def _node(kind: str, inputs: Sequence[str], output: str, attributes: bytes = b"") -> bytes:
    return b"".join(_field(1, name) for name in inputs) + _field(2, output) + _field(4, kind) + attributes


def _model(weights: Any, output: str) -> bytes:
    pooled = output == "sentence_embedding"
    nodes = [_node("Gather", ("weights", "input_ids"), "tokens" if pooled else output)]
    if pooled:
        axis = _field(5, _field(1, "axis") + _field(3, 1) + _field(20, 2))
        nodes.append(_node("Gather", ("tokens", "first"), output, axis))
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, "tiny")
    graph += _field(5, _tensor("weights", _FLOAT, weights))
    graph += _field(5, _tensor("first", _INT64, np.array(0, np.int64))) if pooled else b""
    for name in ("input_ids", "attention_mask"):
        graph += _field(11, _value(name, _INT64, ("batch", "length")))
    shape = ("batch", weights.shape[1]) if pooled else ("batch", "length", weights.shape[1])
    graph += _field(12, _value(output, _FLOAT, shape))
    return _field(1, 8) + _field(8, _field(1, "") + _field(2, 13)) + _field(7, graph)
