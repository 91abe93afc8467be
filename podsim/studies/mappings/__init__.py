"""The mappings that fit, ranked (`podsim workload map`)."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.verb import Verb

COMMANDS: Final = ()
VERBS: Final = {
    "mappings": Verb(
        "study",
        (
            a.WORKLOAD,
            *a.ON_MACHINE,
            *a.SPLIT,
            a.SAMPLES,
            a.SDK,
            *a.CONFIGURATION,
            *a.LENGTH,
            a.ON_PROGRESS,
            a.choice(
                "by",
                "time throughput",
                "Time to train, or samples per second, which takes no length of a run.",
                default="time",
            ),
            a.count("most", "Show so many.", high=1000, default=20),
        ),
    ),
}
