"""The app as people use it: views, sliders, address, reload, back, two tabs, errors, files, and for everybody."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from urllib.request import urlopen

import pytest

from podsim.report.answer_file import SUFFIXES
from podsim.studies.app import views

PATIENCE_S = 60.0
SLIDES = 50
AIM_MS = 300.0
OFTEN = 2  # of three changes, that many are within the aim: a busy machine may be late now and then
KEY_RIGHT, KEY_LEFT, KEY_END = "\ue014", "\ue012", "\ue010"


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if result := condition():
            return result
        time.sleep(0.02)
    raise AssertionError(f"not within {PATIENCE_S:g} s: {what}")


class Page:
    """One page of the app in a tab of the browser."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser, self.address = browser, address

    def open(self, path: str) -> None:
        self.browser.get(self.address + path)
        self.answered()

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def one(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        return str(self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector))

    @property
    def answers(self) -> int:
        return int(self.run("return Number(document.documentElement.dataset.answered || 0)"))

    @property
    def query(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for name, text in parse_qsl(urlsplit(self.browser.current_url).query):
            table.setdefault(name, []).append(text)
        return table

    def answered(self, before: int = 0) -> None:
        def over() -> bool:
            return self.answers > before and self.run("return document.getElementById('progress').hidden")

        until(over, f"an answer of {self.browser.current_url}")

    def slide(self, name: str, key: str) -> None:
        """Press a key on a slider, and wait for the answer."""
        before = self.answers
        slider = self.one(f'[data-name="{name}"] input[type=range]')
        slider.send_keys(key)
        self.answered(before)

    def type(self, name: str, text: str) -> None:
        """Write into a field, and wait for the answer."""
        before = self.answers
        box = self.one(f'[name="{name}"]')
        box.clear()
        box.send_keys(text)
        self.answered(before)

    def figures(self) -> list[str]:
        script = "return [...document.querySelectorAll('#answer .figure .number')].map(each => each.textContent)"
        return list(self.run(script))


@pytest.fixture
def page(browser: Any, address: str) -> Page:
    browser.get_log("browser")
    return Page(browser, address)


@pytest.mark.parametrize("view", views.VIEWS, ids=lambda view: view.name)
def test_each_view_answers(page: Page, view: views.View) -> None:
    page.open(f"/{view.name}")
    assert page.query == {
        name: [text for other, text in parse_qsl(view.example) if other == name] for name, _ in parse_qsl(view.example)
    }
    assert len(page.text("#answer")) > 300
    assert page.text("#command").startswith(f"podsim {view.verb} bert")
    assert page.text("#call").startswith(f"podsim.{view.verb}('bert'")
    assert page.text("#alert") == ""
    assert [entry["message"] for entry in page.browser.get_log("browser")] == []


@pytest.mark.parametrize("view", views.VIEWS, ids=lambda view: view.name)
def test_details_hold_the_whole_page(page: Page, view: views.View) -> None:
    page.open(f"/{view.name}?{view.example}")
    page.run("document.querySelector('#details > summary').click()")  # a timeline above it may still move it
    until(lambda: len(page.text("#details .loaded")) > 500, "details")
    assert [entry["message"] for entry in page.browser.get_log("browser")] == []


def test_a_slider_changes_answer_address_and_commands(page: Page) -> None:
    page.open("/predict?workload=bert&pod=64")
    first = page.figures()
    page.slide("pod", KEY_RIGHT)
    assert page.query["pod"] == ["128"]
    assert page.text("#command") == "podsim predict bert --pod 128"
    assert page.text("#call") == "podsim.predict('bert', pod=128)"
    assert page.figures() != first
    assert page.one("#f-pod").get_attribute("value") == "128"
    assert page.one('[data-name="pod"] input[type=range]').get_attribute("aria-valuetext") == "128"


def test_every_slider_of_links_and_chip_changes_the_question(page: Page) -> None:
    page.open("/what-if?workload=bert&pod=256")
    for path in views.SLIDER_TITLES:
        page.slide(f"changes:{path}", KEY_RIGHT)
        assert f"{path}=1.1x" in page.query["changes"]
        assert page.text("#alert") == ""
    assert len(page.query["changes"]) == len(views.SLIDER_TITLES)
    assert "With changes" in page.text("#answer .intervals")


@pytest.mark.parametrize("name", ["within", "budget", "max_power", "confidence"])
def test_sliders_of_demands_change_the_plan(page: Page, name: str) -> None:
    page.open("/plan?workload=bert&within=10+min&machines=pod64,bow-pod64,bow-pod128")
    page.slide(name, KEY_END)
    assert page.query[name] == [views.stops(name)[-1]]


def test_prices_have_sliders(page: Page) -> None:
    page.open("/compare?workload=bert&pod=64&to=bow-pod64")
    page.one("details.more > summary").click()
    page.one('details[data-heading="Prices"] > summary').click()
    page.slide("kwh_price", KEY_END)
    assert page.query["kwh_price"] == ["0.4"]
    assert "$0.40/kWh" in page.text("#answer") or "$0.4/kWh" in page.text("#answer")


@pytest.mark.parametrize("view", ["predict", "plan", "scale"])
def test_a_price_of_a_machine_changes_the_cost(page: Page, view: str) -> None:
    start = {"plan": "&machines=pod16,pod64&within=30+min", "scale": "&pods=16,64", "predict": "&pod=64"}[view]
    page.open(f"/{view}?workload=bert{start}")
    before = page.text("#answer")
    page.slide("machine_price", KEY_END)
    assert page.query["machine_price"] == ["100000.0"]
    assert "machine_price=100000.0" in page.text("#call")
    assert "--machine-price 100000.0" in page.text("#command")
    assert page.text("#alert") == ""
    assert page.text("#answer") != before


def test_two_scenarios_have_sliders_errors_and_commands_of_their_own(page: Page) -> None:
    page.open("/side-by-side?a.workload=bert&a.pod=64&b.workload=resnet50&b.pod=16")
    assert len(page.run("return document.querySelectorAll('#answer .sides > section')")) == 2
    page.slide("a.pod", KEY_RIGHT)
    assert page.query == {
        "a.workload": ["bert"],
        "a.pod": ["128"],
        "b.workload": ["resnet50"],
        "b.pod": ["16"],
    }
    assert "podsim diff a.json b.json" in page.text("#command")
    page.type("b.pod", "17")
    assert "not a power of two" in page.text("#f-b-pod-error")
    assert page.text("#f-a-pod-error") == ""
    page.type("b.pod", "32")
    assert page.text("#f-b-pod-error") == ""
    page.open("/predict?workload=bert&pod=32")
    page.one('nav a[data-view="side-by-side"]').click()
    page.answered()
    assert page.query["a.pod"] == ["32"]


def test_a_value_that_no_slider_has_can_be_typed(page: Page) -> None:
    page.open("/what-if?workload=bert&pod=64")
    page.type("changes:gw-link.bandwidth", "400 Gbit/s")
    assert page.query["changes"] == ["gw-link.bandwidth=400 Gbit/s"]
    assert "gw-link.bandwidth 400 Gbit/s (was " in page.text("#answer")


def test_reload_and_another_browser_give_the_same(page: Page) -> None:
    page.open("/what-if?workload=bert&pod=64&changes:chip.clock=1.5x&overlap=true&chip=")
    assert page.browser.current_url.endswith("/what-if?workload=bert&pod=64&changes=chip.clock%3D1.5x&overlap=true")
    shown = page.text("#answer")
    page.open(urlsplit(page.browser.current_url).path + "?" + urlsplit(page.browser.current_url).query)
    assert page.text("#answer") == shown
    assert page.one('[name="changes:chip.clock"]').get_attribute("value") == "1.5x"
    assert page.one('[name="overlap"]').is_selected()


def test_back_and_forward(page: Page) -> None:
    page.open("/predict?workload=bert&pod=64")
    first = page.figures()
    page.slide("pod", KEY_RIGHT)
    second = page.figures()
    before = page.answers
    page.browser.back()
    until(lambda: page.answers > before and page.figures() == first, "the answer before")
    assert page.query["pod"] == ["64"]
    assert page.one("#f-pod").get_attribute("value") == "64"
    page.browser.forward()
    until(lambda: page.figures() == second, "the answer after")
    assert page.one("#f-pod").get_attribute("value") == "128"


def test_an_error_stands_beside_its_field_and_the_answer_stays(page: Page) -> None:
    page.open("/predict?workload=bert&pod=64")
    shown = page.text("#answer")
    page.type("pod", "many")
    assert page.text("#f-pod-error") == '"many" is not a whole number'
    assert page.one("#f-pod").get_attribute("aria-invalid") == "true"
    assert page.text("#answer") == shown
    page.type("pod", "17")
    assert "not a power of two" in page.text("#f-pod-error")
    page.type("pod", "32")
    assert page.text("#f-pod-error") == ""
    assert page.one("#f-pod").get_attribute("aria-invalid") is None
    assert page.query["pod"] == ["32"]


def test_files_of_this_machine_are_refused(page: Page) -> None:
    page.open("/predict?workload=./config.json&pod=64")
    assert "the app opens none" in page.text("#f-workload-error")


def test_a_no_is_an_answer(page: Page) -> None:
    page.open("/predict?workload=bert&pod=16&replicas=16&ipus_per_replica=1")
    assert "The answer is no" in page.text("#answer")
    assert "fits in memory" in page.text("#answer")


def test_names_of_a_page_are_text(page: Page) -> None:
    page.open(
        "/predict?workload=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E&pod=64&changes=%3Cscript%3Ealert(2)%3C/script%3E=1"
    )
    assert not page.run("return document.querySelectorAll('#answer img, #answer script, form script').length")
    page.open("/what-if?workload=bert&pod=64&changes=%3Cb%3Ex%3C/b%3E%3D1")
    assert "<b>x</b>" in page.text("main")
    assert not page.run("return document.querySelectorAll('main b').length")


def test_two_tabs_do_not_know_each_other(page: Page) -> None:
    page.open("/predict?workload=bert&pod=64")
    first_tab, first = page.browser.current_window_handle, page.figures()
    page.browser.switch_to.new_window("tab")
    page.open("/predict?workload=resnet50&pod=16")
    second = page.figures()
    page.slide("pod", KEY_RIGHT)
    page.browser.switch_to.window(first_tab)
    assert page.figures() == first
    page.slide("pod", KEY_LEFT)
    assert page.query == {"workload": ["bert"], "pod": ["32"]}
    page.browser.switch_to.window(next(name for name in page.browser.window_handles if name != first_tab))
    assert page.query == {"workload": ["resnet50"], "pod": ["32"]}
    assert page.figures() != second
    page.browser.close()
    page.browser.switch_to.window(first_tab)


def test_a_new_question_ends_a_long_one(page: Page) -> None:
    page.browser.get(f"{page.address}/plan?workload=gpt2-xl&tokens=1e10&global_batch=512&seed=7")
    until(lambda: page.run("return !document.getElementById('progress').hidden"), "a progress bar")
    until(lambda: page.run("return document.getElementById('bar').value > 0"), "progress")
    assert "Computing, " in page.text("#progress-text")
    page.run(
        "const box = document.querySelector('[name=machines]'); box.value = 'pod16';"
        "box.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    page.answered()
    assert page.query["machines"] == ["pod16"]


@pytest.mark.parametrize("suffix", [suffix[1:] for suffix in SUFFIXES])
def test_answers_are_saved(page: Page, suffix: str) -> None:
    page.open("/scale?workload=resnet50&pods=16,64")
    page.one(f'.files a[download][href*="/scale.{suffix}?"]').click()
    path = page.browser.downloads / f"podsim-scale.{suffix}"
    until(lambda: path.exists() and path.stat().st_size > 500, f"{path} with an answer")


def test_json_of_the_page_is_that_of_its_link(page: Page) -> None:
    page.open("/predict?workload=bert&pod=64")
    link = page.one(".files a").get_attribute("href")
    with urlopen(link) as response:  # noqa: S310  (of the app)
        document = json.load(response)
    assert document["schema"] == "podsim.prediction/1"
    assert document["inputs"]["flags"] == {"pod": 64, "workload": "bert"}


def test_the_timeline_zooms_by_wheel_keys_and_buttons(page: Page) -> None:
    page.open("/trace?workload=bert&pod=16")

    def width() -> float:
        shown = page.run("const box = document.getElementById('spans').dataset; return [box.from, box.to]")
        return float(shown[1]) - float(shown[0]) if shown[1] else 0.0

    whole = until(width, "a timeline")
    page.one('[data-zoom="in"]').click()
    assert width() == pytest.approx(whole / 2)
    canvas = page.one("#spans")
    canvas.send_keys("+")
    assert width() == pytest.approx(whole / 4)
    start = page.run("return Number(document.getElementById('spans').dataset.from)")
    canvas.send_keys(KEY_RIGHT)
    assert page.run("return Number(document.getElementById('spans').dataset.from)") > start
    page.run(
        "const box = arguments[0].getBoundingClientRect();"
        "arguments[0].dispatchEvent(new WheelEvent('wheel',"
        " {deltaY: -100, clientX: box.left + 300, clientY: box.top + 40, bubbles: true, cancelable: true}))",
        canvas,
    )
    assert width() == pytest.approx(whole / 4 * 0.8)
    canvas.send_keys("0")
    assert width() == pytest.approx(whole)


def test_pages_of_other_sites_get_nothing(page: Page, address: str) -> None:
    page.browser.get("data:text/html,<title>elsewhere</title>")
    script = (
        "const done = arguments[1];"
        "fetch(arguments[0] + '/predict.json?workload=bert&pod=64', {mode: 'no-cors'})"
        ".then(response => done(response.type), error => done('refused'))"
    )
    assert page.browser.execute_async_script(script, address) in ("refused", "opaque")
    read = script.replace("{mode: 'no-cors'}", "{}")
    assert page.browser.execute_async_script(read, address) == "refused"


@pytest.mark.parametrize("view", ["predict", "what-if"])
def test_a_change_is_answered_soon(page: Page, view: str, capsys: pytest.CaptureFixture[str]) -> None:
    """From a key on a slider to the answer in the page, the pause included that joins changes."""
    page.open(f"/{view}?workload=bert&pod=64")
    name = "pod" if view == "predict" else "changes:gw-link.bandwidth"
    script = """
        const done = arguments[2], root = document.documentElement, slider = arguments[0];
        const before = root.dataset.answered, start = performance.now();
        const seen = new MutationObserver(() => {
          if (root.dataset.answered === before) return;
          seen.disconnect();
          requestAnimationFrame(() => done(performance.now() - start));
        });
        seen.observe(root, {attributes: true, attributeFilter: ["data-answered"]});
        slider.value = arguments[1];
        slider.dispatchEvent(new Event("input", {bubbles: true}));
    """
    page.browser.set_script_timeout(PATIENCE_S)
    stops = (1, 2, 3, 4, 5) if view == "predict" else (0, 1, 2, 3, 5, 6, 7, 8, 9, 10)
    slider = page.one(f'[data-name="{name}"] input[type=range]')
    times = [page.browser.execute_async_script(script, slider, stops[at % len(stops)]) for at in range(SLIDES)]
    within = sum(each <= AIM_MS for each in times)
    median = statistics.median(times)
    with capsys.disabled():
        sys.stdout.write(f"\n{view}: median of {SLIDES} changes {median:.0f} ms, {within} within {AIM_MS:.0f} ms\n")
    assert 3 * within >= OFTEN * SLIDES


SIZES = {"wide": (1280, 900), "narrow": (390, 844)}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("view", views.VIEWS, ids=lambda view: view.name)
def test_everybody_can_use_it(page: Page, view: views.View, size: str, scheme: str) -> None:
    """No serious finding of axe-core, and nothing wider than the screen."""
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: make browser installs it")
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    still = {"name": "prefers-reduced-motion", "value": "reduce"}  # colours as they stay
    scheme_is = {"features": [{"name": "prefers-color-scheme", "value": scheme}, still]}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme_is)
    try:
        page.open(f"/{view.name}?{view.example}")
        page.run("for (const group of document.querySelectorAll('form details')) group.open = true")
        assert page.run("return document.documentElement.scrollWidth") <= width
        page.browser.execute_cdp_cmd(
            "Runtime.evaluate", {"expression": files("axe_playwright_python").joinpath("axe.min.js").read_text()}
        )
        result = page.browser.execute_async_script("axe.run().then(arguments[0])")
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    serious = [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in result["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
    assert serious == []
    assert len(result["passes"]) > 10


def test_the_keyboard_reaches_everything_in_order(page: Page) -> None:
    from selenium.webdriver import ActionChains

    page.open("/predict?workload=bert&pod=64")
    names = []
    for _ in range(24):
        ActionChains(page.browser).send_keys("\ue004").perform()
        names.append(page.run("const it = document.activeElement; return it.name || it.dataset.for || it.textContent"))
        outline = page.run("return getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", names
    assert names[0].strip() == "Skip to the answer", names
    assert names.index("workload") < names.index("f-pod") < names.index("pod") < names.index("global_batch")
