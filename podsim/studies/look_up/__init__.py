"""Machines, workloads, chips, files and settings."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import NO_DEFAULT
from podsim.model.verb import LOOK_UP, Command, Verb

COMMANDS: Final = (
    Command("topology", "machines: list, show", LOOK_UP, 17, "topology_command:app"),
    Command(
        "workload",
        "workloads: list, show, import; map ranks the mappings that fit",
        LOOK_UP,
        18,
        "workload_command:app",
    ),
    Command("chip", "chips: list, show", LOOK_UP, 19, "chip_command:app"),
    Command("config", "flags set by podsim.toml and environment variables: show", LOOK_UP, 20, "config_command:app"),
    Command("check", "read a file of any kind and report its errors", LOOK_UP, 21, "check_command:check"),
)
VERBS: Final = {
    "list_chips": Verb("study", ()),
    "list_topologies": Verb("study", ()),
    "list_workloads": Verb("study", ()),
    "show_chip": Verb(
        "study", (a.word("name", "A name (podsim chip list) or a file.", a.NAME_OR_FILE, default=NO_DEFAULT),)
    ),
    "show_topology": Verb(
        "study", (a.word("name", "A name (podsim topology list) or a file.", a.NAME_OR_FILE, default=NO_DEFAULT),)
    ),
    "show_workload": Verb(
        "study",
        (
            a.word(
                "name",
                "A name (podsim workload list) or a file: TOML, a config.json, ONNX.",
                a.NAME_OR_FILE,
                default=NO_DEFAULT,
            ),
            a.CHANGES,
        ),
    ),
    "check": Verb("study", (a.file("file", "A file of any kind that podsim reads.", default=NO_DEFAULT),)),
    "config": Verb("study", ()),
    "import_model": Verb(
        "models",
        (
            a.file("file", "A config.json of transformers or an ONNX file.", default=NO_DEFAULT),
            a.count("sequence", "Sequence length of a config.json, in tokens [default: its maximum]."),
            a.texts("shape", "Sizes of an input of an ONNX file, repeatable: image=1,3,224,224.", "INPUT=SIZES"),
        ),
    ),
}
