"""Flags from podsim.toml, the user's file and variables: which one holds, and what is said of bad ones."""

import json
from pathlib import Path

import pytest

from podsim.cli.command_line import main

pytestmark = pytest.mark.usefixtures("api")


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """(a folder two below a root with its own podsim.toml to be, the user's settings to be)."""
    here, user = tmp_path / "project" / "below" / "here", tmp_path / "config" / "podsim"
    here.mkdir(parents=True)
    user.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(user.parent))
    return tmp_path / "project", user


def asked(api, *words):
    assert main(["predict", "bert", "-q", *words]) == 0
    return api.asked


def write(folder: Path, text: str):
    (folder / "podsim.toml").write_text(text, encoding="utf-8")
    (folder / "podsim.toml").chmod(0o644)


def test_flag_then_variable_then_nearest_file_then_the_users_then_default(api, folders, monkeypatch):
    project, user = folders
    assert asked(api)["seed"] == 0
    write(user, "[predict]\nseed = 1\nhosts = 2\n")
    assert (asked(api)["seed"], api.asked["hosts"]) == (1, 2)
    write(project, "[predict]\nseed = 2\n")
    assert (asked(api)["seed"], api.asked["hosts"]) == (2, 2)
    write(project / "below", "[predict]\nseed = 3\n")
    assert asked(api)["seed"] == 3
    monkeypatch.setenv("PODSIM_PREDICT_SEED", "4")
    assert asked(api)["seed"] == 4
    assert asked(api, "--seed", "5")["seed"] == 5
    monkeypatch.setenv("PODSIM_PREDICT_SEED", "")
    assert asked(api)["seed"] == 3


def test_a_nearer_flag_displaces_what_says_the_same_otherwise(api, folders, monkeypatch):
    project, _ = folders
    write(project, '[predict]\npod = 64\npreset = "p"\n')
    assert asked(api)["pod"] == 64
    assert asked(api, "--topology", "bow-pod64")["pod"] is None
    assert api.asked["preset"] is None
    monkeypatch.setenv("PODSIM_PREDICT_GLOBAL_BATCH", "512")
    assert (asked(api)["global_batch"], api.asked["preset"], api.asked["pod"]) == (512, None, 64)


def test_arrays_truths_and_texts_are_flags(api, folders, monkeypatch):
    project, _ = folders
    write(project, '[predict]\nset = ["a=1 GB/s", "b=2"]\noverlap = true\nsamples = 2.5e6\n"ipus-per-replica" = 8\n')
    asked(api)
    assert api.asked["changes"] == ("a=1 GB/s", "b=2")
    assert (api.asked["overlap"], api.asked["samples"], api.asked["ipus_per_replica"]) == (True, 2.5e6, 8)
    monkeypatch.setenv("PODSIM_PREDICT_SET", "c=3 GB/s;d=4")
    assert asked(api)["changes"] == ("c=3 GB/s", "d=4")


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("pod = 64", "bad-settings-file", ["podsim.toml has 1 error", "1  pod", "stands in no table"]),
        ("[predict]\n\npod = 1979-05-27", "bad-settings-file", ["3  predict.pod", "not the date or time"]),
        (
            "[predict]\npod = [1",
            "bad-settings-file",
            ["podsim.toml is not valid TOML: line 2, the end of", "cut short?"],
        ),
        ("[predict]\nsed = 1", "bad-setting", ["podsim.toml:2", 'no flag --sed; did you mean "--seed"?']),
        ("[predikt]\nseed = 1", "bad-setting", ["podsim.toml:2", 'no command predikt; did you mean "predict"?']),
        ('[predict]\npod = "x"', "bad-value", ['invalid value for --pod: "x"', "set in", "podsim.toml:2"]),
    ],
)
def test_bad_settings_are_told_with_their_line(text, code, said, folders, capsys):
    write(folders[0], text)
    assert main(["predict", "bert"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"error: {code}\n")
    joined = " ".join(err.replace("│", " ").split())
    for part in said:
        assert " ".join(part.split()) in joined
    assert "Traceback" not in err


def test_all_faults_of_a_settings_file_are_told_at_once(folders, api, capsys):
    text = '[predict]\nsed = 1\npod = "x"\nout = "a.html"\nhosts = 2\nchip = 1979-05-27\n\n[predikt]\nseed = 1\n'
    write(folders[0], text)
    assert main(["predict", "bert"]) == 2
    err = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert err.startswith("error: bad-settings-file")
    assert "podsim.toml has 5 errors" in err
    for words in (
        '2 predict.sed podsim predict has no flag --sed; did you mean "--seed"?',
        '3 predict.pod invalid value for --pod: "x"',
        "4 predict.out a podsim.toml that is found in a folder may not set --out",
        "6 predict.chip this flag must be",
        '9 predikt.seed podsim has no command predikt; did you mean "predict"?',
    ):
        assert words in err
    assert "hosts" not in err


def test_values_that_a_nearer_flag_displaces_are_no_faults(folders, api):
    write(folders[0], '[predict]\npod = "x"\nseed = "y"\n')
    assert asked(api, "--pod", "16", "--seed", "2")["seed"] == 2


def test_a_variable_that_names_no_flag_is_told(folders, monkeypatch, capsys):
    monkeypatch.setenv("PODSIM_PREDICT_PDO", "64")
    assert main(["predict", "bert"]) == 2
    assert 'PODSIM_PREDICT_PDO: podsim predict has no flag --pdo; did you mean "--pod"?' in capsys.readouterr().err


def test_a_file_that_is_no_text_is_told(folders, capsys):
    (folders[0] / "podsim.toml").write_bytes(b"[predict]\npod = \xff\n")
    assert main(["predict", "bert"]) == 2
    assert "not UTF-8" in capsys.readouterr().err


def test_config_show_says_where_each_flag_is_set_and_what_displaces_it(folders, monkeypatch, capsys):
    project, user = folders
    write(project, "[predict]\npod = 64\n\n[topology.show]\nlinks = true\n")
    write(user, "[predict]\npod = 16\nseed = 3\n")
    monkeypatch.setenv("PODSIM_PREDICT_POD", "128")
    assert main(["config", "show", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    rows = {(row["command"], row["flag"], row["values"][0]): row for row in result["settings"]}
    assert result["schema"] == "podsim.settings-report/1"
    assert rows["predict", "--pod", "128"]["origin"] == "PODSIM_PREDICT_POD"
    assert rows["predict", "--pod", "64"]["displaced_by"] == "PODSIM_PREDICT_POD"
    assert rows["predict", "--pod", "64"]["origin"].endswith("podsim.toml:2")
    assert rows["predict", "--seed", "3"]["displaced_by"] == ""
    assert rows["topology show", "--links", "true"]["displaced_by"] == ""
    assert main(["config", "show", "predict", "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "predict --pod 128  PODSIM_PREDICT_POD" in lines
    assert "predict --division closed  default" in lines


def test_config_show_of_no_command_is_refused(folders, capsys):
    assert main(["config", "show", "predikt"]) == 2
    assert "unknown-command" in capsys.readouterr().err


def test_a_shell_that_is_none_is_told(capsys):
    assert main(["--install-completion", "tcsh"]) == 2
    assert "known: bash, zsh, fish, powershell" in capsys.readouterr().err
