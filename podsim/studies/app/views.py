"""The views of the app: which verb each asks, which of its arguments come first, and which have a slider."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from podsim.model import arguments as a
from podsim.studies.app.pair import Pair, pair, read_pair
from podsim.studies.app.query import Query, app_arguments, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from podsim.model.argument import Argument


class View(NamedTuple):
    """One page of the app: `first` are the fields on top, `prices` those of what it costs.

    `changes` says whether numbers have sliders. `asks` is its question in words, `example` the question it opens with.
    A `long` view takes seconds to answer; a `paired` one asks its verb twice and compares.
    """

    name: str
    title: str
    verb: str
    asks: str
    example: str
    first: tuple[str, ...]
    prices: tuple[str, ...] = ()
    changes: bool = False
    long: bool = False
    paired: bool = False


PRICES: Final = ("machine_price", "kwh_price", "rent_per_ipu_hour")
"""Prices with a slider next to the question."""
VIEWS: Final = (
    View(
        "predict",
        "Predict",
        "predict",
        "How long does this training run take, and what limits it?",
        "workload=bert&pod=64",
        ("workload", "pod", "chip", "global_batch"),
        PRICES,
    ),
    View(
        "what-if",
        "What if",
        "predict",
        "What if links, memory or clock were different?",
        "workload=bert&pod=64&changes=chip.clock%3D1.25x&changes=gw-link.bandwidth%3D2x",
        ("workload", "pod", "chip", "global_batch"),
        PRICES,
        changes=True,
    ),
    View(
        "plan",
        "Plan",
        "plan",
        "Which machine meets the deadline, the budget and the power limit?",
        "workload=bert&within=5+min",
        ("workload", "within", "budget", "max_power", "confidence", "objective"),
        PRICES,
        long=True,
    ),
    View(
        "scale",
        "Scale",
        "scale",
        "Up to which size does a larger machine pay?",
        "workload=bert&pods=16..1024",
        ("workload", "pods", "chip", "global_batch", "scaling", "against"),
        PRICES,
        long=True,
    ),
    View(
        "compare",
        "Compare",
        "compare",
        "Which of two machines, chips or releases is faster, and why?",
        "workload=bert&pod=64&to=bow-pod64",
        ("workload", "pod", "to", "to_chip", "changes"),
        PRICES,
        long=True,
    ),
    View(
        "side-by-side",
        "Side by side",
        "predict",
        "How do two scenarios of any kind differ, and which input does it?",
        "a.workload=bert&a.pod=64&b.workload=bert&b.topology=bow-pod64&b.changes=ipu-link.bandwidth%3D2x",
        ("workload", "pod", "topology", "chip", "global_batch"),
        changes=True,
        long=True,
        paired=True,
    ),
    View(
        "explain",
        "Explain",
        "explain",
        "Where does the time go, and what would help?",
        "workload=bert&pod=64",
        ("workload", "pod", "chip", "global_batch"),
        long=True,
    ),
    View(
        "trace",
        "Trace",
        "trace",
        "When does everything of a step happen?",
        "workload=bert&pod=16",
        ("workload", "pod", "chip", "level", "stage"),
        long=True,
    ),
)
BY_NAME: Final[Mapping[str, View]] = {view.name: view for view in VIEWS}


def _names(*groups: Iterable[Argument]) -> tuple[str, ...]:
    return tuple(argument.name for group in groups for argument in group)


HEADINGS: Final = (
    ("Demands", (*_names((a.WITHIN, *a.SEARCH[:5], a.AGAINST)), "explain")),
    ("Machine", _names(a.ON_MACHINE, (a.CHIPS, a.FAULTS))),
    ("Mapping", _names((a.PRESET, *a.SPLIT))),
    ("Run", _names((a.SAMPLES, *a.LENGTH, a.DIVISION, a.SDK, a.INTERVAL, a.COMPILE))),
    ("Configuration", _names(a.CONFIGURATION)),
    ("Prices", _names(a.MONEY)),
    ("Serving", _names((a.RATE, a.P99, a.TTFT, a.TPOT, a.TOKENS_PER_S, a.HEADROOM, a.SPARES, a.VARIATION))),
    ("Engine", _names((a.ENGINE, a.FIDELITY, a.STEPS, a.NOISE_SCALE, a.SEED, a.MOST_SPANS))),
)
"""Headings of further fields; what is in none of them stands under the first that the view has of its own."""
OTHERS: Final = "More"

STOPS: Final[Mapping[str, str]] = {
    "pod": "4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096",
    "global_batch": ", 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536",
    "within": ", 1 min, 2 min, 5 min, 10 min, 20 min, 30 min, 1 h, 3 h, 12 h, 1 d, 3 d, 7 d, 14 d, 30 d, 90 d",
    "budget": ", 50k, 100k, 200k, 500k, 1M, 2M, 3M, 5M, 10M, 20M, 50M",
    "max_power": ", 5 kW, 10 kW, 20 kW, 50 kW, 100 kW, 200 kW, 500 kW, 1 MW",
    "confidence": ", 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99",
    "interval": "0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99",
    "machine_price": ", 10000, 15000, 20000, 25000, 30000, 40000, 50000, 75000, 100000",
    "years": ", 1, 2, 3, 4, 5, 7",
    "use": ", 0.2, 0.4, 0.6, 0.8, 0.9, 1",
    "kwh_price": ", 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4",
    "pue": ", 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2",
    "rent_per_hour": ", 1, 2, 5, 10, 20, 50, 100, 200, 500",
    "rent_per_ipu_hour": ", 0.2, 0.5, 1, 1.5, 2, 3, 5",
}
"""Values that the slider of an argument stops at; "" leaves it out. Any other value can be typed."""
FACTORS: Final = ("0.25x", "0.5x", "0.75x", "0.9x", "", "1.1x", "1.25x", "1.5x", "1.75x", "2x", "3x", "4x")
"""Values that the slider of a changed number stops at."""
SLIDER_TITLES: Final = {
    "chip.clock": "Chip clock",
    "chip.sram.per_tile": "SRAM per tile",
    "chip.exchange.receive": "On-chip exchange, bytes received per cycle",
    "ipu-link.bandwidth": "IPU-Link bandwidth",
    "ipu-link.latency": "IPU-Link latency",
    "gw-link.bandwidth": "GW-Link bandwidth",
    "gw-link.latency": "GW-Link latency",
    "gateway.host_bandwidth": "Host bandwidth of a gateway",
    "economics.machine_price": "Price of an IPU-Machine",
}
"""Numbers of link, chip and machine that have a slider, by their path."""


def stops(name: str) -> tuple[str, ...]:
    """Values at which a slider of an argument stops, none where it has no slider."""
    return tuple(text.strip() for text in STOPS[name].split(",")) if name in STOPS else ()


def groups(view: View) -> list[tuple[str, list[str]]]:
    """The arguments of a view that do not come first, under their headings."""
    rest = [name for name in app_arguments(view.verb) if name not in (*view.first, *view.prices)]
    if view.changes:
        rest = [name for name in rest if name != "changes"]
    result = [(heading, [name for name in rest if name in names]) for heading, names in HEADINGS]
    grouped_names = {name for _, names in result for name in names}
    result.append((OTHERS, [name for name in rest if name not in grouped_names]))
    return [(heading, names) for heading, names in result if names]


def question(view: View, pairs: Iterable[tuple[str, str]]) -> Query | Pair:
    """The question of a form or a query string to a view."""
    return read_pair(view.verb, pairs) if view.paired else read(view.verb, pairs)


def carry_over(view: View, query: Query | Pair) -> Query | Pair:
    """The question of a view that takes over what it can of another, and the rest from its example."""
    arguments_by_name = app_arguments(view.verb)
    values = {name: value for name, value in query.values.items() if name in arguments_by_name}
    example = question(view, parse_qsl(view.example))
    if isinstance(example, Pair):
        return query if isinstance(query, Pair) else _against(example, values)
    spare = {"changes", "pod"} if values.keys() & {"pod", "topology"} else {"changes"}
    example_values = {name: value for name, value in example.values.items() if name not in spare}
    return Query(verb=view.verb, values={**example_values, **values}, texts={}, errors={})


def _against(example: Pair, values: Mapping[str, Any]) -> Pair:
    """A scenario and, to compare it with, the same workload on the second machine of an example."""
    first, second = example.sides
    other = {**second.values, **({"workload": values["workload"]} if "workload" in values else {})}
    if not values.keys() & {"pod", "topology"}:
        values = {**first.values, **values}
    return pair(replace(first, values=values), replace(second, values=other), {})


def warm_up(*, long: bool) -> list[tuple[str, str]]:
    """Views with the questions that are answered ahead, while nothing else is asked."""
    if long:
        return [(view.name, view.example) for view in VIEWS if view.long and view.name != "plan"]
    sizes = [("predict", f"workload=bert&pod={ipus}") for ipus in (64, 16, 32, 128, 256, 512)]
    changes = [(path, factor) for factor in sorted(filter(None, FACTORS), key=_from_one) for path in SLIDER_TITLES]
    return sizes + [
        ("what-if", urlencode([("workload", "bert"), ("pod", "64"), ("changes", f"{path}={factor}")]))
        for path, factor in changes
    ]


def _from_one(factor: str) -> float:
    return abs(float(factor.removesuffix("x")) - 1)
