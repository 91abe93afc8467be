"""Pages of the app, who gets them, and answers that are those of the command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from starlette.testclient import TestClient

import podsim
from podsim.cli.command_line import main
from podsim.report.answer_file import SUFFIXES
from podsim.studies import load
from podsim.studies.app import answers, guard, html, views
from podsim.studies.app.headline import AnswerFigures, IntervalRow, KeyFigure
from podsim.studies.app.query import read
from podsim.studies.app.server import application

PORT = 8123
OWN = f"http://127.0.0.1:{PORT}"


@pytest.fixture(scope="module")
def client() -> TestClient:
    """Pages alone: the processes that answer are not started."""
    return TestClient(application(PORT), base_url=OWN, follow_redirects=False)


def test_every_view_has_a_page(client: TestClient) -> None:
    assert client.get("/").headers["location"] == "/predict?workload=bert&pod=64"
    for view in views.VIEWS:
        page = client.get(f"/{view.name}?{view.example}")
        assert page.status_code == 200
        assert view.asks in page.text
        assert "default-src 'none'; script-src 'self'" in page.headers["content-security-policy"]
        assert {name: page.headers[name] for name in guard.HEADERS} == guard.HEADERS


@pytest.mark.parametrize("path", ["/nothing?x=1", "/predict/file/plan.html", "/static/../server.py", "/static/x.js"])
def test_what_there_is_not_is_not_found(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": f"localhost:{PORT}"}, 200),
        ({"host": "podsim.example:8123"}, 421),
        ({"host": "127.0.0.1"}, 421),
        ({"host": f"127.0.0.1:{PORT}.example"}, 421),
        ({"origin": OWN}, 200),
        ({"origin": "http://elsewhere.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}, 403),
    ],
)
def test_other_names_and_other_sites_are_refused(client: TestClient, headers: dict[str, str], status: int) -> None:
    for path in ("/predict?workload=bert&pod=64", "/static/app.js"):
        assert client.get(path, headers=headers).status_code == status


def test_nothing_is_written(client: TestClient) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert client.request(method, "/predict").status_code == 405


def test_a_link_of_another_site_can_be_followed_on_purpose(client: TestClient) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    page = client.get('/predict?workload="><script>alert(1)</script>', headers=headers)
    assert page.status_code == 403
    assert "<script>" not in page.text
    assert 'href="/predict?workload=' in page.text


def test_an_error_stands_in_its_field(client: TestClient) -> None:
    page = client.get("/predict?workload=bert&pod=many&interval=2")
    assert page.status_code == 200
    assert 'id="f-pod-error">&#34;many&#34; is not a whole number</p>' in page.text
    assert 'value="many"' in page.text
    assert '<details class="group" data-heading="Run" open>' in page.text


def test_hostile_names_are_text(client: TestClient) -> None:
    name = "<script>alert(1)</script>\u202e\x1b[31m"
    page = client.get("/predict", params={"workload": name, "changes": f"a={name}", name: "1"})
    assert "<script>alert" not in page.text
    assert "\u202e" not in page.text
    assert "\x1b" not in page.text
    assert "&lt;script&gt;" in page.text
    figure = KeyFigure(name, name, name, name, name)
    text = html.answer(AnswerFigures((figure,), name, (IntervalRow(name, 0.1, 0.2, 0.3, name),), 0.2, name), "")
    assert "<script>" not in text


def test_a_file_that_a_page_names_is_not_opened(client: TestClient) -> None:
    response = client.get("/predict.json?workload=./x.json")
    assert response.status_code == 422
    error = response.json()
    assert (error["schema"], error["code"]) == ("podsim.error/1", "bad-value")
    assert "the app opens none" in error["message"]


CASES = [
    ("predict", "workload=resnet50&pod=16&interval=0.8"),
    ("predict", "workload=resnet50&pod=16&chip=bow&kwh_price=0.2&machine_price=25000"),
    *[
        pytest.param(name, query, marks=pytest.mark.slow)
        for name, query in [
            ("what-if", "workload=resnet50&pod=16&changes=chip.clock%3D1.5x"),
            ("plan", "workload=bert&within=30+min&machines=pod16,pod64"),
            ("scale", "workload=resnet50&pods=16,64&kwh_price=0.2"),
            ("compare", "workload=resnet50&pod=16&to=bow-pod16&changes=chip.clock%3D1.5x"),
            ("explain", "workload=resnet50&pod=16"),
            ("trace", "workload=resnet50&pod=16"),
            ("what-if", "workload=resnet50&pod=16&changes=chip.clock%3D1.5x&machine_price=25000"),
        ]
    ],
]


@pytest.mark.parametrize(("name", "text"), CASES)
def test_app_command_line_and_library_give_the_same_json(
    name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    view = views.BY_NAME[name]
    query = read(view.verb, parse_qsl(text))
    from_app = answers.run("json", name, query.text, lambda _done, _total: None)["text"]
    assert main([*query.command[1:], "--json"]) in (0, 1)
    assert capsys.readouterr().out == from_app
    assert query.money or load(view.verb)(**query.values).to_dict() == json.loads(from_app)
    assert eval(query.call, {"podsim": podsim}).to_dict() == json.loads(from_app)  # noqa: S307  (the text of the page)


def test_two_scenarios_give_the_json_of_the_command_line_and_the_library(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    view = views.BY_NAME["side-by-side"]
    text = "a.workload=resnet50&a.pod=16&b.workload=bert&b.pod=16&b.chip=bow&b.changes=chip.clock%3D1.1x"
    query = views.question(view, parse_qsl(text))
    from_app = answers.run("json", view.name, query.text, lambda _done, _total: None)["text"]
    *saves, difference = query.line.split(" && ")
    for line in (*saves, f"{difference} --json"):
        capsys.readouterr()
        assert main(shlex.split(line)[1:]) == 0
    assert capsys.readouterr().out == from_app
    *saved, compared = query.call.split("; ")
    for call in saved:
        eval(call, {"podsim": podsim})  # noqa: S307  (the text of the page)
    assert eval(compared, {"podsim": podsim}).to_dict() == json.loads(from_app)  # noqa: S307
    page = answers.run("details", view.name, query.text, lambda _done, _total: None)["html"]
    assert "Effect of each input on time to train" in page
    assert str(tmp_path) not in page


def test_two_scenarios_are_shown_next_to_each_other() -> None:
    view = views.BY_NAME["side-by-side"]
    text = "a.workload=bert&a.pod=16&b.workload=bert&b.topology=dgx-a100"
    shown = answers.run("answer", view.name, text, lambda _done, _total: None)["html"]
    assert shown.count('<section aria-label="Scenario') == 2
    assert "B: BERT-Large, MLPerf on DGX A100" in shown
    assert "--topology dgx-a100" in shown
    phases = text.replace("b.workload=bert&", "b.workload=bert-large-full&").replace("dgx-a100", "pod16")
    shown = answers.run("answer", view.name, phases, lambda _done, _total: None)["html"]
    assert "two answers of the same command" in shown
    with pytest.raises(podsim.InputError, match=r"^Scenario B: ") as error:
        answers.run("answer", view.name, text.replace("dgx-a100", "pod63"), lambda _done, _total: None)
    assert error.value.code == "bad-pod"


def test_the_command_line_can_be_pasted(client: TestClient) -> None:
    query = read("predict", [("workload", "bert"), ("changes", 'gw-link.bandwidth=400 Gbit/s; rm "x"')])
    assert shlex.split(shlex.join(query.command)) == query.command
    assert query.command[-1] == 'gw-link.bandwidth=400 Gbit/s; rm "x"'


@pytest.fixture(scope="module")
def answering() -> Iterator[TestClient]:
    """The app with its processes."""
    with TestClient(application(PORT), base_url=OWN) as client:
        yield client


@pytest.mark.slow
def test_answers_come_as_lines_with_progress(answering: TestClient) -> None:
    with answering.stream("GET", "/plan/answer?workload=bert&within=6+min&seed=3") as response:
        events = [json.loads(line) for line in response.iter_lines()]
    head, *progress, last = events
    assert head["query"] == "workload=bert&within=6+min&seed=3"
    assert "podsim plan bert" in head["question"]
    assert progress
    assert all(done <= total for done, total in (event["progress"] for event in progress))
    assert "Recommended" in last["done"]["html"]


@pytest.mark.slow
def test_the_answer_may_be_no(answering: TestClient) -> None:
    with answering.stream("GET", "/predict/answer?workload=bert&pod=16&replicas=16&ipus_per_replica=1") as response:
        event = [json.loads(line) for line in response.iter_lines()][-1]
    assert event["error"]["code"] == "does-not-fit"
    assert "The answer is no" in event["html"]


STARTS = {
    ".html": b"<!doctype html>",
    ".svg": b"<?xml",
    ".png": b"\x89PNG",
    ".pdf": b"%PDF",
    ".docx": b"PK",
    ".pptx": b"PK",
    ".csv": b"",
    ".json": b"{",
}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_are_those_of_the_command_line(
    answering: TestClient, suffix: str, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    response = answering.get(f"/scale/file/scale{suffix}?workload=resnet50&pods=16,64")
    assert response.headers["content-disposition"] == f'attachment; filename="podsim-scale{suffix}"'
    assert response.content.startswith(STARTS[suffix])
    assert main(["scale", "resnet50", "--pods", "16,64", "-o", f"scale{suffix}"]) == 0
    assert (tmp_path / f"scale{suffix}").read_bytes() == response.content
