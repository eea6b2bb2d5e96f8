"""All sources -> those that this run is asked for."""

from collections.abc import Sequence

from internal_linker.core.errors import InputError
from internal_linker.core.records import Choice, Source, fold_query
from internal_linker.core.urls import normal_form


def choose(sources: Sequence[Source], choice: Choice) -> list[Source]:
    """The chosen sources, in the input's order.

    Raises:
        InputError: a URL is asked for that is in no list.
    """
    if choice.query:
        known = [source for source in sources if fold_query(source.query) == fold_query(choice.query)]
        return known[:1] or [Source("", "", choice.query, None, in_sheet=False)]
    if choice.only:
        keys = {_known_key(sources, url) for url in choice.only}
        return [source for source in sources if source.key in keys]
    return list(sources[: choice.limit] if choice.limit else sources)


def _known_key(sources: Sequence[Source], url: str) -> str:
    try:
        key = normal_form(url)
    except ValueError as error:
        raise InputError(f"{url}: {error}.") from None
    if not any(source.key == key for source in sources):
        raise InputError(f"{url} is neither in the main queries nor in urls_rawdata.csv. Check its spelling.")
    return key
