"""podsim as a user without a home, with one that is read-only, and with the folders of others; runs where root does."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from slow_cases import slow_but

import podsim

NOBODY = 65534
PYTHONS = (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}")
PACKAGES = (Path(podsim.__file__).parents[1], Path(pytest.__file__).parents[1])
ROOT = getattr(os, "geteuid", lambda: 1)() == 0
QUESTION = ["predict", "resnet50", "--pod", "16", "--engine", "analytic", "-q"]
PLAN = ["plan", "resnet50", "--machines", "pod16", "-q"]


def others_can_run(python):
    """Whether another user can start this interpreter: not where it is in the home of root."""
    try:
        return subprocess.run([python, "-c", "pass"], user=NOBODY, group=NOBODY, check=False).returncode == 0
    except OSError:
        return False


@pytest.fixture
def tmp_path():
    """A folder that others can look into: that of pytest is closed to them."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def as_nobody(tmp_path):
    """A function that runs a command line as another user, in a folder of their own."""
    if not ROOT:
        pytest.skip("only root can become another user")
    python = next(filter(others_can_run, PYTHONS), None)
    if python is None:
        pytest.skip("another user cannot run this Python")
    here = tmp_path / "here"
    here.mkdir()
    os.chown(here, NOBODY, NOBODY)

    def run(words, **environ):
        kept = {name: text for name, text in os.environ.items() if name not in ("HOME", "XDG_CONFIG_HOME")}
        return subprocess.run(
            [python, "-m", "podsim", *words],
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd=here,
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            env={**kept, "PYTHONPATH": os.pathsep.join(map(str, PACKAGES)), **environ},
        )

    if run(["--version"], HOME="/nonexistent").returncode:
        pytest.skip("another user cannot read this podsim")
    return run


@pytest.mark.parametrize("home", slow_but(["closed"], [None, "/nonexistent", "read-only", "closed"]))
def test_an_answer_and_a_page_need_no_home(home, as_nobody, tmp_path):
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700 if home == "closed" else 0o555)
    environ = {} if home is None else {"HOME": home if home.startswith("/") else str(folder)}
    result = as_nobody(QUESTION, **environ)
    assert (result.returncode, result.stdout.count("\n")) == (0, 1)
    assert "Traceback" not in result.stderr
    if home in ("/nonexistent", "read-only"):  # of a home that cannot be looked into it says so
        assert result.stderr == ""
    page = as_nobody([*QUESTION, "-o", "x.png"], **environ)
    assert page.returncode == 0
    assert "atplotlib" not in page.stderr


@pytest.mark.slow
def test_a_cache_of_another_user_is_left_alone(as_nobody, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o755)
    (cache / "theirs").write_text("x", encoding="utf-8")
    result = as_nobody(PLAN, PODSIM_CACHE=str(cache), HOME="/nonexistent")
    assert (result.returncode, result.stderr) == (0, "")
    assert [item.name for item in cache.iterdir()] == ["theirs"]


def test_what_may_not_be_read_or_written_is_one_message(as_nobody, tmp_path):
    secret = tmp_path / "secret.toml"
    secret.write_text("x = 1\n", encoding="utf-8")
    secret.chmod(0o600)
    for words in (
        ["check", str(secret)],
        ["predict", str(secret), "--pod", "16"],
        [*QUESTION, "-o", str(tmp_path / "x.html")],
        ["--install-completion", "bash"],
    ):
        result = as_nobody(words, HOME="/nonexistent")
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.count("error:") == 1
        assert "Permission denied" in " ".join(result.stderr.split())


@pytest.mark.slow
def test_a_settings_file_of_a_third_user_sets_nothing(as_nobody, tmp_path):
    path = tmp_path / "here" / "podsim.toml"
    path.write_text("[predict]\nseed = 3\n", encoding="utf-8")
    os.chown(path, 12345, -1)
    result = as_nobody([*QUESTION[:-1], "--json"], HOME="/nonexistent")
    assert result.returncode == 0
    assert "another user owns it" in result.stderr
    assert "settings" not in json.loads(result.stdout)["inputs"]
