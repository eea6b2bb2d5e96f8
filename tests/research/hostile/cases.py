"""The type of a hostile input."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Hostile:
    """One hostile input.

    Attributes:
        name: a description of the input.
        put: the function that puts the input into a project's folder.
        file: the file that an error must name; "" for none.
        arguments: the command to run on it.
    """

    name: str
    put: Callable[[Path], None]
    file: str = ""
    arguments: tuple[str, ...] = ("run",)


def holds(name: str, file: str, content: bytes | str, *, arguments: tuple[str, ...] = ("run",)) -> Hostile:
    """Return a function that gives a file of the project another content."""
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content

    def put(project: Path) -> None:
        path = project / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)

    return Hostile(f"{file}: {name}", put, Path(file).name, arguments)
