"""Encoders: local models, word statistics, OpenAI's API, Dask workers, and files of vectors.

Each one on this computer registers itself in its own file, by its name in the setting embedding_provider.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from internal_linker.model.canonical_hosts import CanonicalHosts
    from internal_linker.model.ports import Encoder

# They are reached over a network, so `providers` connects them; importing them takes a tenth of a second.
_SERVICES = ("dask", "openai")


@dataclass(frozen=True, slots=True)
class EncoderRequest:
    """What an encoder is made with."""

    argument: str  # what follows its name and a colon in embedding_provider
    root: Path  # the project's folder
    hosts: "CanonicalHosts"  # the hosts that stand for others
    settings: Mapping[str, Any]  # the project's settings by name
    last: str  # the last run's encoder; "": there is none
    notices: list[str]  # gets what a person should know


MakeEncoder = Callable[[EncoderRequest], "Encoder"]


@dataclass(frozen=True, slots=True)
class EncoderKind:
    """An encoder that embedding_provider can name."""

    make: MakeEncoder
    meaning: str  # what the setting says of it
    argument: str  # what follows its name, such as ":PATH"; "": nothing
    step: str  # the progress step of one that takes seconds to load; "": none


_kinds = dict[str, EncoderKind]()


def register_encoder(
    name: str, meaning: str, make: MakeEncoder, *, argument: str = "", step: str = ""
) -> None:
    """Add an encoder; see `EncoderKind`. Making it may raise a ConfigurationError or an InputError."""
    _kinds[name] = EncoderKind(make, meaning, argument, step)


@cache
def encoder_kinds() -> Mapping[str, EncoderKind]:
    """Return the registered encoders by name, in the order of their files."""
    for module in iter_modules(__path__):
        if module.name not in _SERVICES:
            import_module(f"{__name__}.{module.name}")
    return dict(sorted(_kinds.items(), key=lambda kind: kind[1].make.__module__))
