@echo off
rem Runs the tests: run_tests.bat [OPTIONS of pytest].
setlocal EnableExtensions DisableDelayedExpansion
set "ROOT=%~dp0"
set "PYTHON="
call :try py -3.13
call :try py -3.12
call :try py -3.11
call :try py -3
call :try python
call :try python3
call :try "%ROOT%.venv\Scripts\python.exe"
if not defined PYTHON goto :none
cd /d "%ROOT%"
%PYTHON% -I internal_linker\bootstrap.py --test -- -m pytest %*
exit /b %ERRORLEVEL%

:none
echo Internal Linker needs Python 3.11 or newer: install Python 3.13 from python.org, then start again. 1>&2
exit /b 2

:try
if defined PYTHON exit /b 0
%* -I -c "import sys; sys.exit(sys.version_info < (3, 11))" >nul 2>&1
if "%ERRORLEVEL%"=="0" set PYTHON=%*
exit /b 0
