"""A page of a file in headless Chromium without a network, driven by mouse and script through Playwright."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser as Chromium
from playwright.sync_api import Page

from tests.support.app_browser import PATIENCE_MS, launched

_CONTROLS = "a[href^='#'], button:not(th button, .table-tools button), summary"
Position = tuple[float, float]


class Tab:
    """An open page; `said` are uncaught errors, console messages and blocked requests so far."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("console", lambda told: self.said.append(told.text))

    def run(self, script: str) -> Any:
        """Return the JSON value of an expression."""
        return self.page.evaluate(script)

    def wait(self, condition: str) -> None:
        """Wait until an expression is true; the reports' policy forbids Playwright's own way."""
        until = time.monotonic() + PATIENCE_MS / 1000
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < until, f"never true: {condition}"
            self.page.wait_for_timeout(20)

    def type(self, selector: str, text: str) -> None:
        """Click into a field and type a text."""
        self.press(selector)
        self.page.keyboard.insert_text(text)

    def press(self, selector: str, at: int = 0) -> None:
        """Click in the middle of the element, the `at`-th that matches, with the mouse."""
        self.click(*self.middle(selector, at))

    def middle(self, selector: str, at: int = 0) -> Position:
        """Scroll to an element and return the position of its middle in the window."""
        x, y = self.run(
            f"(() => {{ const one = document.querySelectorAll({json.dumps(selector)})[{at}]; "
            "one.scrollIntoView({ block: 'center', behavior: 'instant' }); const box = one.getBoundingClientRect(); "
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        return x, y

    def click(self, x: float, y: float) -> None:
        """Move the mouse to a position in the window and click."""
        self.page.mouse.click(x, y)

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def colours(self, scheme: Literal["light", "dark"]) -> None:
        self.page.emulate_media(color_scheme=scheme)

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

    def at_value(self, chart: str, value: list[float], series: int = 0) -> Position:
        """Scroll to a chart and return the position in the window of a value of one of its series."""
        self.middle(chart)
        left, top, _, _ = self.box(chart)
        x, y = self.run(
            f"echarts.getInstanceByDom(document.querySelector({json.dumps(chart)}))"
            f".convertToPixel({{ seriesIndex: {series} }}, {json.dumps(value)})"
        )
        return left + x, top + y

    def point(self, at: Position, chart: str, *told: str) -> None:
        """Move the mouse to a position and wait until the chart's tooltip has all these words."""
        self.page.mouse.move(*at)
        for words in told:
            self.wait(f"document.querySelector({json.dumps(chart)}).innerText.includes({json.dumps(words)})")

    def drawn_text(self, chart: str, text: str, *, lowest: bool = False) -> Position:
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

    def drag(self, start: Position, end: Position) -> None:
        """Drag from one position in the window to another, in one step: charts handle a second one with a delay."""
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end)
        self.page.mouse.up()

    def texts(self, chart: str) -> list[str]:
        """Return the words that a chart shows, without isolating signs."""
        found = self.run(f"[...document.querySelectorAll('{chart} svg text')].map((one) => one.textContent)")
        return [re.sub("[\u2066-\u2069]", "", each) for each in found]


class Browser:
    """A browser that opens files."""

    def __init__(self, chromium: Chromium) -> None:
        self._chromium = chromium

    @contextmanager
    def opened(self, page: Path, width: int = 1280, height: int = 900) -> Iterator[Tab]:
        """Open a page in a tab of its own; an uncaught error in it fails the test."""
        context = self._chromium.new_context(viewport={"width": width, "height": height}, offline=True)
        context.set_default_timeout(PATIENCE_MS)
        tab = Tab(context.new_page())
        tab.page.goto(page.resolve().as_uri())
        yield tab
        context.close()
        assert tab.said == []


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser, or skip the test where none is installed."""
    with launched() as chromium:
        yield Browser(chromium)
