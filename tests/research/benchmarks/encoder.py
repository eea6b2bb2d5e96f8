"""The local encoder compared with sentence-transformers on CPU torch, on the same text.

Each side runs in its own process with every core. In each round one works while the others wait, and all read the
same pages and the same title-prefixed chunks. Torch gets the chunks ready-made, so that cutting them counts on our
side only. Figures are medians of the rounds.
"""

import csv
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from internal_linker.match.encoders import minilm
from internal_linker.model.arrays import Vectors
from internal_linker.model.records import Text
from tests.research.benchmarks import torch_side
from tests.research.benchmarks.results import Row

ROOT = Path(__file__).parents[3]
# sentence-transformers' default of 32, and the encoder's former batch size.
BATCHES = (32, 8)
OURS = "ours"
WAYS = (OURS, *(f"torch, batch {batch}" for batch in BATCHES))
TARGET = "1.5 times"
csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True)
class Comparison:
    """The results of all rounds; each list has one figure per round, keyed by the side.

    Attributes:
        seconds: wall seconds a page.
        processor: processor seconds a page.
        tokens: tokens read in all rounds.
        peaks: MB of the process.
        cosines: of each page, our vector to torch's.
    """

    seconds: dict[str, list[float]]
    processor: dict[str, list[float]]
    tokens: dict[str, int]
    peaks: dict[str, float]
    cosines: Vectors

    def rows(self) -> list[Row]:
        """Return one row per side."""
        cosines = f"; cosine to ours: median {np.median(self.cosines):.4f}, lowest {self.cosines.min():.4f}"
        return [
            Row(
                f"{way}, {self.tokens[way]:,} tokens of {len(self.cosines)} pages",
                f"{median(seconds):.3f} a page",
                f"ours is {_ratio(seconds, self.seconds[OURS]):.2f} times as fast" if way != OURS else "",
                TARGET if way == WAYS[1] else "",
                memory=f"{self.peaks[way]:.0f} MB",
                note=f"{median(self.processor[way]):.3f} s of one core a page{cosines if way != OURS else ''}",
            )
            for way, seconds in self.seconds.items()
        ]


class Side:
    """A process that encodes the requests it gets."""

    def __init__(self, command: Sequence[str], threads: int) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": str(threads)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Side":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # it ends at the end of its input

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to one request.

        Raises:
            SystemExit: the process has ended; its message is printed above.
        """
        assert self._process.stdin and self._process.stdout
        print(json.dumps(request), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("One side of the comparison has failed; see its message above.")
        answer: dict[str, Any] = json.loads(line)
        return answer


def compare(texts: Sequence[Text], rounds: int, torch_python: str, threads: int) -> Comparison:
    """Encode all texts on every side, an equal share per round."""
    share = len(texts) // rounds
    answers: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
    with ExitStack() as stack:
        ours = stack.enter_context(Side([sys.executable, "-m", __spec__.name], threads))
        script = [torch_python, "-P", torch_side.__file__, str(threads)]
        torch = stack.enter_context(Side(script, threads))
        for number in range(-1, rounds):  # the first round only warms up
            mine = texts[:2] if number < 0 else texts[number * share : (number + 1) * share]
            asked: list[tuple[Side, dict[str, Any]]] = [
                (ours, {"texts": [(text.title, text.body) for text in mine]})
            ]
            pages = chunks(mine)
            asked += [(torch, {"pages": pages, "batch": batch}) for batch in BATCHES]
            for way, (side, request) in zip(WAYS, asked, strict=True):
                answer = side.ask(request)
                if number >= 0:
                    answers[way].append(answer)
            print(f"{max(number + 1, 0)} of {rounds} rounds", file=sys.stderr)
    found = {way: np.concatenate([np.array(each["vectors"]) for each in answers[way]]) for way in WAYS[:2]}
    return Comparison(
        {way: [each["seconds"] / share for each in answers[way]] for way in WAYS},
        {way: [each["processor"] / share for each in answers[way]] for way in WAYS},
        {way: sum(each["tokens"] for each in answers[way]) for way in WAYS},
        {way: answers[way][-1]["peak_mb"] for way in WAYS},
        (found[WAYS[0]] * found[WAYS[1]]).sum(axis=1),
    )


def chunks(texts: Iterable[Text]) -> list[list[str]]:
    """Return for each text the strings of its chunks: tokenised again they give the same tokens."""
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(str(minilm._vocabulary()), lowercase=True)
    result = []
    for text in texts:
        title, body = (
            tokenizer.encode(part, add_special_tokens=False).offsets for part in (text.title, text.body)
        )
        title = title[: minilm.TITLE_TOKENS]
        head, room = text.title[: title[-1][1] if title else 0], minilm.CHUNK_TOKENS - len(title)
        pieces = [body[at : at + room] for at in range(0, minilm.CHUNKS * room, room)]
        bodies = [text.body[piece[0][0] : piece[-1][1]] for piece in pieces if piece] or [""]
        result.append([f"{head} {each}" for each in bodies])
    return result


def read(folders: Iterable[Path]) -> list[Text]:
    """Return all pages that have a text, shuffled with a fixed seed."""
    texts = []
    for folder in folders:
        with (folder / "pages.csv").open(encoding="utf-8-sig", newline="") as file:
            texts += [Text(row["Title"] or row["H1"], row["Content"]) for row in csv.DictReader(file)]
    texts = [text for text in texts if text.whole]
    random.Random(0).shuffle(texts)
    return texts


def _serve_ours() -> None:
    encoder = minilm.LocalEncoder()

    def texts(request: dict[str, Any]) -> list[Text]:
        return [Text(*pair) for pair in request["texts"]]

    torch_side.serve(
        lambda request: np.concatenate([batch.vectors for batch in encoder.encode(texts(request))]),
        lambda request: sum(len(chunk) for text in encoder._chunks(texts(request)) for chunk in text),
    )


def _ratio(theirs: Sequence[float], ours: Sequence[float]) -> float:
    return median(their / our for their, our in zip(theirs, ours, strict=True))


def against_torch(torch_python: str, folder: Path, pages: int, rounds: int) -> tuple[list[Row], list[float]]:
    """Compare both encoders on pages of a folder's pages.csv (Title or H1, Content); no rows without torch."""
    if not torch_python:
        print("The encoder was not compared: no Python with sentence-transformers was named, see --help.")
        return [], []
    texts = read([folder])[:pages]
    return compare(texts, rounds, torch_python, os.cpu_count() or 1).rows(), []


if __name__ == "__main__":
    _serve_ours()
