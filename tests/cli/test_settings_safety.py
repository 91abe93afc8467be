"""What a podsim.toml that is found in a folder may not do, which of them are read, and that the screen names them."""

import json
import os
from pathlib import Path

import pytest
from test_settings import asked, folders, write  # noqa: F401  (a fixture)

from podsim.cli.command_line import main
from podsim.cli.flag_settings import flags
from podsim.cli.parser import build
from podsim.cli.settable import ANY_FILE, COMMAND_LINE, OWN_FILE
from podsim.files import settings as kept

pytestmark = pytest.mark.usefixtures("api")


def every_flag() -> set[tuple[str, str]]:
    """Command and flag, of all commands."""
    result = set()

    def walk(app, command):
        if app.default_command is not None:
            result.update((".".join(command), flag) for flag in flags(app.assemble_argument_collection()))
        for name in app:
            if not name.startswith("-"):
                walk(app[name], (*command, name))

    walk(build(), ())
    return result


def test_every_flag_is_in_one_group():
    """A new flag has to be told apart: does it write, destroy, reach a network, lift a limit, or none of these?"""
    listed = {**COMMAND_LINE, **OWN_FILE}
    unsorted = []
    for command, flag in every_flag():
        groups = [flag in COMMAND_LINE, flag in OWN_FILE, flag in ANY_FILE]
        if sum(groups) != 1 and f"{command}.{flag}" not in listed:
            unsorted.append((command, flag))
    assert unsorted == []
    named = {flag for _, flag in every_flag()} | {f"{command}.{flag}" for command, flag in every_flag()}
    assert (set(listed) | ANY_FILE) - named == set(), "no command has these"


DANGEROUS = [
    ("trace", "out", '"x.json"', "names a file that podsim writes"),
    ("predict", "out", '"x.html"', "names a file that podsim writes"),
    ("sweep", "results", '"x.jsonl"', "names a file that podsim writes"),
    ("sweep", "scheduler", '"tcp://10.0.0.1:8786"', "names a host"),
    ("sweep", "backend", '"dask"', "other machines"),
    ("sweep", "jobs", "4000", "starts processes"),
    ("sweep", "most", "1000000000", "lifts a limit"),
    ("trace", "most-spans", "1000000000", "lifts a limit"),
    ("calibrate", "points-out", '"x.toml"', "names a file that podsim writes"),
    ("calibrate", "out", '"x.toml"', "names a file that podsim writes"),
]
DESTRUCTIVE = [
    ("sweep", "anew", "true", "overwrites the results"),
    ("sweep", "extend", "true", "another sweep"),
    ("validate", "freeze", "true", "overwrites frozen"),
    ("calibrate", "noise", "true", "fitted file"),
    ("calibrate", "comparators", "true", "fitted file"),
]
WORDS = {"sweep": ["a.toml"], "calibrate": [], "validate": []}


@pytest.mark.parametrize(("command", "flag", "value", "why"), [*DANGEROUS, *DESTRUCTIVE])
def test_a_file_found_above_may_not_set_it(command, flag, value, why, folders, capsys, api):  # noqa: F811
    write(folders[0], f"[{command}]\n{flag} = {value}\n")
    assert main([command, *WORDS.get(command, ["bert"])]) == 2
    err = " ".join(capsys.readouterr().err.split())
    assert err.startswith("error: bad-setting")
    assert "podsim.toml:2" in err.replace(" ", "")
    assert f"--{flag}" in err
    assert why in err
    assert "on the command line" in err
    assert api.asked == {}


def test_the_command_of_the_report_leaves_the_file_alone(folders, capsys):  # noqa: F811
    """`[trace] out = "~/.bashrc"` in a folder above."""
    mine = folders[0].parent / "bashrc"
    mine.write_text("alias ll='ls -l'\n")
    write(folders[0], f'[trace]\nout = "{mine}"\n')
    assert main(["trace", "bert", "--pod", "16"]) == 2
    assert mine.read_text() == "alias ll='ls -l'\n"


@pytest.mark.parametrize(("command", "flag", "value", "why"), DESTRUCTIVE)
def test_the_users_own_file_may_not_destroy(command, flag, value, why, folders, capsys):  # noqa: F811
    write(folders[1], f"[{command}]\n{flag} = {value}\n")
    assert main([command, *WORDS[command]]) == 2
    err = " ".join(capsys.readouterr().err.split())
    assert f"no settings file may set --{flag}" in err
    assert why in err


def test_the_users_own_file_may_name_what_is_written(folders, api, tmp_path):  # noqa: F811
    write(folders[1], f'[predict]\nout = "{tmp_path / "x.json"}"\n')
    asked(api)
    assert json.loads((tmp_path / "x.json").read_text())["schema"].startswith("podsim.prediction/")


def test_in_the_users_own_folder_its_file_is_their_own(folders, api, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(folders[1])
    write(folders[1], f'[predict]\nout = "{tmp_path / "x.json"}"\n')
    asked(api)
    assert (tmp_path / "x.json").exists()


def test_a_variable_may_name_what_is_written(folders, api, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("PODSIM_PREDICT_OUT", str(tmp_path / "x.json"))
    asked(api)
    assert (tmp_path / "x.json").exists()


def test_the_screen_says_which_file_set_what(folders, api, capsys):  # noqa: F811
    project, user = folders
    write(project, "[predict]\nseed = 3\noverlap = true\n")
    write(user, "[predict]\nhosts = 2\nseed = 1\n")
    assert main(["predict", "bert", "--pod", "16", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        f"podsim.toml sets --seed 3, --overlap ({project / 'podsim.toml'})",
        f"podsim.toml sets --hosts 2 ({user / 'podsim.toml'})",
    ]
    assert json.loads(captured.out)["inputs"]["settings"] == {
        "hosts": f"{user / 'podsim.toml'}:2",
        "overlap": f"{project / 'podsim.toml'}:3",
        "seed": f"{project / 'podsim.toml'}:2",
    }
    assert main(["predict", "bert", "-q"]) == 0
    quiet = capsys.readouterr()
    assert (quiet.out.count("\n"), quiet.err) == (1, captured.err)
    assert main(["chip", "show", "gc200", "-q"]) == 0
    assert "sets" not in capsys.readouterr().err


def test_json_without_settings_says_nothing_of_them(folders, api, capsys):  # noqa: F811
    assert main(["predict", "bert", "--pod", "16", "--json"]) == 0
    assert "settings" not in json.loads(capsys.readouterr().out)["inputs"]


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666, 0o622])
def test_a_file_that_others_may_write_is_ignored_and_told(mode, folders, api, capsys):  # noqa: F811
    project, _ = folders
    write(project, "[predict]\nseed = 2\n")
    write(project / "below", "[predict]\nseed = 3\n")
    path = project / "below" / "podsim.toml"
    path.chmod(mode)
    assert asked(api)["seed"] == 2
    assert capsys.readouterr().err.splitlines()[0] == (
        f"warning: {path} is ignored: its group or others may write it; its owner can change that: chmod go-w {path}"
    )


def test_config_show_tells_of_an_ignored_file(folders, capsys):  # noqa: F811
    write(folders[0], "[predict]\nseed = 2\n")
    (folders[0] / "podsim.toml").chmod(0o666)
    assert main(["config", "show", "predict"]) == 0
    assert capsys.readouterr().err.startswith(f"warning: {folders[0] / 'podsim.toml'} is ignored: ")


@pytest.mark.parametrize("whose", [0, 1])
def test_a_file_of_another_user_is_ignored_and_told(folders, api, capsys, monkeypatch, whose):  # noqa: F811
    path = folders[whose] / "podsim.toml"
    write(folders[whose], "[predict]\nseed = 2\n")
    if os.geteuid() == 0:
        os.chown(path, 54321, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 54321)
    assert asked(api)["seed"] == 0
    assert capsys.readouterr().err == (
        f"warning: {path} is ignored: another user owns it; it is read where you or root own it\n"
    )


def test_a_file_that_is_replaced_after_it_was_looked_at_sets_nothing(folders, monkeypatch):  # noqa: F811
    path = folders[0] / "podsim.toml"
    write(folders[0], "[predict]\nseed = 2\n")
    assert [setting.value for setting in kept.read(path)] == [2]
    path.chmod(0o666)
    assert kept.read(path) == ()


@pytest.mark.parametrize("what", ["folder", "file"])
def test_the_search_stops_at_the_root_of_a_repository(what, folders, api):  # noqa: F811
    project, _ = folders
    write(project, "[predict]\nseed = 2\n")
    git = project / "below" / ".git"
    git.mkdir() if what == "folder" else git.write_text("gitdir: elsewhere")
    assert asked(api)["seed"] == 0
    write(project / "below", "[predict]\nseed = 3\n")
    assert asked(api)["seed"] == 3


def test_the_search_stops_at_the_home_folder(folders, api, monkeypatch):  # noqa: F811
    project, _ = folders
    write(project, "[predict]\nseed = 2\n")
    monkeypatch.setenv("HOME", str(project / "below"))
    assert asked(api)["seed"] == 0
    write(project / "below", "[predict]\nseed = 3\n")
    assert asked(api)["seed"] == 3


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="no file system is mounted there")
def test_the_search_stops_at_the_edge_of_a_file_system(monkeypatch):
    monkeypatch.chdir("/proc")
    assert list(kept._upward()) == [(Path("/proc/podsim.toml"), None)]
