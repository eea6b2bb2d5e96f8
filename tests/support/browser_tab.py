"""A page in headless Chromium without a network, driven by mouse and script through the DevTools protocol."""

import json
import os
import re
import select
import sys
import tempfile
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import FLAGS, chromium

# A busy computer takes long to start a browser; a hanging one would never answer.
_PATIENCE = 30.0
_CONTROLS = "a[href^='#'], button:not(th button, .table-tools button), summary"


class Tab:
    """An open page.

    Args:
        to_browser, from_browser: file descriptors of the pipes; a NUL byte ends each message.

    Attributes:
        said: uncaught errors, console messages and blocked requests so far.
    """

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self.said: list[str] = []
        self._to, self._from = to_browser, from_browser
        self._unread, self._sent, self._session = b"", 0, ""

    def open(self, page: Path, width: int, height: int) -> str:
        """Load the page in a window of this size and wait until its scripts have run; return the target's id."""
        target: str = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.send(f"{domain}.enable")
        self.resize(width, height)
        self.send("Page.navigate", url=page.resolve().as_uri())
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")
        return target

    def close(self, target: str) -> None:
        """Close the page."""
        self.send("Runtime.disable")
        self._session = ""
        self.send("Target.closeTarget", targetId=target)

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the DevTools protocol and return its result."""
        self._sent += 1
        call = {"id": self._sent, "method": method, "params": params}
        if self._session:
            call["sessionId"] = self._session
        os.write(self._to, json.dumps(call).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._sent:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def run(self, script: str) -> Any:
        """Return the JSON value of an expression; a promise is awaited."""
        found = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        until = time.monotonic() + _PATIENCE
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < until, f"never true: {condition}"
            self.run("new Promise((done) => setTimeout(done, 20))")

    def type(self, selector: str, text: str) -> None:
        """Click into a field and type a text."""
        self.press(selector)
        self.send("Input.insertText", text=text)

    def key(self, name: str, code: int, text: str = "") -> None:
        """Press a key, such as "Tab" (9) or "Enter" (13), which types a text."""
        key = {"key": name, "code": name, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", **key, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **key)

    def press(self, selector: str, at: int = 0) -> None:
        """Click in the middle of the element, the `at`-th that matches, with the mouse."""
        self.click(*self.middle(selector, at))

    def middle(self, selector: str, at: int = 0) -> tuple[float, float]:
        """Scroll to an element and return the position of its middle in the window."""
        x, y = self.run(
            f"(() => {{ const one = document.querySelectorAll({json.dumps(selector)})[{at}]; "
            "one.scrollIntoView({ block: 'center', behavior: 'instant' }); const box = one.getBoundingClientRect(); "
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        return x, y

    def click(self, x: float, y: float) -> None:
        """Move the mouse to a position in the window and click."""
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Dispatch an event of the mouse."""
        pressed = {"button": "left", "clickCount": 1} if kind in ("mousePressed", "mouseReleased") else {}
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed, **more)

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def colours(self, scheme: str) -> None:
        """Prefer "light" or "dark" colours."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path: Path) -> None:
        """Write a PNG of the window."""
        path.write_bytes(b64decode(self.send("Page.captureScreenshot")["data"]))

    def choose(self, selector: str, value: str) -> None:
        """Choose an option of a `select`."""
        self.run(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)}); "
            f"one.value = {json.dumps(value)}; one.dispatchEvent(new Event('change')); }})()"
        )

    def press_everything(self) -> int:
        """Press every link within the page, button and summary, and choose every option; return their number.

        The controls of tables are too many to be pressed one by one.
        """
        count = int(self.run(f"document.querySelectorAll({json.dumps(_CONTROLS)}).length"))
        for at in range(count):
            # A control in closed details has no size.
            if self.run(f"document.querySelectorAll({json.dumps(_CONTROLS)})[{at}].getClientRects().length"):
                self.press(_CONTROLS, at)
        options = self.run("[...document.querySelectorAll('option')].map((one) => one.value)")
        for value in options:
            self.choose("select", value)
        return count + len(options)

    def point_everywhere(self, chart: str, steps: int = 5) -> None:
        """Move the mouse over a chart in a grid, and click at each point."""
        self.middle(chart)
        left, top, width, height = self.box(chart)
        for row in range(steps):
            for column in range(steps):
                self.click(left + (column + 0.5) * width / steps, top + (row + 0.5) * height / steps)

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Return left, top, width and height of an element in the window."""
        x, y, width, height = self.run(
            f"(({{ x, y, width, height }}) => [x, y, width, height])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        return x, y, width, height

    def at_value(self, chart: str, value: list[float], series: int = 0) -> tuple[float, float]:
        """Scroll to a chart and return the position in the window of a value of one of its series."""
        self.middle(chart)
        left, top, _, _ = self.box(chart)
        x, y = self.run(
            f"echarts.getInstanceByDom(document.querySelector({json.dumps(chart)}))"
            f".convertToPixel({{ seriesIndex: {series} }}, {json.dumps(value)})"
        )
        return left + x, top + y

    def point(self, at: tuple[float, float], chart: str, *told: str) -> None:
        """Move the mouse to a position and wait until the chart's tooltip has all these words."""
        self.mouse("mouseMoved", *at)
        for words in told:
            self.wait(f"document.querySelector({json.dumps(chart)}).innerText.includes({json.dumps(words)})")

    def drawn_text(self, chart: str, text: str, *, lowest: bool = False) -> tuple[float, float]:
        """Return the middle of the first or lowest words in a chart that contain these."""
        script = """((chart, text, lowest) => {
            const plain = (one) => one.textContent.replace(/[\\u2066-\\u2069]/g, "");
            const all = [...document.querySelectorAll(`${chart} svg text`)];
            const found = all.filter((one) => plain(one).includes(text));
            if (lowest) found.sort((one, other) => other.getBoundingClientRect().y - one.getBoundingClientRect().y);
            found[0].scrollIntoView({ block: "center", behavior: "instant" });
            const box = found[0].getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        })"""
        x, y = self.run(f"{script}({json.dumps(chart)}, {json.dumps(text)}, {json.dumps(lowest)})")
        return x, y

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag from one position in the window to another, in one step: charts handle a second one with a delay."""
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start)
        self.mouse("mouseMoved", *end, button="left", buttons=1)
        self.mouse("mouseReleased", *end)

    def texts(self, chart: str) -> list[str]:
        """Return the words that a chart shows, without isolating signs."""
        found = self.run(f"[...document.querySelectorAll('{chart} svg text')].map((one) => one.textContent)")
        return [re.sub("[\u2066-\u2069]", "", each) for each in found]

    def _read(self) -> dict[str, Any]:
        until = time.monotonic() + _PATIENCE
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._from], [], [], max(0.0, until - time.monotonic()))
            assert ready, f"no answer from the browser in {_PATIENCE:.0f} s"
            some = os.read(self._from, 1 << 20)
            assert some, "the browser ended"
            self._unread += some
        message, _, self._unread = self._unread.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        kind, told = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            thrown = told["exceptionDetails"]
            self.said.append(thrown.get("exception", {}).get("description") or thrown["text"])
        elif kind == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(one.get("value", one)) for one in told["args"]))
        elif kind == "Log.entryAdded":
            self.said.append(told["entry"]["text"])


class Browser:
    """A browser process that opens pages.

    Args:
        to_browser, from_browser: file descriptors of its pipes.
    """

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._ends = to_browser, from_browser

    @contextmanager
    def opened(self, page: Path, width: int = 1280, height: int = 900) -> Iterator[Tab]:
        """Open a page in a tab of its own; an uncaught error in it fails the test."""
        tab = Tab(*self._ends)
        target = tab.open(page, width, height)
        yield tab
        tab.close(target)
        assert tab.said == []


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser, or skip the test where none is installed."""
    program = chromium()
    # Pipes of fixed numbers need POSIX.
    if sys.platform == "win32":
        pytest.skip("the browser is driven through pipes, which this test opens on POSIX only")
    read, to_browser, from_browser, write = (_moved_up(end) for end in (*os.pipe(), *os.pipe()))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [program, *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        # The protocol reads from descriptor 3 and writes to 4.
        actions = [
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, read, 3),
            (os.POSIX_SPAWN_DUP2, write, 4),
        ]
        process = os.posix_spawn(program, command, os.environ, file_actions=actions)
        for end in (read, write):
            os.close(end)
        try:
            yield Browser(to_browser, from_browser)
        finally:
            # A browser whose pipe is closed ends.
            os.close(to_browser)
            os.waitpid(process, 0)
            os.close(from_browser)


def _moved_up(end: int) -> int:
    """Return a copy of a descriptor that is none of those of the protocol."""
    import fcntl  # POSIX only

    moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(end)
    return moved
