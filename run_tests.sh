#!/bin/sh
# Runs the tests: ./run_tests.sh [OPTIONS of pytest]. The folder of the project is the working directory.
RUN_TESTS=1 exec "$(dirname "$0")/run_main.sh" "$@"
