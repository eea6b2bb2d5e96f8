#!/bin/sh
# Runs the quick tier of the tests: ./run_tests.sh [--all] [OPTIONS of pytest]. --all adds the long trials. All cores
# are used; -n 0 uses one process. The folder of the project is the working directory.
RUN_TESTS=1 exec "$(dirname "$0")/run_main.sh" "$@"
