"""The duration of a run with failures."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.verb import ASK, Command, Verb

COMMANDS: Final = (
    Command(
        "goodput",
        "duration of a run with failures, and the best checkpoint interval",
        ASK,
        5,
        about="Simulate failures over a long run: when it ends, the useful share of the time, the best checkpoint "
        "interval.\n\nNo failure rates of IPU systems are published. Those in calibration/failures.toml are assumed; "
        'replace them with --set failures.ipu.mtbf="5 y".',
        progress="weighing mappings",
        reads_models=True,
        saves=True,
    ),
)
VERBS: Final = {
    "goodput": Verb(
        "study",
        (
            a.WORKLOAD,
            *a.MAPPING_ARGUMENTS,
            a.SAMPLES,
            *a.LENGTH,
            a.FAULTS,
            a.ON_PROGRESS,
            a.WORK._replace(group="failures"),
            a.CHECKPOINT_EVERY._replace(group="failures"),
            a.from_zero(
                "spares", "Machines that stand by for one that fails.", high=10_000, default=0, group="failures"
            ),
            a.count(
                "runs",
                "Histories to simulate [default: 1,000, more where failures are rare, fewer where they are frequent].",
                multiples=True,
                group="failures",
            ),
            a.SEED._replace(help="Seed of the failures.", group="failures"),
        ),
    ),
}
