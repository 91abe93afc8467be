"""What a shell completes: commands, their flags and what each flag takes, as the parser of the command line has them.

Written to `podsim/cli/words.json`, which completion reads instead of building a parser: a key press waits for it.
"""

from __future__ import annotations

import json
from typing import Any, Final, Literal, get_origin

from file_kinds import ROOT

from podsim.cli.parser import build
from podsim.files.keys import bare
from podsim.model.argument import ArgumentKind
from podsim.studies import verbs

PATH: Final = ROOT / "podsim" / "cli" / "words.json"
NAMES: Final = {
    "WORKLOAD": "workloads",
    "--topology": "topologies",
    "--topologies": "topologies",
    "--to": "topologies",
    "--against": "comparators",
    "--chip": "chips",
    "--to-chip": "chips",
    "MACHINE": "topologies",
    "MACHINES": "topologies",
    "SAMPLER": "samplers",
}
"""What a flag or an argument takes the names of."""
NEGATIVE: Final = ("--no-", "--empty-")
"""What cyclopts would add by default and podsim does not have."""
SHOWN: Final = {"topology show": "topologies", "chip show": "chips", "workload show": "workloads"}
"""Commands whose `NAME` is one of these."""


def text() -> str:
    """The table as JSON."""
    return json.dumps(table(build(), ()), indent=1, sort_keys=True) + "\n"


def table(app: Any, path: tuple[str, ...]) -> dict[str, Any]:
    """Of a command and those below it, by its words: what may follow, flags and places of arguments."""
    below = {name: app[name] for name in app if not name.startswith("-")}
    result: dict[str, Any] = {" ".join(path): _entry(app, path, sorted(below))}
    for name, command in below.items():
        result |= table(command, (*path, name))
    return result


def _entry(app: Any, path: tuple[str, ...], below: list[str]) -> dict[str, Any]:
    flags: dict[str, Any] = {"--help": None}
    places: list[Any] = []
    if app.default_command is not None:
        for argument in app.assemble_argument_collection(parse_docstring=False):
            if not argument.show or not argument.parse:
                continue
            names = [name for name in argument.names if name.startswith("-") and not name.startswith(NEGATIVE)]
            takes = _takes(argument, path)
            flags |= dict.fromkeys(names, takes)
            if not names:
                places.append(takes)
    if not path:
        flags |= {"--version": None, "--install-completion": ["bash", "fish", "powershell", "zsh"]}
    return {"commands": below, "flags": flags, "places": places}


def _takes(argument: Any, path: tuple[str, ...]) -> Any:
    """None of a switch, a list of choices, the kind of names, "files", or "" of any other value."""
    hint = bare(argument.hint)[0]
    if hint is bool:
        return None
    if get_origin(hint) is Literal:
        return sorted(str(choice) for choice in argument.get_choices() or ())
    own = next(iter(argument.names), "")
    if own == "NAME" and " ".join(path) in SHOWN:
        return SHOWN[" ".join(path)]
    return NAMES.get(own) or ("files" if _is_file(own) else "")


def _is_file(flag: str) -> bool:
    """Whether a verb declares an argument of that name as a file."""
    name = flag.strip("-").replace("-", "_").lower()
    return name == "out" or any(
        argument.name == name and argument.kind is ArgumentKind.FILE
        for _, verb in verbs().values()
        for argument in verb.arguments
    )
