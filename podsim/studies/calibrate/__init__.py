"""Free parameters fitted to published or own results."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.verb import KEEP, Command, Verb

COMMANDS: Final = (
    Command(
        "calibrate",
        "fit the free parameters to the published results",
        KEEP,
        15,
        "calibrate_command:calibrate",
    ),
)
VERBS: Final = {
    "calibrate": Verb(
        "study",
        (
            a.choice(
                "hold_out",
                "machine round workload larger chip none",
                "What is left out of the fit, one after the other.",
                default="machine",
            ),
            *a.FIT,
            a.ON_PROGRESS,
        ),
    ),
    "calibrate_own": Verb(
        "study",
        (
            a.file("logs", "MLPerf result logs in any layout below a folder; docs/how-to/own-logs.md.", "DIR"),
            a.file("points", "Calibration points instead, as --points-out writes them.", "FILE|DIR"),
            a.TOPOLOGY._replace(help="The machine of all the logs, where they do not say."),
            a.texts("presets", "Published mapping or configuration that was followed, repeatable.", "NAME"),
            a.IPUS_PER_REPLICA._replace(help="IPUs of one copy of the model."),
            a.SDK._replace(help="Poplar SDK of the runs.", metavar="NAME"),
            a.switch("alone", "Leave the published points out."),
            a.file("out", "Write the parameters here instead."),
            a.file("points_out", "Write the points here."),
            a.ON_PROGRESS,
        ),
    ),
    "calibrate_noise": Verb("study", a.FIT),
    "calibrate_comparators": Verb("study", (*a.FIT, a.ON_PROGRESS)),
    "calibrate_frameworks": Verb("study", (*a.FIT, a.ON_PROGRESS)),
    "calibrate_compile_times": Verb("study", a.FIT),
}
