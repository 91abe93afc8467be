"""A real browser, and podsim app as people start it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of this folder drives a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of an app that runs."""
    command = [sys.executable, "-m", "podsim", "app", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("podsim app: http://127.0.0.1:"), line
        yield line.split()[2].rstrip("/")
        process.terminate()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window, driven by Selenium; skipped where either is missing."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="Selenium is not installed: make browser installs it")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if found is None or driver is None:
        pytest.skip("no Chromium with chromedriver here: apt-get install chromium chromium-driver")
    with tempfile.TemporaryDirectory() as folder:
        options = webdriver.ChromeOptions()
        options.binary_location = found
        for flag in (*FLAGS, f"--user-data-dir={folder}/profile"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        chrome.downloads = Path(folder)
        chrome.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder})
        yield chrome
        chrome.quit()
