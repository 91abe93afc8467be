"""Pages to hand over, as a browser shows and prints them."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest

import podsim
from podsim.report.page import MOST_RUNNING

CUSTOMER = "Example Weather Service, Computing Division, Department of High-Performance Machine Learning Research"
WIDTHS = (1280, 390)
LONGEST_PRINT = 4
"""Pages of A4."""


@pytest.fixture(scope="module")
def plan_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a plan with all that one can have: competitors, limits, a long customer."""
    path = tmp_path_factory.mktemp("pages") / "plan.html"
    answer = podsim.plan("bert", within="5 min", budget=5e6, against=["dgx-a100", "dgx-h100"])
    answer.save(path, title="A machine for BERT", customer=CUSTOMER, date="2026-11-25", author="A. Person")
    return path


def test_a_plan_is_printed_on_four_pages_with_a_running_head_of_one_line(browser: Any, plan_page: Path) -> None:
    browser.get(plan_page.as_uri())
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
    pages = re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed["data"]))
    assert 2 <= len(pages) <= LONGEST_PRINT
    heads = re.findall(r'@top-\w+ \{ content: "([^"]*)"', plan_page.read_text())
    letters = [re.sub(r"\\[0-9a-f]+ ", "x", head) for head in heads]
    assert len(letters) == 2
    assert all(len(head) <= MOST_RUNNING for head in letters)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_of_a_plan_is_cut(browser: Any, plan_page: Path, width: int) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        browser.get(plan_page.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        cut = browser.execute_script(
            "return [...document.querySelectorAll('.wide')].filter(each => each.scrollWidth > each.clientWidth + 1)"
            ".map(each => each.textContent.slice(0, 40))"
        )
        texts = browser.execute_script(
            "return [...document.querySelectorAll('figure svg')].filter(each => each.getClientRects().length)"
            ".flatMap(picture => { const box = picture.getBoundingClientRect();"
            " return [...picture.querySelectorAll('text')].filter(text => { const it = text.getBoundingClientRect();"
            " return it.left < box.left - 2 || it.right > box.right + 2 }).map(text => text.textContent) })"
        )
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert cut == []
    assert texts == []
