"""`podsim infer`: JSON has the attributes, every suffix is written, widths and quiet hold."""

import json

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.report.digits import round_floats
from podsim.report.doc import Bars
from podsim.studies.infer import report as inference

QUESTION = ["infer", "resnet50", "--pod", "4", "--batch", "4", "--engine", "analytic"]
STARTS = {".html": b"<!doctype", ".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF", ".csv": b"batch,"}


@pytest.fixture(scope="module")
def found():
    return podsim.infer("resnet50", pod=4, batch=4, batches="1..4", engine="analytic", requests=500)


@pytest.fixture
def known(found, monkeypatch):
    """The answer without asking again."""
    monkeypatch.setattr(podsim, "infer", lambda *_, **__: found)


@pytest.mark.usefixtures("known")
def test_json_has_the_attributes(found, capsys):
    assert main([*QUESTION, "--json"]) == 0
    details = json.loads(capsys.readouterr().out)
    assert details["schema"] == "podsim.inference/1"
    assert details["capacity_requests_per_s"]["value"] == round_floats(found.capacity_per_s.value)
    assert details["delays"]["p99_s"] == round_floats(found.delays.p99_s)
    assert details["service"]["parts_s"]["compute"] == round_floats(next(iter(found.service.parts_s.values())))
    assert [row["batch"] for row in details["batches"]] == [1, 2, 4]
    assert details["load"]["clients"] is None


def test_flags_are_the_keywords_of_the_function(capsys):
    line = ["infer", "resnet50", "--pod", "4", "--batch", "4", "--engine", "analytic", "--clients", "3", "--json"]
    assert main([*line, "--requests", "500", "--wait", "1 ms", "--seed", "3"]) == 0
    details = json.loads(capsys.readouterr().out)
    same = podsim.infer("resnet50", pod=4, batch=4, engine="analytic", clients=3, requests=500, wait=1e-3, seed=3)
    assert details["delays"]["mean_s"] == round_floats(same.delays.mean_s)
    assert details["load"]["wait_s"] == 1e-3


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("suffix", STARTS)
def test_each_suffix(suffix, tmp_path, capsys):
    path = tmp_path / f"infer{suffix}"
    assert main([*QUESTION, "-q", "-o", str(path)]) == 0
    assert path.read_bytes().startswith(STARTS[suffix])
    assert capsys.readouterr().out.count("\n") == 1


def test_a_notebook_draws_it(found):
    assert "requests/s" in found._repr_html_()


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("width", ["60", "100", "160"])
def test_no_line_is_wider_than_the_screen(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", width)
    assert main([*QUESTION, "-v"]) == 0
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= int(width)


@pytest.mark.usefixtures("known")
def test_bars_add_up_to_a_batch_alone(found):
    """What lies beside the parts of a batch, starts of transfers and results on their way, is a bar too."""
    bars = next(
        block for group in inference.document(found, verbose=True).groups for block in group if isinstance(block, Bars)
    )
    assert sum(row.share for row in bars.rows) == pytest.approx(1)
    assert bars.rows[-1].label == "Other"


def test_requests_and_tokens_cost_the_hours_they_take(found):
    cost = found.cost
    assert cost is not None
    hours = 1e6 / found.delays.requests_per_s / 3600
    assert cost.request.value == pytest.approx(cost.hour_usd.value * hours)
    assert cost.request_full.value == pytest.approx(cost.hour_usd.value * 1e6 / 3600 / found.capacity_per_s.value)
    assert cost.request.value > cost.request_full.value
    assert (cost.token, cost.rented) == (None, None)


def test_the_cost_of_serving_is_on_the_screen_in_json_and_in_the_currency(capsys):
    flags = ["--requests", "500", "--rent-per-ipu-hour", "1", "--currency", "EUR=0.5"]
    assert main([*QUESTION, *flags]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "per M requests at this load, 80 % use; 2020–2021 prices; EUR" in shown
    assert "on a rented machine" in shown
    assert "$" not in shown
    assert main([*QUESTION, *flags, "--json"]) == 0
    cost = json.loads(capsys.readouterr().out)["cost"]
    assert cost["currency"] == {"code": "EUR", "per_usd": 0.5}
    assert cost["rented"] > cost["request"]["value"]  # 2 US dollars an hour of each IPU


def test_a_machine_without_a_price_has_no_cost(capsys):
    assert main(["infer", "resnet50", "--topology", "c600", "--engine", "analytic", "--requests", "500"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "price or power of this machine not known" in shown
