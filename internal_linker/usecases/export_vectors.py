"""The pages of a project -> their vectors from the cache, for files/vectorized_urls.csv."""

from collections.abc import Iterator

from internal_linker.core.arrays import Vectors
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.embeddings.embed import BLOCK, all_texts, plan_embedding
from internal_linker.ingest.collect import collect
from internal_linker.pipeline.context import Parts


def cached_rows(parts: Parts) -> tuple[Iterator[tuple[str, Vectors]], int, int]:
    """URL and (d,) vector of every page that is embedded, in the input's order; how many are, and are not.

    Raises:
        ConfigurationError: the encoder's vectors are never kept.
        InputError: there are no pages.
    """
    if parts.encoder.pages is not None:
        raise ConfigurationError(f"The vectors come from {parts.encoder.name}: there is nothing to export.")
    if parts.encoder.corpus_bound:
        raise ConfigurationError(
            "Word statistics (LSA) give vectors that hold for one run only and are not kept. "
            'Set embedding_provider = "local" or "openai" in config/settings.toml and run again.'
        )
    if parts.pages is None:
        raise InputError(
            "files/urls_rawdata.csv is not there. Put your pages there: URL, Title, Main Content."
        )
    pages = collect(None, parts.pages.stream(), queries_in_sheet=False, keep=parts.keep).pages
    plan = plan_embedding(all_texts(pages, {}, ()), parts.encoder, parts.vector_cache)
    kept = [row for row, key in enumerate(plan.hashes) if key and key not in plan.missing]

    def rows() -> Iterator[tuple[str, Vectors]]:
        for first in range(0, len(kept), BLOCK):
            block = kept[first : first + BLOCK]
            found = parts.vector_cache.get(parts.encoder, [plan.hashes[row] for row in block])
            yield from ((pages[row].url, found[plan.hashes[row]]) for row in block)

    return rows(), len(kept), len(pages) - len(kept)
