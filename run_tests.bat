@echo off
rem Runs the tests: run_tests.bat [OPTIONS of pytest].
setlocal
set "RUN_TESTS=1"
rem Without "call" control goes over for good, and the exit code is that of the tests.
"%~dp0run_main.bat" %*
