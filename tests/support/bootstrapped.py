"""A project so small that its environment needs no registry, for tests of the bootstrap."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parents[2]
PREPARING = "Preparing the environment"
TELL = "import json, sys; print(json.dumps([sys.prefix, sys.argv[1:]]))"
# What main.py calls: in the environment it needs a package; it tells where it runs, with what and for which project.
COMMAND_LINE = """
import json, sys
if "tiny project" in sys.prefix:
    import first

def main(arguments, default_project):
    print(json.dumps([sys.prefix, arguments, str(default_project)]))
"""
# A build backend that needs no registry; with DAWDLE set it waits, so that a test can stop a start.
BACKEND = """
import os, time, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    if "DAWDLE" in os.environ:
        open("dawdling", "w").close()
        time.sleep(60)
    name = "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        wheel.writestr("tiny.pth", os.getcwd())
        wheel.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n")
        wheel.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("tiny-1.0.dist-info/RECORD", "")
    return name
"""
PYPROJECT = """
[project]
name = "tiny"
version = "1.0"
dependencies = ["first"]
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


class Tiny:
    """A project of a lock, a main.py and the real starting scripts, in a folder with a space in its name."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tiny project"
        self.wheels = folder / "wheels"
        self.ready = self.root / ".venv" / "internal_linker_ready"

    def lay(self) -> None:
        (self.root / "internal_linker" / "faces").mkdir(parents=True)
        self.wheels.mkdir()
        for name in ("bootstrap.py", "__main__.py"):
            shutil.copy(ROOT / "internal_linker" / name, self.root / "internal_linker")
        (self.root / "internal_linker" / "faces" / "cli.py").write_text(COMMAND_LINE)
        for name in ("run_main.sh", "run_tests.sh"):
            shutil.copy(ROOT / name, self.root)
        (self.root / "internal_linker" / "__init__.py").write_text("")
        (self.root / "main.py").write_text(TELL)
        (self.root / "backend.py").write_text(BACKEND)
        (self.root / "pyproject.toml").write_text(PYPROJECT)
        self.lock([self.wheel("first")], [self.wheel("second")])

    def wheel(self, name: str) -> str:
        """Create a wheel with one module, and return its line for the lock."""
        file = self.wheels / f"{name}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(file, "w") as wheel:
            wheel.writestr(f"{name}.py", "ready = True")
            wheel.writestr(
                f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
            )
            wheel.writestr(
                f"{name}-1.0.dist-info/WHEEL",
                "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            )
            wheel.writestr(f"{name}-1.0.dist-info/RECORD", f"{name}.py,,12\n")
        return f"{name}==1.0 --hash=sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}\n"

    def lock(self, base: list[str], added: list[str]) -> None:
        (self.root / "requirements.txt").write_text("".join(base), encoding="utf-8")
        (self.root / "tests").mkdir(exist_ok=True)
        (self.root / "tests/requirements.lock").write_text("".join(added), encoding="utf-8")

    def module(self, name: str) -> Path:
        """Return the file of an installed module."""
        (folder,) = self.root.glob(".venv/[Ll]ib/**/site-packages")
        return folder / f"{name}.py"

    def main(self, python: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Start the real main.py beside the project's, with any Python."""
        file = self.root / "real.py"
        shutil.copy(ROOT / "main.py", file)
        return subprocess.run(
            [python, str(file), *arguments],
            env=self.environment(),
            cwd=self.wheels,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def command(self, *command: str, test: bool = False) -> list[str]:
        bootstrap = str(self.root / "internal_linker" / "bootstrap.py")
        return [sys.executable, "-I", bootstrap, *["--test"] * test, "--", *command]

    def environment(self, more: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        """Return an environment like a user's own pip configuration that knows only the test's wheels."""
        own = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": self.wheels.as_uri()}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        return {**kept, **own, **more}

    def popen(
        self, *command: str, more: Mapping[str, str] = MappingProxyType({}), start_new_session: bool = False
    ) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.command(*command),
            env=self.environment(more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=start_new_session,
        )

    def wait_for(self, name: str) -> None:
        """Wait for a file of the project."""
        end = time.monotonic() + 60
        while not (self.root / name).exists():
            assert time.monotonic() < end
            time.sleep(0.05)

    def start(
        self, *command: str, test: bool = False, more: Mapping[str, str] = MappingProxyType({})
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*command, test=test),
            env=self.environment(more),
            cwd=self.wheels,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
