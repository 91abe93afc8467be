"""The gallery: a chart of each study, drawn by podsim when the site is built, with the command that draws it."""

from __future__ import annotations

import shlex
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from podsim.cli.command_line import main

FOLDER: Final = "gallery"


class Picture(NamedTuple):
    """A chart: the name of its file, its title, the command, and what to see in it."""

    name: str
    title: str
    command: str
    text: str


PICTURES: Final = (
    Picture(
        "scale",
        "Time to train on machines of growing size",
        "scale bert --pods 16..1024",
        "The band is the 90 % interval; it widens beyond 256 IPUs, the largest machine with a published result.",
    ),
    Picture(
        "plan",
        "Machines that could meet a time limit",
        "plan bert --within 5min --against dgx-a100",
        "Time against purchase price: the Pareto-optimal machines, the one recommended, and a competitor.",
    ),
    Picture(
        "predict",
        "Where a step goes",
        "predict bert --pod 512",
        "Above, time to train by global batch: a larger batch has fewer steps and needs more samples. Below, a step.",
    ),
    Picture(
        "explain",
        "How a time adds up, and what it depends on",
        "explain bert --pod 256",
        "A waterfall from the ideal time, and the change of the answer per +1 % of each number.",
    ),
    Picture(
        "compare",
        "Two machines side by side",
        "compare bert pod64 bow-pod64",
        "Each part of the run on both.",
    ),
    Picture(
        "infer",
        "Throughput and latency by batch",
        "infer resnet50 --topology bow-2000 --batches 1..64 --rate 5k/s",
        "Larger batches serve more and answer later.",
    ),
)


def draw() -> dict[str, bytes]:
    """The content of each picture by the path of its file on the site."""
    with TemporaryDirectory() as folder:
        return {f"{FOLDER}/{picture.name}.svg": _drawn(picture, Path(folder)) for picture in PICTURES}


def _drawn(picture: Picture, folder: Path) -> bytes:
    path = folder / f"{picture.name}.svg"
    messages = StringIO()
    with redirect_stdout(StringIO()), redirect_stderr(messages):
        code = main([*shlex.split(picture.command), "--quiet", "--out", str(path)])
    if code or not path.is_file():
        raise RuntimeError(f"podsim {picture.command} drew nothing: {messages.getvalue()}")
    return path.read_bytes()


def page() -> str:
    """Every picture under its title, with its command."""
    return "\n\n".join(
        f"## {picture.title}\n\n![{picture.title}]({FOLDER}/{picture.name}.svg){{.chart}}\n\n{picture.text}\n\n"
        f"```console\n$ podsim {picture.command} -o {picture.name}.svg\n```"
        for picture in PICTURES
    )
