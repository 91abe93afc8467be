"""What IPUs do in a step, as far as their power depends on it."""

from dataclasses import dataclass, replace

from podsim.model.chip import Precision


@dataclass(frozen=True, slots=True, kw_only=True)
class StepActivity:
    """Mean of all IPUs of a machine over one step, those without work included.

    `flop_per_s` are matrix products of `precision`, padding not counted [FLOP/s]. `matrix` is the share of time that
    they take at the AMP's peak, `vector` that of vector code and of what products need beyond it, `exchange` that of
    the exchange on the chip. In the rest the tiles wait: for links, hosts, other stages, and in sync.
    """

    precision: Precision
    flop_per_s: float
    matrix: float
    vector: float
    exchange: float

    def where_share_works(self, share: float) -> "StepActivity":
        """The mean of a machine of which only that share of IPUs, from 0 to 1, does this; the rest has no work."""
        return replace(
            self,
            flop_per_s=self.flop_per_s * share,
            matrix=self.matrix * share,
            vector=self.vector * share,
            exchange=self.exchange * share,
        )

    @property
    def idle(self) -> float:
        """Share of the step in which tiles wait."""
        return max(0.0, 1 - self.matrix - self.vector - self.exchange)
