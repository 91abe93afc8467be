"""Published training and inference results of whole models that need no model file of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.calibration.microbenchmarks.bench import from_rate
from podsim.calibration.microbenchmarks.rules import Rule, leave_out

if TYPE_CHECKING:
    from podsim.calibration.microbenchmarks.bench import Bench
    from podsim.model.microbenchmark import Microbenchmark

CONFORMER: Final = "^Conformer$"
ANCHOR: Final = "pod4"
ANCHOR_CHIP: Final = "gc200"
WHOLE: Final = "a whole model: podsim validate --published"
IPUS_PER_REPLICA: Final = 4  # graphcore-examples, speech/wenet_conformer: one pipeline of 4 IPUs per replica
STAGES: Final = 4


def _slots(row: Microbenchmark) -> int:
    """Micro-batches a replica runs between two updates, with the fill and drain of its pipeline."""
    replicas = row.whole("ipus") // IPUS_PER_REPLICA
    return row.whole("global_batch") // (row.whole("micro_batch") * replicas) + STAGES - 1


def _conformer(row: Microbenchmark, bench: Bench) -> float:
    """Samples/s where only the number of replicas changes: the time of a slot is that of the smallest machine.

    All-reduce, weight update and what the host does a step are not charged: parameters and lengths are not published.
    """
    anchor = next(other for other in bench.rows if other.what == row.what and other.shape.get("machine") == ANCHOR)
    slot_s = anchor.whole("global_batch") / anchor.value / _slots(anchor)
    return from_rate(row, row.whole("global_batch") / (slot_s * _slots(row)))


RULES = (
    Rule(
        category="train",
        what=CONFORMER,
        family="conformer",
        predict=_conformer,
        where=lambda row: row.chip == ANCHOR_CHIP and row.shape.get("machine") != ANCHOR,
    ),
    Rule(category="train", what=CONFORMER, where=lambda row: row.chip != ANCHOR_CHIP, reason=WHOLE),
    leave_out("train", CONFORMER, "sets the time of a micro-batch: the length of an utterance is not published"),
    leave_out("train|infer|other", "", "a ratio to other hardware or software, not a measurement", note="ratio|factor"),
    leave_out("train", "", "a comparator: no IPU", note="comparator"),
    leave_out("train|infer", "", WHOLE),
)
