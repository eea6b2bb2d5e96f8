@echo off
rem Runs the quick tier of the tests: run_tests.bat [--all] [OPTIONS of pytest]. --all adds the long trials. All
rem cores are used; -n 0 uses one process.
setlocal
set "RUN_TESTS=1"
rem Without "call" control goes over for good, and the exit code is that of the tests.
"%~dp0run_main.bat" %*
