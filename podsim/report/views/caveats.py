"""Lines that every page of an answer shows, however short it is."""

from collections.abc import Iterator, Mapping, Sequence

from podsim.model.caveat import Caveat
from podsim.report.doc import Note, Tone

LABEL = "Caveat"
FAILURE_RATES = (
    'no failure rates of IPU systems are published: all are assumed; set your own with --set failures.ipu.mtbf="5 y"'
)


def notes(assumptions: Sequence[str], *, verbose: bool = False) -> Iterator[Note]:
    """The caveats among assumptions; none on a verbose page, which lists all assumptions."""
    if not verbose:
        yield from (Note(line, LABEL, Tone.WARNING) for line in assumptions if isinstance(line, Caveat))


def of_several(answers: Mapping[str, Sequence[str]], *, verbose: bool = False) -> Iterator[Note]:
    """The caveats of answers by name: each once, with the names of those that it is about where it is not all."""
    fromkeys = dict.fromkeys(line for lines in answers.values() for line in lines if isinstance(line, Caveat))
    for line in () if verbose else fromkeys:
        names = [name for name, lines in answers.items() if line in lines]
        yield Note(line if len(names) == len(answers) else f"{line} ({', '.join(names)})", LABEL, Tone.WARNING)
