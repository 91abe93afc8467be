"""Machines of growing size."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import Argument, ArgumentKind
from podsim.model.verb import ASK, Command, Verb

SIZES: Final = "machines"
COMMANDS: Final = (
    Command(
        "scale",
        "machines of growing size: time on each, what stops scaling",
        ASK,
        3,
        about="Predict a run on machines of growing size: time on each, the law that throughput follows, what stops "
        "it.",
        progress="predicting machines",
        saves=True,
        reads_models=True,
    ),
)
VERBS: Final = {
    "scale": Verb(
        "study",
        (
            a.WORKLOAD,
            a.IPUS_PER_REPLICA,
            a.MICRO_BATCH,
            a.ACCUMULATION,
            *a.RUN,
            a.ENGINE,
            a.FIDELITY,
            a.SEED,
            a.PARAMETERS._replace(group=SIZES),
            *a.CONFIGURATION,
            *a.LENGTH,
            *a.MONEY,
            a.ON_PROGRESS,
            Argument(
                name="pods",
                kind=ArgumentKind.SIZES,
                low=1,
                high=a.MOST_COUNT,
                example='"16..1024"',
                metavar="SIZES",
                help="IPUs of each IPU-POD: 16..1024 for all doublings, or a list 16,64,256 (--chip bow: Bow Pods).",
                group=SIZES,
            ),
            Argument(
                name="topologies",
                kind=ArgumentKind.LISTED,
                metavar="NAMES",
                help="Machines by name or file, commas between, instead of --pods.",
                group=SIZES,
            ),
            a.CHIP._replace(help="Put this chip into every machine.", group=SIZES),
            a.HOSTS._replace(help="Servers that feed each machine.", group=SIZES),
            a.CHANGES._replace(
                help='Change a number of every machine, repeatable: gw-link.bandwidth="400 Gbit/s", chip.clock=2x.',
                group=SIZES,
            ),
            a.PRESET._replace(help="A published mapping by name, of the machines that have one: mlperf-v1.1-closed."),
            a.GLOBAL_BATCH._replace(
                help="Samples per weight update on the first machine, with --scaling strong or weak."
            ),
            a.choice(
                "scaling",
                "best strong weak",
                "Global batch: searched for each machine, that of the first, or one that grows with IPUs.",
                default="best",
                group=SIZES,
            ),
            a.share(
                "knee",
                "A doubling that gains less than this share of speed no longer pays; of throughput it is the knee.",
                0.0,
                1.0,
                open_low=True,
                open_high=True,
                default=0.5,
                why="0.5 is from where twice the IPUs give less than 1.5 times",
                group=SIZES,
            ),
            a.AGAINST._replace(group=SIZES),
            a.switch(
                "failures",
                "Simulate failures too: the useful share of the time and when the run ends (podsim goodput).",
                group=SIZES,
            ),
        ),
    ),
}
