"""The version of the package, and a digest of its code."""

from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from internal_linker import __version__

__all__ = ["__version__", "program_digest"]


@cache
def program_digest() -> str:
    """Return 32 hex digits for the package's files and the libraries that compute: others may give other results."""
    found = blake2b(digest_size=16)
    for library in ("numpy", "scipy"):
        found.update(f"{library} {version(library)}\n".encode())
    folder = Path(__file__).parents[1]
    for file in sorted([*folder.rglob("*.py"), *folder.rglob("*.json")]):
        found.update(f"{file.relative_to(folder).as_posix()}\n".encode())
        found.update(blake2b(file.read_bytes()).digest())
    return found.hexdigest()
