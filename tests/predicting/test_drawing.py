"""Timelines as spans: nothing is lost between a program and its drawing."""

from __future__ import annotations

import pytest

from podsim.engines.des import step_simulation
from podsim.model.program import Block, Flow, Part, Record, StepProgram, Task, TaskKind
from podsim.predicting import drawing
from podsim.predicting.link_loads import Links, loads
from podsim.topology.network import FabricLink


class Wires:
    """Links of 10 B/s and 20 B/s."""

    capacities = (10.0, 20.0)

    @staticmethod
    def link(number: int) -> FabricLink:
        return FabricLink(f"a{number}->b", f"a{number}", "b", Wires.capacities[number])


def step_of(name: str, where: tuple[int, ...], *needs: int, repeat: int = 1) -> Task:
    cut = ((Part.ALL_REDUCE, 0.5),)
    flows = tuple(Flow((link,), 20.0) for link in where)
    return Task(TaskKind.TRANSFER, name, -1, cut, needs, flows, Part.ALL_REDUCE, repeat)


PROGRAM = StepProgram(
    blocks=(
        Block("turn", (step_of("one by ring", (0,)),), repeat=3),
        Block("end", (step_of("two by tree", (0, 1), repeat=2), step_of("last by ring", (1,), 0)), after=1),
    ),
    ipus=1,
    micro_batches=3,
    steady=(),
)


def drawn(program: StepProgram, most: int = 1000, paces: tuple[float, ...] = (1.0,)) -> drawing.Drawing:
    timeline = step_simulation.run(program, Wires(), record=Record.LOADS)
    return drawing.Drawing(drawing.runs(program, timeline), drawing.of_machine, paces, most)


def test_equal_steps_become_tasks_that_end_when_all_did() -> None:
    split = drawing.apart(PROGRAM)
    assert [len(block.tasks) for block in split.blocks] == [1, 3]
    assert split.blocks[1].after == 1
    assert [task.needs for task in split.blocks[1].tasks] == [(), (0,), (1,)]
    assert step_simulation.run(split, Wires()).step_s == pytest.approx(
        step_simulation.run(PROGRAM, Wires()).step_s, rel=1e-12
    )


def test_more_equal_steps_than_stated_stay_one_span() -> None:
    many = StepProgram(
        blocks=(Block("all", (step_of("x by ring", (0,), repeat=drawing.APART + 1),)),),
        ipus=1,
        micro_batches=1,
        steady=(),
    )
    assert drawing.apart(many) == many
    (span,) = (span for span in drawn(many).spans if span.group == drawing.COLLECTIVES)
    assert span.details["steps"] == drawing.APART + 1
    assert span.details["bytes"] == 20.0 * (drawing.APART + 1)
    assert (span.details["phase"], span.details["algorithm"]) == ("x", "ring")


def test_repeated_blocks_are_drawn_one_after_the_other() -> None:
    starts = [span.start_s for span in drawn(PROGRAM).spans if span.name == "one by ring"]
    assert starts == pytest.approx([0.0, 2.5, 5.0])
    assert drawn(PROGRAM).length_s == pytest.approx(3 * 2.5 + 2 * 2.5 + 1.5)


def test_a_slower_step_is_stretched_and_the_next_follows() -> None:
    result = drawn(PROGRAM, paces=(1.0, 2.0))
    once = drawn(PROGRAM).length_s
    steps = [span for span in result.spans if span.name.startswith("step ")]
    assert [span.start_s for span in steps] == pytest.approx([0.0, once])
    assert [span.end_s for span in steps] == pytest.approx([once, 3 * once])


@pytest.mark.parametrize("most", [6, 7, 8, 9, 10, 11])
def test_exactly_so_many_spans_are_drawn(most: int) -> None:
    whole, result = drawn(PROGRAM), drawn(PROGRAM, most)
    assert len(whole.spans) == 1 + 3 * 2 + 3
    assert len(result.spans) == min(most, len(whole.spans))
    left = sum(int(span.details["spans"]) for span in result.spans if span.track == drawing.LEFT_OUT)
    assert len(result.spans) - bool(left) + left == len(whole.spans)


def test_the_load_of_a_link_holds_all_its_bytes_and_ends_at_nothing() -> None:
    timeline = step_simulation.run(PROGRAM, Wires(), record=Record.LOADS)
    result = drawn(PROGRAM)
    links = loads(timeline.links, Links(Wires.link, lambda _: "wire"), result, 1000)
    assert [link.moved_bytes for link in links] == pytest.approx([100.0, 60.0])
    for link in links:
        pairs = zip(link.changes, link.changes[1:], strict=False)
        assert sum(rate * (after - at) for (at, rate), (after, _) in pairs) == pytest.approx(link.moved_bytes)
        assert (link.changes[0], link.changes[-1][1]) == ((0.0, 0.0), 0.0)
    assert not loads(timeline.links, Links(Wires.link, lambda _: "wire"), result, 5)[0].changes


def test_messages_beside_too_many_others_are_counted() -> None:
    tasks = tuple(step_of(f"m{at} by ring", (0,)) for at in range(drawing.MOST_LANES + 3))
    result = drawn(StepProgram(blocks=(Block("all", tasks),), ipus=1, micro_batches=1, steady=()))
    assert len([span for span in result.spans if span.group == drawing.COLLECTIVES]) == drawing.MOST_LANES
    assert [*map(str, result.notes)] == ["3 spans are left out where more than 16 of a track overlap"]
