"""How long a training run takes on a machine, what limits it, and what it costs."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import NO_DEFAULT, Argument, ArgumentKind
from podsim.model.verb import ASK, Command, Verb

COMMANDS: Final = (
    Command(
        "predict",
        "time to train, its bottleneck and its uncertainty",
        ASK,
        1,
        "predict_command:predict",
    ),
)
VERBS: Final = {
    "predict": Verb("study", (*a.SCENARIO, a.COMPILE, a.ON_PROGRESS)),
    "predict_comparator": Verb(
        "study",
        (
            a.WORKLOAD,
            a.TOPOLOGY._replace(default=NO_DEFAULT),
            a.CHIPS,
            a.GLOBAL_BATCH,
            a.SAMPLES,
            a.DIVISION,
        ),
    ),
    "price": Verb(
        "economics",
        (
            Argument(
                name="answer",
                kind=ArgumentKind.ANSWER,
                choices=("Prediction", "ComparatorPrediction"),
                default=NO_DEFAULT,
            ),
            a.TOPOLOGY,
            a.CHIP,
            a.CHANGES,
            Argument(name="terms", kind=ArgumentKind.ANSWER, choices=("OwnershipTerms",)),
            *a.MONEY,
        ),
    ),
    "gate": Verb(
        "gate",
        (
            Argument(name="answer", kind=ArgumentKind.ANSWER, choices=("Prediction",), default=NO_DEFAULT),
            a.texts(
                "require",
                'A limit to meet with a probability, repeatable: "time_to_train<5min@0.9"; also step, throughput, '
                "tokens_per_s, cost, energy, power. Exit code 1 if one does not hold.",
                "QUANTITY<LIMIT@CHANCE",
            )._replace(default=NO_DEFAULT),
        ),
    ),
    "ownership_terms": Verb("economics", a.MONEY),
    "read_scenario": Verb(
        "scenario_files", (a.file("file", "A scenario file: docs/reference/formats.md.", default=NO_DEFAULT),)
    ),
    "write_scenario": Verb(
        "scenario_files",
        (
            Argument(name="scenario", kind=ArgumentKind.ANSWER, choices=("Scenario",), default=NO_DEFAULT),
            a.file("file", "Where it is written.", default=NO_DEFAULT),
        ),
    ),
}
