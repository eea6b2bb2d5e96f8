"""Records of options that check themselves and tell each face how to offer them."""

import re
from collections.abc import Sequence
from dataclasses import Field, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from internal_linker.model.errors import ConfigurationError

# What libraries say about a value that doesn't fit, for programmers, and the same for people.
_PLAIN = (
    (r"Input should be a valid integer.*", "it must be a whole number"),
    (r"Input should be a (valid|finite) number.*", "it must be a number, with a point as in 0.5"),
    (r"Input should be a valid boolean.*", "it must be true or false"),
    (r"Input should be greater than or equal to (\S+)", r"it must be \1 or more"),
    (r"Input should be less than or equal to (\S+)", r"it must be \1 or less"),
    (r"Input should be greater than (\S+)", r"it must be above \1"),
    (r"Input should be less than (\S+)", r"it must be below \1"),
    (r"Input should be", "it must be"),
)


def plain(message: str) -> str:
    """Return a library's message about a wrong value as a sentence for people."""
    for found, words in _PLAIN:
        message = re.sub(found, words, message)
    return message


@dataclass(frozen=True, slots=True)
class Option:
    """What the faces show of a field of an options record, and the values that it takes."""

    help: str  # one line for people
    flag: str = ""  # its name on the command line; "": the field's name
    metavar: str = ""  # what stands for the value in `--help`
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()  # the texts it takes; empty: any
    argument: bool = False  # whether the command line takes it by position
    doc: str = ""  # what Python says of it where the help doesn't fit


@dataclass(frozen=True, slots=True)
class Declared:
    """A field of an options record with all that a face needs to offer it."""

    name: str
    type: type[Any]  # without None and without its description
    many: bool  # whether it takes several values
    names_files: bool  # whether a value may be the path of a file or folder of this computer
    required: bool  # whether it has no default
    default: Any
    option: Option

    @property
    def flag(self) -> str:
        """Its name on the command line; one that begins with --no- switches the field off."""
        return self.option.flag or f"--{self.name.replace('_', '-')}"

    @property
    def annotation(self) -> Any:
        """Its type as a signature has it."""
        if self.many:
            return Sequence[self.type]  # type: ignore[name-defined]
        return self.type | None if self.default is None and not self.required else self.type

    @property
    def described(self) -> str:
        """What Python says of it."""
        option = self.option
        text = option.doc or (f"False: {option.help}" if self.flag.startswith("--no-") else option.help)
        return f"{text} One of: {', '.join(option.choices)}." if option.choices else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options that check themselves: a record with a wrong number or choice can't be made."""

    def __post_init__(self) -> None:
        for declared in declared_options(type(self)):
            value = getattr(self, declared.name)
            if declared.many:
                object.__setattr__(self, declared.name, _several(declared, value))
            elif declared.type is Path and isinstance(value, str):
                object.__setattr__(self, declared.name, Path(value))
            _require_bounds(declared, value)


def declared_options(record: type[Options]) -> tuple[Declared, ...]:
    """Return the fields of an options record, in the order of `--help`."""
    hints = get_type_hints(record, include_extras=True)
    return tuple(_declared(field, hints[field.name]) for field in fields(record))


def _declared(field: "Field[Any]", hint: Any) -> Declared:
    plain, option = get_args(hint)
    several = get_origin(plain) is Sequence
    kinds = [kind for kind in get_args(plain) if kind is not type(None)] if _is_union(plain) else [plain]
    kind = get_args(plain)[0] if several else kinds[0]
    required = field.default is field.default_factory  # both are dataclasses' mark for "none"
    names_files = Path in (kind, *kinds)
    return Declared(
        field.name, kind, several, names_files, required, None if required else field.default, option
    )


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType)


def _several(declared: Declared, value: Any) -> tuple[Any, ...]:
    """Return the values as a tuple; a single text counts as one value, not as its letters."""
    values = (value,) if isinstance(value, str | Path) else tuple(value or ())
    for each in values:
        if re.search(r"[\x00-\x1f\x7f]", str(each)):
            raise ConfigurationError(f"{declared.flag} {str(each)!r}: remove the control characters.")
    return tuple(Path(each) for each in values) if declared.type is Path else values


def _require_bounds(declared: Declared, value: Any) -> None:
    option = declared.option
    if option.choices and value not in (declared.default, *option.choices):
        raise ConfigurationError(f"{declared.flag} {value}: choose one of {', '.join(option.choices)}.")
    if declared.type not in (int, float) or value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int if declared.type is int else int | float):
        kind = "a whole number" if declared.type is int else "a number, with a point as in 0.5"
        raise ConfigurationError(f"{declared.flag} {value!r}: it must be {kind}.")
    too_low = option.least is not None and value < option.least
    if too_low or (option.most is not None and value > option.most):
        wanted = (
            f"{option.least:g} or more" if option.most is None else f"{option.least:g} to {option.most:g}"
        )
        raise ConfigurationError(f"{declared.flag} {value:g}: the number must be {wanted}.")
