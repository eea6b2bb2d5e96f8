"""A page in headless Chromium without a network: its picture, its document. `_main` is a command."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No host has an address, and the browser asks nothing for itself.
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--virtual-time-budget=5000"),
)


def chromium() -> str:
    """The path of a Chromium of this computer; the test is skipped where there is none."""
    found = next(filter(None, map(shutil.which, _NAMES)), "")
    if not found:
        pytest.skip(f"no browser: none of {', '.join(_NAMES)} is installed")
    return found


def rendered(page: Path) -> tuple[str, str]:
    """The document after its scripts ran, and what the browser's console said."""
    return _run(page, "--dump-dom", "--window-size=1280,2000")


def screenshot(
    page: Path, picture: Path, width: int = 1280, height: int = 2000, *, part: str = "", dark: bool = False
) -> None:
    """A PNG of `height` pixels from the page's top or from a part's; a narrow one shows it as a phone does."""
    scheme = ("--blink-settings=preferredColorScheme=0",) if dark else ()
    with tempfile.TemporaryDirectory() as folder:
        # No window is narrower than 500 pixels; a frame in it may be.
        frame = Path(folder) / "frame.html"
        frame.write_text(
            f'<body style="margin:0"><iframe src="{page.resolve().as_uri()}#{part}" '
            f'style="border:0;width:{width}px;height:{height}px"></iframe>'
        )
        size = f"--window-size={max(width, 500)},{height}"
        _run(frame, f"--screenshot={picture.resolve()}", size, *scheme)


def _run(page: Path, *flags: str) -> tuple[str, str]:
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium(), *_FLAGS, f"--user-data-dir={profile}", *flags, page.resolve().as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, "\n".join(said)


def _main(page: str, picture: str, width: str = "1280", height: str = "2000", part: str = "") -> None:
    """`python -m tests.support.browser audit.html audit.png [WIDTH] [HEIGHT] [PART]`; PART is as in audit.html#PART."""
    screenshot(Path(page), Path(picture), int(width), int(height), part=part)


if __name__ == "__main__":
    _main(*sys.argv[1:])
