"""What holds for the plan of any operator that `podsim op` takes, whatever its sizes."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from podsim.engines.des import tile_simulation as tile_engine
from podsim.errors import Infeasible
from podsim.files import catalog
from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import TilePlan
from podsim.studies.op import one_operator as operators
from podsim.studies.op.one_operator import OperatorInstance
from podsim.tiles.supersteps import cycles, sram_rates, total

CHIPS = [catalog.chip(name).value for name in ("gc2", "gc200", "c600")]


def sizes(most: int) -> st.SearchStrategy[int]:
    """Sizes of every magnitude alike."""
    return st.integers(0, most).flatmap(lambda bits: st.integers(2**bits // 2 + 1, 2**bits))


@st.composite
def questions(draw: st.DrawFn) -> OperatorInstance:
    """Any operator, at sizes that mostly fit a chip."""
    operator = draw(st.sampled_from(tuple(operators.KINDS)))
    bits = {"matmul": 12, "conv": 6}.get(operator, 14)
    kind = operators.KINDS[operator]
    table: dict[str, int | str] = {name: draw(sizes(bits)) for name in kind.counts}
    table |= {name: draw(st.sampled_from(words)) for name, words in kind.choices.items()}
    for name, (choice, word) in operators.ONLY.get(operator, {}).items():
        if table[choice] != word:
            table[name] = 1
    multiples, limits = operators.RULES.get(operator, ((), ()))
    for name, of in multiples:
        table[name] = int(table[name]) * int(table[of])
    for name, of in limits:
        table[name] = min(int(table[name]), int(table[of]))
    return operators.operator_instance(operator, table)


@st.composite
def plans(draw: st.DrawFn) -> tuple[TilePlan, Chip]:
    """A plan that fits, and the chip it is for."""
    question, chip = draw(questions()), draw(st.sampled_from(CHIPS))
    precision = draw(st.sampled_from(sorted(chip.amp.flop_per_cycle)))
    share = draw(st.sampled_from((0.1, 0.6, 1.0)))
    try:
        return operators.KINDS[question.operator].plan(question, chip, Precision(precision), share), chip
    except Infeasible:
        assume(False)
        raise


@given(plans())
def test_no_plan_that_fits_beats_the_chosen_one(planned):
    plan, chip = planned
    own = total(plan.supersteps, chip).total
    compared = [other for other in plan.alternatives if "before copies" not in other.why]
    fitting = [other for other in compared if "fit" not in other.why]
    assert all(other.cycles >= own * (1 - 1e-9) for other in fitting)


@given(plans())
def test_no_vertex_asks_for_more_than_the_sram_of_a_shipped_chip_delivers(planned):
    """Instructions bind, not the memory: what a tile loads and stores is counted as its vertices issue it."""
    plan, chip = planned
    load, store = sram_rates(chip)
    for step in plan.supersteps:
        for cohort in step.cohorts:
            served = max(cohort.load_bytes / load, cohort.store_bytes / store)
            assert served <= cohort.compute_cycles * (1 + 1e-9)


@given(plans(), st.floats(0.05, 2))
def test_the_simulated_chip_waits_for_sram_as_the_sum_of_supersteps_does(planned, share):
    plan, chip = planned
    slower = replace(chip, sram=replace(chip.sram, bandwidth_bytes_per_s=share * chip.sram_bytes_per_s))
    assert tile_engine.run(plan, slower).total_cycles == pytest.approx(total(plan.supersteps, slower).total, rel=1e-9)


@st.composite
def machines(draw: st.DrawFn) -> tuple[Callable[[Chip], float], Chip, float]:
    """Seconds of an operator that fits a chip, the chip, and a factor above 1."""
    question, chip = draw(questions()), draw(st.sampled_from(CHIPS))
    precision = Precision(draw(st.sampled_from(sorted(chip.amp.flop_per_cycle))))

    def seconds(on: Chip) -> float:
        planned = operators.KINDS[question.operator].plan(question, on, precision, 0.6)
        return total(planned.supersteps, on).total / on.clock_hz

    try:
        seconds(chip)
    except Infeasible:
        assume(False)
    return seconds, chip, draw(st.floats(1, 4))


@given(machines())
def test_a_faster_clock_exchange_or_sram_is_never_slower(machine):
    seconds, chip, by = machine
    exchange = replace(chip.exchange, bandwidth_bytes_per_s=by * chip.exchange_bytes_per_s)
    sram = replace(chip.sram, bandwidth_bytes_per_s=by * chip.sram_bytes_per_s)
    for faster in (
        replace(chip, clock_hz=by * chip.clock_hz),
        replace(chip, exchange=exchange),
        replace(chip, sram=sram),
    ):
        assert seconds(faster) <= seconds(chip) * (1 + 1e-9)


@given(machines())
def test_more_tiles_are_not_slower_but_by_how_operands_are_spread(machine):
    """The operands of a norm lie on all tiles there are: more tiles hold more partial sums, a quarter at most.

    A large product gives the field all tiles that its other splits leave, so that a plan for fewer may be missed.
    """
    seconds, chip, by = machine
    assert seconds(replace(chip, tiles=int(by * chip.tiles))) <= 1.3 * seconds(chip)


@given(plans())
def test_no_operator_beats_the_peak_and_its_parts_add_up(planned):
    plan, chip = planned
    whole = total(plan.supersteps, chip)
    assert plan.flop <= whole.total * chip.tiles * max(chip.amp.flop_per_cycle.values())
    assert whole.total == pytest.approx(sum(cycles(step, chip).total for step in plan.supersteps), rel=1e-12)
    assert min(whole.compute, whole.exchange, whole.sync) >= 0
    assert 0 < plan.tiles_used <= chip.tiles
