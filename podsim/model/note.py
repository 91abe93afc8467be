"""A note of an answer: what it assumes or leaves out, as a code with the values that the fact is about."""

from dataclasses import dataclass, replace
from typing import TypeAlias, Union

from podsim.model.note_code import NoteCode

NoteValue: TypeAlias = Union[str, int, float, tuple[str, ...], tuple[int, ...], tuple[float, ...], "AnswerNote", None]
"""What a note may be about; another note where one fact is the reason of another."""


@dataclass(frozen=True, slots=True)
class AnswerNote:
    """What an answer assumes, as a fact; `str` is its sentence.

    Two notes are equal where they say the same of the same values.

    Parameters
    ----------
    code
        Which fact it is.
    values
        What the fact is about, by name in alphabetical order, in SI units; shares as numbers from 0 to 1.
    caveat
        Whether every page of the answer shows it, not only the verbose one: it says what was never measured, or what
        of a user's file is not followed.
    """

    code: NoteCode
    values: tuple[tuple[str, NoteValue], ...] = ()
    caveat: bool = False

    @classmethod
    def of(cls, code: NoteCode, *, caveat: bool = False, **values: NoteValue) -> "AnswerNote":
        """The note of a fact about `values`, named as its sentence in `podsim.model.sentences` names them."""
        return cls(code, tuple(sorted(values.items())), caveat)

    def but(self, **values: NoteValue) -> "AnswerNote":
        """The same fact with other values for those of these names."""
        return replace(self, values=tuple(sorted({**dict(self.values), **values}.items())))

    def with_reason(self, **values: NoteValue) -> "AnswerNote":
        """The same fact with other values in the reason that it states last, where that has values of these names."""
        own = dict(self.values)
        if isinstance(reason := own.get("reason"), AnswerNote):
            return self.but(reason=reason.with_reason(**values))
        return self.but(**{name: value for name, value in values.items() if name in own})

    def __str__(self) -> str:
        """The sentence, in the words of every screen and page."""
        from podsim.model.sentences import sentence  # most answers show a few of their notes, many none

        return sentence(self.code, dict(self.values))

    def __format__(self, spec: str) -> str:
        """The sentence, formatted as text is."""
        return format(str(self), spec)
