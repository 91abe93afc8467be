"""Requests that a machine answers a second, and how soon."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.verb import ASK, Command, Verb

SERVING: Final = "serving"
LOAD: Final = "load (left out: 80 % of what the replicas can do)"
GATE: Final = "gate for CI"
TOKENS: Final = "tokens, for a workload that generates them"
COMMANDS: Final = (
    Command(
        "infer",
        "throughput and latency of inference",
        ASK,
        6,
        about="Throughput, latency and cost of requests to a trained workload.",
        progress="serving batches",
        saves=True,
        reads_models=True,
    ),
)
VERBS: Final = {
    "infer": Verb(
        "study",
        (
            a.WORKLOAD,
            *a.ON_MACHINE,
            a.SDK,
            a.REPLICAS,
            a.IPUS_PER_REPLICA,
            a.INTERVAL,
            a.ON_PROGRESS,
            a.BATCH._replace(group=SERVING),
            a.BATCHES._replace(group=SERVING),
            a.FRAMEWORK._replace(
                help="Framework that serves the model [default: none; no framework time is added].",
                group=SERVING,
            ),
            a.choice(
                "weights",
                "resident streamed",
                "Where weights are: in SRAM, or in the DDR of the machine, read for every batch.",
                default="resident",
                group=SERVING,
            ),
            a.choice(
                "precision",
                "8.16 16.16 16.32 32",
                "Operands and partial sums: 16.16, 16.32 or 32, on a C600 (PCIe card) also 8.16 [default: as trained].",
                metavar="NAME",
                group=SERVING,
            ),
            a.RATE._replace(group=LOAD),
            a.count("clients", "Clients that each send the next request when answered, instead of --rate.", group=LOAD),
            a.WAIT._replace(group=LOAD),
            a.VARIATION._replace(group=LOAD),
            a.SERVICE_CONFIDENCE._replace(group=LOAD),
            a.count(
                "requests", "Requests that are simulated.", high=5_000_000, default=20_000, multiples=True, group=LOAD
            ),
            a.from_zero("generate", "Tokens generated after the prompt.", high=a.MOST_TOKENS, default=0, group=TOKENS),
            a.PROMPT._replace(group=TOKENS),
            a.choice(
                "cache",
                "resident streamed",
                "Where keys and values are: SRAM or DDR [default: SRAM where they fit].",
                group=TOKENS,
            ),
            a.ENGINE._replace(
                help="Discrete events, or the longest path of the same program; requests are always events.",
                group=SERVING,
            ),
            a.SEED._replace(help="Seed of the arrivals.", group=LOAD),
            *a.MONEY,
            a.texts(
                "require",
                'A limit that must hold, repeatable: "p99<5ms", "rate>20k/s@0.9"; also mean and p50; with --generate '
                "ttft (time to first token) and tpot (time per token). Exit code 1 if one does not hold.",
                "QUANTITY<LIMIT@CHANCE",
            )._replace(group=GATE),
        ),
    ),
}
