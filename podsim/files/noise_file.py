"""`calibration/noise.toml`: read with what-ifs, and written by `podsim calibrate --noise`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from podsim.errors import MissingParameter
from podsim.files import changes as what_if
from podsim.files import find
from podsim.files.changes import Changes
from podsim.files.contents import is_there
from podsim.files.file_faults import Fault
from podsim.files.load import SCHEMAS, LoadedFile
from podsim.files.read import Document, document, read
from podsim.model.noise import Noise
from podsim.units import spell

PREFIX: Final = "noise."
MOST_JITTER: Final = 100.0
MOST_HICCUP_S: Final = 86400.0
LEAST_BETWEEN_S: Final = 1e-3
NOTES: Final = {
    "ipu.jitter": "upper bound: the most that the steadiest submission allows if its steps vary for no other reason; "
    "a barrier shows the slowest IPU alone, so how much one IPU varies cannot be told from the logs",
    "host.jitter": "median over the submissions of what IPUs leave of the variance, for the slowest host of the run; "
    "the logs time blocks of 32 to 700 steps, so it is bounded as if steps varied independently",
    "host.hiccup_every": "blocks per second and five deviations too long less those too short, by hours of server; "
    "a handful of events, so good to a factor of two; an IPU that straggles once looks the same in a log",
    "host.hiccup_size": "mean excess of the same blocks; what lasts less than a second is jitter here",
    "run.spread": "root mean square of step_spread over the submissions; holds the drift within a run too",
}


def path() -> Path:
    """Where the noise of the published runs stands."""
    return find.data_folder("calibration") / "noise.toml"


def noise(changes: Changes = ()) -> Document[Noise]:
    """The noise of the published runs, with those changes whose path begins with "noise.".

    Raises MissingParameter: there is no such file. InputError: it has faults, or a change has.
    """
    if not is_there(path()):
        raise MissingParameter(f"no noise model: {path().name}", hint="podsim calibrate --noise")
    return what_if.of_prefix(read(path(), Noise, "noise", faults), Noise, changes, PREFIX, faults)


def of_loaded(file: LoadedFile) -> Document[Noise]:
    """How steps vary, of a file that was read; InputError with every fault of the file."""
    return document(file, Noise, faults)


def faults(noise: Noise | None, _tables: object) -> Iterator[Fault]:
    """Delays beyond anything that is still noise."""
    if noise is None:
        return
    limits = (
        (("ipu", "jitter"), noise.ipu.jitter, MOST_JITTER),
        (("host", "jitter"), noise.host.jitter, MOST_JITTER),
        (("host", "hiccup_size"), noise.host.hiccup_size_s, MOST_HICCUP_S),
        (("host", "hiccup_every"), LEAST_BETWEEN_S / noise.host.hiccup_every_s, 1.0),
        (("run", "spread"), noise.run.spread, 1.0),
    )
    yield from (Fault(place, "is more than noise") for place, value, most in limits if value > most)


def text(noise: Noise) -> str:
    """The noise as TOML: the same text for the same noise."""
    host = noise.host
    tables = {
        "ipu": {"jitter": repr(noise.ipu.jitter)},
        "host": {
            "jitter": repr(host.jitter),
            "hiccup_every": f'"{spell(host.hiccup_every_s, "s")}"',
            "hiccup_size": f'"{spell(host.hiccup_size_s, "s")}"',
        },
        "run": {"spread": repr(noise.run.spread)},
    }
    lines = [
        "# Written by podsim calibrate --noise from calibration/blocks.csv, which is the only thing that changes it.",
        f'schema  = "{SCHEMAS["noise"]}"',
        'source  = "mlperf-training-v1-1"',
        'locator = "times of the training blocks in all result logs; those of v1.0 too (mlperf-training-v1-0)"',
    ]
    for table, values in tables.items():
        lines += ["", f"[{table}]"]
        for key, value in values.items():
            lines.append(f'{key} = {{ value = {value}, kind = "derived", note = "{NOTES[f"{table}.{key}"]}" }}')
    return "\n".join(lines) + "\n"
