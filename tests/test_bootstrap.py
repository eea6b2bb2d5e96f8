"""internal_linker/bootstrap.py creates, keeps and repairs the environment; the tests run it on a tiny project."""

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.bootstrapped import PREPARING, ROOT, TELL, Tiny

posix = pytest.mark.skipif(os.name == "nt", reason="a promise for POSIX")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Return a project after its first start; tests that change it take a copy."""
    tiny = Tiny(tmp_path_factory.mktemp("made"))
    tiny.lay()
    first = tiny.start("-c", TELL, "an argument", "", "--flag='x'")
    assert first.returncode == 0, first.stderr
    told = first.stderr.splitlines()
    assert PREPARING in told[0] and told[1:] == ["Downloading 1 package ...", "Installing 1 package ..."]
    prefix, arguments = json.loads(first.stdout)
    assert Path(prefix).resolve() == (tiny.root / ".venv").resolve()
    assert arguments == ["an argument", "", "--flag='x'"]
    return tiny


@pytest.fixture
def copied(made: Tiny, tmp_path: Path) -> Tiny:
    """Return a copy of the project and its environment in another folder, where a start prepares it on top."""
    tiny = Tiny(tmp_path)
    shutil.copytree(made.root, tiny.root, symlinks=True)
    shutil.copytree(made.wheels, tiny.wheels)
    return tiny


def test_the_second_start_is_quick_and_changes_nothing(made: Tiny) -> None:
    """Once the environment exists, a start takes well under a second, prints nothing and needs no pip."""
    written = made.stamp.stat().st_mtime_ns
    for _ in range(5):
        began = time.perf_counter()
        again = made.start("-c", "import first")
        took = time.perf_counter() - began
        assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
        if took < 1.5:  # it takes 0.1 s on an idle computer; a busy one needs the best of several
            break
    assert took < 1.5
    assert made.stamp.stat().st_mtime_ns == written


def test_a_start_is_isolated(made: Tiny, tmp_path: Path) -> None:
    """Neither PYTHONPATH nor PYTHONHOME nor the current folder puts other code in place of the environment's."""
    (tmp_path / "first.py").write_text("raise SystemExit('the wrong one')")
    more = {"PYTHONPATH": str(tmp_path), "PYTHONHOME": str(tmp_path)}
    tell = (
        "import first, sys, os; print(sys.flags.isolated, sys.flags.utf8_mode, os.environ.get('PYTHONPATH'))"
    )
    started = made.start("-c", tell, more=more)
    assert (started.returncode, started.stdout) == (0, "1 1 None\n"), started.stderr


def test_a_lost_package_is_installed_again(made: Tiny) -> None:
    """When a package's files are deleted, the next start installs it again, and the one after it changes nothing."""
    made.module("first").unlink()
    mended = made.start("-c", "import first")
    assert mended.returncode == 0, mended.stderr
    assert mended.stderr.startswith("Updating the environment")
    assert made.start("-c", "import first").stderr == ""


@pytest.mark.long
@pytest.mark.parametrize("name", ["PIP_PYTHON", "PIP_TARGET", "PIP_DRY_RUN", "PIP_CONSTRAINT"])
def test_options_of_the_users_pip_install_nothing_elsewhere(copied: Tiny, tmp_path: Path, name: str) -> None:
    """Environment variables that would make pip install elsewhere, or nothing, do not reach it."""
    value = {"PIP_PYTHON": sys.executable, "PIP_DRY_RUN": "1"}.get(name, str(tmp_path / "elsewhere"))
    copied.lock([copied.wheel("first"), copied.wheel("fourth")], [])
    started = copied.start("-c", "import fourth", more={name: value})
    assert started.returncode == 0, started.stderr
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.long
def test_an_environment_that_stays_empty_is_not_ready(copied: Tiny, tmp_path: Path) -> None:
    """If the user's configuration file makes pip install elsewhere, the start says so instead of running without."""
    (tmp_path / "pip.conf").write_text(f"[install]\ntarget = {tmp_path / 'elsewhere'}\n")
    copied.lock([copied.wheel("first"), copied.wheel("fifth")], [])
    started = copied.start("-c", "print('ran')", more={"PIP_CONFIG_FILE": str(tmp_path / "pip.conf")})
    assert started.returncode == 1 and started.stdout == ""
    assert "did not install fifth" in started.stderr and "pip config list" in started.stderr
    assert not copied.stamp.exists()


@posix
def test_a_terminal_shows_how_far_the_installation_is(made: Tiny) -> None:
    """On a terminal, a bar counts the packages that are downloaded, then those that are installed."""
    import pty

    made.module("first").unlink()
    parent, child = pty.openpty()
    with subprocess.Popen(
        made.command("-c", "import first"), env=made.environment(), stderr=child, cwd=made.wheels
    ) as started:
        os.close(child)
        shown = b""
        while True:
            try:
                shown += os.read(parent, 4096)
            except OSError:  # the other end is closed
                break
        assert started.wait() == 0, shown
    os.close(parent)
    assert b"] 0 of 1  downloading" in shown, shown


# -- main.py ---------------------------------------------------------------------------------------


def test_main_py_runs_in_the_environment_whatever_python_starts_it(made: Tiny) -> None:
    """`python main.py` with a Python that has no packages goes on in .venv, as run_main does."""
    ran = made.main(sys.executable, "--dry-run")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == [str(made.root / ".venv"), ["run", "--dry-run"], str(made.root)]


def test_main_py_runs_in_any_environment_that_has_all_packages(made: Tiny, tmp_path: Path) -> None:
    """After `pip install -r requirements.lock` elsewhere, `python main.py` runs there and makes no .venv."""
    other = tmp_path / "other"
    shutil.copytree(made.root, other, ignore=shutil.ignore_patterns(".venv*"))
    ran = made.main(
        str(made.root / ".venv/bin/python" if os.name != "nt" else made.root / ".venv/Scripts/python"),
        "lookup",
        "tea",
        root=other,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == [str(made.root / ".venv"), ["lookup", "tea"], str(other)]
    assert not (other / ".venv").exists()


@pytest.mark.long
def test_main_py_says_what_to_do_about_a_damaged_package(made: Tiny) -> None:
    """A package that can't be loaded ends a start with a sentence and exit code 2; the next start repairs it."""
    module = made.module("first")
    module.write_text("import nowhere_to_be_found")
    failed = made.main(sys.executable)
    assert failed.returncode == 2
    assert failed.stderr.startswith(
        "Error: A package that Internal Linker needs can't be loaded (No module named"
    )
    assert failed.stderr.count("\n") == 1
    assert made.main(sys.executable).returncode == 0
    assert module.read_text() == "ready = True"


def test_main_py_tells_an_old_python_that_it_is_too_old() -> None:
    """A Python before 3.11 can read main.py, and gets one sentence and exit code 2."""
    source = (ROOT / "main.py").read_text(encoding="ascii")
    tree = ast.parse(source, feature_version=(3, 4))
    assert not [
        node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.AnnAssign | ast.FunctionDef)
    ]
    start = "import runpy, sys; sys.version_info = (3, 8, 1, 'final', 0); sys.argv = ['main.py', 'check']; "
    start += f"runpy.run_path({str(ROOT / 'main.py')!r}, run_name='__main__')"
    commands = [[sys.executable, "-c", start]]
    old = [shutil.which(f"python{version}") for version in ("2.7", "3.6", "3.8", "3.10")]
    commands += [[python, str(ROOT / "main.py"), "check"] for python in old if python]
    for command in commands:
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if len(command) > 3 or ran.returncode != 127:
            assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
            assert ran.stderr.startswith("Internal Linker needs Python 3.11 or newer, and this is Python ")
            assert ran.stderr.count("\n") == 1


# -- the rest --------------------------------------------------------------------------------------


def test_the_exit_code_is_the_commands(made: Tiny) -> None:
    """The process ends with the command's exit code, which cron and the Task Scheduler see."""
    assert made.start("-c", "raise SystemExit(6)").returncode == 6


def test_a_start_without_a_command_says_how_it_is_used(made: Tiny) -> None:
    """A call without a command ends with the usage line."""
    wrong = subprocess.run(made.command(), capture_output=True, text=True, check=False)
    assert wrong.returncode != 0
    assert wrong.stderr.startswith("Usage:")


@pytest.mark.long
def test_what_the_tests_add_is_installed_when_asked_for(copied: Tiny) -> None:
    """--test installs the second section of the lock, and a plain start afterwards keeps it."""
    assert copied.start("-c", "import second").returncode == 1
    assert copied.start("-c", "import first, second", test=True).returncode == 0
    plain = copied.start("-c", "import second")
    assert (plain.returncode, plain.stderr) == (0, "")


@pytest.mark.long
def test_a_changed_lock_is_installed_at_the_next_start(copied: Tiny) -> None:
    """After an update of the project, the next start updates the environment automatically."""
    copied.lock([copied.wheel("first"), copied.wheel("third")], [])
    changed = copied.start("-c", "import first, third")
    assert changed.returncode == 0, changed.stderr
    assert changed.stderr.startswith("Updating the environment")


@pytest.mark.long
@posix
def test_a_start_killed_half_way_is_mended_by_the_next(copied: Tiny) -> None:
    """After a start that was killed during the installation, the next start rebuilds the environment."""
    left = copied.root / ".venv" / "left behind"
    left.touch()
    with subprocess.Popen(
        copied.command("-c", ""), env=copied.environment({"DAWDLE": "yes"}), start_new_session=True
    ) as killed:
        _wait_for(copied.root / "dawdling")
        os.killpg(killed.pid, signal.SIGKILL)
    assert not copied.stamp.exists()
    mended = copied.start("-c", "import first")
    assert mended.returncode == 0, mended.stderr
    assert not left.exists()
    assert copied.start("-c", "").stderr == ""


@pytest.mark.long
@posix
def test_sigterm_during_the_preparation_ends_pip_as_well(copied: Tiny) -> None:
    """After SIGTERM, a start leaves no pip process in the background and frees the lock at once."""
    with subprocess.Popen(
        copied.command("-c", ""), env=copied.environment({"DAWDLE": "yes"}), stderr=subprocess.PIPE
    ) as stopped:
        _wait_for(copied.root / "dawdling")
        stopped.terminate()
        assert stopped.wait(10) == 128 + signal.SIGTERM
    import fcntl

    with (copied.root / ".venv.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.long
@posix
def test_an_environment_whose_python_is_gone_is_remade(copied: Tiny) -> None:
    """When an update of the system removes the environment's Python, the next start replaces the environment."""
    python = copied.root / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3.11")
    remade = copied.start("-c", "import first")
    assert remade.returncode == 0, remade.stderr


@pytest.mark.long
def test_two_starts_at_once_prepare_once(tmp_path: Path) -> None:
    """The second of two starts waits for the first and says so, and both run their command."""
    tiny = Tiny(tmp_path)
    tiny.lay()
    starts = [
        subprocess.Popen(
            tiny.command("-c", "import first; print('ran')"),
            env=tiny.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    told = [start.communicate(timeout=60) for start in starts]
    assert [out for out, _ in told] == ["ran\n"] * 2, told
    assert sum(PREPARING in err for _, err in told) == 1
    assert sum("waiting" in err for _, err in told) == 1


@pytest.mark.parametrize(
    ("more", "advice"),
    [
        ({}, "Python 3.13"),
        (
            {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "1"},
            "internet connection",
        ),
    ],
)
def test_a_failed_preparation_ends_in_what_to_do(copied: Tiny, more: dict[str, str], advice: str) -> None:
    """A failed preparation prints pip's output, then one sentence, exits non-zero and leaves no environment."""
    copied.lock([f"nowhere==1.0 --hash=sha256:{'0' * 64}\n"], [])
    failed = copied.start("-c", "", more=more)
    assert failed.returncode == 1
    assert "nowhere" in failed.stderr
    last = failed.stderr.strip().splitlines()[-1]
    assert last.startswith("Internal Linker can't start.")
    assert advice in last
    assert not copied.stamp.exists()


@posix
def test_the_script_runs_from_cron(made: Tiny, tmp_path: Path) -> None:
    """Called by a link from another directory and without environment variables, the script passes on all arguments."""
    link = tmp_path / "link"
    link.symlink_to(made.root / "run_main.sh")
    ran = subprocess.run(
        [link, "--dry-run", "two words"], env={}, cwd="/", capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == [str(made.root / ".venv"), ["--dry-run", "two words"]]


@posix
def test_sigterm_reaches_the_run(made: Tiny) -> None:
    """The script, the bootstrap and the run are one process, so that a stopped job can end in order."""
    (made.root / "main.py").write_text(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(42))\n"
        "print('up', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([made.root / "run_main.sh"], env={}, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "up\n"
        run.terminate()
        assert run.wait(10) == 42
    (made.root / "main.py").write_text(TELL)


@posix
def test_the_script_passes_over_pythons_that_do_not_fit(made: Tiny, tmp_path: Path) -> None:
    """The script skips an empty shim and an old Python; without a suitable Python, it says what to install."""
    script = tmp_path / "run_main.sh"
    # Drop the folders of this computer from the search path.
    script.write_text(
        (made.root / "run_main.sh").read_text().replace("/usr/local/bin:/opt/homebrew/bin:", "")
    )
    (tmp_path / "internal_linker").mkdir()
    (tmp_path / "internal_linker" / "bootstrap.py").write_text("import sys; print(sys.argv[1:])")
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("dirname", "readlink"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    for name, body in (("python3.13", "exit 127"), ("python3.12", "exit 1")):
        (tools / name).write_text(f"#!/bin/sh\n{body}\n")
        (tools / name).chmod(0o755)
    call = ["/bin/sh", str(script), "x"]
    none = subprocess.run(call, env={"PATH": str(tools)}, capture_output=True, text=True, check=False)
    assert (none.returncode, none.stdout) == (2, "")
    assert "install Python 3.13" in none.stderr
    (tools / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tools / "python3").chmod(0o755)
    found = subprocess.run(call, env={"PATH": str(tools)}, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert ast.literal_eval(found.stdout) == ["--", f"{tmp_path.resolve()}/main.py", "x"]


def test_the_bootstrap_needs_nothing_installed() -> None:
    """The bootstrap imports the standard library only, and nothing from the package."""
    tree = ast.parse((ROOT / "internal_linker" / "bootstrap.py").read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_the_locks_name_no_registry_and_the_base_has_no_test_tools() -> None:
    """The locks have versions and hashes only; the base has the build backend, and the tests' tools are apart."""
    base, added = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("requirements.lock", "tests/requirements.lock")
    )
    assert "\nflit-core==" in base
    assert "\npytest==" in added
    assert "\npytest==" not in base
    assert "://" not in base + added
    assert not [line for line in (base + added).splitlines() if line.startswith("-")]


def _wait_for(file: Path) -> None:
    end = time.monotonic() + 20
    while not file.exists():
        assert time.monotonic() < end
        time.sleep(0.05)
