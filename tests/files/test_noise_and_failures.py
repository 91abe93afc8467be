"""Faults of blocks.csv, noise.toml and failures.toml, all with their lines."""

import pytest

from podsim.errors import InputError, MissingParameter
from podsim.files import blocks, catalog, failures_file, find, noise_file
from podsim.model.quantity import SourceKind

HEAD = "point,run,init_s,blocks_s,source,locator"
ROW = "bert/pod16/v1.1-closed,0,100.5,10.0;11.5,mlperf-training-v1-1,a.txt"


@pytest.fixture
def table(tmp_path):
    def write(*lines):
        path = tmp_path / "blocks.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def test_a_row_is_read(table):
    (run,) = blocks.read(table(HEAD, ROW))
    assert (run.point, run.run, run.init_s, run.blocks_s) == ("bert/pod16/v1.1-closed", 0, 100.5, (10.0, 11.5))


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("point,run",),
        (HEAD, ROW + ",more"),
        (HEAD, ROW.replace("10.0", "ten")),
        (HEAD, ROW.replace("10.0", "-1")),
        (HEAD, ROW.replace("10.0", "nan")),
        (HEAD, ROW.replace(",0,", ",zero,")),
        (HEAD, '"' + ROW),
    ],
)
def test_a_faulty_table_is_refused(table, lines):
    with pytest.raises(InputError) as caught:
        blocks.read(table(*lines))
    assert caught.value.code == "bad-blocks-file"


def test_all_faults_of_a_table_at_once(table):
    with pytest.raises(InputError) as caught:
        blocks.read(table(HEAD, ROW.replace("10.0", "ten"), ROW, "a,b"))
    assert [line.split()[0] for line in caught.value.context if line.strip()[:1].isdigit()] == ["2", "4"]


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "blocks.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError) as caught:
        blocks.read(path)
    assert caught.value.code == "bad-blocks-file"


@pytest.mark.parametrize("read", [blocks.published_blocks, noise_file.noise, failures_file.failures])
def test_a_missing_file_says_how_to_get_one(read, tmp_path, monkeypatch):
    monkeypatch.setattr(find, "data_folder", lambda _: tmp_path)
    with pytest.raises(MissingParameter) as caught:
        read()
    assert caught.value.hint


@pytest.mark.parametrize(
    "change",
    [
        "noise.ipu.jitter=-0.1",
        "noise.ipu.jitter=101",
        "noise.host.jitter=1e308",
        "noise.host.hiccup_size=2 d",
        "noise.host.hiccup_every=0 s",
        "noise.host.hiccup_every=1 us",
        "noise.run.spread=2",
        "noise.ipu.jitter=much",
        "noise.gateway.jitter=0.1",
    ],
)
def test_noise_that_cannot_be(change):
    with pytest.raises(InputError) as caught:
        noise_file.noise([change])
    assert caught.value.code == "bad-change"


def test_check_reads_both_kinds(tmp_path):
    for name, what in (("noise.toml", "noise"), ("failures.toml", "failures")):
        assert catalog.describe(find.data_folder("calibration") / name).what == what
    faulty = tmp_path / "failures.toml"
    text = (find.data_folder("calibration") / "failures.toml").read_text(encoding="utf-8")
    faulty.write_text(text.replace('"50 y"', '"0 y"').replace('"141.6 s"', '"5 y"'), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        catalog.describe(faulty)
    assert caught.value.code == "bad-failures-file"


def test_every_rate_is_assumed_and_says_that_none_is_published():
    provenances = failures_file.failures().provenance
    rates = [provenance for path, provenance in provenances.items() if path.endswith(".mtbf")]
    assert len(rates) == 7
    for rate in rates:
        assert rate.kind is SourceKind.ASSUMED
        assert "no rate is published" in rate.note
