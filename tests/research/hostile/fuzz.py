"""Fuzz one reader with atheris (libFuzzer), guided by the code that each input reaches.

python -m tests.research.hostile.fuzz html --runs 1000000 --seed 7

It ends with the first input that breaks a promise, and prints it; inputs that reach new code are kept in --corpus.
"""

import argparse
import resource
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["internal_linker"], enable_loader_override=False):
    from tests.research.hostile import readers
from tests.research.hostile.seeds import SEEDS


def main() -> None:
    """Fuzz without returning: libFuzzer ends the process, with 0 if every input had a good answer."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reader", choices=readers.READERS)
    parser.add_argument("--runs", type=int, default=100_000, metavar="N")
    parser.add_argument("--seconds", type=int, default=0, metavar="S", help="the most seconds; 0: no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=int, default=4096, metavar="BYTES", help="of an input")
    parser.add_argument("--corpus", help="a folder in which what was found stays for the next time")
    options = parser.parse_args()
    folder = Path(options.corpus or tempfile.mkdtemp(prefix="corpus-"))
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(SEEDS[options.reader]):
        (folder / f"seed-{number}").write_bytes(seed)
    bounds = [f"-runs={options.runs}", f"-max_total_time={options.seconds}", f"-max_len={options.longest}"]
    # The peak is measured from that of the process that started this one, which Linux hands down.
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024 + 2000
    quiet = ["-print_final_stats=1", "-timeout=20", f"-rss_limit_mb={most}", f"-artifact_prefix={folder}/"]
    atheris.Setup(
        [sys.argv[0], *bounds, *quiet, f"-seed={options.seed}", str(folder)],
        lambda raw: readers.read(options.reader, bytes(raw)),
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
