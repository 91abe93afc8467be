"""Sentences of notes that no answer about a training run has, one for each code: serving, ownership, traces, `diff`."""

from collections.abc import Callable, Mapping
from typing import Final

from podsim.model.note_code import NoteCode


def _one_rack_for_all(kinds: int) -> str:
    racks, first = ("racks", "rack") if kinds == 1 else (f"racks of each of {kinds} kinds", "of each kind")
    return f"all {racks} do the same: the links shown are those of the first {first}"


def _latency_parts(names: tuple[str, ...], shares: tuple[float, ...]) -> str:
    """The longest parts of a latency with their shares, the longest first."""
    others = [f"{name} {100 * share:.0f} %" for name, share in zip(names[1:], shares[1:], strict=True)]
    text = f"{names[0]}, {100 * shares[0]:.0f} % of unloaded latency"
    return f"{text}; then {', '.join(others)}" if others else text


STUDY_SENTENCES: Final[Mapping[NoteCode, str | Callable[..., str]]] = {
    NoteCode.LOAD_DEFAULT: "load: {share:.0f%} of the maximum throughput, default",
    NoteCode.ARRIVALS: "open-loop arrivals: Poisson, constant mean rate",
    NoteCode.ARRIVALS_SPLIT: (
        "open-loop arrivals: Poisson, constant mean rate, split over the machines at random: each has its own queue"
    ),
    NoteCode.SERVING_TIMES_VARY: (
        "service times of batches vary by {variation:.3g%} (standard deviation), gamma distributed"
    ),
    NoteCode.ONE_WORKLOAD_SERVED: (
        "every replica of a machine serves the same workload; the fewest IPUs per replica that hold the batch"
    ),
    NoteCode.PROMPTS_AS_TRAINED: "prompts of {tokens:,} tokens, default: the training sequence length",
    NoteCode.PROMPTS_AS_LEARNED: (
        "prompts of {tokens:,} tokens, default: the {positions:,} learned positions less the generated tokens"
    ),
    NoteCode.ONE_SIZE_COMPILED: (
        "a program is compiled for one batch size: a partial batch takes as long as a full one"
    ),
    NoteCode.FRAMEWORK_LEFT_OUT: (
        "framework time on the host is not published and not included; transfers and their start-up are included"
    ),
    NoteCode.FRAMEWORK_AS_IN_TRAINING: "{framework} overhead per batch as in training (Eq. 13)",
    NoteCode.NEXT_TOKEN_ON_IPU: "the next token is chosen on the IPU: its index is returned to the host",
    NoteCode.RESULTS_TO_HOST: "results to the host: {elements:,} elements per row of the last operator",
    NoteCode.ALL_OPERATORS_RUN: "all operators of the trained model run, heads included, without loss and dropout",
    NoteCode.NORMS_FOLDED: "batch norm is folded into the weights and bias of its convolution",
    NoteCode.HOST_LINKS_SHARED: "all replicas load at the same time and share the host links",
    NoteCode.BUSIEST_STAGE: "the pipeline advances at the pace of its busiest stage",
    NoteCode.WEIGHTS_READ_FIRST: "weights are read from DDR before compute, not overlapped",
    NoteCode.CACHE_READ: (
        "the KV cache of {tokens:,} tokens is read for every token: the program is compiled for the longest sequence"
    ),
    NoteCode.OWNED_SUNK: ("owned machines: their purchase price counts neither in the total nor in the training cost"),
    NoteCode.OWNED_JOINED: (
        "extension: racks and servers that are owned are reused as they are; switches and cables between racks are "
        "not in the price, as none is published"
    ),
    NoteCode.OWNED_HOSTS: "hosts of the owned {title}: not stated, default of {hosts} each",
    NoteCode.DOUBLINGS_STOP: (
        "{range} ends at {reached:,}: pod sizes are powers of two, and {last:,} is not one of the sizes that "
        "double from the first"
    ),
    NoteCode.SCHEMA_CHANGED: "the schema changed from {old} to {new}; keys may have changed their meaning",
    NoteCode.INPUTS_NOT_NAMED: (
        "{name} does not list its inputs, as an earlier podsim wrote it: changes are not attributed"
    ),
    NoteCode.FILES_CHANGED: "files differ from those of {name}, and effects are computed with the files here: {files}",
    NoteCode.PREDICTION_CHANGED: (
        "this version of podsim predicts other numbers than {name} has, and effects are computed with this version"
    ),
    NoteCode.NOT_PREDICTED_AGAIN: "the newer answer cannot be reproduced here: {message}",
    NoteCode.NOISE_STRETCHES: (
        "a step with noise is the step without noise, scaled: where in the step a delay occurs is not known"
    ),
    NoteCode.SPANS_LEFT_OUT: "{spans:,} spans in the middle are left out; --most-spans raises the limit",
    NoteCode.LANES_LEFT_OUT: "{spans:,} spans are left out where more than {most} of a track overlap",
    NoteCode.LOADS_NOT_KEPT: "link loads are recorded with --engine des only",
    NoteCode.LOADS_NOT_DRAWN: "the load of {links:,} links changes too often for --most-spans and is not drawn",
    NoteCode.LINKS_LEFT_OUT: "the trace has the {most} busiest links of each kind; {links:,} others are left out",
    NoteCode.LINKS_OF_REPLICAS: (
        "links of other replicas are not shown, as their traffic is not simulated; --fidelity full shows all"
    ),
    NoteCode.ONE_RANK_FOR_ALL: (
        "all ranks do the same, so one is simulated: the loads shown are those of its links in each dimension"
    ),
    NoteCode.ONE_RACK_FOR_ALL: _one_rack_for_all,
    NoteCode.LINKS_ALONE: ("time of the links and their latency alone, without arithmetic; GW-Link latency is assumed"),
    NoteCode.FITTED_IN_TRAINING: ("in training: collective.efficiency and rack.step as fitted to published step times"),
    NoteCode.CLOCKS_LEFT_OUT: ("an IPU or rank at a reduced clock sends at full rate: only links are timed here"),
    NoteCode.LATENCY_PARTS: _latency_parts,
    NoteCode.HOST_LINK_IS_FULL: ("{parts}; the host link delivers inputs no faster than batches are computed"),
}
"""The sentence of every code that `podsim.model.sentences` has not."""
