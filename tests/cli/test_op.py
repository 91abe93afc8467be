"""`podsim op`: one operator on the tiles of a chip."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import podsim
from podsim.caches.tables import TABLES
from podsim.cli.command_line import main
from podsim.engines.des import tile_simulation as chip_engine
from podsim.errors import Infeasible, InputError
from podsim.model.chip import Chip
from podsim.model.tile_plan import TilePlan
from podsim.model.workload import Matmul
from podsim.report.terminal import Look, render
from podsim.studies.documents import answer_document
from podsim.studies.op import one_operator as operators
from podsim.studies.op import report as view
from podsim.tiles import product
from podsim.tiles.supersteps import total

FFN = "matmul --m 1024 --k 1024 --n 4096"
EVERY = (
    FFN,
    "matmul --groups 16 --m 729 --k 72 --n 729 --chip c600 --precision 8.16",
    "matmul --m 1 --k 1 --n 1",
    "conv --batch 4 --size 56 --in-channels 64 --out-channels 64 --kernel 3",
    "conv --batch 4 --size 56 --in-channels 64 --out-channels 64 --kernel 3 --stride 2 --pass weight-gradient",
    "conv --size 28 --in-channels 32 --out-channels 32 --kernel 3 --channel-groups 32 --pass backward",
    "softmax --rows 11664 --columns 729",
    "softmax --rows 512 --columns 512 --pass backward --precision 32",
    "norm --rows 512 --columns 1024",
    "norm --kind batch --rows 12544 --columns 64 --pass backward",
    "norm --kind group --rows 12544 --columns 64 --groups 16 --images 4",
    "gather --table 30528 --width 1024 --lookups 512",
    "gather --table 30528 --width 1024 --lookups 512 --pass backward",
    "elementwise --elements 1000000 --operation gelu --operation dropout",
    "reduce --elements 1000000 --outputs 1000",
    "copy --elements 1000000",
    "attention --groups 32 --queries 512 --keys 512 --width 64",
    "attention --groups 32 --queries 512 --keys 512 --width 64 --method fused",
    "loss --rows 512 --columns 30912",
    "loss --rows 512 --columns 30912 --pass backward",
    "pool --outputs 100352 --window 9",
    "update --parameters 1000000 --tensors 8 --optimizer lamb",
    "matmul --m 1024 --k 1024 --n 4096 --fidelity full",
    "matmul --m 1024 --k 1024 --n 4096 --io-tiles 32 --stream 10MB --stream-rate 20GB/s",
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that no other test and no user sees."""
    monkeypatch.setenv("PODSIM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, str, str]:
    code = main(["op", *line.split()])
    out, err = capsys.readouterr()
    return code, out, err


def told(capsys: pytest.CaptureFixture[str], line: str) -> dict[str, Any]:
    code, out, err = run(capsys, f"{line} --json")
    assert (code, err) == (0, ""), err
    table: dict[str, Any] = json.loads(out, parse_constant=pytest.fail)
    return table


@pytest.mark.parametrize("line", EVERY)
def test_every_operator_tells_numbers_that_agree(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = told(capsys, line)
    assert table["schema"] == "podsim.op/1"
    chip = api_chip(table["chip"])
    assert table["cycles"] > 0
    assert table["time_s"] == pytest.approx(table["cycles"] / chip.clock_hz)
    assert table["flop_per_s"] == pytest.approx(table["flop"] / table["time_s"])
    assert sum(table["phases"].values()) == pytest.approx(table["cycles"], rel=1e-9)
    assert sum(table["breakdown_cycles"].values()) == pytest.approx(table["cycles"], rel=1e-9)
    assert table["breakdown_cycles"][table["bound"]] == max(table["breakdown_cycles"].values())
    assert 0 < sum(table["sram_bytes_per_tile"].values()) <= table["sram_capacity_bytes_per_tile"]
    assert 0 < table["tiles_used"] <= table["tiles"] == chip.tiles
    assert 0 <= table["idle"] < 1
    assert sum(share["tiles"] for share in table["tile_shares"]) == chip.tiles


def api_chip(name: str) -> Chip:
    from podsim.files import catalog

    return catalog.chip(name).value


@pytest.mark.parametrize("line", EVERY)
@pytest.mark.parametrize("width", [60, 100, 160])
def test_every_screen_fits_its_width(
    line: str, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = run(capsys, f"{line} -v")
    assert (code, err) == (0, "")
    assert all(len(printed) <= width for printed in out.splitlines())
    assert "nan" not in out
    for heading in ("Cycles by step of the plan", "Peak SRAM by use, of", "Supersteps in order"):
        assert heading in out


def test_the_feed_forward_product_of_bert_large(capsys: pytest.CaptureFixture[str]) -> None:
    """The planner's worked example: split 23 x 16 x 4, 90,516 cycles with the 1,000 a whole operator takes beside it.

    2 x 1024 x 1024 x 4096 FLOP over 1472 tiles of 128 FLOP a cycle is the share of the peak. Source: poplibs.
    """
    table = told(capsys, FFN)
    assert table["cycles"] == pytest.approx(90_516, rel=0.02)
    assert table["flop"] == 2 * 1024 * 1024 * 4096
    assert table["amp_utilisation"] == pytest.approx(table["flop"] / table["cycles"] / 1472 / 128)
    assert table["exchange_bytes"] > 0
    assert len(table["alternatives"]) >= 3
    for rival in table["alternatives"]:
        assert rival["cycles"] >= table["cycles"] or rival["sram_bytes_per_tile"] > 0.6 * 638_976
        assert rival["why"]


def test_half_partial_sums_are_faster_than_float_and_float_operands_slowest() -> None:
    cycles = [podsim.op("matmul", m=2048, k=2048, n=2048, precision=text).cycles for text in ("16.16", "16.32", "32")]
    assert cycles == sorted(cycles)
    assert cycles[1] > 1.5 * cycles[0]


SMALL = (
    FFN,
    "conv --batch 2 --size 28 --in-channels 64 --out-channels 64 --kernel 3",
    "softmax --rows 512 --columns 512",
    "gather --table 3000 --width 256 --lookups 64",
)


@pytest.mark.parametrize("line", SMALL)
def test_tile_by_tile_takes_what_the_closed_form_says(line: str) -> None:
    operator, *words = line.split()
    sizes = {
        name.removeprefix("--").replace("-", "_"): int(value) for name, value in zip(*[iter(words)] * 2, strict=True)
    }
    report = podsim.op(operator, **sizes)
    expected = total(report.plan.supersteps, report.chip).total
    assert report.cycles == pytest.approx(expected, rel=1e-9)
    unfolded = chip_engine.run(report.plan, report.chip, unfolded=True)
    assert unfolded.total_cycles == pytest.approx(expected, rel=1e-9)
    assert unfolded.idle == pytest.approx(report.timeline.idle, abs=1e-9)


def test_less_memory_is_never_faster() -> None:
    cycles = [
        podsim.op("matmul", m=4096, k=4096, n=4096, available_memory=share).cycles for share in (1.0, 0.6, 0.3, 0.2)
    ]
    assert cycles == sorted(cycles)


def test_a_change_of_the_chip_is_one_flag_away(capsys: pytest.CaptureFixture[str]) -> None:
    """47.5 TB/s read as exchange bandwidth makes the same product's exchange six times faster."""
    usual, other = told(capsys, FFN), told(capsys, f"{FFN} --set chip.exchange.bandwidth=47.5TB/s")
    assert other["breakdown_cycles"]["exchange"] < usual["breakdown_cycles"]["exchange"] / 3
    assert told(capsys, f"{FFN} --set chip.clock=2.65GHz")["time_s"] == pytest.approx(usual["time_s"] / 2)


def test_the_same_operator_from_python() -> None:
    sizes: dict[str, int | str] = {"size": 14, "in_channels": 64, "out_channels": 64, "kernel": 3}
    report = podsim.op("conv", **sizes, **{"pass": "weight-gradient"})
    assert report.sizes == sizes | {"batch": 1, "stride": 1, "channel_groups": 1, "pass": "weight-gradient"}
    assert report.by_purpose.keys() == {step.phase for step in report.plan.supersteps}
    chain = podsim.op("elementwise", elements=1000, operation=("add", "gelu"))
    assert chain.sizes == {"elements": 1000, "operation": "add,gelu"}
    assert chain.cycles > podsim.op("elementwise", elements=1000).cycles


def test_quiet_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, f"{FFN} -q")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    assert "cycles" in out


def test_operands_beyond_the_chip_are_planned_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "matmul --m 65536 --k 4096 --n 4096")
    assert code == 0
    assert "! operands and result take 1.11 GB, the chip holds 941 MB" in " ".join(out.split())


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("matmul --m 0 --k 4 --n 4", "bad-value", "invalid value for --m: must be at least 1, not 0"),
        ("matmul --m -4 --k 4 --n 4", "bad-value", "must be at least 1, not -4"),
        ("matmul --m 3.5 --k 4 --n 4", "bad-value", '"3.5" is not a whole number'),
        ("matmul --m 4 --k 4 --n 2147483648", "bad-value", "--n: must be at most 2,147,483,647, not 2,147,483,648"),
        (f"matmul --m 4 --k 4 --n 1{'0' * 60}", "bad-value", "not a number of more than 24 digits"),
        ("matmul --m 4", "bad-value", "--k is missing"),
        ("matmul --m", "missing-argument", "--m needs a value"),
        ("matmol --m 4", "unknown-command", 'unknown command "matmol"; did you mean "matmul"?'),
        (
            "matmul --m 4 --k 4 --n 4 --precision 16.61",
            "unknown-precision",
            'must be one of 8.16, 16.16, 16.32, 32, not "16.61"',
        ),
        ("matmul --m 4 --k 4 --n 4 --precision 8.16", "missing-parameter", "gc200 has no AMP rate for precision 8.16"),
        ("matmul --m 4 --k 4 --n 4 --available-memory 0", "bad-available-memory", "above 0 and at most 1, not 0"),
        ("matmul --m 4 --k 4 --n 4 --available-memory -0.5", "bad-available-memory", "above 0 and at most 1"),
        ("matmul --m 4 --k 4 --n 4 --available-memory nan", "bad-available-memory", "above 0 and at most 1"),
        ("matmul --m 4 --k 4 --n 4 --available-memory 1.01", "bad-available-memory", "at most 1, not 1.01"),
        ("matmul --m 4 --k 4 --n 4 --chip gc20", "unknown-chip", 'did you mean "gc200"?'),
        ("matmul --m 4 --k 4 --n 4 --set chip.clok=1", "bad-change", 'did you mean "chip.clock"?'),
        ("conv --size 8 --in-channels 6 --out-channels 8 --kernel 3 --channel-groups 4", "bad-value", "6 is none of 4"),
        ("conv --size 8 --in-channels 8 --out-channels 8 --kernel 9", "bad-value", "--kernel must be at most --size"),
        ("conv --size 8 --in-channels 8 --out-channels 8 --kernel 3 --pass back", "bad-value", '"back" is not known'),
        ("norm --kind layr --rows 8 --columns 8", "bad-value", 'did you mean "layer"?'),
        ("norm --kind group --rows 8 --columns 8 --groups 3", "bad-value", "multiple of --groups: 8 is none of 3"),
        ("norm --kind group --rows 8 --columns 8 --images 3", "bad-value", "multiple of --images"),
        ("reduce --elements 4 --outputs 5", "bad-value", "at most --elements: 5 is more than 4"),
        ("elementwise --elements 8 --operation adde", "bad-value", 'did you mean "add"?'),
        ("copy --elements 8 --rows 8", "unknown-flag", "unknown flag --rows"),
        (f"{FFN} -v -q", "conflicting-flags", "are mutually exclusive"),
    ],
)
def test_what_cannot_be_planned_exits_2(line: str, code: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    exit_code, out, err = run(capsys, line)
    assert (exit_code, out) == (2, ""), err
    assert err.startswith(f"error: {code}\n")
    assert said in " ".join(err.replace("│", "").split())


@pytest.mark.parametrize("size", [16_384, 65_536])
def test_sizes_of_a_hint_fit_beside_operands_and_code(size: int) -> None:
    """A split that fits its share of SRAM is no use where the operands leave less."""
    with pytest.raises(Infeasible) as no:
        podsim.op("matmul", m=size, k=size, n=size)
    sizes = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", no.value.hint)}
    assert not podsim.op("matmul", **sizes).overflows


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        ("matmul --m 2048 --k 2048 --n 2048 --available-memory 0.01", "--available-memory 0.1 fits"),
        ("matmul --m 100000 --k 100000 --n 100000", "--m"),
        ("matmul --m 2147483647 --k 2147483647 --n 2147483647", "--m"),
        ("conv --size 100000 --in-channels 3 --out-channels 5 --kernel 3", "--size"),
        ("elementwise --elements 2000000000", "--elements"),
        ("softmax --rows 1 --columns 2000000000", "--columns"),
        ("norm --rows 2147483647 --columns 2147483647", "--rows"),
        ("gather --table 2147483647 --width 1024 --lookups 5", "--table"),
        ("norm --kind group --groups 3 --images 5 --rows 500 --columns 6000000", "--columns"),
    ],
)
def test_what_fits_no_split_is_no_with_what_would(line: str, fits: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, line)
    assert (code, out) == (1, "")
    assert err.startswith("no: ")
    hint = " ".join(err.partition("hint: ")[2].split())
    assert hint.startswith(fits)
    assert hint.endswith(" fits")
    words = line.split()
    for flag, value in zip(*[iter(hint.removesuffix(" fits").split())] * 2, strict=True):
        words = (
            [*words, flag, value]
            if flag not in words
            else [*words[: words.index(flag) + 1], value, *words[words.index(flag) + 2 :]]
        )
    assert run(capsys, " ".join([*words, "-q"]))[0] == 0


@pytest.mark.parametrize(
    "line",
    [
        "update --parameters 2000000000 --tensors 1500000000",
        "conv --size 9000 --kernel 9000 --in-channels 64 --out-channels 64",
    ],
)
def test_sizes_that_another_one_forbids_are_no_hint(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Fewer weights than tensors, or a smaller image than the kernel, could not be asked for."""
    code, _, err = run(capsys, line)
    assert code == 1
    assert "over more IPUs" in err
    assert " fits" not in err


def test_bad_questions_from_python_are_input_errors() -> None:
    with pytest.raises(InputError, match='"matmol" is not known; did you mean "matmul"') as unknown:
        podsim.op("matmol", m=1)
    assert unknown.value.code == "unknown-operator"
    for sizes in ({"m": True, "k": 1, "n": 1}, {"m": 1.5, "k": 1, "n": 1}, {"m": "4", "k": 1, "n": 1}, {}):
        with pytest.raises(InputError) as wrong:
            podsim.op("matmul", **sizes)  # type: ignore[arg-type]
        assert wrong.value.code == "bad-value"
    for share in (0.0, -1.0, 1.5, float("nan"), float("inf")):
        with pytest.raises(InputError):
            podsim.op("matmul", m=4, k=4, n=4, available_memory=share)


def test_all_faults_come_at_once() -> None:
    with pytest.raises(InputError) as wrong:
        podsim.op("norm", kind="layr", m=4)
    assert len(wrong.value.context) == 4
    assert wrong.value.code == "unknown-argument"


def test_an_absurd_product_is_refused_before_it_is_planned(gc200: Chip, monkeypatch: pytest.MonkeyPatch) -> None:
    operator = operators.operator_instance(
        "matmul", {"groups": 2**31 - 1, "m": 2**31 - 1, "k": 2**31 - 1, "n": 2**31 - 1}
    )
    real, planned = product.plan, []

    def plan(shape: Matmul, *rest: Any, **named: Any) -> TilePlan:
        planned.append(2 * (shape.inputs + shape.parameters + shape.outputs))
        return real(shape, *rest, **named)

    monkeypatch.setattr("podsim.tiles.product.plan", plan)
    with pytest.raises(Infeasible, match="operands and result take") as no:
        operators.report(operator, gc200, "16.16", 0.6)
    assert len(planned) <= 8, "smaller ones, to say what would fit"
    assert max(planned) <= gc200.sram_bytes
    assert "--groups" in no.value.hint


def test_the_same_question_gives_the_same_bytes() -> None:
    first, second = (podsim.op("matmul", m=1000, k=300, n=77) for _ in range(2))
    assert answer_document(first).json() == answer_document(second).json()
    assert render(view.document(first, verbose=True), Look(100)) == render(
        view.document(second, verbose=True), Look(100)
    )


def test_a_plan_is_made_once_and_found_in_the_cache_folder(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = podsim.op("matmul", m=200, k=300, n=400)
    assert len(list(own_cache.glob("*/*"))) == 1
    TABLES.clear()
    monkeypatch.setattr("podsim.tiles.product.plan", lambda *_, **__: pytest.fail("planned again"))
    assert podsim.op("matmul", m=200, k=300, n=400) == first


@pytest.mark.parametrize("state", ["a file", "garbage", "off", "absent", "below a file"])
def test_a_cache_folder_in_any_state_changes_nothing(
    state: str, own_cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = run(capsys, f"{FFN} --json")
    for path in own_cache.glob("*/*/*"):
        path.write_bytes(bytes(range(256)))
    if state in {"a file", "below a file"}:
        own_cache.rename(own_cache.with_name("moved"))
        own_cache.write_text("no folder")
    if state == "off":
        monkeypatch.setenv("PODSIM_CACHE", "")
    elif state != "garbage":
        monkeypatch.setenv("PODSIM_CACHE", str(own_cache / "below" if state != "a file" else own_cache))
    TABLES.clear()
    assert run(capsys, f"{FFN} --json") == expected


@pytest.mark.parametrize(
    ("operator", "sizes", "hint"),
    [
        ("matmul", {"m": 4097, "k": 4097, "n": 4097, "groups": 97}, "fits"),
        (  # a smaller image would be smaller than the kernel, fewer channels would not divide into the groups
            "conv",
            {"batch": 64, "size": 64, "in_channels": 4096, "out_channels": 4096, "kernel": 32, "channel_groups": 64},
            "cut the operator into smaller ones",
        ),
        ("gather", {"table": 30_000, "width": 10_000, "lookups": 2_000_000}, "fits"),
        ("softmax", {"rows": 2**31 - 1, "columns": 3}, "fits"),
    ],
)
def test_what_would_fit_is_found_in_few_tries(operator: str, sizes: dict[str, int], hint: str, gc200: Chip) -> None:
    request, tries = operators.operator_instance(operator, sizes), []
    kind = operators.KINDS[operator]

    def counted(*question: Any) -> Any:
        tries.append(question)
        return kind.plan(*question)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(operators.KINDS, operator, replace(kind, plan=counted))  # type: ignore[misc]
        with pytest.raises(Infeasible) as no:
            operators.report(request, gc200, "16.16", 0.1)
    assert hint in (no.value.hint or "")
    assert len(tries) <= 8
