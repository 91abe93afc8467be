"""The one interface through which an operator's time on a chip is asked: the cycles of its plans over the clock."""

from dataclasses import dataclass

from podsim.model.program import Part, TimeByPart
from podsim.model.workload import Operator, Pass
from podsim.tiles.planner import Planner
from podsim.tiles.supersteps import TileEngine


@dataclass(frozen=True, slots=True)
class TileCost:
    """Seconds of one operator by what they are spent on.

    `idle_s` are those of them that the mean tile waits for others; 0 where no simulation of the tiles says so.
    `matrix_flop` is what the AMP does in them, padding not counted [FLOP].
    """

    compute_s: float = 0.0
    exchange_s: float = 0.0
    sync_s: float = 0.0
    idle_s: float = 0.0
    matrix_flop: float = 0.0

    def __add__(self, other: "TileCost") -> "TileCost":
        return TileCost(
            self.compute_s + other.compute_s,
            self.exchange_s + other.exchange_s,
            self.sync_s + other.sync_s,
            self.idle_s + other.idle_s,
            self.matrix_flop + other.matrix_flop,
        )

    @property
    def total_s(self) -> float:
        """Time of the program: compute, exchange and sync [s]."""
        return self.compute_s + self.exchange_s + self.sync_s

    @property
    def cut(self) -> TimeByPart:
        """The seconds by part of a step."""
        return ((Part.COMPUTE, self.compute_s), (Part.EXCHANGE, self.exchange_s), (Part.SYNC, self.sync_s))


@dataclass(frozen=True, slots=True)
class Rates:
    """What operators are planned for, and how much longer complete programs take than their plans.

    `tiles` runs the supersteps of plans as events; without it the closed form gives their cycles.
    """

    planner: Planner
    stretch: float
    tiles: TileEngine | None = None


def cost(operator: Operator, run: Pass, rows: int, rates: Rates) -> TileCost:
    """Time of one pass of an operator over `rows` rows [s].

    Parameters: `operator`; `run`, which pass of it, where recomputation is another forward; `rows`, those of a
    micro-batch; `rates`, the planner of a chip, the program stretch, with that of the release and of own runs, and for
    simulated tiles their engine. Result: seconds by part, those that the mean tile waits, and the arithmetic of the AMP
    [FLOP], which is not stretched. Errors: `Infeasible` where no plan fits a tile.

    Equation: cycles of the plans × stretch / clock (Eq. 1). Validity: one stretch for all operators, fitted to complete
    steps of BERT and ResNet-50. Source: calibration/parameters.toml for the stretch, ipu-stack for its prior.
    """
    each_s = rates.stretch / rates.planner.target.chip.clock_hz
    pass_cost = rates.planner.pass_cost(operator, run, rows)
    if rates.tiles is None:
        cycles, idle = pass_cost.cycles, 0.0
    else:
        ran = rates.planner.as_run(operator, run, rows, rates.tiles)
        cycles, idle = ran.cycles, ran.idle
    return TileCost(
        cycles.compute * each_s, cycles.exchange * each_s, cycles.sync * each_s, idle * each_s, pass_cost.matrix_flop
    )
