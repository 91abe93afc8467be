"""Weights and caches that come from streaming memory for every batch, before the turn that needs them."""

from podsim.lowering.pipeline import Pipeline
from podsim.model.inference import ServedState
from podsim.model.program import Block, Part, Task, TaskKind
from podsim.tiles.memory import streamed_bytes


def before(pipeline: Pipeline, blocks: tuple[Block, ...], state: ServedState) -> tuple[Block, ...]:
    """The turns of a forward pass, each after what its IPUs read from streaming memory (Eq. 87).

    Parameters: `pipeline` of the pass; `blocks`, its turns; `state`, which of weights, keys and values are streamed.
    Result: the turns, each after a block of flows [B] to the IPUs that compute in it, where these stream anything.

    Equation: weights of an IPU + keys and values of a batch, in bytes, over its share of DDR (Eq. 12), in every turn.
    Validity: turns separated by barriers, since a block is loaded once for each of its repeats; reading and computing
    do not overlap. Source: datasheet-m2000 for DDR; what is read when is podsim's own assumption (Eq. 87 of the model).
    """
    return tuple(load for block in blocks for load in (*_loads(pipeline, block, state), block))


def _loads(pipeline: Pipeline, block: Block, state: ServedState) -> tuple[Block, ...]:
    working = sorted({task.where for task in block.tasks if task.kind is TaskKind.COMPUTE})
    tasks = []
    for where in working:
        ipu = where % pipeline.mapping.ipus_per_replica
        volume = streamed_bytes(pipeline.workload, pipeline.mapping, ipu, state)
        if volume:
            flows = pipeline.state(where, volume)
            tasks.append(Task(TaskKind.HOST, "load from DDR", where, (), flows=flows, part=Part.STREAMING))
    return (Block("load from DDR", tuple(tasks), block.repeat),) if tasks else ()
