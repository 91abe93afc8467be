"""Every argument of every verb, declared once: Python's keywords and the flags of the command line are checked by it.

Defaults are those of the signatures in `podsim`; tests/api/test_arguments.py holds both against each other.
"""

from collections.abc import Mapping
from typing import Any, Final

from podsim.model.argument import NO_DEFAULT, Argument, ArgumentKind
from podsim.model.framework import OTHER_NAMES, Framework
from podsim.units import LARGEST

MOST_COUNT: Final = 2**31 - 1  # Poplar counts elements of a dimension in 32 bits
MOST_SEED: Final = LARGEST  # the largest that files of podsim hold
MOST_LENGTH: Final = 1e18  # samples or tokens: ten thousand times the largest corpus that was trained on
MOST_WORK_S: Final = 100 * 365.25 * 86400.0
NAME_OR_FILE: Final = "NAME|FILE"
FEW_SCORES: Final = "400 simulated runs are too few for a higher level"


def count(name: str, help_: str = "", **more: Any) -> Argument:  # noqa: ANN401  (fields of an argument)
    """A whole number from 1 on."""
    fields = {"low": 1, "high": MOST_COUNT, "metavar": "N", **more}
    return Argument(name=name, kind=ArgumentKind.WHOLE, help=help_, **fields)


def from_zero(name: str, help_: str = "", **more: Any) -> Argument:  # noqa: ANN401
    """A whole number from 0 on."""
    return count(name, help_, low=0, **more)


def number(name: str, help_: str, high: float, **more: Any) -> Argument:  # noqa: ANN401
    """A number above 0, unless `more` says otherwise."""
    fields = {"low": 0.0, "high": high, "open_low": True, "metavar": "X", **more}
    return Argument(name=name, kind=ArgumentKind.NUMBER, help=help_, **fields)


def share(name: str, help_: str, low: float, high: float, **more: Any) -> Argument:  # noqa: ANN401
    """A share of a whole, as a fraction of 1."""
    return Argument(name=name, kind=ArgumentKind.SHARE, help=help_, low=low, high=high, metavar="SHARE", **more)


def quantity(name: str, unit: str, help_: str, example: str, **more: Any) -> Argument:  # noqa: ANN401
    """A text with a unit, above 0 unless `more` says otherwise."""
    fields = {"low": 0.0, "open_low": True, **more}
    return Argument(name=name, kind=ArgumentKind.QUANTITY, unit=unit, help=help_, example=f'"{example}"', **fields)


def choice(name: str, choices: str, help_: str = "", **more: Any) -> Argument:  # noqa: ANN401
    """One word of a closed set."""
    return Argument(name=name, kind=ArgumentKind.CHOICE, choices=tuple(choices.split()), help=help_, **more)


def word(name: str, help_: str = "", metavar: str = "NAME", **more: Any) -> Argument:  # noqa: ANN401
    """A name, or a text that has a grammar of its own."""
    return Argument(name=name, kind=ArgumentKind.NAME, help=help_, metavar=metavar, **more)


def file(name: str, help_: str = "", metavar: str = "FILE", **more: Any) -> Argument:  # noqa: ANN401
    """The path of a file or folder."""
    return Argument(name=name, kind=ArgumentKind.FILE, help=help_, metavar=metavar, **more)


def switch(name: str, help_: str = "", default: bool | None = False, **more: Any) -> Argument:  # noqa: ANN401
    """On or off."""
    return Argument(name=name, kind=ArgumentKind.SWITCH, help=help_, default=default, **more)


def texts(name: str, help_: str, metavar: str) -> Argument:
    """A list of texts."""
    return Argument(name=name, kind=ArgumentKind.TEXTS, help=help_, metavar=metavar, default=())


# Which workload on which machine.
WORKLOAD = word(
    "workload", "A name (podsim workload list) or a file: TOML, a config.json, ONNX.", NAME_OR_FILE, default=NO_DEFAULT
)
POD = count("pod", "IPUs of an IPU-POD, a power of two (with --chip bow: of a Bow Pod).")
TOPOLOGY = word("topology", "A machine by name or file, instead of --pod.", NAME_OR_FILE)
CHIP = word("chip", "Put this chip into the machine.", NAME_OR_FILE)
CHIPS = count("chips", "Chips of a machine that has no IPUs: --topology tpu-v4 --chips 256.", high=1_000_000)
HOSTS = count(
    "hosts", "Servers that feed the machine [default: as in published runs of the workload, in proportion to IPUs]."
)
CHANGES = Argument(
    name="changes",
    kind=ArgumentKind.CHANGES,
    default=(),
    metavar="PATH=VALUE",
    help='Change a number, repeatable: gw-link.bandwidth="400 Gbit/s", chip.clock=2x.',
)
PARAMETERS = file("parameters", "Fitted parameters of your own: podsim calibrate --logs DIR --out FILE.")
FAULTS = texts(
    "faults",
    "Broken parts, repeatable: link:ipu4-ipu6=down, ipu:17=0.8 (80 % speed), machine:5=lost.",
    "KIND:NAME=STATE",
)
# How its work is split.
REPLICAS = count("replicas", "Copies of the model (data parallelism).")
IPUS_PER_REPLICA = count("ipus_per_replica", "IPUs of one replica.")
MICRO_BATCH = count("micro_batch", "Rows (images or packed sequences) that a replica computes at once.")
ACCUMULATION = count("accumulation", "Micro-batches per weight update.")
GLOBAL_BATCH = count("global_batch", "Samples per weight update, instead of --accumulation.")
PRESET = word(
    "preset", "A published mapping by name (mlperf-v1.1-closed), or a configuration for large pods (large-pod)."
)
SCHEDULE = choice("schedule", "grouped 1f1b sequential", "Order of micro-batches on the stages of a pipeline.")
PREFETCH = from_zero("prefetch", "Micro-batches whose input is loaded ahead of use; with 0 compute waits for each.")
OVERLAP = switch("overlap", "Reduce gradients of an IPU while others still run backward; takes tiles from compute.")
IO_TILES = from_zero("io_tiles", "Tiles reserved for traffic during compute [default: none; 64 with --overlap].")
FRAMEWORK = choice(
    "framework",
    " ".join(Framework),
    "Framework that runs the model; pytorch is poptorch, and poprt only serves trained models [default: that of the "
    "configuration; PopART and TensorFlow 1 add no time of their own].",
    aliases=tuple(OTHER_NAMES.items()),
)
CONFIGURATION = (SCHEDULE, PREFETCH, FRAMEWORK, OVERLAP, IO_TILES)
SPLIT = (REPLICAS, IPUS_PER_REPLICA, MICRO_BATCH, ACCUMULATION, GLOBAL_BATCH)
# How long the run is, under which rules and software.
SAMPLES = number(
    "samples",
    "Samples that the run trains on; with --epochs, the samples of one pass: 3M, 46.2e6.",
    MOST_LENGTH,
    multiples=True,
)
TOKENS = number("tokens", "Tokens to train on, instead of --samples: 300B, 1.4T.", MOST_LENGTH, multiples=True)
LAW = choice(
    "law",
    "chinchilla kaplan",
    "Tokens by a scaling law: the compute-optimal number, or those that --target-loss takes.",
)
TARGET_LOSS = number("target_loss", "Loss to reach, in nats per token, with --law.", 1e6)
EPOCHS = number(
    "epochs",
    "Passes over the data set; if the workload does not state how large that is, give --samples or --tokens of it.",
    1e6,
)
LENGTH = (TOKENS, LAW, TARGET_LOSS, EPOCHS)
DIVISION = choice(
    "division",
    "closed open",
    "MLPerf division: closed keeps the reference's hyper-parameters, open may change them.",
    default="closed",
)
SDK = word("sdk", "Poplar SDK [default: the newest calibrated].", "VERSION")
INTERVAL = share("interval", "Confidence level of intervals, from 0.5 to 0.99.", 0.5, 0.99, default=0.9, why=FEW_SCORES)
COMPILE = choice(
    "compile",
    "fresh cached",
    "Whether the program is compiled before the first step, or an executable is loaded from a cache (wall clock).",
    default="fresh",
)
# How it is computed.
ENGINE = choice(
    "engine", "des analytic", "Discrete events, or the longest path of the same program (faster).", default="des"
)
FIDELITY = choice(
    "fidelity",
    "folded full",
    "Simulate one replica of each set of equal ones, or every replica.",
    default="folded",
)
SEED = from_zero("seed", "Seed of all random draws.", high=MOST_SEED, default=0)
STEPS = from_zero(
    "steps",
    "Simulate this many steps with the noise of the published runs; 0 simulates one step without.",
    high=10_000_000,
    default=0,
    multiples=True,
)
NOISE_SCALE = number("noise_scale", "Factor on the random delays of --steps [default: 1].", 1000.0, open_low=False)
ON_PROGRESS = Argument(
    name="on_progress",
    kind=ArgumentKind.CALLBACK,
    help="Called as on_progress(done, total) while the answer is computed.",
)
ON_WARNING = Argument(name="on_warning", kind=ArgumentKind.WARNING, help="Called with a sentence for each warning.")
MOST_SPANS = count(
    "most_spans",
    "Most spans drawn, 101 or more, and as many changes of link load; the rest, in the middle, is left out.",
    high=1_000_000,
    default=200_000,
)
# What it costs.
PRICES = file("prices", "Your own prices and powers; override those of calibration/prices.")
MACHINE_PRICE = number(
    "machine_price",
    "Price of an IPU-Machine without hosts, in US dollars or --currency, in place of those published.",
    1e9,
    unit="USD",
    metavar="AMOUNT",
    multiples=True,
)
YEARS = number("years", "Years of use of the machine [default: 3, assumed].", 100.0)
USE = share(
    "use",
    "Utilisation: share of those years in use [default: 0.8, assumed].",
    0.0,
    1.0,
    open_low=True,
    why="0.8 is 80 %",
)
KWH_PRICE = number(
    "kwh_price",
    "Price per kWh, in US dollars or --currency [default: 0.12, assumed].",
    100.0,
    open_low=False,
    unit="USD",
    metavar="AMOUNT",
)
PUE = number(
    "pue",
    "Power usage effectiveness of the data centre [default: 1.4, assumed].",
    10.0,
    low=1.0,
    open_low=False,
    why="a ratio: 1.4 is 40 % over what the machines draw",
)
RENT_PER_HOUR = number(
    "rent_per_hour",
    "Rent of the whole machine per hour, in US dollars or --currency; adds the break-even hours of owning over "
    "renting.",
    1e9,
    unit="USD",
    metavar="AMOUNT",
    multiples=True,
)
RENT_PER_IPU_HOUR = number(
    "rent_per_ipu_hour",
    "Rent per IPU-hour, in US dollars or --currency, for machines of any size.",
    1e6,
    unit="USD",
    metavar="AMOUNT",
)
AS_OF = word(
    "as_of",
    "Date from which the age of prices is counted: 2021-07-01, 2021-07 or 2021 [default: that of this release].",
    "DATE",
)
CURRENCY = word(
    "currency",
    "Currency of amounts on screen and of prices given here, with its units per US dollar: EUR=0.92.",
    "CODE=RATE",
)
MONEY = (
    PRICES,
    MACHINE_PRICE,
    YEARS,
    USE,
    KWH_PRICE,
    PUE,
    RENT_PER_HOUR,
    RENT_PER_IPU_HOUR,
    AS_OF,
    CURRENCY,
)
# What a machine has to meet.
WITHIN = quantity("within", "s", "Longest time to train, such as 5min.", "5 min", metavar="TIME", minutes=True)
DEADLINE = choice(
    "deadline",
    "training wall-clock",
    "What ends within that time: training as MLPerf times it, or the whole job with compile and loading of weights "
    "(wall-clock); both with failures where a run is long enough to see any [default: training].",
)
BUDGET = quantity(
    "budget",
    "USD",
    "Highest price of the machine with its hosts, in US dollars or --currency: 3M, 250k.",
    "3M",
    plain=True,
    metavar="AMOUNT",
)
MAX_POWER = quantity(
    "max_power",
    "W",
    "Highest power of machine and hosts in use, by the upper end of the 90 % interval: 100kW.",
    "100 kW",
    metavar="POWER",
)
CONFIDENCE = share(
    "confidence", "Confidence of meeting the time, from 0.5 to 0.99 [default: 0.9].", 0.5, 0.99, why=FEW_SCORES
)
SERVICE_CONFIDENCE = share(
    "confidence",
    "Quantile of the predicted batch time with which latencies are simulated: 0.5 takes the prediction itself, 0.9 is "
    "what podsim plan takes [default: 0.5].",
    0.5,
    0.99,
)
OBJECTIVE = choice(
    "objective",
    "capital time cost energy price-performance",
    "What to minimize: purchase price, time, cost or energy of a run, or purchase price times time "
    "[default: capital with a time demanded, time with a budget or power alone, else price-performance].",
)
MACHINES = Argument(
    name="machines",
    kind=ArgumentKind.LISTED,
    metavar="LIST",
    help="Candidate machines: pod64,bow-pod64,dgx-a100:64 [default: pods of 4, 16, 64, 128, 256, 512 and 1024 IPUs "
    "with either chip; larger ones if only those are fast enough].",
)
AGAINST = Argument(
    name="against",
    kind=ArgumentKind.LISTED,
    metavar="LIST",
    help="Machines without IPUs to compare with, at their published sizes or yours: dgx-a100,dgx-h100:64,tpu-v4.",
)
OWN = file("own", "Machines that you own, used first and extended: examples/inventory.toml.")
SEARCH = (BUDGET, MAX_POWER, CONFIDENCE, OBJECTIVE, MACHINES, OWN, SDK, DIVISION, PARAMETERS)
PLAN_SEED = SEED._replace(help="Seed of the simulated scores behind intervals.")
# What a run with failures has to do.
WORK = quantity(
    "work",
    "s",
    "Useful time of the run, such as 14d [default: the time to train].",
    "14 d",
    high=MOST_WORK_S,
    metavar="TIME",
    minutes=True,
    why="the most is 100 years",
)
CHECKPOINT_EVERY = quantity(
    "checkpoint_every",
    "s",
    "Work between two checkpoints, such as 30min [default: the best, searched].",
    "30 min",
    high=MOST_WORK_S,
    metavar="TIME",
    minutes=True,
    why="the most is 100 years",
)
# What a replica serves.
BATCH = count("batch", "Rows that a replica answers together.", high=65_536, default=1)
BATCHES = Argument(
    name="batches",
    kind=ArgumentKind.SIZES,
    help="Compare batch sizes too: 1..64 (every doubling) or a list 1,8,32.",
    low=1,
    high=BATCH.high,
    example='"1..64"',
    metavar="SIZES",
)
MOST_TOKENS: Final = 10_000_000  # far beyond any context
PROMPT = count(
    "prompt",
    "Tokens of a prompt [default: the training sequence length, or the positions of the model if fewer, less the "
    "tokens generated].",
    high=MOST_TOKENS,
)
# What is written where.
WRITE, PATH = switch("write", "Write what was found.", default=True), file("path", "Where it is read or written.")
# Operators, collectives and traces.
_SIZES = (
    "m k n groups batch size in_channels out_channels kernel stride channel_groups rows columns images table width "
    "lookups elements outputs queries keys window parameters tensors"
)
# `podsim op OPERATOR --help` says what each is to an operator.
OPERATOR_SIZES = tuple(count(name) for name in _SIZES.split())
OPERATOR_WORDS = tuple(word(name) for name in ("kind", "method", "optimizer", "pass", "pass_"))
OPERATION = Argument(name="operation", kind=ArgumentKind.LISTED, help="What is done to each element, in order.")
BYTES = quantity(
    "bytes",
    "B",
    "Buffer of one member: before a reduce-scatter, after an all-gather, all it sends in an all-to-all.",
    "64 MB",
    plain=True,
    metavar="SIZE",
    default=NO_DEFAULT,
)
# Loads and streams.
RATE = quantity(
    "rate",
    "requests/s",
    "Rate of requests that arrive at random, such as 500/s [default: 80 % of what the replicas can do].",
    "500/s",
    plain=True,
    metavar="RATE",
    high=1e10,  # more than one a second of everybody
)
WAIT = quantity(
    "wait",
    "s",
    "How long a request waits at most for others to fill its batch.",
    "2 ms",
    open_low=False,
    plain=True,
    default="0 s",
    metavar="TIME",
)
VARIATION = share(
    "variation",
    "Coefficient of variation of batch times, from 0 (all take the same) to 1 (exponential).",
    0.0,
    1.0,
    default=0.0,
)
P99 = quantity("p99", "s", "P99 latency limit of a request: 10ms.", "10 ms", metavar="TIME")
TTFT = quantity("ttft", "s", "P99 limit of the time to the first token: 500ms.", "500 ms", metavar="TIME")
TPOT = quantity("tpot", "s", "Limit of the time per output token: 50ms.", "50 ms", metavar="TIME")
TOKENS_PER_S = number(
    "tokens_per_s",
    "Tokens generated per second over all requests, instead of --rate: 10k.",
    1e12,
    unit="tokens/s",
    multiples=True,
)
HEADROOM = share("headroom", "Room to grow: 0.3 meets 1.3 times the rate.", 0.0, 10.0)
SPARES = from_zero("spares", "Spare machines: the rate is met without them.", high=1000)
STREAM = quantity("stream", "B", 'What streams in: "1 MB".', "1 MB", open_low=False, metavar="BYTES")
STREAM_RATE = quantity("stream_rate", "B/s", 'How fast it arrives: "20 GB/s".', "20 GB/s", metavar="RATE")
COLLECTIVE = (
    choice("collective", "all-reduce reduce-scatter all-gather broadcast all-to-all", default=NO_DEFAULT),
    BYTES,
    POD._replace(help="IPUs of an IPU-POD, a power of two."),
    TOPOLOGY._replace(help="A machine or generic fabric by name or file, instead of --pod."),
    word(
        "group",
        "Members of each collective: all, rack, across-racks, consecutive:N (or N), orthogonal:N.",
        "GROUP",
        default="all",
        plain=True,
    ),
    IPUS_PER_REPLICA._replace(
        default=1,
        help="Members are replicas of so many IPUs: one collective per position in the replica, all at the same time.",
    ),
    choice(
        "algorithm",
        "ring ring-pair meet-in-the-middle ladder-ring halving-doubling tree direct torus three-phase",
        "ring, ring-pair, meet-in-the-middle, ladder-ring, halving-doubling, tree, direct, torus, three-phase "
        "[the best].",
        metavar="NAME",
    ),
    count("chunks", "Parts of the buffer that follow each other through the phases.", default=1),
    choice(
        "pace",
        "lockstep messages",
        "Start a step when all messages of the one before have arrived, or each member when its own have [default: "
        "lockstep on machines, messages on generic fabrics].",
    ),
    CHANGES,
    ENGINE._replace(help="Discrete events, or each step alone on the links."),
    FIDELITY._replace(help="Run one of each set of equal members, or all."),
)

ON_MACHINE = (POD, TOPOLOGY, CHIP, HOSTS, CHANGES, PARAMETERS)
MAPPING_ARGUMENTS = (*ON_MACHINE, PRESET, *SPLIT)
RUN = (SAMPLES, DIVISION, SDK, INTERVAL)
PROGRAM = (
    POD._replace(help="IPUs that share the work, a power of two [default: 1]."),
    TOPOLOGY,
    CHIP._replace(help="Another chip, by name (podsim chip list) or file."),
    CHANGES._replace(help='Change a number, repeatable: chip.clock="1.5 GHz", or =+20%.'),
)
FIT = (WRITE, PATH)
SCENARIO = (
    WORKLOAD,
    *MAPPING_ARGUMENTS,
    *RUN,
    ENGINE,
    FIDELITY,
    SEED,
    FAULTS,
    *CONFIGURATION,
    *LENGTH,
    CHIPS,
    STEPS,
    NOISE_SCALE,
)
"""What a `podsim.scenario.Scenario` is made of."""
FLAGS: Final[Mapping[str, Argument]] = {argument.name: argument for argument in SCENARIO}
"""The flags of a `podsim.scenario.Scenario`, by name."""
