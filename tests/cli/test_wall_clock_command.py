"""How long until my fine-tuned model is there: one command, from a config.json and the size of a data set."""

import json

import pytest

from podsim.cli.command_line import main

CONFIG = {
    "model_type": "bert",
    "architectures": ["BertForQuestionAnswering"],
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "vocab_size": 30522,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    return str(path)


def run(capsys, *words):
    code = main(words)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_one_command_says_when_the_model_is_there(capsys, config):
    line = ("predict", config, "--pod", "16", "--samples", "88k", "--epochs", "3", "--global-batch", "256")
    code, out, err = run(capsys, *line)
    assert (code, err) == (0, "")
    assert "264,000 samples" in out
    assert "Wall clock" in out
    assert "compile" in out
    assert len(out.splitlines()) <= 24
    verbose = run(capsys, *line, "-v")[1]
    for part in ("Compile ", "Weights to IPUs", "Time to train", "Last checkpoint", "open the data set"):
        assert part in verbose


def test_a_cached_executable_is_on_time_sooner(capsys, config):
    line = ("predict", config, "--pod", "16", "--samples", "88k", "--epochs", "3", "--json")
    fresh, cached = (json.loads(run(capsys, *line, *more)[1]) for more in ((), ("--compile", "cached")))
    assert cached["wall_clock"]["total_s"]["value"] < fresh["wall_clock"]["total_s"]["value"]
    assert cached["time_to_train_s"] == fresh["time_to_train_s"]


def test_few_updates_ask_for_the_batch_of_a_recipe(capsys, config):
    line = ("predict", config, "--pod", "16", "--samples", "88k", "--epochs", "3")
    caveat = "set that of your recipe with --global-batch"
    assert caveat in " ".join(run(capsys, *line)[1].split())
    assert caveat not in " ".join(run(capsys, *line, "--global-batch", "256")[1].split())


def test_epochs_without_a_data_set_are_an_error(capsys, config):
    code, out, err = run(capsys, "predict", config, "--pod", "16", "--epochs", "3")
    assert (code, out) == (2, "")
    assert "size of the data set" in err
    assert "--samples 88k --epochs 3" in err


def test_compile_times_are_fitted_and_not_written(capsys):
    code, out, err = run(capsys, "calibrate", "--compile-times", "--dry-run")
    assert (code, err) == (0, "")
    assert "Errors of compile times" in out
    assert "written to" not in out
    code, _, err = run(capsys, "calibrate", "--compile-times", "--noise")
    assert code == 2
    assert "--compile-times" in err


def test_a_machine_without_ipus_has_no_compile_time(capsys):
    code, out, err = run(capsys, "predict", "bert", "--topology", "dgx-a100", "--compile", "cached")
    assert (code, out) == (2, "")
    assert "--compile does not apply to dgx-a100" in err
