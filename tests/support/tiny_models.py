"""A BERT with two layers and a small vocabulary: as a folder, as an encoder, or served like the Hugging Face hub."""

import hashlib
import http.server
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

from internal_linker.match.encoders.sentence_transformers import (
    ModelOptions,
    TransformerEncoder,
    loaded_model,
)
from internal_linker.model.arrays import Vectors
from internal_linker.model.records import Text

torch: Any = pytest.importorskip("torch", reason="the extra transformers is not installed")
pytest.importorskip("sentence_transformers", reason="the extra transformers is not installed")
transformers: Any = import_module("transformers")

HIDDEN, POSITIONS = 32, 64
COMMIT = "0123456789abcdef0123456789abcdef01234567"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = "tea green black white cup water leaves kettle steep fresh dark taste".split()


def save_bert(folder: Path, *, larger: float = 1.0) -> Path:
    """Write a model and tokenizer without sentence-transformers files; the weights are always the same.

    Args:
        folder: the folder to create.
        larger: the factor for all weights.
    """
    folder.mkdir(parents=True)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *LETTERS, *(f"##{each}" for each in LETTERS)]
    (folder / "vocab.txt").write_text("\n".join([*pieces, *WORDS]), encoding="utf-8")
    config = transformers.BertConfig(
        vocab_size=len(pieces) + len(WORDS),
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=POSITIONS,
    )
    model = transformers.BertModel(config)
    with torch.no_grad():
        for at, weights in enumerate(each for each in model.parameters() if each.ndim == 2):
            # Pseudo-random, so that each text has its own vector.
            waves = torch.sin(torch.arange(weights.numel(), dtype=torch.float64) ** 2 * 0.37 + at)
            weights.copy_(waves.reshape(weights.shape) * larger / 3)
    model.save_pretrained(folder)
    transformers.BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


TEXTS = [
    Text("Green tea", "How long green tea leaves steep. " * 2),
    Text("", "black cup"),
    Text("white tea", ""),
    Text("tea " * 100, "fresh leaves " * 200),
    Text("الشاي \ud83c", "dark water " * 30),
]


def encoder_of(folder: Path, **wishes: Any) -> TransformerEncoder:
    """Return the model as an encoder, on the CPU by default."""
    return TransformerEncoder(
        loaded_model(str(folder), Path("/"), ModelOptions(**{"device": "cpu", **wishes}))
    )


def vectors(encoder: TransformerEncoder, texts: Sequence[Text]) -> Vectors:
    """Return all vectors, after a check that each position came once and in order."""
    batches = list(encoder.encode(texts))
    assert [at for batch in batches for at in batch.positions] == list(range(len(texts)))
    return np.concatenate([batch.vectors for batch in batches])


class Hub:
    """A server that serves a folder as the hub serves a model, and records the requests."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder, self.asked = name, folder, list[str]()
        self.url = ""

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        path = unquote(request.path.partition("?")[0])
        self.asked.append(f"{request.command} {path}")
        if path.startswith(f"/api/models/{self.name}"):
            files = [(file.relative_to(self.folder).as_posix(), file) for file in self.folder.rglob("*.*")]
            tree = [
                {"type": "file", "path": name, "oid": name, "size": file.stat().st_size}
                for name, file in files
            ]
            siblings = [{"rfilename": name} for name, _ in files]
            told = {"id": self.name, "modelId": self.name, "sha": COMMIT, "siblings": siblings}
            self._send(request, json.dumps(tree if "/tree/" in path else told).encode())
            return
        before, _, file = path.partition("/resolve/")
        content = self.folder / file.partition("/")[2]
        if before.strip("/") != self.name or not content.is_file():
            request.send_response(404)
            known = before.strip("/") == self.name
            request.send_header("X-Error-Code", "EntryNotFound" if known else "RepoNotFound")
            request.send_header("X-Repo-Commit", COMMIT)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        self._send(request, content.read_bytes())

    def _send(self, request: http.server.BaseHTTPRequestHandler, whole: bytes) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(whole)))
        request.send_header("ETag", f'"{hashlib.sha256(whole).hexdigest()}"')
        request.send_header("X-Repo-Commit", COMMIT)
        request.end_headers()
        if request.command == "GET":
            request.wfile.write(whole)


@contextmanager
def hub_of(name: str, folder: Path) -> Iterator[Hub]:
    """Start a hub on this computer with one model."""
    hub = Hub(name, folder)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            hub.answer(self)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
