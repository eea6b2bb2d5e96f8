"""A page in headless Chromium without a network: its picture. `_main` is a command."""

import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No host resolves, and the browser sends no requests of its own.
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"),
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
_TIMED = ("--virtual-time-budget=5000",)


def chromium() -> str:
    """Return the path of an installed Chromium, the system's or Playwright's own, or skip the test."""
    found = _found()
    if not found:
        pytest.skip(
            f"no browser: none of {', '.join(_NAMES)} is installed, nor Playwright's own (python -m playwright "
            "install chromium)"
        )
    return found


@cache
def _found() -> str:
    if installed := next(filter(None, map(shutil.which, _NAMES)), ""):
        return installed
    # In a process of its own: another Playwright may be running in this one.
    ask = "import playwright.sync_api as api\nwith api.sync_playwright() as all: print(all.chromium.executable_path)"
    told = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, timeout=120, check=True
    )
    own = told.stdout.strip()
    return own if Path(own).is_file() else ""


def screenshot(page: Path, picture: Path, width: int, height: int, part: str) -> None:
    """Return a PNG of `height` pixels from the page's top or from a part; a narrow one shows the page as on a phone."""
    with tempfile.TemporaryDirectory() as folder:
        # A window is at least 500 pixels wide; a frame in it may be narrower.
        frame = Path(folder) / "frame.html"
        frame.write_text(
            f'<body style="margin:0"><iframe src="{page.resolve().as_uri()}#{part}" '
            f'style="border:0;width:{width}px;height:{height}px"></iframe>'
        )
        size = f"--window-size={max(width, 500)},{height}"
        _run(frame, f"--screenshot={picture.resolve()}", size)


def _run(page: Path, *flags: str) -> None:
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium(), *FLAGS, *_TIMED, f"--user-data-dir={profile}", *flags, page.resolve().as_uri()]
        subprocess.run(command, capture_output=True, timeout=120, check=True)


def _main(page: str, picture: str, width: str = "1280", height: str = "2000", part: str = "") -> None:
    """Run `python -m tests.support.browser PAGE.html OUT.png [WIDTH] [HEIGHT] [PART]`; PART as in PAGE.html#PART."""
    screenshot(Path(page), Path(picture), int(width), int(height), part)


if __name__ == "__main__":
    _main(*sys.argv[1:])
