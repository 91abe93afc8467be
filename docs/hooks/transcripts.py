"""Commands of a page that are run when the site is built: fences that begin with ```console run."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from tempfile import TemporaryDirectory
from typing import Final

from podsim.cli.command_line import main

FENCE: Final = re.compile(r"^```console run\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE: Final = re.compile(r"^```toml title=\"([\w.-]+)\"\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COLUMNS: Final = "82"
NO: Final = "  # exit code 1: the answer is no"


def run(markdown: str) -> str:
    """The page with what its commands print, in a folder that has the files which the page shows."""
    if not FENCE.search(markdown):
        return markdown
    with TemporaryDirectory() as folder, chdir(folder), width():
        for name, text in FILE.findall(markdown):
            with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123  (the folder is the working folder)
                file.write(text)
        return FENCE.sub(lambda match: f"```console\n{''.join(_answers(match[1]))}```", markdown)


@contextmanager
def width() -> Iterator[None]:
    """The width of a page of the site, for whatever podsim prints meanwhile."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = COLUMNS
    try:
        yield
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before


def _answers(lines: str) -> Iterator[str]:
    """Each command of a fence, which may go on after a backslash, and what it prints."""
    for command in lines.replace("\\\n", "").splitlines():
        words = shlex.split(command.removesuffix(NO).removeprefix("$ "))
        if not words or words[0] != "podsim":
            raise RuntimeError(f"not a command of podsim: {command}")
        out, messages = TextIOWrapper(BytesIO(), encoding="utf-8"), StringIO()
        with redirect_stdout(out), redirect_stderr(messages):
            code = main(words[1:])
        if code != (1 if command.endswith(NO) else 0):
            raise RuntimeError(f"{command} ended with {code}: {messages.getvalue()}")
        out.seek(0)
        yield f"{command}\n{out.read()}"
