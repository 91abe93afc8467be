"""What stands first and last on a screen: no empty line in a pipe, no flag in two pieces or of another verb."""

import io
import json
import os
import sys

import pytest

import podsim
from podsim.cli import help as first_page
from podsim.cli.command_line import main

CONFIG = {
    "model_type": "bert",
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
    "vocab_size": 30522,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}


class Stream(io.StringIO):
    encoding = "utf-8"

    def __init__(self, descriptor):
        super().__init__()
        self._descriptor = descriptor

    def fileno(self):
        return self._descriptor


def test_a_pipe_begins_with_the_title_and_a_terminal_with_an_empty_line(monkeypatch):
    words = ["predict", "bert", "--pod", "16", "--engine", "analytic"]
    first = {}
    for what, (end, other) in {"pipe": os.pipe(), "terminal": os.openpty()}.items():
        shown = Stream(other)
        monkeypatch.setattr(sys, "stdout", shown)
        assert main(words) == 0
        first[what] = shown.getvalue().splitlines()[0]
        os.close(end)
        os.close(other)
    assert first["pipe"].startswith("  BERT-Large, MLPerf on IPU-POD16")
    assert first["terminal"] == ""


@pytest.mark.parametrize("width", [60, 80, 90, 100, 120])
def test_the_first_page_breaks_no_flag(width):
    text = first_page.page(width, full=True)
    for flag in ("--help", "--version", "--install-completion"):
        assert flag in text
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("verb", ["predict", "scale", "compare"])
def test_help_of_a_command_names_no_flag_of_another(verb, capsys):
    assert main([verb, "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "--fidelity" in text
    assert "--level" not in text


def test_a_config_without_a_name_is_called_by_its_kind_or_the_folder_that_was_named(tmp_path, monkeypatch):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    monkeypatch.chdir(folder)
    asked = {"pod": 4, "samples": 1e6, "global_batch": 512, "engine": "analytic"}
    assert podsim.predict("./config.json", **asked).workload == "bert-config"
    monkeypatch.chdir(tmp_path)
    assert podsim.predict("work/config.json", **asked).workload == "work"


def test_a_model_that_does_not_fit_is_called_by_its_title(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(podsim.Infeasible) as no:
        podsim.predict("config.json", pod=4, ipus_per_replica=1, samples=1e6, global_batch=512)
    assert no.value.context[0].startswith("bert-config (bert) needs ")


HALF = """schema = "podsim.topology/1"
extends = "pod256"
name = "my-half"
[[level]]
name = "pod"
holds = 2
"""


@pytest.mark.parametrize("asked", ["scale bert --topologies my.toml", "plan bert --machines my.toml"])
def test_the_next_command_names_a_machine_file_as_it_was_typed(asked, tmp_path, monkeypatch, capsys):
    """It named the machine by the name in the file, which podsim does not know."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.toml").write_text(HALF, encoding="utf-8")
    assert main([*asked.split(), "--engine", "analytic"] if asked.startswith("scale") else asked.split()) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "podsim explain bert" in line)
    command = line.partition("podsim ")[2].partition(" (where")[0]
    assert "--topology my.toml" in command
    assert main([*command.split(), "-q"]) == 0
