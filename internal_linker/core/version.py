"""The version of the package."""

from internal_linker import __version__

__all__ = ["__version__"]
