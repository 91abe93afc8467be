"""What nobody measured is on every page of an answer: screens, HTML and JSON of every verb."""

import json
import shlex
from pathlib import Path

import pytest
from slow_cases import slow_but

from podsim.cli.command_line import main
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.report.views import caveats_view

CONVOLUTION = "onvolution times rely on GC2 (Mk1) benchmarks; none is published for GC200 or Bow"  # or Convolution
QUESTIONS = (
    "predict efficientnet-b0-g16 --pod 4",
    "infer efficientnet-b0-g16 --pod 4 --requests 200",
    "plan efficientnet-b0-g16 --machines pod4,pod8",
    "scale efficientnet-b0-g16 --pods 4..8",
    "compare efficientnet-b0-g16 pod4 pod8",
    "explain efficientnet-b0-g16 --pod 4",
    "workload map efficientnet-b0-g16 --pod 4",
    "goodput efficientnet-b0-g16 --pod 4 --runs 20",
)
ENGINE = ("predict", "infer", "scale", "compare", "explain")


OWN_CHIP = """
schema = "podsim.chip/1"
name = "my-ipu"
title = "My IPU"
kind = "assumed"
note = "what if an IPU had 2,048 tiles at 1.5 GHz?"
tiles = 2048
worker_threads = 6
clock = "1.5 GHz"
ipu_links = 10
amp = { flop_per_cycle = { "16.16" = 128, "16.32" = 64, "32" = 32 } }
sram = { per_tile = "624 KiB", load = "16 B/cycle", store = "8 B/cycle" }
sync = { on_chip = "150 cycles", global = "600 cycles" }
[exchange]
send = "4 B/cycle"
receive = "4 B/cycle"
shared_receive = "8 B/cycle"
efficiency = 0.987
start = "100 cycles"
"""


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ("", "Price and power are of a machine with a published chip; none is known with my-ipu"),
        ("--machine-price 40k", "Power is of a machine with a published chip; none is known with my-ipu"),
        ("--machine-price 40k --set economics.machine_power=1.2kW", ""),
    ],
)
def test_price_and_power_of_a_chip_of_ones_own_are_said_to_be_of_another(flags, text, tmp_path, capsys):
    (tmp_path / "my-ipu.toml").write_text(OWN_CHIP, encoding="utf-8")
    question = f"predict bert --pod 16 --engine analytic --chip {tmp_path / 'my-ipu.toml'} {flags}"
    assert main(shlex.split(question)) == 0
    screen = " ".join(capsys.readouterr().out.split())
    assert (text in screen) if text else ("with a published chip" not in screen)


def pages(question: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Screen, verbose screen, HTML and JSON of a question, as one line each."""
    words = shlex.split(question) + (["--engine", "analytic"] if question.split(maxsplit=1)[0] in ENGINE else [])
    pages = {}
    for name, more in (("screen", []), ("verbose", ["-v"]), ("json", ["--json"])):
        assert main([*words, *more]) == 0
        pages[name] = " ".join(capsys.readouterr().out.split())
    if words[0] != "goodput":
        assert main([*words, "-q", "-o", str(folder / "page.html")]) == 0
        pages["html"] = " ".join((folder / "page.html").read_text(encoding="utf-8").split())
    return pages


@pytest.mark.parametrize("question", slow_but(["predict efficientnet-b0-g16 --pod 4"], QUESTIONS))
def test_convolution_on_mk2_is_said_to_be_unmeasured(
    question: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pages(question, tmp_path, capsys)
    assert {name: text.count(CONVOLUTION) >= 1 for name, text in table.items()} == dict.fromkeys(table, True)
    assert table["screen"].count(CONVOLUTION) == table["verbose"].count(CONVOLUTION) / (
        2 if "compare" in question else 1
    )


@pytest.mark.parametrize(
    "verb", slow_but(["predict", "infer"], ["predict", "infer", "scale", "explain", "workload map"])
)
def test_what_is_not_followed_of_an_own_model_is_said(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {
        "model_type": "bert",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 128,
        "vocab_size": 1000,
        "max_position_embeddings": 64,
        "quantization_config": {"bits": 4},
    }
    path = tmp_path / "own.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    machine = "--pods 4..8" if verb == "scale" else "--pod 4"
    length = "" if verb == "infer" else "--samples 1e9"
    assert main(shlex.split(f"{verb} {shlex.quote(str(path))} {machine} {length}")) == 0
    assert "quantization_config is not followed" in " ".join(capsys.readouterr().out.split())


def test_gc2_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split("infer resnet50 --pod 4 --chip gc2 --requests 200 --engine analytic --batch 1")) in (
        0,
        1,
    )
    assert CONVOLUTION not in capsys.readouterr().out


def test_a_caveat_of_some_answers_names_them() -> None:
    line = AnswerNote.of(NoteCode.FILE_TEXT, caveat=True, text="never measured")
    plain = AnswerNote.of(NoteCode.FILE_TEXT, text="as assumed")
    notes = caveats_view.of_several({"pod4": (line, plain), "pod8": (plain,)})
    assert [note.text for note in notes] == ["pod4: never measured"]
    assert [note.text for note in caveats_view.of_several({"pod4": (line,), "pod8": (line,)})] == ["never measured"]
    assert not list(caveats_view.notes((line, plain), verbose=True))
    assert [(note.label, note.text) for note in caveats_view.notes((line, plain))] == [("Caveat", "never measured")]
