"""Candidates by words: the recall of champion lists and of LSA, and their cost."""

import csv
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

from internal_linker.match.candidates import SERVED
from internal_linker.match.inverted_index import CHAMPIONS, Postings
from internal_linker.match.neighbours.exact import nearest
from internal_linker.match.tfidf import index_terms
from internal_linker.match.tokens import tokenize
from internal_linker.model.arrays import Ints, Vectors
from internal_linker.model.records import Text
from tests.research.benchmarks.results import Row, middle
from tests.support.synthetic_pages import synthetic

# Sampled pages with exact lists to compare with: each costs a product with all pages.
SAMPLE = 500
DIMENSIONS = 256
BEST = (5, 20, 50)
_FULL = "full product"


def candidates(real: Path, pages: int, times: int) -> tuple[list[Row], list[float]]:
    """Measure the candidates' recall against the full product, on real texts if present, else on synthetic ones."""
    kind, texts = _texts(real, pages)
    began = time.process_time()
    terms = index_terms(tokenize([Text(title, body) for title, body in texts]).tokens).rows
    weighing = time.process_time() - began
    sample = np.arange(0, len(texts), max(1, len(texts) // SAMPLE))
    truth: list[tuple[Ints, Vectors]] = []
    seconds = defaultdict[str, list[float]](list)
    lists: dict[str, Sequence[Ints]] = {}
    for _ in range(times):
        began = time.process_time()
        truth = list(_exact(terms, sample))
        seconds[_FULL].append(time.process_time() - began)
        for name, found, taken in _ways(terms, sample):
            seconds[name].append(taken)
            lists[name] = found
    rows = [Row(f"weighing the words of {len(texts):,} {kind} texts, once", f"{weighing:.1f}")]
    for name, each in seconds.items():
        ratio = middle(full / taken for full, taken in zip(seconds[_FULL], each, strict=True))
        recall = ", ".join(
            f"{_recall(truth, lists[name], best):.4f} of the best {best}" for best in BEST if name in lists
        )
        a_page = f"{1000 * middle(each) / len(sample):.2f} ms a page"
        rows.append(Row(name, a_page, f"{ratio:.1f} times", note=recall and f"recall {recall}"))
    return rows, []


def _texts(real: Path, pages: int) -> tuple[str, list[tuple[str, str]]]:
    if not (real / "pages.csv").exists():
        return "made-up", [(title, body) for _, title, body, _ in synthetic(pages)]
    csv.field_size_limit(2**31 - 1)
    with (real / "pages.csv").open(encoding="utf-8-sig", newline="") as file:
        found = [(row["Title"], row["Main Content"]) for row in csv.DictReader(file) if row["Lang"] == "en"]
    return "real", random.Random(0).sample(found, min(pages, len(found)))


def _exact(terms: sparse.csr_matrix, sample: Ints) -> Iterator[tuple[Ints, Vectors]]:
    """Return the nearest of each page, best first, with their cosines."""
    others = terms.T.tocsr()
    for row in sample.tolist():
        cosines = (terms[[row]] @ others).toarray().ravel()
        cosines[row] = 0
        best = np.argsort(-cosines)[: max(BEST)]
        yield best, cosines[best]


def _ways(terms: sparse.csr_matrix, sample: Ints) -> Iterator[tuple[str, Sequence[Ints], float]]:
    """Yield each method's candidates for the sample, and its processor seconds without the one-off work."""
    n = terms.shape[0]
    every, languages = np.ones(n, np.bool_), np.full(n, -1)
    postings = Postings(terms, every, languages)
    began = time.process_time()
    found = postings.nearest(sample, SERVED)
    yield f"champion lists of {CHAMPIONS}, {SERVED} candidates", list(found), time.process_time() - began
    began = time.process_time()
    projected = TruncatedSVD(DIMENSIONS, n_iter=2, random_state=0).fit_transform(terms).astype(np.float32)
    projected /= np.linalg.norm(projected, axis=1, keepdims=True).clip(1e-9)
    # The projection covers all pages once: only the sample's part counts.
    share = (time.process_time() - began) * len(sample) / n
    began = time.process_time()
    lists = nearest(projected, languages, sample, np.arange(n), SERVED).rows
    yield (
        f"LSA of {DIMENSIONS} dimensions, {SERVED} candidates",
        list(lists),
        share + time.process_time() - began,
    )


def _recall(truth: Sequence[tuple[Ints, Vectors]], found: Sequence[Ints], best: int) -> float:
    """Return the share of the `best` nearest with a common word that are among the candidates."""
    wanted = [rows[:best][cosines[:best] > 0] for rows, cosines in truth]
    hits = sum(int(np.isin(ours, given).sum()) for ours, given in zip(wanted, found, strict=True))
    return hits / max(1, sum(map(len, wanted)))
