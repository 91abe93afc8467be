"""All sentences of notes, one for each code, with the format of every number in them.

A sentence is a template, or a function where words depend on a value. In a template `{share:.0f%}` is a share in per
cent, and a tuple is its items with commas between.
"""

from collections.abc import Callable, Mapping
from string import Formatter
from typing import Final

from podsim.model.note_code import NoteCode, Rejection
from podsim.model.program import PART_NAMES, Part
from podsim.units import count_text

LEAST_LONGER: Final = 5e-4  # share of a time below which it is no longer
SET_ANOTHER: Final = "set another with --global-batch"
COSTS: Final = (
    "no run with SDK {sdk} is published: software overheads are {factor:.3g} × those of {like} (± {error:.0f%}), the "
    "rest as with {like}"
)
ALL_SLOWER: Final = "a run on all of them would take {longer:.2g%} longer, since "
COLLECTIVES: Final = ("a collective for each weight tensor or buffer", "collectives merged into one")
STEP_CALLS: Final = ("a loop on the device", "a call from the host each step")


class _Template(Formatter):
    """Templates with shares in per cent and tuples as lists."""

    def format_field(self, value: object, format_spec: str) -> str:
        """One value in words."""
        if isinstance(value, Part):
            return PART_NAMES[value]
        if isinstance(value, tuple):
            return ", ".join(format(item, format_spec) for item in value)
        if isinstance(value, int | float) and format_spec == ".2g%":
            return _percent(value)
        if isinstance(value, int | float) and format_spec.endswith("%"):
            return f"{format(100 * value, format_spec[:-1])} %"
        return format(value, format_spec)


_TEMPLATE: Final = _Template()


def sentence(code: NoteCode, values: Mapping[str, object]) -> str:
    """The sentence of a fact about `values`; KeyError or TypeError where one that it names is missing."""
    words = SENTENCES.get(code)
    if words is None:
        from podsim.model.study_sentences import STUDY_SENTENCES  # no answer about a training run needs them

        words = STUDY_SENTENCES[code]
    return words(**values) if callable(words) else _TEMPLATE.vformat(words, (), values)


OF_ONE_MAPPING: Final[Mapping[Rejection, str]] = {
    Rejection.TOO_MANY_IPUS: "has more IPUs per replica than the model has parts to place, such as layers",
    Rejection.TOO_FEW_IPUS: "needs more IPUs than there are",
    Rejection.INDIVISIBLE: "does not divide the IPUs of a replica",
    Rejection.SRAM: "does not fit in SRAM",
    Rejection.STREAMING_MEMORY: "does not fit in streaming memory",
    Rejection.GLOBAL_BATCH: "misses the global batch",
    Rejection.PUBLISHED_GLOBAL_BATCH: "misses the published global batch",
}


def of_rejected(reason: Rejection, count: int) -> str:
    """So many mappings and why a search leaves them out: "1 that does not fit in SRAM"."""
    return f"{count:,} that {OF_ONE_MAPPING[reason] if count == 1 else reason.value}"


def _more(share: float, more: str, less: str) -> str:
    """A change in whole per cent, with the word for its direction: "12 % longer"."""
    return f"{100 * abs(share):.0f} % {more if share > 0 else less}"


def _ipus(count: int) -> str:
    return f"{count:,} IPU{'' if count == 1 else 's'}"


def _twice_the_global_batch_is_slower(parts: object, part: str, longer: float) -> str:
    """What the largest part of a step gains by a larger batch, and the run loses."""
    text = f"{parts}; twice the batch amortizes {PART_NAMES[Part(part)]} but needs more samples to converge"
    return f"{text}: the run takes {'< 1' if longer < 0.01 else f'{100 * longer:.0f}'} % longer"


def _hosts_of_machine(machine: str, ipus: int) -> str:
    return f"default of {machine}: no published run on {_ipus(ipus)} or fewer"


def _hosts_between(ipus: int, smaller: int, hosts: int, larger: int | None, larger_hosts: int | None) -> str:
    next_larger = "" if larger is None else f", next larger: {larger_hosts:,} on {_ipus(larger)}"
    return f"assumed: no published run on {_ipus(ipus)} (next smaller: {hosts:,} on {_ipus(smaller)}{next_larger})"


def _hosts_not_stated(ipus: int) -> str:
    return f"assumed: the published configuration on {_ipus(ipus)} does not state them"


def _hosts_as_published(ipus: int) -> str:
    return f"as in published runs on {_ipus(ipus)}"


def _part_of_rack(rack: str, machines: int, of: int, closed: bool) -> str:
    ladder = "" if closed else ", the ends of its IPU-Link ladder not joined"
    return f"part of {rack}: {machines} of its {of} machines{ladder}"


def _racks_joined(rack: str, racks: int, ring: bool) -> str:
    return f"extrapolated from {rack}: {racks:,} racks joined {'in a ring' if ring else 'by switches'}"


def _configuration_of_nearest(title: str, parameters: float, flop: float, by_token: bool) -> str:
    return (
        f"configuration: as {title}, the nearest network with a published one ({parameters:.2g}× its parameters, "
        f"{flop:.2g}× its FLOP{' per token' * by_token})"
    )


def _minimum_ipus(least: int, ipus: int, source: str, locator: str) -> str:
    place = ", ".join(filter(None, (source, locator)))
    return (
        f"the source asks for at least {least:,} IPUs ({place}), and this mapping uses {ipus:,}: it fits by podsim's "
        "estimate of memory, which no published run confirms"
    )


def _as_published(locator: str, accumulation: int | None) -> str:
    return f"as published: {locator}{'' if accumulation is None else f', with accumulation {accumulation:,}'}"


def _shortest_time(
    *,
    legal: int,
    faster: float | None,
    faster_replicas: int,
    faster_size: int,
    past_global_batch: int | None,
    micro_batches: tuple[int, ...],
    most_ipus: int | None,
    compares: bool,
    by_rate: bool,
) -> str:
    least = "highest throughput" if by_rate else "shortest expected time to train"
    of = f" with a micro-batch of a published run ({_either(micro_batches)})" if micro_batches else ""
    if most_ipus is not None:
        of += f"{' and' if of else ' with'} replicas of at most {most_ipus:,} IPUs, twice the largest published"
    text = f"{least} of {legal} legal mappings tried{of}" if legal != 1 else f"the only legal mapping{of}"
    if faster is not None:
        text = (
            f"{least} among published replica sizes, of {legal} legal mappings tried{of}; {faster_replicas:,} × "
            f"{faster_size} is {100 * faster:.0f} % faster, within model error, but no published run uses this "
            "replica size"
        )
    if past_global_batch is not None:
        text += (
            f"; of the batches tried, those above {past_global_batch:,} take longer: step overheads fall less than "
            "samples to converge rise"
        )
    return f"{text}; podsim workload map compares other micro-batches and storage" if compares else text


def _all_spend_more(*, longer: float, part: str, more: float) -> str:
    longer, more = (float(f"{share:.2g}") for share in (longer, more))  # so that the figures shown add up
    text = f"a run on all of them would take {_percent(longer)} longer, since {part} would add {_percent(more)}"
    return text if more <= longer else f"{text} and all else would save {_percent(more - longer)}"


def _percent(share: float) -> str:
    """A share in per cent with two digits, all of a whole number: "9.4 %", "140 %"."""
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * float(f'{share:.2g}'):,.0f} %"


def _either(numbers: tuple[int, ...]) -> str:
    """Numbers to choose among: "18, 20 or 22"."""
    *others, last = (f"{number:,}" for number in numbers)
    return f"{', '.join(others)} or {last}" if others else last


def _near_global_batch(
    *,
    batch: int,
    replicas: int,
    size: int,
    micro_batch: int,
    own: int,
    own_replicas: int,
    own_size: int,
    own_micro_batch: int,
    gain: float,
) -> str:
    away = batch / own - 1
    return (
        f"--global-batch {batch} ({100 * abs(away):.2g} % {'larger' if away > 0 else 'smaller'}) takes "
        f"{100 * gain:.0f} % less time: it runs as {replicas} × {size} IPUs at micro-batch {micro_batch}, and {own:,} "
        f"as {own_replicas} × {own_size} IPUs at micro-batch {own_micro_batch}"
    )


def _state_storage(
    place: str, sharded: bool, over_all: bool, moment_bits: tuple[int, ...], checkpoint_bits: int
) -> str:
    moments = f"{'- and '.join(map(str, moment_bits))}-bit moments" if moment_bits else "no moments"
    over = f", sharded over {'all replicas' if over_all else 'the replicas of a rack'}" if sharded else ""
    return f"optimizer state {place}{over}, {moments}, {checkpoint_bits}-bit checkpoints"


def _memory_lowered(proportion: float, default: float, fraction: float, longer: float, serves: bool) -> str:
    each = "a batch" if serves else "a step"
    takes = f"; {each} takes {100 * longer:.1f} % longer" if longer >= LEAST_LONGER else ""
    full = f"the default of {default:g} would fill {100 * fraction:.0f} % of SRAM"
    return f"available-memory proportion {proportion:g}, since {full}{takes}"


def _other_collectives(merged: bool, configuration: str, change: float) -> str:
    return _switch_sentence(COLLECTIVES, merged, configuration, change)


def _other_step_calls(returns: bool, configuration: str, change: float) -> str:
    return _switch_sentence(STEP_CALLS, returns, configuration, change)


def _switch_sentence(states: tuple[str, str], now: bool, configuration: str, change: float) -> str:
    """What holds of a switch, and what a step would take with the other state."""
    change_text = _more(change, "longer", "less")
    return f"{states[now]}, as in {configuration}; with {states[not now]}, a step takes {change_text}"


def _large_pod_offered(name: str, text: str, change: float) -> str:
    change_text = _more(change, "more", "less")
    return (
        f"with --preset {name} ({text}; assumed for a machine this large) this mapping takes {change_text} "
        "time to train"
    )


def _global_batch_too_large(batch: int, reference_global_batch: float, recipe: object, title: str) -> str:
    number = f"{reference_global_batch:,.0f}"
    of = f"the published batch of {number}" if recipe is None else f"{number}, {recipe}"
    return f"global batch {batch:,}: the activations of {of} do not fit the streaming memory of {title}; {SET_ANOTHER}"


def _global_batch_does_not_divide(batch: int, reference_global_batch: float, recipe: object, title: str) -> str:
    number = f"{reference_global_batch:,.0f}"
    of = f"the published batch of {number}" if recipe is None else f"{number}, {recipe},"
    return (
        f"global batch {batch:,}: {of} does not divide over the replicas of {title}, this is the nearest that does; "
        f"{SET_ANOTHER}"
    )


def _samples_with_factor(factor: float, points: int, optimizer: str, division: str) -> str:
    submissions = f"{points} submissions ({optimizer.upper()}, {division} division)"
    return f"MLPerf reference convergence points × {factor:.3f}, from {submissions}"


def _samples_by_law(target: str, parameters: float, loss: float, critical_batch_tokens: float, batch: float) -> str:
    return (
        f"{target} for {count_text(parameters)} parameters, where the loss is {loss:.3f} nats per token; critical "
        f"batch size {count_text(critical_batch_tokens)} tokens ({batch:,.0f} samples)"
    )


def _samples_of_points(
    *,
    basis: object,
    outside: int | None,
    first: int,
    last: int,
    tokens: float | None,
    each: float,
    critical: float,
) -> str:
    """What the points say of the batch, and of how little a run is that they describe."""
    text = str(basis)
    if outside is not None:
        text += f"; a batch of {outside:,} lies outside its points, {first:,} to {last:,}"
    if tokens is not None:
        text += f"; {count_text(tokens)} tokens, {each:.2g} per parameter"
    return f"{text}; critical batch size {critical:,.0f} samples"


def _compile_times_of_others(frameworks: tuple[str, ...], framework: str | None) -> str:
    *most, last = frameworks
    frameworks_text = f"{', '.join(most)} and {last}" if most else last
    whose = f"none is published for {framework}" if framework else "no framework is stated"
    return f"compile time: {whose}; those of {frameworks_text} are used"


SENTENCES: Final[Mapping[NoteCode, str | Callable[..., str]]] = {
    NoteCode.FILE_TEXT: "{text}",
    NoteCode.FILE_VALUE: "{path}: {text}",
    NoteCode.GIVEN: "given",
    NoteCode.CHIP_DEFAULT: "chip {chip}, default of this machine",
    NoteCode.CHIP_NOT_CALIBRATED: "no calibration point on {chip}: fitted parameters of {chips} are used",
    NoteCode.SDK_DEFAULT: "SDK {sdk}, default: the newest calibrated",
    NoteCode.SDK_CLAIMED: COSTS + ", the vendor's claim for {workloads}",
    NoteCode.SDK_CLAIMED_FOR_OTHERS: COSTS + ", mean of the vendor's claims for {workloads}",
    NoteCode.SDK_EXTRAPOLATED: COSTS
    + ", gains shrink as from release to release before; the interval covers gains that do not shrink",
    NoteCode.HOSTS: "hosts: {hosts:,}, {basis}",
    NoteCode.HOSTS_OTHER: "hosts: {hosts}, of the counts that this machine supports",
    NoteCode.HOSTS_OF_PRESET: "of preset {preset}",
    NoteCode.HOSTS_OF_MACHINE: _hosts_of_machine,
    NoteCode.HOSTS_BETWEEN: _hosts_between,
    NoteCode.HOSTS_NOT_STATED: _hosts_not_stated,
    NoteCode.HOSTS_AS_PUBLISHED: _hosts_as_published,
    NoteCode.PART_OF_MACHINE: "{ipus} of the {of} IPUs of one {machine}; price and power are of the whole {machine}",
    NoteCode.PART_OF_RACK: _part_of_rack,
    NoteCode.RACKS_JOINED: _racks_joined,
    NoteCode.STATED_FABRIC: (
        "no IPU machine has the topology of {fabric}; assumed: IPU n at its rank n; gateways, streaming memory and "
        "hosts as in {pod}; link rates as its file states them, static routes; software of a collective step and sync "
        "as in a rack; links without failures, power or price; nothing of it is measured, and intervals are those of "
        "a pod"
    ),
    NoteCode.CONVOLUTIONS_UNMEASURED: (
        "convolution times rely on GC2 (Mk1) benchmarks; none is published for GC200 or Bow"
    ),
    NoteCode.CONVOLUTIONS_CALIBRATED: (
        "convolution times rely on GC2 (Mk1) benchmarks; none is published for GC200 or Bow; whole steps of {workload} "
        "are calibrated on MLPerf results"
    ),
    NoteCode.LENGTH_NOT_STATED: "run length not specified: no time to train",
    NoteCode.CONFIGURATION_GENERAL: (
        "no configuration is published for this model: that of calibration/configurations.toml is used"
    ),
    NoteCode.CONFIGURATION_OF_SAME: (
        "configuration: as {title}, the same network (parameters and FLOP within {within:.0f%})"
    ),
    NoteCode.CONFIGURATION_OF_LONGER: (
        "configuration: as {title}, the same network with {longer:.3g}× the tokens per row"
    ),
    NoteCode.CONFIGURATION_OF_NEAREST: _configuration_of_nearest,
    NoteCode.ROW_INPUT: "input of a row: {index_bytes} bytes per index, {other_bytes} per other element",
    NoteCode.LARGE_POD: (
        "configuration {name}: {text}, as published for smaller machines ({source}); assumed for one this large"
    ),
    NoteCode.MINIMUM_IPUS: _minimum_ipus,
    NoteCode.AS_PUBLISHED: _as_published,
    NoteCode.SHORTEST_TIME: _shortest_time,
    NoteCode.SOME_IDLE: "{used:,} of {ipus:,} IPUs are used, {idle:,} are idle: {why}; {reason}",
    NoteCode.ALL_TOO_MANY: "the batch is too small for replicas on all IPUs",
    NoteCode.ALL_DO_NOT_DIVIDE: "the batch does not divide over replicas on all IPUs",
    NoteCode.ALL_NEED_SAMPLES: ALL_SLOWER
    + "a global batch of {batch:,} instead of {own:,} needs {more:.2g%} more samples",
    NoteCode.ALL_SPEND_MORE: _all_spend_more,
    NoteCode.ALL_GAIN_LITTLE: ALL_SLOWER + "steps are hardly shorter and further from any measurement",
    NoteCode.OF_RUN_TO_TARGET: "batch and mapping as for a run to {target}, since it is not known how the batch "
    "changes the given length: {reason}",
    NoteCode.KEPT_WITH_FAULTS: "mapping of the healthy machine, kept with the faults: {reason}",
    NoteCode.IPUS_IDLE: "{idle:,} of {ipus:,} IPUs are idle with this mapping",
    NoteCode.NEAR_GLOBAL_BATCH: _near_global_batch,
    NoteCode.FEW_UPDATES: (
        "only {updates:,} weight updates of {batch:,} samples, the batch that trains fastest; set that of your recipe "
        "with --global-batch"
    ),
    NoteCode.CONFIGURATION: "configuration {name}: schedule {schedule}, recompute {recompute}",
    NoteCode.STATE_STORAGE: _state_storage,
    NoteCode.MEMORY_LOWERED: _memory_lowered,
    NoteCode.WEIGHTS_STREAMED: (
        "weights do not fit in SRAM: layer by layer in phases, {shards} tensor shards, weights and state in streaming "
        "memory, {io_tiles} IO tiles as for GPT-3 2.7B; no such run is published"
    ),
    NoteCode.HALF_LAYERS: "attention and feed-forward in separate phases, queries in {parts} parts",
    NoteCode.SCHEDULE_GIVEN: "what-if: schedule {schedule} (given)",
    NoteCode.FRAMEWORK_GIVEN: "framework {framework} (given)",
    NoteCode.PREFETCH_UNUSED: "no effect of --prefetch: in phases inputs are loaded with the first layer",
    NoteCode.PREFETCH_GIVEN: "what-if: inputs of {micro_batches} micro-batches loaded ahead (given)",
    NoteCode.OVERLAP_GIVEN: "what-if: gradients are reduced while other IPUs still run backward (given)",
    NoteCode.IO_TILES: "what-if: {tiles} tiles set aside for IO, the rest compute",
    NoteCode.OTHER_COLLECTIVES: _other_collectives,
    NoteCode.OTHER_STEP_CALLS: _other_step_calls,
    NoteCode.LARGE_POD_OFFERED: _large_pod_offered,
    NoteCode.GLOBAL_BATCH_TOO_LARGE: _global_batch_too_large,
    NoteCode.GLOBAL_BATCH_DOES_NOT_DIVIDE: _global_batch_does_not_divide,
    NoteCode.GLOBAL_BATCH_OF_RECIPE: "global batch {batch:,}: {recipe}; " + SET_ANOTHER,
    NoteCode.GLOBAL_BATCH_OF_PAPER: "global batch {batch:,}: the {tokens:,.0f} tokens per step of the model's paper",
    NoteCode.GLOBAL_BATCH_UNLIKE_PAPER: (
        "global batch {batch:,}: that of the published configuration; the model's paper states {tokens:,.0f} tokens "
        "per step"
    ),
    NoteCode.GLOBAL_BATCH_OF_NEAREST_MAPPING: (
        "global batch {batch:,}: as in the published mapping nearest in size; " + SET_ANOTHER
    ),
    NoteCode.GLOBAL_BATCH_QUICKEST: (
        "global batch {batch:,}: the one with the shortest time to train for {title} on this machine; " + SET_ANOTHER
    ),
    NoteCode.RECIPE_OF_PAPER: "the {tokens:,.0f} tokens per step that the paper of {title} states",
    NoteCode.RECIPE_OF_SAME: "that of {title}",
    NoteCode.RECIPE_AS_MANY_TOKENS: "as many tokens per step as {title}",
    NoteCode.RECIPE_ROUND_NUMBER: "a round number, as no recipe of this network is published",
    NoteCode.SAMPLES: "samples to converge: {basis}",
    NoteCode.SAMPLES_FIXED: "a fixed length, {target}",
    NoteCode.SAMPLES_OF_REFERENCE: "reference points",
    NoteCode.SAMPLES_WITHOUT_FACTOR: (
        "reference points; no submission with {optimizer} in the {division} division to learn a factor from"
    ),
    NoteCode.SAMPLES_WITH_FACTOR: _samples_with_factor,
    NoteCode.SAMPLES_BY_LAW: _samples_by_law,
    NoteCode.SAMPLES_BY_LAW_AT_GLOBAL_BATCH: "{basis}; {more:.3g} times as many at a global batch of {batch:,.0f}",
    NoteCode.SAMPLES_OF_POINTS: _samples_of_points,
    NoteCode.OF_ONE_RUN: "{phase}: {note}",
    NoteCode.LONGEST_RUN: "mapping, batch and memory are those of {phase}, the longest phase",
    NoteCode.ERRORS_SHARED: "all phases share their errors: the ends of their intervals add up",
    NoteCode.DATA_SET_OPENING: (
        "wall clock: the time to open the data set before the first step is not published and not included"
    ),
    NoteCode.ONE_COPY_OF_WEIGHTS: (
        "wall clock: all replicas load their weights from the host at the same time (assumed)"
    ),
    NoteCode.EXECUTABLE_OF_SMALL_PROGRAM: (
        "wall clock: a cached executable loads in at most its compile time, which includes the load: the program is "
        "smaller than the only one with a published load time"
    ),
    NoteCode.EXECUTABLE_CACHED: (
        "wall clock: a cached executable takes as long to attach and load as in the only published measurement"
    ),
    NoteCode.COMPILE_TIMES_OF_OTHERS: _compile_times_of_others,
    NoteCode.FAILURES_LEFT_OUT: "wall clock: without failures, since podsim goodput has no answer: {message}",
    NoteCode.FAILURES_IN_TIME: (
        "failures inside the time demanded: no rates are published, all are assumed (podsim goodput)"
    ),
    NoteCode.FAILURE_RATES: "no failure rates of IPU systems are published: all are assumed",
    NoteCode.COMPARATOR_ROUND: "software of round {round}, the newest published of {title}",
    NoteCode.COMPARATOR_GLOBAL_BATCH: "global batch as in published runs on {least:,} to {most:,} chips",
    NoteCode.COMPARATOR_GLOBAL_BATCH_BY_LAW: (
        "global batch with the shortest time to train by the law: none is published beyond {most:,} chips"
    ),
    NoteCode.COMPARATOR_EVALUATIONS: (
        "published logs do not time evaluations separately: all but a fixed part is counted in the step"
    ),
    NoteCode.COMPARATOR_REFUSED: "{name}: {message}",
    NoteCode.COMPARATORS_LEFT_OUT: (
        "{names} left out: scaling laws of other chips cover neither phases nor runs without a length"
    ),
    NoteCode.GW_LINKS_UNUSED: "no effect of {paths}: GW-Links join racks, and this machine is one rack",
    NoteCode.PACKING_KEPT: (
        "rows of {tokens:,} tokens are counted as {samples:.3g} samples each, as rows of the published length hold: "
        "set workload.packing, now {packing:.3g}, too"
    ),
    NoteCode.PRICE_UNCHANGED: "Prices, peak power and energy per operation are of the unchanged machine",
    NoteCode.PRICE_OF_ANOTHER_CHIP: "{what} of a machine with a published chip; none is known with {chip}",
    NoteCode.PRICE_WHOLE: "Price is of the whole machine; its lost and idle parts draw idle power",
    NoteCode.LONGEST_PARTS: "{first}, {first_share:.0f%} of a step; then {second}, {second_share:.0f%}",
    NoteCode.FEW_MICRO_BATCHES: "{parts}; accumulation {accumulation:,} is low for {stages} pipeline stages",
    NoteCode.INPUTS_TOO_SLOW: "{inputs}: IPUs wait for it {wait:.0f%} of a step; {part} takes {share:.0f%}",
    NoteCode.INPUTS_SLOWER_THAN_WORK: (
        "{inputs}: IPUs wait for it {wait:.0f%} of a step; it is loaded during {part} ({share:.0f%}), so faster "
        "{part} would only lengthen the wait"
    ),
    NoteCode.LARGER_GLOBAL_BATCH_IS_FASTER: (
        "{parts}; a larger global batch is faster: {batch:,} takes {less:.0f%} less time"
    ),
    NoteCode.TWICE_THE_GLOBAL_BATCH_IS_SLOWER: _twice_the_global_batch_is_slower,
    NoteCode.LARGER_GLOBAL_BATCH_AMORTIZES: (
        "{parts}; a global batch above {batch:,} would amortize the {part} but take longer to converge"
    ),
}
"""The sentence of every code of a training run; `podsim.model.study_sentences` has the others."""
