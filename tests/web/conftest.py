"""A server of its own on a free port, and a page in Debian's Chromium."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = os.environ.get("MANSARD_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the page is."""
    pytest.importorskip("fastapi", reason="the extra web is not installed")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
    command = [sys.executable, "-m", "mansard", "serve", "--port", "0", "--no-open"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    assert server.stderr is not None
    found = re.search(r"http://\S+", server.stderr.readline())
    assert found
    yield found[0]
    server.terminate()
    server.wait(timeout=10)
    server.stderr.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The page with its first answer; any message on the console fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    requested: list[str] = []
    opened.on("request", lambda request: requested.append(request.url))
    opened.goto(address)
    answered(opened)
    yield opened
    context.close()
    expected = ("Failed to load resource: the server responded with a status of 422",)
    assert [text for text in said if not text.startswith(expected)] == []
    assert [url for url in requested if not url.startswith((address, "blob:", "data:"))] == []


def answered(page: Any) -> None:
    """Waits for the answer to be drawn."""
    page.wait_for_selector("#chart-view svg", timeout=20_000)
    page.wait_for_function("!document.getElementById('answer').classList.contains('quiet')")
