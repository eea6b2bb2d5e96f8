@echo off
rem Runs Internal Linker: run_main.bat [OPTIONS of internal-linker run, or another of its commands].
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
if defined RUN_TESTS goto :tests
%PYTHON% -I "%ROOT%internal_linker\bootstrap.py" -- "%ROOT%main.py" %*
set "CODE=%ERRORLEVEL%"
goto :end

:tests
rem Called by run_tests.bat.
set "RUN_TESTS="
cd /d "%ROOT%"
%PYTHON% -I internal_linker\bootstrap.py --test -- -m pytest --numprocesses auto %*
exit /b %ERRORLEVEL%

:none
echo Internal Linker needs Python 3.11 or newer: install Python 3.13 from python.org, then start again. 1>&2
set "CODE=2"

:end
rem A window that a double-click opened stays for a minute, so that a person can read it. The Explorer alone starts
rem a file by a command line that ends in run_main.bat" " (quotes are taken out below); the Task Scheduler, a
rem prompt and PowerShell don't. A session of services, as of a task that runs when nobody is logged on, has no
rem SESSIONNAME. And should both ever mislead: timeout ends by itself, and at once if it has no keyboard.
if not "%~1"=="" goto :leave
if not defined SESSIONNAME goto :leave
set "LINE=%CMDCMDLINE:"=%"
if /i not "%LINE:~-13%"=="run_main.bat " goto :leave
echo.
echo Press a key to close this window; it closes by itself in a minute.
"%SystemRoot%\System32\timeout.exe" /t 60 >nul 2>&1

:leave
exit /b %CODE%

:try
if defined PYTHON exit /b 0
%* -I -c "import sys; sys.exit(sys.version_info < (3, 11))" >nul 2>&1
if "%ERRORLEVEL%"=="0" set PYTHON=%*
exit /b 0
