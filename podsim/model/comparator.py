"""Machines that IPU systems are compared with: published results of other chips."""

from dataclasses import dataclass

from podsim.model.training import Division


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorResult:
    """One published result of another chip, as its logs and its system description have it; None where they are silent.

    `minutes` is the official score, `measured_minutes` what the clock read. `samples_per_s` leaves evaluations out,
    `steady_samples_per_s` warm-up and checkpoints too; `overall_samples_per_s` is samples over the whole run. Seconds
    of evaluations, training blocks and start-up are means over runs.
    """

    id: str
    round: str
    division: Division
    submitter: str
    system: str
    chip: str
    accelerator: str
    interconnect: str
    chips: int
    nodes: int
    servers: int
    workload: str
    optimizer: str
    software: str
    global_batch: int
    runs: int
    minutes: float
    measured_minutes: float
    minutes_std: float | None
    samples_to_converge: float | None
    samples_std: float | None
    epochs: float | None
    samples_per_s: float | None
    steady_samples_per_s: float | None
    overall_samples_per_s: float | None
    step_s: float | None
    evaluations: float | None
    evaluation_s: float | None
    startup_s: float | None
    train_s: float | None
    samples_scaling: float
    samples_basis: str
    status: str
    source: str
    locator: str
