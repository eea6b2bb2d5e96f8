"""internal_linker/bootstrap.py makes and keeps the environment; the tests run it on a tiny project."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from internal_linker import bootstrap
from tests.support.bootstrapped import PREPARING, ROOT, TELL, Tiny

posix = pytest.mark.skipif(os.name == "nt", reason="a promise for POSIX")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Return a project after its first start, which says that it may take minutes."""
    tiny = Tiny(tmp_path_factory.mktemp("made"))
    tiny.lay()
    first = tiny.start("-c", TELL, "an argument", "", "--flag='x'")
    assert first.returncode == 0, first.stderr
    assert PREPARING in first.stderr and first.stderr.count("\n") == 1
    assert json.loads(first.stdout) == [str(tiny.root / ".venv"), ["an argument", "", "--flag='x'"]]
    return tiny


@pytest.fixture
def copied(made: Tiny, tmp_path: Path) -> Tiny:
    """Return a copy of the project in another folder, where a start prepares its environment again."""
    tiny = Tiny(tmp_path)
    shutil.copytree(made.root, tiny.root, symlinks=True)
    shutil.copytree(made.wheels, tiny.wheels)
    return tiny


@pytest.mark.long
def test_a_second_start_changes_nothing_and_is_isolated(made: Tiny, tmp_path: Path) -> None:
    """It prints nothing, keeps the exit code, and takes no code from PYTHONPATH or the current folder."""
    written = made.ready.stat().st_mtime_ns
    (tmp_path / "first.py").write_text("raise SystemExit('the wrong one')")
    again = made.start("-c", "import first, sys; sys.exit(6)", more={"PYTHONPATH": str(tmp_path)})
    assert (again.returncode, again.stdout, again.stderr) == (6, "", "")
    assert made.ready.stat().st_mtime_ns == written


def test_a_python_with_all_packages_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version ranges of pyproject.toml decide, whatever the lock says; another Python goes on in .venv."""
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "sys", SimpleNamespace(flags=SimpleNamespace(isolated=0)))
    gone_on = list[list[str]]()
    monkeypatch.setattr(bootstrap, "main", gone_on.append)
    for needed, is_used in (
        ("packaging>=20", True),
        ("packaging>=9999", False),
        ("nowhere-to-be-found", False),
    ):
        (tmp_path / "pyproject.toml").write_text(f'[project]\ndependencies = ["{needed}"]\n')
        bootstrap.enter(["main.py", "check"])
        assert gone_on == ([] if is_used else [["--", "main.py", "check"]]), needed
        gone_on.clear()


@pytest.mark.long
def test_a_damaged_environment_is_made_anew(made: Tiny) -> None:
    """A package that can't be loaded ends a start with one sentence and exit code 2; the next start has it again."""
    module, left = made.module("first"), made.root / ".venv" / "left behind"
    module.write_text("import nowhere_to_be_found")
    left.touch()
    failed = made.main(sys.executable)
    assert failed.returncode == 2 and failed.stderr.count("\n") == 1
    assert failed.stderr.startswith("Error: A package that Internal Linker needs can't be loaded (No module")
    mended = made.main(sys.executable, "--dry-run")
    assert mended.returncode == 0 and PREPARING in mended.stderr
    assert json.loads(mended.stdout) == [str(made.root / ".venv"), ["run", "--dry-run"], str(made.root)]
    assert module.read_text() == "ready = True" and not left.exists()


def test_a_changed_lock_is_installed_and_what_the_tests_need_when_asked_for(copied: Tiny) -> None:
    """An update keeps the environment; a plain start after one with --test changes nothing."""
    (copied.root / ".venv" / "kept").touch()
    copied.lock([copied.wheel("first"), copied.wheel("third")], [copied.wheel("second")])
    changed = copied.start("-c", "import first, second, third", test=True)
    assert changed.returncode == 0, changed.stderr
    assert changed.stderr == "Updating the environment ...\n"
    plain = copied.start("-c", "import second")
    assert (plain.returncode, plain.stderr) == (0, "")
    assert (copied.root / ".venv" / "kept").exists()


@pytest.mark.long
@posix
def test_an_environment_whose_python_is_gone_is_made_anew(copied: Tiny) -> None:
    python = copied.root / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3.11")
    remade = copied.start("-c", "import first")
    assert remade.returncode == 0 and PREPARING in remade.stderr, remade.stderr


@pytest.mark.long
def test_two_starts_at_once_prepare_once(tmp_path: Path) -> None:
    """The second of two starts waits for the first, and both run their command; then no lock is left."""
    tiny = Tiny(tmp_path)
    tiny.lay()
    starts = [tiny.popen("-c", "import first; print('ran')") for _ in range(2)]
    told = [start.communicate(timeout=120) for start in starts]
    assert [out for out, _ in told] == ["ran\n"] * 2, told
    assert sum(PREPARING in err for _, err in told) == 1


@pytest.mark.long
@posix
def test_a_killed_start_is_made_good_by_the_next(copied: Tiny) -> None:
    (copied.root / ".venv" / "left behind").touch()
    with copied.popen("-c", "", more={"DAWDLE": "yes"}, start_new_session=True) as killed:
        copied.wait_for("dawdling")
        os.killpg(killed.pid, 9)
    mended = copied.start("-c", "import first")
    assert mended.returncode == 0 and PREPARING in mended.stderr, mended.stderr
    assert not (copied.root / ".venv" / "left behind").exists()


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
    copied.lock([f"nowhere==1.0 --hash=sha256:{'0' * 64}\n"], [])
    failed = copied.start("-c", "", more=more)
    assert failed.returncode == 1 and "nowhere" in failed.stderr
    last = failed.stderr.strip().splitlines()[-1]
    assert last.startswith("Internal Linker can't start.") and advice in last
    assert (copied.root / ".venv.incomplete").exists(), "the next start rebuilds it"


@posix
def test_the_script_runs_from_cron_as_one_process(made: Tiny, tmp_path: Path) -> None:
    """By a link, from another directory, without environment variables: arguments and SIGTERM reach the run."""
    link = tmp_path / "link"
    link.symlink_to(made.root / "run_main.sh")
    (made.root / "main.py").write_text(
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(42))\n"
        "print(sys.argv[1:], flush=True)\n"
        "time.sleep(60)\n"
    )
    command = [str(link), "--dry-run", "two words"]
    with subprocess.Popen(command, env={}, cwd="/", stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout and run.stdout.readline() == "['--dry-run', 'two words']\n"
        run.terminate()
        assert run.wait(60) == 42


@posix
def test_the_script_passes_over_pythons_that_do_not_fit(made: Tiny, tmp_path: Path) -> None:
    """It skips an empty shim and an old Python; without a suitable Python, it says what to install."""
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
    assert (none.returncode, none.stdout) == (2, "") and "install Python 3.13" in none.stderr
    (tools / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tools / "python3").chmod(0o755)
    found = subprocess.run(call, env={"PATH": str(tools)}, capture_output=True, text=True, check=False)
    assert ast.literal_eval(found.stdout) == ["--", f"{tmp_path.resolve()}/main.py", "x"], found.stderr


def test_main_py_tells_an_old_python_that_it_is_too_old() -> None:
    """A Python before 3.11 can read main.py, and gets one sentence and exit code 2."""
    tree = ast.parse((ROOT / "main.py").read_text(encoding="ascii"), feature_version=(3, 4))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.AnnAssign)]
    start = "import runpy, sys; sys.version_info = (3, 8, 1, 'final', 0); sys.argv = ['main.py', 'check']; "
    start += f"runpy.run_path({str(ROOT / 'main.py')!r}, run_name='__main__')"
    ran = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "") and ran.stderr.count("\n") == 1
    assert ran.stderr.startswith("Internal Linker needs Python 3.11 or newer, and this is Python ")


def test_the_locks_name_no_registry_and_the_base_has_no_test_tools() -> None:
    """The locks have versions and hashes only; the base has the build backend, and the tests' tools are apart."""
    base, added = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("requirements.txt", "tests/requirements.lock")
    )
    assert "\nflit-core==" in base and "\npytest==" in added and "\npytest==" not in base
    assert "://" not in base + added
    assert not [line for line in (base + added).splitlines() if line.startswith("-")]
