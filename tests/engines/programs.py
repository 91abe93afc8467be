"""Programs made by hand or drawn, to run on links without a machine around them."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from podsim.model.program import Block, Flow, Part, StepProgram, Task, TaskKind

SECONDS = st.sampled_from([0.0, 1.0]) | st.floats(0.0, 10.0)
VOLUMES = st.sampled_from([0.0, 10.0]) | st.floats(1.0, 100.0)
CAPACITIES = st.sampled_from([10.0]) | st.floats(1.0, 20.0)


class Links:
    """Links of these capacities, and nothing else of a machine."""

    def __init__(self, capacities):
        self.capacities = capacities


def task(fixed_s=0.0, *flows, needs=(), repeat=1):
    """A transfer of these flows after a latency, or a duration."""
    kind = TaskKind.TRANSFER if flows else TaskKind.SYNC
    return Task(kind, "task", -1, ((Part.SYNC, fixed_s),), needs, flows=flows, part=Part.TRANSFER, repeat=repeat)


def changed(item, *, needs=None, flows=None, fixed_s=None):
    """The same task but for what is given."""
    return task(
        item.fixed_s if fixed_s is None else fixed_s,
        *(item.flows if flows is None else flows),
        needs=item.needs if needs is None else needs,
        repeat=item.repeat,
    )


def step(*blocks):
    """A program of these blocks, each a sequence of tasks."""
    return StepProgram(
        blocks=tuple(Block(f"block {number}", tuple(tasks), pipeline=True) for number, tasks in enumerate(blocks)),
        ipus=1,
        micro_batches=1,
        steady=((Part.COMPUTE, 0.0),),
    )


def run(engine, tasks, capacities, **options):
    """The timeline of one block of tasks on links of these capacities."""
    return engine.run(step(tasks), Links(capacities), **options)


def ends(timeline):
    """When each task ended [s]."""
    return [span.end_s for span in timeline.spans]


# Strategies are made once: to make and check one takes longer than to draw from it.


@cache
def flow_groups(links, most=4):
    """Flows over these links; a route may come back to one, a flow may have nothing to move."""
    routes = st.lists(st.sampled_from(links), min_size=1, max_size=4).map(tuple)
    flow = st.builds(Flow, routes, VOLUMES, st.integers(1, 3))
    return st.lists(flow, min_size=1, max_size=most).map(tuple)


@cache
def some_flows(links):
    """A group of flows, or none."""
    return st.just(()) | flow_groups(links)


@cache
def earlier(number):
    """Up to three of the first so many tasks."""
    return st.sets(st.integers(0, number - 1), max_size=3).map(sorted).map(tuple) if number else st.just(())


@cache
def capacities_of(least, most):
    """Capacities of so many links."""
    return st.lists(CAPACITIES, min_size=least, max_size=most)


@st.composite
def programs(draw, *, own_links=False, most_repeats=3):
    """Up to ten tasks that need earlier ones, and links; with `own_links` no two tasks share one."""
    count = draw(st.integers(1, 10))
    each = 2 if own_links else 0
    capacities = draw(capacities_of(each * count or 1, each * count or 5))
    tasks = []
    for number in range(count):
        flows = draw(some_flows(range(2 * number, 2 * number + 2) if own_links else range(len(capacities))))
        needs = draw(earlier(number))
        tasks.append(task(draw(SECONDS), *flows, needs=needs, repeat=draw(st.integers(1, most_repeats))))
    return tasks, capacities


@st.composite
def rounds(draw):
    """Rounds with a barrier after each, in which groups start together on links that they share; and the links."""
    capacities = draw(st.lists(CAPACITIES, min_size=1, max_size=5))
    result = draw(
        st.lists(st.lists(flow_groups(range(len(capacities))), min_size=1, max_size=3), min_size=1, max_size=4)
    )
    return [(draw(SECONDS), groups) for groups in result], capacities


def in_rounds(result):
    """The tasks of `rounds`: in each the groups after one latency, then a task that needs them all."""
    tasks, before = [], ()
    for latency_s, groups in result:
        first = len(tasks)
        tasks += [task(latency_s, *flows, needs=before) for flows in groups]
        before = (len(tasks),)
        tasks.append(task(0.0, needs=tuple(range(first, len(tasks)))))
    return tasks
