"""The pages of a project -> their vectors from the cache, for files/vectorized_urls.csv."""

from internal_linker.arrays import Vectors
from internal_linker.embedding import plan_embedding
from internal_linker.errors import ConfigurationError, InputError
from internal_linker.pipeline import Parts
from internal_linker.steps.collect import collect
from internal_linker.steps.text import page_text


def cached_vectors(parts: Parts) -> tuple[list[tuple[str, Vectors]], int]:
    """URL and (d,) vector of every page that is embedded, in the input's order, and how many are not.

    Raises:
        ConfigurationError: the encoder's vectors are never kept.
        InputError: there are no pages.
    """
    if parts.encoder.corpus_bound:
        raise ConfigurationError(
            "Word statistics (LSA) give vectors that hold for one run only and are not kept. "
            'Set embedding_provider = "local" or "openai" in config/settings.toml and run again.'
        )
    if parts.pages is None:
        raise InputError(
            "files/urls_rawdata.csv is not there. Put your pages there: URL, Title, Main Content."
        )
    pages = collect(None, parts.pages.read(), queries_in_sheet=False).pages
    plan = plan_embedding([page_text(page) for page in pages], parts.encoder, parts.vector_cache)
    rows = [
        (page.url, plan.cached[key])
        for page, key in zip(pages, plan.hashes, strict=True)
        if key in plan.cached
    ]
    return rows, len(pages) - len(rows)
