"""`python -m internal_linker` is the console script `internal-linker`."""

from internal_linker.cli import main

if __name__ == "__main__":
    main()
