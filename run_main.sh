#!/bin/sh
# Runs Internal Linker: ./run_main.sh [OPTIONS of internal-linker run, or another of its commands].
# Works from cron: any working directory, no terminal, hardly any PATH.
set -u

here=$0
while [ -L "$here" ]; do # the folder of the script itself, not of a link to it
    link=$(readlink "$here")
    case $link in
        /*) here=$link ;;
        *) here=$(dirname "$here")/$link ;;
    esac
done
root=$(CDPATH='' cd -- "$(dirname "$here")" && pwd -P) || exit 2

fits() {
    [ -x "$1" ] && "$1" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    # The one that was found before, for cron may know fewer folders than the person who started first.
    fits "$root/.venv/bin/python" && echo "$root/.venv/bin/python" && return
    folders=$PATH:/usr/local/bin:/opt/homebrew/bin:${HOME:-}/.pyenv/shims
    IFS=:
    for name in python3.13 python3.12 python3.11 python3.14 python3 python; do
        for folder in $folders; do
            fits "$folder/$name" && echo "$folder/$name" && return
        done
    done
    return 1
}

PATH=${PATH:-/usr/bin:/bin}
if ! python=$(find_python); then
    echo "Internal Linker needs Python 3.11 or newer: install Python 3.13 from python.org, then start again." >&2
    exit 2
fi
if [ "${RUN_TESTS:-}" ]; then # by run_tests.sh
    unset RUN_TESTS
    cd "$root" || exit 2
    exec "$python" -I internal_linker/bootstrap.py --test -- -m pytest --numprocesses auto "$@"
fi
exec "$python" -I "$root/internal_linker/bootstrap.py" -- "$root/main.py" "$@"
