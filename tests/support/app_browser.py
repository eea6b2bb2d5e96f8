"""The app's pages in a real Chromium, driven by Playwright, with axe-core to judge them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.support.app_server import RunningApp
from tests.support.browser import FLAGS, chromium

AXE = Path(__file__).parents[1] / "faces/web/axe/axe.min.js"
Scheme = Literal["light", "dark"]
# How long to wait for what a page should show, in ms: a busy machine takes many times as long as a free one.
PATIENCE_MS = 15_000


@dataclass
class AppBrowser:
    """A browser; each page that it opens has a profile of its own.

    Attributes:
        browser: Playwright's browser.
        problems: what the pages' consoles said: errors of scripts and refusals of the content security policy.
    """

    browser: Browser
    problems: list[str] = field(default_factory=list)

    def page(self, app: RunningApp, path: str = "/", *, width: int = 1280, scheme: Scheme = "light") -> Page:
        """Open a page of the app as a person who comes from the start address."""
        context = self.browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda said: self.problems.append(said.text) if said.type == "error" else None)
        page.goto(app.entrance)
        if path != "/":
            page.goto(app.url + path)
        return page


@contextmanager
def launched() -> Iterator[Browser]:
    """Start the installed Chromium, or skip the test."""
    program = chromium()
    flags = [flag for flag in FLAGS if flag != "--headless" and not flag.startswith("--host-resolver")]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=flags)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_browser() -> Iterator[AppBrowser]:
    """Start the installed Chromium for pages of the app, or skip the test."""
    expect.set_options(timeout=PATIENCE_MS)
    with launched() as browser:
        yield AppBrowser(browser)


def findings(page: Page) -> list[str]:
    """Return what axe-core finds on the page as it is, by WCAG 2.2 AA and good practice; [] if all is well."""
    if not page.evaluate("typeof axe === 'object'"):
        # By the debugger: the page's own policy allows no inline script.
        page.evaluate(AXE.read_text(encoding="utf-8"))
    result: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{found['id']}: {found['help']}: {node['html'][:150]}: {' '.join(node['failureSummary'].split())[:300]}"
        for found in result["violations"]
        for node in found["nodes"][:3]
    ]


def require_sound(page: Page, browser: AppBrowser) -> None:
    """Fail if axe finds something, the console has an error, or the page scrolls sideways."""
    said, browser.problems[:] = [*browser.problems], []
    if problems := [*findings(page), *said]:
        pytest.fail("\n".join(problems))
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if wide > 0:
        pytest.fail(f"The page is {wide} pixels wider than the window.")
