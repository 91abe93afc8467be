"""`calibration/loss-laws.toml`: what `--law` knows."""

from collections.abc import Iterator

from podsim.errors import InputError
from podsim.files import find
from podsim.files.file_faults import Fault
from podsim.files.load import LoadedFile
from podsim.files.read import Document, document, read
from podsim.model.loss_laws import CriticalBatch, LossLaw, LossLaws


def law(name: str) -> tuple[LossLaw, CriticalBatch]:
    """The law of that name, and the critical batch; InputError where there is none."""
    laws = read(find.data_folder("calibration") / "loss-laws.toml", LossLaws, "losses", faults).value
    for law in laws.laws:
        if law.name == name:
            return law, laws.critical_batch
    raise InputError(
        f'there is no law "{name}"', code="bad-value", context=[f"known: {', '.join(item.name for item in laws.laws)}"]
    )


def of_loaded(file: LoadedFile) -> Document[LossLaws]:
    """The laws of a file that was read; InputError with every fault of the file."""
    return document(file, LossLaws, faults)


def faults(laws: LossLaws | None, _tables: object) -> Iterator[Fault]:
    """Numbers that no law has."""
    for at, law in enumerate(laws.laws if laws else ()):
        for key in ("model_scale", "model_exponent", "data_scale", "data_exponent", "optimal_tokens", "doubt"):
            if not getattr(law, key) > 0:
                yield Fault(("law", at, key), "must be above 0")
