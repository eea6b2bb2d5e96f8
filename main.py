"""`python main.py` is `internal-linker run`, on the folder that this file lies in.

Any Python can start it. One that is too old can read this file and says so; any other goes on in the environment that
internal_linker/bootstrap.py prepares, unless it has all packages itself.
"""

import os
import sys

if __name__ == "__main__":
    if sys.version_info < (3, 11):
        sys.stderr.write(
            "Internal Linker needs Python 3.11 or newer, and this is Python %d.%d: start run_main.sh (on Windows "
            "run_main.bat), which finds a newer one on this computer, or install Python 3.13 from python.org.\n"
            % sys.version_info[:2]
        )
        sys.exit(2)
    root = os.path.dirname(os.path.realpath(__file__))
    if root not in sys.path:
        sys.path.insert(0, root)
    from internal_linker import bootstrap

    bootstrap.enter([os.path.realpath(__file__)] + sys.argv[1:])
    from pathlib import Path

    from internal_linker.__main__ import main

    arguments = sys.argv[1:]
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help", "--version")):
        arguments = ["run"] + arguments
    main(arguments, Path(root))
