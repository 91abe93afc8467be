"""The keys of `podsim calibrate --json`; errors are fractions."""

from typing import Final

from podsim.report.json_document import JsonDocument
from podsim.studies.calibrate import own_verdict

FIT: Final = JsonDocument("fit")
NOISE: Final = JsonDocument("noise-fit", {"NoiseFit": "noise~ submissions~ path"})
FRAMEWORKS: Final = JsonDocument("frameworks", {"FrameworkFit": "costs groups frameworks=by_framework path"})
COMPILE_TIMES: Final = JsonDocument(
    "compile_times",
    {"StartFit": "times form scatter families=by_family networks=by_network left_out{row,reason} path"},
)
OWN_LOGS: Final = JsonDocument(
    "own-logs",
    {"OwnLogsReport": "* warnings measure_next"},
    {"OwnLogsReport.warnings": own_verdict.warnings, "OwnLogsReport.measure_next": own_verdict.measure_next},
    rows="predictions",
)
"""`warnings` has what speaks against the fit, `measure_next` which runs would tell the causes apart."""
