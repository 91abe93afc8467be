"""Inputs and calibration of an answer, for screens and for programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from podsim import units
from podsim.errors import InputError
from podsim.files import find, inputs
from podsim.files.changes import HOSTS_PATH
from podsim.files.contents import text_of
from podsim.report import numbers
from podsim.report.doc import Doc, Note, Tone
from podsim.report.handout import Handout, with_title

BIT_RATE: Final = re.compile(r"(?<=[\d ])[kMGT]?i?bit/s")
ONE_CASE: Final = "compare"
"""The command that answers about a change or a fault beside a machine without it."""
MAPPING: Final = ("replicas", "ipus_per_replica", "micro_batch", "accumulation", "global_batch")
"""Flags of the mapping, which is searched otherwise."""
OF_MAPPING: Final = ("predict", "explain", "scale", "goodput")
"""Commands that search a mapping of one run, of which flags override the split of the IPUs."""
OVERRIDES: Final = ("schedule", "prefetch", "framework", "overlap", "io_tiles", "hosts", "sdk", "division", "fidelity")
"""Flags that override the published configuration, and the usual machine, software, rules and fidelity."""

LABELS: Final = {
    "global_batch": ("Global batch",),
    "samples": ("Samples to converge", "Run length"),
    "tokens": ("Samples to converge", "Run length"),
    "machines": ("Not",),
    "deadline": ("Wall clock",),
    "compile": ("Wall clock",),
    **dict.fromkeys(("years", "use", "kwh_price", "pue", "money"), ("Training cost", "Total cost")),
}
"""Labels of what a flag is about, which a short screen keeps where the flag is given."""
QUANTITIES: Final = {"step": "Step time", "mean": "Mean latency", "p50": "Mean latency", "p99": "P99 latency"}
"""The same for what a requirement is about."""

METHOD: Final = (
    "podsim turns a workload and its mapping into the tasks of one training step, times them from the published "
    "figures of the machine by the equations of its documentation, checks the step by event simulation, and takes what "
    "no figure covers from parameters fitted to MLPerf results of IPU systems. Intervals cover the fit, the error of "
    "the model, samples to converge and differences between runs."
)
"""How numbers come about, for who gets a document."""


def calibration_version() -> str | None:
    """A digest of the fitted parameters that answer, else of those shipped; None where nothing has been fitted."""
    ledger = inputs.current()
    if ledger is not None and ledger.calibration:
        return ledger.calibration
    try:
        return inputs.digest(text_of(find.data_folder("calibration") / "parameters.toml", "bad-parameters-file"))
    except InputError:
        return None


def evidence_fields() -> dict[str, Any]:
    """`inputs` of a JSON document: hash, calibration, files by digest, flags, fitted values; {} unless recorded.

    `settings` is there only where a settings file or a variable set a flag.
    """
    ledger = inputs.current()
    if ledger is None:
        return {}
    return {
        "inputs": {
            "hash": ledger.hash,
            "calibration": calibration_version(),
            "verb": ledger.verb,
            "flags": ledger.flags,
            **({"settings": dict(sorted(ledger.settings.items()))} if ledger.settings else {}),
            "files": dict(sorted(ledger.files.items())),
            "parameters": dict(sorted(ledger.parameters.items())),
        }
    }


def with_changes(doc: Doc) -> Doc:
    """The document with what-ifs, faults and overrides of the question below its title; the same where there are none.

    Each change is shown with the value that it takes the place of.
    """
    if not doc.groups or not doc.groups[0]:
        return doc
    (title, *others), *groups = doc.groups
    labels = {block.label for block in others if isinstance(block, Note)}
    lines = tuple(line for line in _changes() if line.label not in labels)
    if not lines:
        return doc
    return replace(doc, groups=((title, *lines, *others), *groups))


def labels_in_question() -> frozenset[str]:
    """Labels of facts that the flags of the question are about."""
    ledger = inputs.current()
    flags = {} if ledger is None else ledger.flags
    quantity_names = [text for text in _texts(flags.get("require", ())) for text in re.findall("[a-z_0-9]+", text)[:1]]
    labels = [label for name in flags for label in LABELS.get(name, ())]
    return frozenset((*labels, *(QUANTITIES[name] for name in quantity_names if name in QUANTITIES)))


def with_record(handout: Handout) -> Handout:
    """The handout with what-ifs, faults and overrides of the question as warnings, and how it was made at its end."""
    labels = {note.label for note in handout.warnings}
    lines = tuple(line for line in _changes() if line.label not in labels)
    return replace(
        handout, warnings=(*lines, *handout.warnings), appendix=(*handout.appendix, with_title("Method", *_method()))
    )


def _method() -> Iterator[Note]:
    yield Note(METHOD)
    digests = note()
    if digests is not None:
        yield Note(f"{digests.text}: the same command with the same files makes the same document.", "Digests")


def _changes() -> Iterator[Note]:
    ledger = inputs.current()
    if ledger is None:
        return
    texts = [_change(ledger, text) for text in _texts(ledger.flags.get("set", ()))]
    if texts:
        yield Note(_of_case(ledger, texts), "What-if", Tone.WARNING)
    faults = _texts(ledger.flags.get("fault", ()))
    if faults and ledger.verb != ONE_CASE:  # which names them beside the machine that has them
        yield Note("; ".join(faults), "Faults", Tone.WARNING)
    overrides = [_flag(name, ledger.flags[name]) for name in OVERRIDES if name in ledger.flags]
    mapping_flags = [_flag(name, ledger.flags[name]) for name in MAPPING if name in ledger.flags]
    if mapping_flags and ledger.verb == ONE_CASE:
        yield Note(f"{' '.join(mapping_flags)}, on every machine with IPUs", "Mapping", Tone.WARNING)
    if ledger.verb in OF_MAPPING:
        overrides += [_flag(name, ledger.flags[name]) for name in MAPPING[:-1] if name in ledger.flags]
    if overrides:
        yield Note(" ".join(overrides), "Override", Tone.WARNING)


def _of_case(ledger: inputs.Ledger, texts: Sequence[str]) -> str:
    """What is changed, and that it is so in one alternative only where several are compared."""
    return f"{'; '.join(texts)}, in one alternative only" if ledger.verb == ONE_CASE else "; ".join(texts)


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def _change(ledger: inputs.Ledger, text: str) -> str:
    path, _, value_text = (part.strip() for part in text.partition("="))
    new, old = ledger.replaced.get(path, (value_text.strip("\"'"), ""))
    has_old_value = old and old != new and path != HOSTS_PATH  # published runs displace the number of the file
    change = f"{path} {new} (was {_in_bits(old, new)})" if has_old_value else f"{path} {new}"
    return numbers.with_micro(change)


def _in_bits(old: str, new: str) -> str:
    """The value of before in bits a second where the new one is: "100 Gbit/s" for "12.5 GB/s"."""
    unit = BIT_RATE.search(new)
    if unit is None or not old.endswith("B/s"):
        return old
    return f"{numbers.short(units.parse(old, 'B/s') / units.parse(f'1 {unit[0]}', 'B/s'), 4)} {unit[0]}"


def _flag(name: str, value: object) -> str:
    words = f"--{name.replace('_', '-')}"
    return words if value is True else f"{words} {value}"


def note() -> Note | None:
    """The last line of a screen; None unless recorded."""
    ledger = inputs.current()
    if ledger is None:
        return None
    version = (calibration_version() or "none")[: inputs.SHORT]
    return Note(f"inputs {ledger.hash[: inputs.SHORT]} · calibration {version}", "", Tone.QUIET)
