"""Whole command lines: every verb with flags valid and hostile; what is accepted runs, and its JSON is looked at.

Nothing is written outside the folder of this process, and no fit is begun.
"""

import io
import json
import os
import re
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from cyclopts.argument import ArgumentCollection
from fuzz.choices import Choices
from fuzz.judge import ACCEPTED, CODES, REFUSED, Violation, check_intervals
from fuzz.scratch import folder, put, seeds
from parsed_once import remembering

from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.files import write
from podsim.files.write import write_atomic

MAPPING = ("--replicas=4", "--ipus-per-replica=1", "--micro-batch=16", "--accumulation=8")
QUICK = (*MAPPING, "--pod=4", "--engine=analytic")
VERBS: dict[tuple[str, ...], tuple[tuple[str, ...], tuple[str, ...]]] = {
    ("predict",): (("resnet50",), QUICK),
    ("scale",): (("resnet50",), ("--pods=4,8", "--engine=analytic")),
    ("compare",): (("resnet50", "pod4", "dgx-a100"), ("--engine=analytic",)),
    ("goodput",): (("resnet50",), (*MAPPING, "--pod=4", "--runs=10")),
    ("infer",): (("resnet50",), ("--pod=4", "--engine=analytic", "--replicas=4", "--ipus-per-replica=1", "--batch=1")),
    ("trace",): (("resnet50",), (*MAPPING, "--pod=4")),
    ("op", "matmul"): ((), ("--m=64", "--k=64", "--n=64")),
    ("op", "softmax"): ((), ("--rows=64", "--columns=64")),
    ("stencil",): (("heat-2d",), ("--grid=64x64", "--pod=4")),
    ("sample",): (("abc-covid19",), ("--pod=4",)),
    ("collective",): (("all-reduce",), ("--bytes=1MB", "--pod=4", "--engine=analytic")),
    ("topology", "show"): (("pod16",), ()),
    ("topology", "list"): ((), ()),
    ("chip", "show"): (("gc200",), ()),
    ("chip", "list"): ((), ()),
    ("workload", "show"): (("resnet50",), ()),
    ("workload", "map"): (("resnet50",), (*MAPPING, "--pod=4")),
    ("workload", "import"): (("my.json",), ()),
    ("config", "show"): ((), ()),
    ("check",): (("pod16.toml",), ()),
    ("diff",): (("old.json", "old.json"), ()),
}
"""Verbs with arguments and flags that are quick to answer. Plans, sweeps, explanations and fits have no quick ones."""
SLOW = (("plan",), ("explain",), ("sweep",), ("validate",), ("calibrate",), ("workload", "list"))
VALID: dict[str, tuple[str, ...]] = {
    "N": ("1", "2", "4", "8", "16", "64"),
    "X": ("1", "0.5", "1e6", "2"),
    "SHARE": ("0.5", "0.9", "0.95"),
    "TIME": ("5min", "1h", "1 d"),
    "USD": ("1", "100k", "0.2"),
    "NAME": ("2.3", "gc200", "bow", "mlperf-v1.1-closed"),
    "NAME|FILE": ("pod16", "bow-pod16", "gc200", "bow", "pod16.toml"),
    "FILE": ("out.json", "out.csv"),
    "PATH=VALUE": ("chip.clock=1.4 GHz", "gw-link.bandwidth=200 Gbit/s"),
    "SIZES": ("4,8", "64x64", "1,2"),
    "KIND": ("link:ipu0-ipu1=0.5", "ipu:0=0.9"),
    "SIZE": ("1MB", "8 KiB"),
    "RATE": ("100/s", "1 GB/s"),
    "BYTES": ("1 MB",),
    "POWER": ("100kW",),
    "LIST": ("pod16,dgx-a100",),
    "GROUP": ("all", "4"),
    "": ("",),
}
HOSTILE = (
    "0",
    "-1",
    "1e308",
    "-1e308",
    "9" * 400,
    "1e-308",
    "nan",
    "inf",
    "",
    " ",
    "²",
    "\u0661",
    "\u202e",
    "\x1b[31m",
    "\x07",
    "=1+1",
    "-",
    "--",
    "--json",
    "x" * 5000,
    "../../etc/passwd",
    "/dev/zero",
    "/dev/full",
    "/proc/self/mem",
    "\0",
    "\udcff",
    "a.toml",
    "a.json",
    "a.onnx",
    ".",
    "/",
    "~",
    "$(id)",
    "`id`",
    "a=b=c",
    "=",
    "1,2,3",
    "1 GB/s",
    "0x10",
    "1_000",
    "1,000",
    "100000000000",
    "9007199254740993",
    "true",
    "None",
    "[]",
    "{}",
    "%s%n",
    "\ud83d\ude00",
    "\ufeff",
    "\r\n",
    "1.5",
    "65536",
)
FORMS = ("--json", "--quiet", "--verbose", "--csv")
UNFIT = (
    "--sequence",
    "--shape",
    "--preset",
    "--parameters",
    "--prices",
    "--hosts",
    "--chips",
    "--replicas",
    "--law",
    "--tokens",
    "--target-loss",
    "--ipus-per-replica",
    "--global-batch",
    "--generate",
    "--prompt",
    "--cache",
)
"""Flags that seldom go with the others: they are given with hostile ones."""
FLAG = re.compile(r"^  (?:-\w )?(--[a-z0-9-]+)(?: -\w)?(?: (\S+))?", re.MULTILINE)
COLOUR = re.compile(r"\x1b\[[\d;]*m")
HEAD = re.compile(r"^(?:error:|no:) ([a-z-]+)$", re.MULTILINE)


@cache
def ready() -> None:
    """The parser that reads each signature once, and the files that command lines name."""
    if ArgumentCollection._from_callable.__name__ != "remembered":  # tests have it already
        ArgumentCollection._from_callable = remembering()  # type: ignore[method-assign]
    put("pod16.toml", dict(seeds("topologies/*.toml"))["pod16.toml"].encode())
    put(
        "my.json",
        json.dumps(
            {
                "model_type": "bert",
                "hidden_size": 64,
                "num_hidden_layers": 2,
                "num_attention_heads": 4,
                "intermediate_size": 128,
                "vocab_size": 100,
                "max_position_embeddings": 32,
            }
        ).encode(),
    )
    put("old.json", told(["topology", "show", "pod16", "--json"])[1].encode())


@cache
def flags_of(verb: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Flags of a verb with what they take, as its help has them."""
    return tuple(FLAG.findall(told([*verb, "--help"])[1]))


def confined(path: Path, content: str | bytes) -> None:
    """Write a file, if it is one of this process."""
    if not os.path.realpath(path).startswith((str(folder()), "/dev/full", "/proc", "/dev/null")):
        raise InputError(f"{path} is out of bounds here", code="cannot-write")
    write_atomic(path, content)


def told(words: list[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command line."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), mock.patch.object(write, "write_atomic", confined):
        code = main(words)
    return code, out.getvalue(), err.getvalue()


def flag(flags: tuple[tuple[str, str], ...], draw: Choices, *, hostile: bool) -> list[str]:
    """One flag with a value; switches are rarely given one."""
    name, takes = draw.of(flags)
    if hostile and not takes and not draw.chance(5):
        name, takes = draw.of([flag for flag in flags if flag[1]] or flags)
    choices = tuple(takes.split("|")) if "|" in takes and not takes.isupper() else VALID.get(takes, ("1",))
    value = draw.of(HOSTILE) if hostile else draw.of(choices)
    if not takes:
        return [f"{name}={value}"] if hostile else [name]
    return [f"{name}={value}"] if draw.chance(50) else [name, value]


def words_of(draw: Choices) -> list[str]:
    """A command line: mostly a verb with its quick flags and a few more, some of them hostile."""
    ready()
    slow = draw.chance(6)
    verb = draw.of(SLOW) if slow else draw.of(tuple(VERBS))
    arguments, quick = VERBS.get(verb, (("resnet50",), ()))
    known, hostile = flags_of(verb), slow or draw.chance(40)
    words = [*arguments]
    if hostile and words and draw.chance(25):
        words[draw.below(len(words))] = draw.of(HOSTILE)
    fitting = tuple(texts for texts in known if hostile or texts[0] not in UNFIT)
    added = [flag(fitting, draw, hostile=False)] if fitting and draw.chance(50) else []
    if hostile and fitting:
        added += [flag(fitting, draw, hostile=True) for _ in range(draw.some(2))]
    added = list({texts[0].partition("=")[0]: texts for texts in added}.values())
    given = {texts[0].partition("=")[0] for texts in added}
    if "--topology" in given:
        given.add("--pod")
    words += [text for text in quick if text.partition("=")[0] not in given]
    words += [word for texts in added for word in texts]
    if slow:  # none of these may begin in earnest
        words.append(draw.of(("--nonsense", "--out=/nonexistent/x.html", "--json=maybe", "--help")))
    if hostile and draw.chance(10):
        at = draw.below(len(words) + 1)
        words[at:at] = [draw.of(HOSTILE)]
    if not hostile and not given & set(FORMS) and draw.chance(50) and ("--json", "") in known:
        words.append("--json")
    return [*verb, *words]


def one_input(data: bytes) -> str:
    """One command line, run in the folder of this process."""
    draw = Choices(data)
    words = words_of(draw)
    if "--freeze" in words or (words[0] == "calibrate" and "--help" not in words):
        words = [*words, "--nonsense"]
    here = Path.cwd()
    os.chdir(folder())
    try:
        code, out, err = told(words)
    finally:
        os.chdir(here)
    check(words, code, out, err)
    return ACCEPTED if code in (0, 1) else REFUSED


def error_code(words: list[str], err: str) -> str:
    """The code of an error, on its screen or under --json in its document; "" where none is named."""
    if "--json" in words and err.startswith("{"):
        document: Any = json.loads(err)
        return str(document["code"])
    match = HEAD.search(err)
    return match[1] if match else ""


def check(words: list[str], code: int, out: str, err: str) -> None:
    """Raise Violation for what no command line may do."""
    if code not in (0, 1, 2) or "Traceback" in err:
        raise Violation(f"exit code {code} of {words}\n{err}")
    strange = [letter for letter in out + err if not (letter.isprintable() or letter == "\n")]
    if strange and "import" not in words and "--color" not in " ".join(words):
        raise Violation(f"{strange[:3]} on the screen of {words}")
    named = error_code(words, COLOUR.sub("", err))
    if code == 2 and not named:
        raise Violation(f"no error is named of {words}\n{err}")
    if code == 2 and named not in CODES:
        raise Violation(f"{named} is no code of docs/reference/errors.md")
    if code in (0, 1) and "--json" in words and out.startswith("{"):
        document: Any = json.loads(out)
        check_intervals(document)
