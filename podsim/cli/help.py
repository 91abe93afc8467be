"""The first page, and the look of the others."""

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from podsim.cli.exit import MEANINGS
from podsim.files.contents import text_of
from podsim.model.limits import FILE_BYTES
from podsim.studies import commands

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry
    from cyclopts.help import HelpPanel as Panel
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
PAGES: Final = Path(__file__).with_name("help_pages.json")
ASKING: Final = ("--help", "-h")
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
    unbroken_text = text.replace(" --", "\u00a0--")
    return [line.replace("\u00a0", " ") for line in textwrap.wrap(unbroken_text, width, break_on_hyphens=False)]


def _entry(label: str, text: str, column: int, width: int) -> list[str]:
    """A label in its column and the text to its right, or below where the label is too long."""
    indent = " " * (column + 2)
    lines = textwrap.wrap(text, max(width - len(indent), 20), break_on_hyphens=False) or [""]
    if len(label) + 1 > column:
        return [*_broken_label(label, width), *(indent + line for line in lines if line)]
    return [f"  {label:<{column}}{lines[0]}".rstrip(), *(indent + line for line in lines[1:])]


def _broken_label(label: str, width: int) -> list[str]:
    """A label on lines of its own; choices that are wider than the screen go on below, after a bar."""
    lines = [f"  {label}"]
    while len(lines[-1]) > width and (end := lines[-1].rfind("|", 0, width) + 1) > 0:
        lines[-1:] = [lines[-1][:end], f"      {lines[-1][end:]}"]
    return lines


class HelpPanel(NamedTuple):
    """One group of flags, arguments or commands: its title, and a label and a text for each."""

    title: str
    entries: tuple[tuple[str, str], ...]


class HelpPage(NamedTuple):
    """What the help of a command says, before it is laid out."""

    usage: str
    about: str
    panels: tuple[HelpPanel, ...]

    def text(self, width: int) -> str:
        """The page in the look of the first one: no boxes, two columns."""
        lines = [*_usage(self.usage), *_about(self.about, width)]
        for panel in self.panels:
            lines += _panel(panel, width)
        return "\n".join(lines) + "\n"


def page_of(words: Sequence[str]) -> HelpPage | None:
    """The page of a command of which nothing but help is asked, as `make schemas` wrote it; None for other words.

    It is read from a file because parsers of all flags take longer to load than a reader should wait.
    """
    if not words or words[-1] not in ASKING:
        return None
    pages = json.loads(text_of(PAGES, "bad-input", FILE_BYTES))
    page = pages.get(" ".join(words[:-1]))
    if page is None:
        return None
    panels = tuple(HelpPanel(title, tuple(map(tuple, entries))) for title, entries in page["panels"])
    return HelpPage(page["usage"], page["about"], panels)


def _usage(text: str) -> list[str]:
    return [text, ""] if text else []


def _about(text: str, width: int) -> list[str]:
    paragraphs = [textwrap.wrap(part, width, break_on_hyphens=False) for part in text.split("\n\n")] if text else []
    return [line for lines in paragraphs for line in (*lines, "")]


def _panel(panel: HelpPanel, width: int) -> list[str]:
    column = min(max(len(label) for label, _ in panel.entries) + 2, 29)
    lines = [panel.title]
    for label, text in panel.entries:
        lines += _entry(label, text, column, width)
    return [*lines, ""]


class Formatter:
    """Help of one command as cyclopts takes it apart: laid out, and kept as `page`."""

    def __init__(self) -> None:
        self.page = HelpPage("", "", ())

    def render_usage(self, console: "Console", options: "ConsoleOptions", usage: object) -> None:
        """Print the usage line."""
        text = _text(usage, console, options).replace("[OPTIONS]", "[FLAGS]")
        self.page = HelpPage(text, "", ())
        _print(console, *_usage(text))

    def render_description(self, console: "Console", options: "ConsoleOptions", description: object) -> None:
        """Print what the command does."""
        text = _text(description, console, options)
        self.page = self.page._replace(about=text)
        _print(console, *_about(text, console.width))

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "Panel") -> None:
        """Print one group of flags or commands."""
        if not panel.entries:
            return
        entries = tuple((_label(entry), _description(entry, console, options)) for entry in panel.entries)
        title = str(panel.title)
        own = HelpPanel(TITLES.get(title, title), entries)
        self.page = self.page._replace(panels=(*self.page.panels, own))
        _print(console, *_panel(own, console.width))


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
