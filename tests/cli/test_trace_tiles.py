"""Supersteps of one stage, tile by tile, as `podsim trace --level tile` writes and shows them."""

from pathlib import Path

import pytest
from cli.trace_format import check_format

import podsim
from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.model.chip import Chip
from podsim.model.program import Part
from podsim.model.tile_plan import Cohort, Superstep, TilePlan
from podsim.model.trace import Trace, TraceLevel
from podsim.model.workload import Pass
from podsim.predicting import tracing
from podsim.report import chrome_trace
from podsim.report.terminal import Look, render
from podsim.resolve import resolve
from podsim.scenario import Scenario
from podsim.studies.trace import report as view
from podsim.tiles.supersteps import total


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(argv)
    out, err = capsys.readouterr()
    return code, out, err


def plan(name: str) -> TilePlan:
    return TilePlan(
        operator=name,
        method="AMP 1x1",
        splits={"rows": 2, "outputs": 736},
        supersteps=(
            Superstep(name="inputs", phase="input", cohorts=(Cohort(tiles=1472, receive_bytes=4_000.0),)),
            Superstep(
                name="multiply",
                phase="multiply",
                cohorts=(Cohort(tiles=1000, compute_cycles=9_000.0), Cohort(tiles=400, compute_cycles=5_000.0)),
                repeat=2,
            ),
        ),
        flop=1e9,
        sram_bytes_per_tile={"weights": 1e5},
        tiles_used=1472,
    )


PLANS = [
    ("query", Pass.FORWARD, plan("query")),
    ("output", Pass.FORWARD, plan("output")),
    ("query", Pass.WEIGHT_GRADIENT, plan("query")),
]


@pytest.fixture(scope="module")
def traced() -> Trace:
    case = resolve(Scenario.of("bert", pod=16)).question
    mapping = podsim.predict("bert", pod=16).mapping
    return tracing.stage(case, mapping, 2, PLANS)


def test_supersteps_of_a_stage_follow_each_other(traced: Trace, gc200: Chip) -> None:
    one_s = total(PLANS[0][2].supersteps, gc200).total / gc200.clock_hz
    assert traced.level is TraceLevel.TILE
    assert traced.length_s == pytest.approx(3 * one_s, rel=1e-9)
    operators = [span for span in traced.spans if span.track == "operators"]
    assert [span.name for span in operators] == ["query", "output", "query"]
    assert [span.start_s for span in operators] == pytest.approx([0, one_s, 2 * one_s])
    supersteps = [span for span in traced.spans if span.track == "supersteps"]
    assert [span.name for span in supersteps] == ["inputs", "multiply"] * 3
    assert check_format(chrome_trace.text(traced))


def test_equal_tiles_have_a_track_of_their_own(traced: Trace) -> None:
    computing = [span for span in traced.spans if span.part is Part.COMPUTE]
    assert {span.track for span in computing} == {"equal tiles 1", "equal tiles 2"}
    assert {span.details["tiles"] for span in computing} == {"0 to 999", "1000 to 1399"}
    assert {span.group for span in traced.spans} == {"IPU 2 (stage 2)"}


@pytest.mark.parametrize("width", [60, 100, 160])
def test_the_screen_of_a_stage_ranks_its_operators(traced: Trace, width: int) -> None:
    text = render(view.document(traced, "stage.json"), Look(width))
    assert all(len(line) <= width for line in text.splitlines())
    assert "Operators by time" in text
    assert text.index("  output ") < text.index("  query ")
    assert "wrote stage.json" in text


def test_a_stage_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    mapping = podsim.predict("bert", pod=16).mapping
    assert tracing.stage_number(mapping, 4) == 4
    assert tracing.stage_number(mapping, None) in range(1, 5)
    code, out, err = run(capsys, "trace", "bert", "--pod", "16", "--level", "tile", "--stage", "9")
    assert (code, out) == (2, "")
    assert "stages 0 to 4" in err


@pytest.mark.slow
def test_full_fidelity_runs_every_tile_of_a_stage(gc200: Chip) -> None:
    """The same length as with equal tiles folded, and a track a tile; a stage of too many spans is refused."""
    folded, full = (
        podsim.trace("bert", pod=16, level="tile", stage=0, fidelity=fidelity) for fidelity in ("folded", "full")
    )
    assert full.length_s == pytest.approx(folded.length_s, rel=1e-9)
    tracks = {span.track for span in full.spans if span.part}
    assert tracks == {f"tile {tile}" for tile in range(gc200.tiles)}
    with pytest.raises(InputError, match="tile by tile") as caught:
        podsim.trace("bert", pod=16, level="tile", fidelity="full")
    assert caught.value.code == "too-large-to-draw"


@pytest.mark.parametrize("name", ["x.csv", "x.html", "trace.v2.CSV"])
def test_a_trace_under_the_name_of_another_format_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "bert", "--pod", "16", "-o", str(tmp_path / name)]) == 2
    err = capsys.readouterr().err
    assert "a trace is JSON" in err
    assert "json" in err.split("hint:")[1]
    assert not (tmp_path / name).exists()
