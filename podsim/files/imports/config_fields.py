"""The fields of a transformers config.json, and the sizes that several model types call alike.

Source: huggingface-transformers for the names of fields and their defaults.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from podsim.files.file_faults import value_text
from podsim.files.import_options import Options
from podsim.files.imports import ignored_fields
from podsim.model.limits import LAYERS, WIDTH


@dataclass(slots=True)
class Config:
    """What a config says, and all that is wrong with it so far."""

    says: Mapping[str, Any]
    request: Options
    wrong: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    read: set[str] = field(default_factory=set)

    def _value(self, *names: str) -> tuple[str, Any]:
        """The first of the names that is there, and what it says; None where nothing does."""
        self.read.update(names)
        name = next((name for name in names if self.says.get(name) is not None), names[0])
        return name, self.says.get(name)

    def size(self, *names: str, usual: int | None = None, least: int = 1, most: int = WIDTH.most) -> int:
        """The whole number under the first of the names that is there; 1, and a fault, where it is none."""
        name, value = self._value(*names)
        value = usual if value is None else value
        if value is None:
            self.wrong.append(f"{name} is missing")
            return 1
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong.append(f"{name} must be a whole number, not {ignored_fields.message(value)}")
            return 1
        if not least <= value <= most:
            self.wrong.append(f"{name} is {value_text(value)}; from {least} to {most:,} is known")
            return 1
        return value

    def truth(self, name: str, usual: bool) -> bool:
        """A yes or no."""
        _, value = self._value(name)
        if value is None:
            return usual
        if not isinstance(value, bool):
            self.wrong.append(f"{name} must be true or false, not {ignored_fields.message(value)}")
            return usual
        return value

    def share(self, *names: str, usual: float) -> float:
        """A share from 0 to 1."""
        name, value = self._value(*names)
        if value is None:
            return usual
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self.wrong.append(f"{name} must be a share from 0 to 1, not {ignored_fields.message(value)}")
            return usual
        return float(value)

    def sequence(self, positions: int, *, bound: bool) -> int:
        """Tokens of a row: asked for, else as many as there are positions."""
        sequence = self.request.sequence or positions
        if sequence > WIDTH.most:
            self.wrong.append(f"a sequence of {sequence:,}; at most {WIDTH.most:,} is known")
        if bound and sequence > positions:
            self.wrong.append(f"a sequence of {sequence:,} is longer than its {positions:,} positions")
        if not self.request.sequence:
            self.notes.append(f"sequences of {sequence:,} tokens, all that it has positions for; --sequence for others")
        return sequence


Importable = tuple[str, dict[str, Any], str]
"""Family, its sizes, and what a row is."""

Names = tuple[str, str, str, str]
USUAL: Final[Names] = ("num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size")


def layers_of(config: Config, names: Names = USUAL) -> dict[str, Any]:
    """Layers, width, heads and feed-forward width, under the names that all but GPT-2 and DistilBERT have."""
    layers, *widths = names
    sizes = zip(("hidden", "heads", "feed_forward"), widths, strict=True)
    return {"layers": config.size(layers, most=LAYERS.most), **{ours: config.size(name) for ours, name in sizes}}
