"""Lines that every page of an answer shows, however short it is."""

from collections.abc import Iterator, Mapping, Sequence

from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.report.doc import Note, Tone

LABEL = "Caveat"
FAILURE_RATES = AnswerNote.of(NoteCode.FAILURE_RATES)


def notes(assumptions: Sequence[AnswerNote], *, verbose: bool = False) -> Iterator[Note]:
    """The caveats among assumptions; none on a verbose page, which lists all assumptions."""
    if not verbose:
        yield from (Note(str(note), LABEL, Tone.WARNING) for note in assumptions if note.caveat)


def texts(assumptions: Sequence[AnswerNote]) -> Iterator[str]:
    """The caveats among assumptions as sentences."""
    yield from (str(note) for note in assumptions if note.caveat)


def of_several(answers: Mapping[str, Sequence[AnswerNote]], *, verbose: bool = False) -> Iterator[Note]:
    """The caveats of answers by name: each once, with the names of those that it is about where it is not all."""
    caveats = dict.fromkeys(note for assumptions in answers.values() for note in assumptions if note.caveat)
    for note in () if verbose else caveats:
        names = [name for name, assumptions in answers.items() if note in assumptions]
        text = str(note) if len(names) == len(answers) else _about(names, str(note))
        yield Note(text, LABEL, Tone.WARNING)


def _about(names: Sequence[str], text: str) -> str:
    """A caveat after the names of those that it is about: "chip.clock=2x: price and power …"."""
    follows = text[:1].lower() + text[1:] if text[1:2].islower() else text
    return f"{', '.join(names)}: {follows}"
