"""The command line: arguments in, one call of the pipeline, exit code out; heavy imports come late."""

from internal_linker.faces.cli.main import main

__all__ = ["main"]
