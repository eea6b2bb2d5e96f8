"""Write the two lock files from pyproject.toml: versions and hashes for all systems and for Python 3.11 to 3.13.

requirements.txt has what a run needs (the base and the extras of what README shows), with the project's own build
backend; tests/requirements.lock what the tests add.
`python tests/lock.py` keeps the locked versions that still fit; `--upgrade` takes the newest versions.
It needs the tool uv (`pip install uv`), which uses the registry it is configured for; the lock names no registry.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.txt"
TEST_LOCK = ROOT / "tests/requirements.lock"
HEADER = """\
# What a run needs: versions and hashes for Linux, macOS and Windows, made by tests/lock.py from pyproject.toml.
# run_main installs it into the folder .venv; `pip install -r requirements.txt` into any other environment.
"""
# The extras of what README shows.
SHOWN = [f"--extra={name}" for name in "alerts app cjk docx graph pages publish xlsx".split()]
TEST_HEADER = """\
# What the tests add to requirements.txt, made by tests/lock.py as well.
"""
INTEL_MAC = "sys_platform == 'darwin' and platform_machine == 'x86_64'"
OTHERS = "sys_platform != 'darwin' or platform_machine != 'x86_64'"
# onnxruntime 1.23.2, cryptography 48 and argon2-cffi-bindings 25 are the last with wheels for Intel Macs; other
# platforms take later ones.
CONSTRAINTS = f"""\
onnxruntime<1.24 ; {INTEL_MAC}
onnxruntime>=1.24 ; {OTHERS}
cryptography<49 ; {INTEL_MAC}
cryptography>=49 ; {OTHERS}
argon2-cffi-bindings<26 ; {INTEL_MAC}
argon2-cffi-bindings>=25 ; {OTHERS}
"""
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = (
    "x86_64-manylinux_2_28",
    "aarch64-manylinux_2_28",
    "x86_64-pc-windows-msvc",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
)
OLDEST_MACOS = "14.0"  # the minimum that onnxruntime's wheels for Apple silicon require


def main(arguments: list[str]) -> None:
    """Write the lock, then make sure that every package in it has a ready-made wheel everywhere."""
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is None:
        sys.exit("This needs uv: pip install uv")
    with tempfile.TemporaryDirectory() as folder:
        known = (LOCK, TEST_LOCK) if "--upgrade" not in arguments else ()
        kept = "".join(lock.read_text(encoding="utf-8") for lock in known if lock.exists())
        everything = _compile(uv, Path(folder), kept, *SHOWN, "--extra", "test")
        # The base starts from the versions found for both, so that the two files can't disagree.
        base = _compile(uv, Path(folder), everything, *SHOWN)
    texts = {LOCK: f"{HEADER}{base}", TEST_LOCK: f"{TEST_HEADER}{_added(base, everything)}"}
    if any("://" in text or re.search(r"^-", text, re.MULTILINE) for text in texts.values()):
        sys.exit("A lock would name a registry or an option; nothing was written.")
    for lock, text in texts.items():
        lock.write_text(text, encoding="utf-8", newline="\n")
    _check_wheels(uv)


def _compile(uv: str, folder: Path, kept: str, *options: str) -> str:
    backend, constraints, output = folder / "backend.in", folder / "constraints.in", folder / "output.txt"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    backend.write_text("\n".join(project["build-system"]["requires"]), encoding="utf-8")
    constraints.write_text(CONSTRAINTS, encoding="utf-8")
    output.write_text(kept, encoding="utf-8")
    command = [uv, *"pip compile --quiet --universal --generate-hashes --no-annotate --no-header".split()]
    command += [
        "--python-version",
        PYTHONS[0],
        "--constraint",
        str(constraints),
        "--output-file",
        str(output),
    ]
    inputs = [str(ROOT / "pyproject.toml"), str(backend)]
    if subprocess.run([*command, *options, *inputs], check=False).returncode:
        sys.exit("No lock could be made: see above.")
    return output.read_text(encoding="utf-8")


def _added(base: str, everything: str) -> str:
    """Return the entries of `everything` that are not in `base`; each must belong to another package."""
    known = _entries(base)
    added = [entry for entry in _entries(everything) if entry not in known]
    if doubled := {_name(entry) for entry in added} & {_name(entry) for entry in known}:
        sys.exit(f"The test extra changes packages of the base: {', '.join(sorted(doubled))}.")
    return "".join(added)


def _entries(text: str) -> list[str]:
    return re.findall(r"^\S.*\n(?:[ ]+.*\n)*", text, re.MULTILINE)


def _name(entry: str) -> str:
    return entry.partition("==")[0]


def _check_wheels(uv: str) -> None:
    environment = {**os.environ, "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS}
    fixed = "pip compile --quiet --no-deps --only-binary :all: --no-header --output-file".split()
    command = [uv, *fixed, os.devnull, str(LOCK), str(TEST_LOCK)]
    for platform in PLATFORMS:
        for version in PYTHONS:
            options = ["--python-platform", platform, "--python-version", version]
            if subprocess.run([*command, *options], env=environment, check=False).returncode:
                sys.exit(f"A locked package has no wheel for {platform}, Python {version}: see above.")


if __name__ == "__main__":
    main(sys.argv[1:])
