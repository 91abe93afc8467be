"""Questions that cannot be asked, and answers that are no, through the real command line."""

import json

import pytest

from podsim.__main__ import run
from podsim.cli.command_line import main
from podsim.files import find


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """Every test stands in a folder with the files of this module, and nothing else."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def pod(extra="", base="pod128"):
    return f'schema = "podsim.topology/1"\nname = "mine"\ntitle = "Mine"\nextends = "{base}"\n{extra}'


def workload(*changes):
    """The file of BERT with some texts changed."""
    text = (find.folders("workloads")[-1] / "bert.toml").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


POD128 = (find.folders("topologies")[-1] / "pod128.toml").read_bytes()
FILES = {
    "unknown-key.toml": pod("[link.gw-link]\nbandwith = '100 Gbit/s'\n"),
    "unit.toml": pod("[link.gw-link]\nbandwidth = '100 Gbps'\n"),
    "amount.toml": pod("[link.gw-link]\nbandwidth = '100 GB'\n"),
    "bare.toml": pod("[link.gw-link]\nbandwidth = 100\n"),
    "many.toml": pod(
        "frob = 1\n[link.gw-link]\nbandwidth = '0 GB/s'\nlatency = '-1 us'\nefficiency = inf\n"
        "[[level]]\nname = 'rack'\nholds = 3\n[[level]]\nname = 'pod'\nshape = 'rng'\n"
    ),
    "zero-links.toml": pod("[[level]]\nname = 'pod'\nlinks_each = 0\n"),
    "apart.toml": pod("[[level]]\nname = 'rack'\nlink = 'no-such-link'\n"),
    "odd.toml": pod("[[level]]\nname = 'pod'\nholds = 4\nshape = 'ring'\nlinks_each = 1\n"),
    "long.toml": pod("[[level]]\nname = 'rack'\nholds = 32\n"),
    "row.toml": pod("[[level]]\nname = 'row'\nholds = 2\nshape = 'ring'\nlink = 'gw-link'\nlinks_each = 2\n"),
    "nan.toml": pod("[link.gw-link]\nefficiency = nan\n"),
    "cut.toml": POD128[: POD128.rindex(b'"')],
    "latin.toml": pod("note = 'gro\xdf'\n").encode("latin-1"),
    "empty.toml": "",
    "chip-file.toml": (find.folders("chips")[-1] / "gc200.toml").read_bytes(),
    "orphan.toml": workload(('name            = "bert"', 'name = "orphan"')),
    "no-size.toml": workload(("row_size        = ", "rowsize = ")),
    "no-configuration.toml": workload(('configuration    = "popart-v1.0-pod16"', 'configuration = "popart-v1.0"')),
    "two-faults.toml": workload(("layers        = 24", "layers = 0"), ("heads         = 16", "heads = 1.5")),
}

QUESTIONS = [
    # the command line, the code of the error, words it must say
    ("predict brt --pod 16", "unknown-workload", ['did you mean "bert"?']),
    (
        "predict gpt3-175b --pod 4",
        "mapping-does-not-divide",
        [
            "4 IPUs are too few for GPT-3 175B",
            "a replica takes a multiple of 8 IPUs",
            "--pod 128 holds it",
        ],
    ),
    ("predict bert --pod 65536 --fidelity full", "too-large-in-full", ["replicas", "--fidelity folded"]),
    ("predict bert --pod 16 --schedule gpipe", "bad-value", ["--schedule", '"1f1b"']),
    ("predict bert --pod 16 --prefetch -1", "bad-value", ["--prefetch", "at least 0"]),
    ("predict bert --pod 16 --prefetch 1.5", "bad-value", ["--prefetch", "whole"]),
    ("predict bert --pod 16 --io-tiles 1472", "bad-mapping", ["--io-tiles", "1,472 tiles"]),
    ("trace bert --pod 16 --overlap --io-tiles 0", "bad-mapping", ["--overlap", "beside compute"]),
    ("explain bert --ops --pod 16 --overlap --set chip.tiles=60", "bad-mapping", ["below the 60 tiles", "not 64"]),
    (
        "predict bert --pod 16 --preset mlperf-v1.1-closed --schedule 1f1b --replicas 2",
        "conflicting-flags",
        ["--replicas"],
    ),
    ("predict bert --pod 100", "bad-pod", ["not a power of two", "pod64 and pod128"]),
    ("predict bert --pod 131072", "bad-pod", ["65,536"]),
    ("predict bert --topology pod65", "bad-pod", ["pod64"]),
    ("predict bert --topology pood64", "unknown-topology", ['did you mean "pod64"?']),
    ("predict bert", "no-machine", ["neither --pod nor --topology is given"]),
    ("predict bert --pod 16 --topology pod16", "conflicting-flags", ["mutually exclusive", "leave out one"]),
    ("predict bert --pod 16 --chip gc201", "unknown-chip", ["gc200"]),
    ("predict bert --pod 16 --sdk 3.4", "unknown-sdk", ["2.1, 2.3, 2.5", "1.4, 2.6, 3.0, 3.1, 3.2, 3.3"]),
    ("predict bert --pod 16 --hosts 8", "bad-mapping", ["pod16 takes at most"]),
    ("predict bert --pod 16 --preset mlperf", "unknown-preset", ["mlperf-v1.1-closed"]),
    ("predict bert --pod 512 --preset mlperf-v1.1-closed", "unknown-preset", ["published for pod16, pod64, pod128"]),
    ("predict bert --pod 16 --preset mlperf-v1.1-closed --replicas 4", "conflicting-flags", ["it excludes --replicas"]),
    ("predict bert --pod 16 --replicas 3", "bad-mapping", ["such as 2 or 4, not 3", "nothing was executed"]),
    ("predict bert --pod 16 --replicas 8 --ipus-per-replica 4", "bad-mapping", ["32", "pod16 has 16"]),
    ("predict bert --pod 16 --ipus-per-replica 32", "bad-mapping", ["pod16 has 16"]),
    ("predict bert --pod 16 --accumulation 3 --global-batch 9", "conflicting-flags", ["leave out one"]),
    ("predict bert --pod 64 --global-batch 1001", "mapping-does-not-divide", ["--global-batch 1000"]),
    (
        "predict bert --pod 64 --replicas 8 --ipus-per-replica 8 --micro-batch 2 --global-batch 1000",
        "mapping-does-not-divide",
        ["--global-batch 992 or --global-batch 1024"],
    ),
    ("predict bert --pod 16 --set gw-link.bandwidth='100 Gbps'", "bad-change", ["Gbit/s or GB/s"]),
    ("predict bert --pod 16 --set gw-link.bandwith='1 GB/s'", "bad-change", ['did you mean "gw-link.bandwidth"?']),
    ("predict bert --pod 16 --set chip.clock=0Hz", "bad-change", ["must be above 0"]),
    ("predict bert --pod 16 --set chip.clock=-1GHz", "bad-change", ["must be above 0"]),
    ("predict bert --pod 16 --set 'chip.clock=inf GHz'", "bad-change", ["not a finite number"]),
    ("predict bert --pod 16 --set collective.efficiency=inf", "bad-change", ["finite number above 0"]),
    ("predict bert --pod 16 --set collective.efficiency=2", "bad-change", ["at most 1"]),
    ("predict bert --pod 16 --set nothing", "bad-change", ['no "="']),
    ("predict bert --pod 16 --set chip.tiles=1 --set chip.tiles=2", "bad-change", ["set before"]),
    ("predict bert --pod 16 --set workload.transformer.layers=0", "bad-change", ["at least 1"]),
    ("predict bert --pod 0", "bad-value", ["at least 1"]),
    ("predict bert --pod -16", "bad-value", ["at least 1"]),
    ("predict bert --pod inf", "bad-value", ["not a whole number"]),
    ("predict bert --pod 16 --samples 0", "bad-value", ["above 0 and at most 1e18"]),
    ("predict bert --pod 16 --samples inf", "bad-value", ["above 0 and at most 1e18"]),
    ("predict bert --pod 16 --micro-batch 0", "bad-value", ["at least 1"]),
    ("predict bert --pod 16 --json -q", "conflicting-flags", ["--json and --quiet"]),
    ("predict bert --pod 16 --json -v", "conflicting-flags", ["--json and --verbose"]),
    ("predict bert --pod 16 -q -v", "conflicting-flags", ["--quiet and --verbose"]),
    ("check nothing.toml --json -q", "conflicting-flags", ["give one of them"]),
    ("predict bert --topology nothing.toml", "no-such-file", ["nothing.toml"]),
    ("predict bert --topology unknown-key.toml", "bad-topology-file", ['did you mean "bandwidth"?']),
    ("predict bert --topology unit.toml", "bad-topology-file", ["Gbit/s or GB/s"]),
    ("predict bert --topology amount.toml", "bad-topology-file", ["amount of data", "data rate"]),
    ("predict bert --topology bare.toml", "bad-topology-file", ["needs a unit"]),
    ("predict bert --topology zero-links.toml", "bad-topology-file", ["at least 1"]),
    ("predict bert --topology nan.toml", "bad-topology-file", ["finite number"]),
    ("predict bert --topology apart.toml", "bad-topology-file", ['no link "no-such-link"', 'did you mean "ipu-link"?']),
    ("predict bert --topology odd.toml", "bad-topology-file", ["a ring of 4 needs an even number of links each"]),
    ("predict bert --topology long.toml", "bad-topology-file", ["an IPU-Link domain has at most 64 IPUs"]),
    ("predict bert --topology row.toml", "bad-topology-file", ["not a level"]),
    ("predict bert --topology cut.toml", "bad-topology-file", ["cut short?"]),
    ("predict bert --topology latin.toml", "bad-topology-file", ["not UTF-8"]),
    ("predict bert --topology empty.toml", "bad-topology-file", ["is empty"]),
    ("predict bert --topology chip-file.toml", "bad-topology-file", ["a chip file"]),
    ("predict cut.toml --pod 16", "bad-workload-file", ["cut short?"]),
    ("predict orphan.toml --pod 16", "missing-parameter", ["orphan", "[[convergence.point]]"]),
    ("predict no-size.toml --pod 16", "bad-workload-file", ['did you mean "row_size"?']),
    (
        "predict no-configuration.toml --pod 16",
        "bad-workload-file",
        ['"popart-v1.0" is not known; did you mean "popart-v1.0-pod'],
    ),
    ("topology show unit.toml", "bad-topology-file", ["Gbit/s or GB/s"]),
    ("check latin.toml", "bad-input-file", ["not UTF-8"]),
    ("chip show gc20", "unknown-chip", ["gc200"]),
    ("workload show brt", "unknown-workload", ["bert"]),
]


def asked(line, capsys):
    """Exit code, stdout and stderr of a line of a shell."""
    import shlex

    code = main(shlex.split(line))
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.mark.parametrize(("line", "code", "said"), QUESTIONS, ids=[line for line, *_ in QUESTIONS])
def test_a_question_that_cannot_be_asked_exits_2(line, code, said, capsys):
    exit_code, out, err = asked(line, capsys)
    assert (exit_code, out) == (2, "")
    under_json = "--json" in line
    first = err.splitlines()[0]
    assert (json.loads(first)["code"] if under_json else first.removeprefix("error: ")) == code
    flat = " ".join(err.split())
    for words in said:
        assert words in flat
    assert err.count("error:") == (0 if under_json else 1)


@pytest.mark.parametrize(
    "line",
    [
        "predict bert --pod 16 --replicas 16 --ipus-per-replica 1 --micro-batch 1 --accumulation 1",
        "predict bert --pod 1",
        "predict bert --pod 64 --micro-batch 64",
        "predict bert --pod 16 --chip gc2",
        "predict bert --pod 16 --set 'chip.sram.per_tile=100 KiB'",
    ],
)
def test_a_mapping_that_does_not_fit_is_answered_no_and_exits_1(line, capsys):
    exit_code, out, err = asked(line, capsys)
    assert (exit_code, out) == (1, "")
    assert err.startswith("no: does-not-fit\n")
    assert " GB on IPU " in err
    assert "hint: " in err
    assert "nothing was executed" not in err


def test_all_faults_of_a_file_are_listed_with_their_lines(capsys):
    """Six faults in one go, in the order of the file."""
    text = FILES["many.toml"].splitlines()
    _, _, err = asked("predict bert --topology many.toml", capsys)
    assert "many.toml has 6 errors" in err
    places = [
        (next(i for i, line in enumerate(text, 1) if line.startswith(key)), key)
        for key in ("frob", "bandwidth", "latency", "efficiency", "holds", "shape")
    ]
    listed = [line.split()[1:3] for line in err.splitlines() if line.startswith("  │ ") and line[4:6].strip().isdigit()]
    assert [(int(line), path.rpartition(".")[2]) for line, path in listed] == places


def test_two_faults_of_a_workload_are_listed_together(capsys):
    _, _, err = asked("predict two-faults.toml --pod 16", capsys)
    assert "has 2 errors" in err
    assert "transformer.layers" in err
    assert "transformer.heads" in err


@pytest.mark.parametrize("flag", ["--json", "-q", "-v"])
@pytest.mark.parametrize("line", ["predict brt --pod 16", "predict bert --pod 1", "predict bert --topology many.toml"])
def test_no_flag_brings_an_error_to_stdout(line, flag, capsys):
    code, out, err = asked(f"{line} {flag}", capsys)
    assert code in (1, 2)
    assert out == ""
    assert err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plan bert --within 5min --confidence 90", "a share from 0.5 to 0.99, not 90: 90 % is 0.9"),
        ("predict bert --pod 16 --interval 30%", "a share from 0.5 to 0.99, not 30%"),
        ("predict bert --pod 16 --use 75", "75 % is 0.75"),
        ("predict bert --pod 16 --pue 140%", "write 1.4"),
        ("predict bert --pod 16 --pue 0.4", "1.4 is 40 % over"),
    ],
)
def test_a_percentage_is_told_how_shares_are_written(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_ctrl_c_while_modules_load_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("podsim.cli.command_line.main", interrupted)
    assert run() == 130
    assert capsys.readouterr().err == "interrupted\n"
