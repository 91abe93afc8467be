"""Which machine meets a time, or a rate of requests, a budget and a power."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import NO_DEFAULT
from podsim.model.verb import ASK, Command, Verb

SERVING: Final = (
    a.RATE._replace(help="Rate of requests to be answered, which arrive at random: 20k/s."),
    a.P99,
    a.TTFT,
    a.TPOT,
    a.TOKENS_PER_S,
    a.count("generate", "Tokens generated after the prompt.", high=a.MOST_TOKENS),
    a.PROMPT,
    a.HEADROOM,
    a.SPARES,
    a.VARIATION._replace(default=None),
)
"""What is demanded of machines that serve; any of it makes the question one of serving."""
COMMANDS: Final = (
    Command(
        "plan",
        "the machine that meets a time limit or request rate, a budget and a power limit",
        ASK,
        2,
        "plan_command:plan",
    ),
)
VERBS: Final = {
    "plan": Verb(
        "study",
        (
            a.WORKLOAD,
            a.WITHIN,
            a.DEADLINE,
            a.COMPILE,
            *a.SEARCH,
            a.AGAINST,
            a.switch("explain", "Say why the neighbours of the recommended machine are not the answer."),
            a.PLAN_SEED,
            a.SAMPLES,
            a.GLOBAL_BATCH._replace(help="Samples per weight update, on every machine."),
            a.CHANGES._replace(help="Change numbers of the workload: workload.samples_per_row=1.8."),
            a.ON_PROGRESS,
            *a.MONEY,
            *a.LENGTH,
            a.FRAMEWORK,
            *SERVING,
        ),
    ),
    "plan_mix": Verb(
        "study",
        (
            a.file(
                "workloads",
                "Size one machine for the jobs of a month, instead of one workload: examples/mix.toml.",
                default=NO_DEFAULT,
            ),
            *a.SEARCH,
            a.PLAN_SEED,
            a.ON_PROGRESS,
            *a.MONEY,
        ),
    ),
}
