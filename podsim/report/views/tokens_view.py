"""Rate and batch of a language model in tokens, and samples of a step whose rows are packed."""

from collections.abc import Iterator

from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Prediction
from podsim.report import numbers
from podsim.report.doc import Fact


def amount(count: float) -> str:
    """A number of tokens as language models state it: "300 B"."""
    return numbers.scale(count, numbers.COUNT).text(count)


def rate(p: Prediction) -> Iterator[Fact]:
    """Tokens per second, of all IPUs and of each."""
    if (estimate := p.tokens_per_s) is None:
        return
    text = numbers.format_estimate(estimate, numbers.COUNT)
    each = numbers.short(estimate.value / p.mapping.ipus, 2 if numbers.is_coarse(estimate) else 3)
    yield Fact("Token rate", text.number, f"{text.unit} tokens/s".strip(), f"{each} per IPU")


def batch(p: Prediction) -> Iterator[Fact]:
    """Tokens of a weight update."""
    if p.global_batch_tokens is None or p.row_tokens is None:
        return
    text = numbers.scale(p.global_batch_tokens, numbers.COUNT)
    rows = f"{p.mapping.rows_per_step:,.0f} rows × {p.row_tokens:,} tokens"
    for note in p.assumptions:
        if note.code is NoteCode.GLOBAL_BATCH_OF_PAPER:
            near = amount(p.global_batch_tokens) != _of_paper(note)
            rows += f", nearest to the {_of_paper(note)} of the model's paper" if near else ", as in the model's paper"
        elif note.code is NoteCode.GLOBAL_BATCH_UNLIKE_PAPER:
            rows += f", as in the published IPU configuration; {_of_paper(note)} in the model's paper"
    yield Fact("Tokens per step", text.number(p.global_batch_tokens), f"{text.unit} tokens".strip(), rows)


def _of_paper(note: AnswerNote) -> str:
    """The tokens of a step that the paper of the model states."""
    tokens = dict(note.values)["tokens"]
    assert isinstance(tokens, float), "the note has a number of tokens"
    return amount(tokens)


def packing(p: Prediction) -> float:
    """Samples of the data over those that the global batch counts: packed rows hold more than their nominal number."""
    if p.phases:
        return 1.0
    return round(p.throughput_samples_per_s.value * p.step_s.value / p.mapping.global_batch, 9)


def packed_samples(p: Prediction) -> str:
    """Samples of a step and of a row: "4,690 samples (packing 2.04)"; "" where rows hold their nominal number."""
    if (factor := packing(p)) == 1.0:
        return ""
    samples = numbers.short(p.mapping.global_batch * factor, 3)
    return f"{samples} samples (packing {numbers.short(p.mapping.samples_per_row * factor, 3)})"
