"""The arguments of each verb, in the order of its positional ones."""

from collections.abc import Mapping
from typing import Final

from podsim.model import arguments as a
from podsim.model.argument import REQUIRED, Argument, ArgumentKind

_ON_MACHINE = (a.POD, a.TOPOLOGY, a.CHIP, a.HOSTS, a.CHANGES, a.PARAMETERS)
_MAPPED = (*_ON_MACHINE, a.PRESET, *a.SPLIT)
_RUN = (a.SAMPLES, a.DIVISION, a.SDK, a.INTERVAL)
_PROGRAM = (
    a.POD._replace(help="IPUs that share the work, a power of two [default: 1]."),
    a.TOPOLOGY,
    a.CHIP._replace(help="Another chip, by name (podsim chip list) or file."),
    a.CHANGES._replace(help='Change a number, repeatable: chip.clock="1.5 GHz".'),
)
_FIT = (a.WRITE, a.PATH)
_SCENARIO = (
    a.WORKLOAD,
    *_MAPPED,
    *_RUN,
    a.ENGINE,
    a.FIDELITY,
    a.SEED,
    a.FAULTS,
    *a.CONFIGURATION,
    *a.LENGTH,
    a.CHIPS,
    a.STEPS,
    a.NOISE_SCALE,
)

_DECLARED: Final[Mapping[str, tuple[Argument, ...]]] = {
    "predict": (*_SCENARIO, a.ON_PROGRESS),
    "predict_comparator": (
        a.WORKLOAD,
        a.TOPOLOGY._replace(default=REQUIRED),
        a.CHIPS,
        a.GLOBAL_BATCH,
        a.SAMPLES,
        a.DIVISION,
    ),
    "explain": (a.WORKLOAD, *_MAPPED, *_RUN, a.ENGINE, a.SEED, *a.CONFIGURATION, *a.LENGTH, a.ON_PROGRESS),
    "explain_operators": (a.WORKLOAD, *_MAPPED, *a.CONFIGURATION),
    "goodput": (
        a.WORKLOAD,
        *_MAPPED,
        *a.LENGTH,
        a.FAULTS,
        a.ON_PROGRESS,
        a.WORK,
        a.CHECKPOINT_EVERY,
        a.from_zero("spares", "Machines that stand by for one that fails.", high=10_000, default=0),
        a.count("runs", "Histories to simulate [default: 1,000, fewer where failures are very many]."),
        a.SEED._replace(help="Seed of the failures."),
    ),
    "trace": (
        a.WORKLOAD,
        *_MAPPED,
        *a.CONFIGURATION,
        a.ENGINE,
        a.FIDELITY,
        a.FAULTS,
        a.SEED,
        a.MOST_SPANS,
        a.ON_PROGRESS,
        a.choice(
            "level",
            "pod tile",
            "The tasks of a step on all IPUs, or the supersteps of one stage on the tiles of its IPU.",
            default="pod",
        ),
        a.from_zero("stage", "Which stage, with --level tile [default: the one with most arithmetic]."),
        a.STEPS._replace(low=1, high=100, default=1, help="Steps drawn, one after the other, at most 100."),
        a.NOISE_SCALE._replace(
            help="Draw steps with noise, delays X times as long as in published runs [default: no noise]."
        ),
    ),
    "scale": (
        a.WORKLOAD,
        a.IPUS_PER_REPLICA,
        a.MICRO_BATCH,
        a.ACCUMULATION,
        *_RUN,
        a.ENGINE,
        a.FIDELITY,
        a.SEED,
        a.PARAMETERS,
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
            help="IPUs of each IPU-POD: 16..1024 doubles as far as it goes, 16,64,256 lists (--chip bow: Bow Pods).",
        ),
        Argument(
            name="topologies",
            kind=ArgumentKind.LISTED,
            metavar="NAMES",
            help="Machines by name or file, commas between, instead of --pods.",
        ),
        a.CHIP._replace(help="Put this chip into every machine."),
        a.HOSTS._replace(help="Servers that feed each machine."),
        a.CHANGES._replace(help='Change a number of all, repeatable: gw-link.bandwidth="400 Gbit/s".'),
        a.PRESET._replace(help="A published mapping by name, of the machines that have one: mlperf-v1.1-closed."),
        a.GLOBAL_BATCH._replace(help="Samples a weight update on the first machine, with --scaling strong or weak."),
        a.choice(
            "scaling",
            "best strong weak",
            "Global batch: the best for each machine, that of the first, or the first's times the growth.",
            default="best",
        ),
        a.share(
            "knee",
            "Where the knee is: a doubling gains less than this share of throughput.",
            0.0,
            1.0,
            open_low=True,
            open_high=True,
            default=0.5,
            why="0.5 is from where twice the IPUs give less than 1.5 times",
        ),
        a.switch(
            "failures", "Simulate failures too: the useful share of the time and when the run ends (podsim goodput)."
        ),
    ),
    "compare": (
        a.WORKLOAD,
        Argument(
            name="machines", kind=ArgumentKind.TEXTS, default=(), metavar=a.NAME_OR_FILE, help="Two or more machines."
        ),
        *_MAPPED,
        *_RUN,
        a.CHIPS,
        a.ENGINE,
        a.FIDELITY,
        a.SEED,
        *a.LENGTH,
        *a.MONEY,
        a.ON_PROGRESS,
        Argument(
            name="to",
            kind=ArgumentKind.TEXTS,
            default=(),
            metavar=a.NAME_OR_FILE,
            help="Another machine, repeatable: --to pod512.",
        ),
        a.word("to_chip", "The same machine with this chip.", a.NAME_OR_FILE),
        a.word("to_sdk", "The same machine under this Poplar SDK.", "VERSION"),
        a.word("to_preset", "The same machine with this published mapping."),
        Argument(
            name="configuration",
            kind=ArgumentKind.MAPPING,
            members=a.CONFIGURATION,
            help="Flags of the configuration, by name.",
        ),
    ),
    "plan": (
        a.WORKLOAD,
        a.WITHIN,
        *a.SEARCH,
        a.PLAN_SEED,
        a.SAMPLES,
        a.GLOBAL_BATCH._replace(help="Samples a weight update, on every machine."),
        a.CHANGES,
        a.ON_PROGRESS,
        *a.MONEY,
        *a.LENGTH,
        a.FRAMEWORK,
    ),
    "plan_mix": (
        a.file(
            "workloads",
            "Size one machine for the jobs of a month, instead of one workload: examples/mix.toml.",
            default=REQUIRED,
        ),
        *a.SEARCH,
        a.PLAN_SEED,
        a.ON_PROGRESS,
        *a.MONEY,
    ),
    "infer": (
        a.WORKLOAD,
        *_ON_MACHINE,
        a.SDK,
        a.REPLICAS,
        a.IPUS_PER_REPLICA,
        a.INTERVAL,
        a.ON_PROGRESS,
        a.BATCH,
        a.BATCHES,
        a.FRAMEWORK._replace(help="Framework that serves the model [default: none, inputs ahead and no call a batch]."),
        a.choice(
            "weights",
            "resident streamed",
            "Where weights are: in SRAM, or in the DDR of the machine, read for every batch.",
            default="resident",
        ),
        a.choice(
            "precision",
            "8.16 16.16 16.32 32",
            "Operands and partial sums, such as 16.16 or 8.16 [default: as trained].",
            metavar="NAME",
        ),
        a.quantity(
            "rate", "requests/s", "Requests that come at random, such as 500/s.", "500/s", plain=True, metavar="RATE"
        ),
        a.count("clients", "Clients that each ask again as soon as they are answered, instead of --rate."),
        a.quantity(
            "wait",
            "s",
            "How long a request waits at most for others to fill its batch.",
            "2 ms",
            open_low=False,
            plain=True,
            default=0.0,
            metavar="TIME",
        ),
        a.count("requests", "Requests that are simulated.", high=5_000_000, default=20_000),
        a.from_zero("generate", "Tokens generated after the prompt.", high=a.MOST_TOKENS, default=0),
        a.count(
            "prompt",
            "Tokens of a prompt [default: those of a row, as far as positions were learned].",
            high=a.MOST_TOKENS,
        ),
        a.choice(
            "cache", "resident streamed", "Where keys and values are: SRAM or DDR [default: SRAM where they fit]."
        ),
        a.ENGINE._replace(help="Event by event, or by formula; requests are always events."),
        a.SEED._replace(help="Seed of the arrivals."),
    ),
    "mappings": (
        a.WORKLOAD,
        *_ON_MACHINE,
        *a.SPLIT,
        a.SAMPLES,
        a.SDK,
        *a.CONFIGURATION,
        *a.LENGTH,
        a.ON_PROGRESS,
        a.choice(
            "by",
            "time throughput",
            "Time to train, or samples a second, which takes no length of a run.",
            default="time",
        ),
        a.count("most", "Show so many.", high=1000, default=20),
    ),
    "sweep": (
        a.file("file", "A sweep file: docs/sweeps.md.", default=REQUIRED),
        a.ON_PROGRESS,
        a.ON_WARNING,
        a.file(
            "results",
            "Where each point is stored as it comes [default: FILE.results.jsonl]; the same command "
            "goes on from there.",
        ),
        a.count("jobs", "Processes on this machine [default: one a core].", high=4096),
        a.choice("backend", "local dask", "This machine, or a Dask cluster.", default="local"),
        a.word("scheduler", "Of the cluster: tcp://HOST:8786.", "ADDRESS"),
        a.count("most", "Points that a sweep may have [default: 10,000].", high=1_000_000),
        a.switch("anew", "Overwrite what is stored."),
        a.switch("extend", "Go on with the results of another sweep, and compute only points that it has not."),
    ),
    "op": (
        a.word("operator", "An operator: podsim op --help.", default=REQUIRED),
        a.CHIP._replace(default="gc200", help="A name (podsim chip list) or a file [default: gc200]."),
        a.choice(
            "precision",
            "8.16 16.16 16.32 32",
            "Operands and partial sums.",
            default="16.16",
            metavar="16.16|16.32|32|8.16",
            code="unknown-precision",
        ),
        a.share(
            "available_memory",
            "Share of a tile's SRAM that the operator may use for temporary data.",
            0.0,
            1.0,
            open_low=True,
            default=0.6,
            code="bad-available-memory",
        ),
        a.switch("count_copies", "Compare plans with the cycles of copies or before them.", default=None),
        a.CHANGES._replace(help='Change a number of the chip, repeatable: chip.clock="1.5 GHz".'),
        a.FIDELITY._replace(help="Run one of each set of equal tiles, or every tile and every repeat on its own."),
        a.count("io_tiles", "Set so many tiles aside that take a stream while the others compute, then pass it on."),
        a.quantity("stream", "B", 'What streams in: "1 MB".', "1 MB", open_low=False, metavar="BYTES"),
        a.quantity("stream_rate", "B/s", 'How fast it arrives: "20 GB/s".', "20 GB/s", metavar="RATE"),
        *a.OPERATOR_SIZES,
        *a.OPERATOR_WORDS,
        a.OPERATION,
    ),
    "collective": (*a.COLLECTIVE, a.FAULTS),
    "trace_collective": (
        *a.COLLECTIVE,
        a.MOST_SPANS._replace(
            help="Spans written at most (101 or more), and as many changes of link load; the rest, "
            "in the middle, is left out."
        ),
    ),
    "stencil": (
        a.word("stencil", "heat-2d, heat-3d, diffusion-3d, wave-3d or aliev-panfilov.", default=REQUIRED),
        a.word(
            "grid",
            "Points along each dimension, 8000x8000 or 360^3; IPUs, up to a rack, share the first.",
            "SIZES",
            default=REQUIRED,
        ),
        *_PROGRAM,
    ),
    "sample": (
        a.word(
            "sampler",
            "abc-covid19, mcmc-hmc, or a file that says what is done with one sample.",
            a.NAME_OR_FILE,
            default=REQUIRED,
        ),
        a.count(
            "samples", "Particles or chains at once, spread over all tiles [default: as many as fit].", high=10**12
        ),
        a.count("rounds", "Times that each is sampled [default: as its file says]."),
        *_PROGRAM,
    ),
    "priced": (
        Argument(
            name="answer", kind=ArgumentKind.ANSWER, choices=("Prediction", "ComparatorPrediction"), default=REQUIRED
        ),
        a.TOPOLOGY,
        a.CHIP,
        a.CHANGES,
        Argument(name="known", kind=ArgumentKind.ANSWER, choices=("OwnershipTerms",)),
        *a.MONEY,
    ),
    "purse": a.MONEY,
    "list_chips": (),
    "list_topologies": (),
    "list_workloads": (),
    "show_chip": (a.word("name", "A name (podsim chip list) or a file.", a.NAME_OR_FILE, default=REQUIRED),),
    "show_topology": (a.word("name", "A name (podsim topology list) or a file.", a.NAME_OR_FILE, default=REQUIRED),),
    "show_workload": (
        a.word(
            "name",
            "A name (podsim workload list) or a file: TOML, a config.json, ONNX.",
            a.NAME_OR_FILE,
            default=REQUIRED,
        ),
        a.CHANGES,
    ),
    "check": (a.file("file", "A file of any kind that podsim reads.", default=REQUIRED),),
    "config": (),
    "read_scenario": (a.file("file", "A scenario file: docs/formats.md.", default=REQUIRED),),
    "write_scenario": (
        Argument(name="scenario", kind=ArgumentKind.ANSWER, choices=("Scenario",), default=REQUIRED),
        a.file("file", "Where it is written.", default=REQUIRED),
    ),
    "import_model": (
        a.file("file", "A config.json of transformers or an ONNX file.", default=REQUIRED),
        a.count("sequence", "Tokens of a row of a config.json [default: all that it has positions for]."),
        a.texts("shape", "Sizes of an input of an ONNX file, repeatable: image=1,3,224,224.", "INPUT=SIZES"),
    ),
    "diff": (a.file("old", "A saved answer.", default=REQUIRED), a.file("new", "A later one.", default=REQUIRED)),
    "calibrate": (
        a.choice(
            "hold_out",
            "machine round workload larger chip none",
            "What is left out of the fit, one after the other.",
            default="machine",
        ),
        *_FIT,
        a.ON_PROGRESS,
    ),
    "calibrate_own": (
        a.file("logs", "MLPerf result logs in any layout below a folder; docs/own-logs.md.", "DIR"),
        a.file("points", "Calibration points instead, as --points-out writes them.", "FILE|DIR"),
        a.TOPOLOGY._replace(help="The machine of all the logs, where they do not say."),
        a.texts("presets", "Published mapping or configuration that was followed, repeatable.", "NAME"),
        a.IPUS_PER_REPLICA._replace(help="IPUs of one copy of the model."),
        a.SDK._replace(help="Poplar SDK of the runs.", metavar="NAME"),
        a.switch("alone", "Leave the published points out."),
        a.file("out", "Write the parameters here instead."),
        a.file("points_out", "Write the points here."),
        a.ON_PROGRESS,
    ),
    "calibrate_noise": _FIT,
    "calibrate_comparators": (*_FIT, a.ON_PROGRESS),
    "calibrate_frameworks": (*_FIT, a.ON_PROGRESS),
    "freeze": (*_FIT, a.ON_PROGRESS),
    "validate": (a.ON_PROGRESS,),
    "validate_comparators": (a.ON_PROGRESS,),
    "coverage": (a.ON_PROGRESS,),
    "hold_outs": (a.ON_PROGRESS,),
    "microbenchmarks": (a.ON_PROGRESS,),
    "claims": (a.PATH, a.ON_PROGRESS),
    "published": (a.PATH, a.ON_PROGRESS),
}

VERBS: Final[Mapping[str, Mapping[str, Argument]]] = {
    verb: {argument.name: argument for argument in declared} for verb, declared in _DECLARED.items()
}
"""Arguments of each verb of `podsim.api`, by name."""
SCENARIO: Final[Mapping[str, Argument]] = {argument.name: argument for argument in _SCENARIO}
"""The flags of a `podsim.scenario.Scenario`, by name."""
