"""MLPerf result logs and system descriptions; runs that are read become calibration points."""

import json
import shutil

from fuzz import mutate
from fuzz.choices import Choices
from fuzz.judge import check_error, judged
from fuzz.scratch import folder

from podsim.calibration import own_logs_fit
from podsim.calibration.fit_data import known_files as _catalog
from podsim.calibration.own_mapping import LogOptions
from podsim.errors import InputError
from podsim.files.mllog import tree

SYSTEM = {
    "system_name": "IPU-POD16",
    "accelerator_model_name": "Colossus MK2 IPU",
    "accelerators_per_node": 16,
    "number_of_nodes": 1,
    "framework": "TensorFlow",
    "other_software_stack": "Poplar SDK v2.3",
}
STRANGE = (*mutate.JSON_STRANGE, "bert", "resnet", "IPU-POD16", 1e12, "success", "aborted", "1e18", -1e12, 1024)


def lines(draw: Choices) -> list[str]:
    """A log with a few changes."""
    events: list[tuple[str, object, dict[str, object]]] = [
        ("submission_platform", "IPU-POD16", {}),
        ("submission_benchmark", draw.of(["bert", "resnet"]), {}),
        ("submission_division", "open", {}),
        ("global_batch_size", 3200, {}),
        ("seed", 7, {}),
        ("gradient_accumulation_steps", 10, {}),
        ("opt_name", "sgd", {}),
        ("train_samples", 1281167, {}),
        ("target_quality", 0.759, {}),
        ("run_start", None, {}),
    ]
    for block in range(draw.some(4)):
        events += [
            ("block_start", None, {"epoch_count": 4}),
            ("block_stop", None, {}),
            ("eval_start", None, {}),
            ("eval_accuracy", 0.6 + 0.1 * block, {"epoch_num": 4 * (block + 1)}),
            ("eval_stop", None, {}),
        ]
    events.append(("run_stop", None, {"status": "success"}))
    made = []
    for at, (key, value, metadata) in enumerate(events):
        table: object = {"key": key, "value": value, "time_ms": 1.6e12 + 30_000 * at, "metadata": metadata}
        if draw.chance(3):
            table = mutate.json_value(table, draw, STRANGE)
        made.append(":::MLLOG " + json.dumps(table))
    for _ in range(draw.below(3)):
        at = draw.below(len(made))
        made[at : at + 1] = draw.of(
            [[], [made[at]] * 2, [made[at][: draw.below(60)]], [made[at] + draw.of(mutate.LETTERS)]]
        )
    return made


def one_input(data: bytes) -> str:
    """One folder of two logs and a system description."""
    draw = Choices(data)
    logs = folder() / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir()
    for name in ("result_0.txt", "result_1.txt"):
        raw = "\n".join(lines(draw)).encode("utf-8", "replace")
        (logs / name).write_bytes(mutate.damaged(raw, draw) if draw.chance(5) else raw)
    system = mutate.json_value(SYSTEM, draw, (*STRANGE, "64", "²")) if draw.chance(50) else SYSTEM
    (logs / "system.json").write_text(json.dumps(system), encoding="utf-8")

    def ask() -> object:
        result = tree.read(logs)
        options = LogOptions(
            topology=draw.of([None, "pod16"]), presets=(), ipus_per_replica=draw.of([None, 1, 4]), sdk=None
        )
        try:
            own_logs_fit.read(logs, options, _catalog(), from_points=False)
        except InputError as error:
            check_error(error)
            if not result.runs:
                raise

    return judged(ask)
