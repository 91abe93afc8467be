"""The command that takes an answer further, from the question that is recorded."""

import shlex
from collections.abc import Collection
from typing import Final

from podsim.errors import PodsimError
from podsim.files import catalog, find, inputs
from podsim.files.inputs import Ledger
from podsim.model import arguments
from podsim.model.keywords import FLAGS

DETAILS: Final = "--verbose adds breakdown, other mappings and assumptions"
IN_SHORT: Final = "--verbose adds details"
UNCHANGED_MACHINE: Final = "adds the unchanged machine, whose batch may differ"
ONE_LINE: Final = 85
"""Characters of a command and what follows it that fit a line of the usual width beside their label."""
MONEY: Final = ("money", *(argument.name for argument in arguments.MONEY), "interval", "compile", "require")
"""Flags that `podsim explain` does not take and that change neither mapping nor time."""
ONLY_PREDICTED: Final = frozenset(("steps", "noise_scale"))
"""Flags that change the answer and that `podsim explain` does not take."""
COMPARE_FLAGS: Final = frozenset(("workload", "pod", "topology", "set"))
"""Flags of a what-if that `podsim compare` answers beside the machine unchanged."""
OF_A_DOCUMENT: Final = frozenset(("title", "customer", "date", "author"))
"""Flags of a document that the next command does not write."""
POSITIONAL: Final = "workload"
OF_MACHINES: Final = ("machines", "topologies")
"""Flags whose machines may be files."""
OF_LENGTH: Final = ("tokens", "samples", "epochs", "target_loss", "law")
RUN_FLAGS: Final = frozenset(
    (POSITIONAL, *OF_LENGTH, "sdk", "seed", "framework", "global_batch", "set", "parameters", "division")
)
"""Flags of a plan that are of the run, not of the machines to choose from, and that every verb of one machine takes."""


def after_prediction() -> str:
    """The command that explains the prediction, or compares a what-if with the machine unchanged; what -v adds."""
    ledger = inputs.current()
    if ledger is None or ledger.named or ONLY_PREDICTED.intersection(ledger.flags) or POSITIONAL not in ledger.flags:
        return DETAILS
    what_if = "set" in ledger.flags and COMPARE_FLAGS.issuperset(ledger.flags)
    words = command("compare" if what_if else "explain", ledger, without=MONEY)
    if what_if:
        return f"{words} · {UNCHANGED_MACHINE}; {IN_SHORT}"
    return f"{words} · {DETAILS if len(words) + len(DETAILS) <= ONE_LINE else IN_SHORT}"


def phase(workload: str) -> str:
    """The command that predicts one phase of the recorded run."""
    ledger = inputs.current()
    if ledger is None or POSITIONAL not in ledger.flags:
        return f"podsim predict {workload}"
    return command("predict", ledger, workload=workload)


def of_row(explain_arguments: Collection[str], workload: str, topology: str, also: tuple[str, ...] = ()) -> str:
    """The command that explains one row of a recorded scaling, with the flags that `podsim explain` takes.

    `also` are further flags with their values, in place of recorded ones.
    """
    ledger = inputs.current()
    words = ("--topology", _as_typed(topology, ledger), *also)
    if ledger is None or POSITIONAL not in ledger.flags or ledger.named:
        return shlex.join(("podsim", "explain", workload, *words))
    own = {word.removeprefix("--").replace("-", "_") for word in words if word.startswith("--")}
    names = {name: FLAGS.get(name, name) for name in ledger.flags}
    others = tuple(flag for flag, name in names.items() if name not in explain_arguments or flag in (*own, *MONEY))
    return command("explain", ledger, without=others, also=words)


def of_machine(verb: str, workload: str, topology: str, hosts: int) -> str:
    """The command that asks for the run of a recorded plan on one machine, with `hosts` hosts where not 0."""
    ledger = inputs.current()
    machine = ("--topology", _as_typed(topology, ledger), *(("--hosts", str(hosts)) if hosts else ()))
    if ledger is None or POSITIONAL not in ledger.flags or ledger.named & RUN_FLAGS:
        return shlex.join(("podsim", verb, workload, *machine))
    others = tuple(name for name in ledger.flags if name not in RUN_FLAGS)
    return command(verb, ledger, without=others, also=machine)


def _as_typed(topology: str, ledger: Ledger | None) -> str:
    """The file by which the recorded question names a machine, or its name where it is no file."""
    flag_values = [ledger.flags.get(flag) for flag in OF_MACHINES] if ledger else []
    texts = [text for value in flag_values for text in ([value] if isinstance(value, str) else value or ())]
    files = (word for text in texts for word in str(text).split(",") if find.is_path(word))
    return next((word for word in files if _name_in(word) == topology), topology)


def _name_in(file: str) -> str:
    """The name of the machine of a file; "" where it is none with IPUs."""
    try:
        return catalog.topology(file).value.name
    except PodsimError:
        return ""


def sweep_of_sizes() -> str:
    """The command that compares batch sizes for the inference that is recorded; "" where none is, or of a file."""
    ledger = inputs.current()
    if ledger is None or ledger.named or POSITIONAL not in ledger.flags:
        return ""
    return command("infer", ledger, without=("require",), also=("--batches", "1..64"))


def command(
    verb: str, ledger: Ledger, *, workload: str = "", without: tuple[str, ...] = (), also: tuple[str, ...] = ()
) -> str:
    """A command line with the flags of the recorded question, of another workload where one is named."""
    words = ["podsim", verb, workload or str(ledger.flags[POSITIONAL])]
    for name, value in ledger.flags.items():
        if name == POSITIONAL or name in OF_A_DOCUMENT or name in without:
            continue
        for item in value if isinstance(value, list | tuple) else [value]:
            words += [f"--{name.replace('_', '-')}", *([] if item is True else [_value_text(item)])]
    return shlex.join([*words, *also])


def _value_text(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    plain, (digits, exponent) = f"{value:.12g}", f"{value:.11e}".split("e")
    return min(plain, f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}", key=len)
