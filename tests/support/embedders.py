"""The embeddings client connected to a stand-in, and helpers that collect its output."""

import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from internal_linker.match.encoders.openai import OpenAIEmbeddings
from internal_linker.model.errors import ServiceError
from internal_linker.model.records import EncodedBatch, Text
from internal_linker.sources.http.limits import Budget
from tests.standins import OpenAIStandIn

KEY = "sk-test-standin-0000000000000000-key"
SMALL = "text-embedding-3-small"
FOREIGN = "nomic-embed-text"
PAGES = [Text(f"Page {number}", f"text about topic{number} and more") for number in range(50)]
MANY = [Text(f"title {number}", "a few words here") for number in range(5 * 256)]  # five requests of FOREIGN
OPEN: list[OpenAIEmbeddings] = []


def start_stand_in() -> OpenAIStandIn:
    """Start a server with short vectors that also has a model which OpenAI doesn't have."""
    stand_in = OpenAIStandIn(dimensions=32, rate_limit_tokens=100_000_000)
    stand_in.models[FOREIGN] = 32
    return stand_in


def money(cap: float = 5.0) -> Budget:
    """Return a budget of this many dollars."""
    return Budget("OpenAI", cap, "max_cost_usd", "US dollars")


def encoder_at(stand_in: OpenAIStandIn, *, home: bool = False, **changes: Any) -> OpenAIEmbeddings:
    """Return a client of the stand-in; with `home` it behaves as at OpenAI's own address."""
    fixed: dict[str, Any] = {
        "api_key": KEY,
        "model": SMALL,
        "dimensions": 0,
        "base_url": "https://api.openai.com/v1" if home else f"{stand_in.url}/v1",
        "price_per_million": None,
        "max_input_tokens": 8191,
        "budget": money(),
        "in_flight": 4,
        "timeout": 5.0,
    }
    OPEN.append(OpenAIEmbeddings(**{**fixed, **changes}))
    # The client looks at its address before the first request only.
    OPEN[-1]._server.base_url = f"{stand_in.url}/v1"
    return OPEN[-1]


def drain(encoder: OpenAIEmbeddings, texts: Sequence[Text]) -> tuple[list[EncodedBatch], ServiceError | None]:
    """Return the yielded batches and the error after them, after a check that it shows no part of the key."""
    batches: list[EncodedBatch] = []
    try:
        for batch in encoder.encode(texts):
            batches.append(batch)
    except ServiceError as error:
        shown = "".join(traceback.format_exception(error))
        assert KEY not in shown
        assert KEY[:8] not in shown
        return batches, error
    return batches, None


def collect(encoder: OpenAIEmbeddings, texts: Sequence[Text]) -> NDArray[np.floating]:
    """Return all vectors in the order of the texts, after a check that each position came once."""
    batches = list(encoder.encode(texts))
    positions = [at for batch in batches for at in batch.positions]
    assert sorted(positions) == list(range(len(texts)))
    vectors: NDArray[np.floating] = np.concatenate([batch.vectors for batch in batches])[
        np.argsort(positions)
    ]
    return vectors
