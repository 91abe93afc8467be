"""The first page, and the look of the others."""

import textwrap
from functools import partial
from typing import TYPE_CHECKING

from podsim.cli.exit import MEANINGS
from podsim.studies import commands

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions


PURPOSE = "How long will this training run take on that many IPUs, what limits it, and how sure are we?"
EXAMPLES = (
    "podsim predict bert --pod 512",
    "podsim predict resnet50 --topology bow-pod64 -v",
    'podsim predict bert --pod 256 --set chip.clock="1.5 GHz"',
    "podsim topology show pod128",
    "podsim validate",
)
LAST = (
    "podsim COMMAND --help lists its flags, podsim --version prints the version, "
    "podsim --install-completion enables shell completion"
)
TITLES = {"Arguments": "arguments", "Commands": "commands", "Parameters": "flags"}  # the names cyclopts gives


def page(width: int, *, full: bool) -> str:
    """Five examples, then the verbs; `full` adds the exit codes."""
    lines = [*textwrap.wrap(PURPOSE, width), "", *(f"  {example}" for example in EXAMPLES)]
    heading = ""
    for _, command in commands().values():
        if command.heading != heading:
            heading = command.heading
            lines += ["", heading]
        lines += _entry(command.name, command.help, 12, width)
    lines += ["", *_kept_together(LAST, width)]
    if full:
        lines += ["", "exit codes"]
        for code, meaning in MEANINGS.items():
            lines += _entry(str(int(code)), meaning, 4, width)
    return "\n".join(lines) + "\n"


def _kept_together(text: str, width: int) -> list[str]:
    """Lines that end before a command, and never inside it."""
    kept = text.replace(" --", "\u00a0--")
    return [line.replace("\u00a0", " ") for line in textwrap.wrap(kept, width, break_on_hyphens=False)]


def _entry(label: str, text: str, column: int, width: int) -> list[str]:
    """A label in its column and the text to its right, or below where the label is too long."""
    indent = " " * (column + 2)
    wrapped = textwrap.wrap(text, max(width - len(indent), 20), break_on_hyphens=False) or [""]
    if len(label) + 1 > column:
        return [*_broken_label(label, width), *(indent + line for line in wrapped if line)]
    return [f"  {label:<{column}}{wrapped[0]}".rstrip(), *(indent + line for line in wrapped[1:])]


def _broken_label(label: str, width: int) -> list[str]:
    """A label on lines of its own; choices that are wider than the screen go on below, after a bar."""
    lines = [f"  {label}"]
    while len(lines[-1]) > width and (end := lines[-1].rfind("|", 0, width) + 1) > 0:
        lines[-1:] = [lines[-1][:end], f"      {lines[-1][end:]}"]
    return lines


class Formatter:
    """Help of one command in the look of the first page: no boxes, two columns."""

    def render_usage(self, console: "Console", options: "ConsoleOptions", usage: object) -> None:
        """Print the usage line."""
        if text := _text(usage, console, options):
            _print(console, text.replace("[OPTIONS]", "[FLAGS]"), "")

    def render_description(self, console: "Console", options: "ConsoleOptions", description: object) -> None:
        """Print what the command does."""
        if text := _text(description, console, options):
            wrap = partial(textwrap.wrap, width=console.width, break_on_hyphens=False)
            paragraphs = map(wrap, text.split("\n\n"))
            _print(console, *(line for lines in paragraphs for line in (*lines, "")))

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
        """Print one group of flags or commands."""
        if not panel.entries:
            return
        labels = [_label(entry) for entry in panel.entries]
        column = min(max(len(label) for label in labels) + 2, 29)
        title = str(panel.title)
        lines = [TITLES.get(title, title)]
        for label, entry in zip(labels, panel.entries, strict=True):
            lines += _entry(label, _description(entry, console, options), column, console.width)
        _print(console, *lines, "")


def _print(console: "Console", *lines: str) -> None:
    for line in lines:
        console.print(line, highlight=False, markup=False, no_wrap=True, overflow="ignore", crop=False)


def _text(renderable: object, console: "Console", options: "ConsoleOptions") -> str:
    """What cyclopts would have drawn, as one string; it hands out its own renderables."""
    if not renderable:
        return ""
    segments = console.render(renderable, options.update(width=10**4))  # type: ignore[arg-type]
    return "".join(segment.text for segment in segments).strip()


def _label(entry: "HelpEntry") -> str:
    names = " ".join(entry.display_labels)
    value = "|".join(entry.choices or ()) or entry.metavar
    return f"{names} {value}" if value and not entry.positional_label else names


def _description(entry: "HelpEntry", console: "Console", options: "ConsoleOptions") -> str:
    text = _text(entry.description, console, options)
    return f"{text} [default: {entry.default}]" if entry.default else text
