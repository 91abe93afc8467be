"""Sweeps over grids that IPUs share: closed forms, what is refused, and the same answer everywhere it is asked."""

import json
import math

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.errors import Infeasible, InputError
from podsim.files import catalog
from podsim.predicting import stencils
from podsim.report.digits import round_floats
from podsim.studies.documents import answer_document
from podsim.tiles import stencil_sweep as tiles
from podsim.tiles.supersteps import total
from podsim.topology.build import build

GC200 = catalog.chip("gc200").value


def report(name, grid, pod=1):
    machine = catalog.pod(pod, "gc200").value
    return stencils.report(stencils.by_name(name), grid, machine, build(machine))


def test_stars_read_their_neighbours_and_themselves_and_write_one():
    assert [
        (stencil.accesses, stencil.flop) for stencil in stencils.STENCILS.values() if stencil.name != "aliev-panfilov"
    ] == [
        (6, 6),
        (8, 8),
        (14, 14),
        (15, 15),
    ]


def test_operations_of_aliev_panfilov():
    """Of its equations with constants folded: the star, the two reactions; one quotient."""
    star = 5 + 2  # w + e - 4 c + n + s is four and the product; times the diffusion, added
    first = 9  # k e, e - a, two products, e - 1, e r, their sum, times dt, taken off
    second = (
        12  # m r, e + m, quotient, + epsilon, times dt; k e, e - (b + 1), product, + r, negated with it, product, added
    )
    stencil = stencils.STENCILS["aliev-panfilov"]
    assert stencil.flop == star + first + second
    assert (stencil.divisions, stencil.fields) == (1, 3)


def test_arithmetic_holds_a_point_up_only_where_there_is_more_of_it_than_accesses():
    def cycles(**more):
        return total(tiles.plan((1472, 600), GC200, **more).supersteps, GC200).compute

    assert cycles() == cycles(flop=6) == cycles(flop=1)
    thread = 600 / 6 * 6  # cycles of a tile for one instruction a point: six threads take turns
    assert cycles(flop=28) - cycles(flop=18) == pytest.approx(10 * thread)
    assert cycles(flop=28, divisions=2) - cycles(flop=28) == pytest.approx(2 * 4 * thread)


def test_fields_lie_on_the_tiles():
    two, three = (tiles.plan((1472, 600), GC200, fields=fields).sram_bytes_per_tile for fields in (2, 3))
    assert three["points"] == 1.5 * two["points"]


def test_one_ipu_has_no_halos_and_all_others_those_of_their_slabs():
    alone, shared = report("heat-2d", (8000, 8000)), report("heat-2d", (16000, 8000), 2)
    assert alone.links_s == 0
    assert shared.links_s > 0
    assert shared.sweep_s == pytest.approx(alone.sweep_s + shared.links_s, rel=1e-12)
    assert shared.flop_per_s == pytest.approx(16000 * 8000 * 6 / shared.sweep_s)


def test_a_halo_takes_its_bytes_over_the_links_between_neighbours():
    short, long = (report("heat-2d", (64, width), 4) for width in (100_000, 600_000))
    machine = catalog.topology("m2000").value
    slowest = min(machine.links["ipu-link"].bandwidth_bytes_per_s * count for count in (1, 2, 3))
    assert 0 < long.links_s - short.links_s <= 500_000 * 4 / slowest * 1.05


@pytest.mark.parametrize("name", stencils.STENCILS)
def test_published_rows_are_predicted_by_what_answers(name):
    grid = (200,) * stencils.STENCILS[name].dimensions
    stencil = podsim.stencil(name, grid="x".join(map(str, grid)))
    assert stencil.published
    for comparison in stencil.published:
        edges = stencils.edges(comparison.row.shape["grid"], stencil.stencil)
        again = report(name, edges, int(comparison.row.shape.get("ipus", 1)))
        rate = again.points_per_s / 1e9 if comparison.row.unit == "Gpoint/s" else again.flop_per_s / 1e12
        # Rows of two to eight IPUs are predicted on the links of a POD16, whose ladder is longer.
        assert comparison.predicted == pytest.approx(rate, rel=0.03)


@pytest.mark.parametrize(("text", "edges"), [("8x9", (8, 9)), ("8^2", (8, 8))])
def test_grids(text, edges):
    assert stencils.edges(text, stencils.STENCILS["heat-2d"]) == edges


@pytest.mark.parametrize(
    "text", ["", "8", "8x", "8x8x8", "8^3", "-8x8", "8.5x8", "0x8", "9^²", "99999999x99999999", "8^99999"]
)
def test_grids_that_cannot_be(text):
    with pytest.raises(InputError, match="--grid"):
        stencils.edges(text, stencils.STENCILS["heat-2d"])


def test_refusals():
    with pytest.raises(InputError, match="rows cannot be cut"):
        report("heat-2d", (8, 8), 16)
    with pytest.raises(InputError, match="one rack"):
        report("heat-2d", (8000, 8000), 128)
    with pytest.raises(Infeasible, match="heat-3d needs"):
        report("heat-3d", (2000, 2000, 2000))


def test_the_command_prints_what_the_function_returns(capsys):
    assert main(["stencil", "wave-3d", "--grid", "225^3", "--pod", "4", "--json"]) == 0
    details = json.loads(capsys.readouterr().out)
    report = podsim.stencil("wave-3d", grid="225^3", pod=4)
    assert details["schema"] == "podsim.stencil/1"
    assert details["sweep_s"] == round_floats(report.sweep_s)
    assert report.sweep_s == pytest.approx(sum(details["breakdown_s"].values()))
    assert details["points_per_s"] == round_floats(math.prod(report.grid) / report.sweep_s)
    body = answer_document(report).tree()
    assert {key: details[key] for key in ("stencil", "grid", "published")} == {
        key: body[key] for key in ("stencil", "grid", "published")
    }
