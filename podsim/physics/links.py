"""How flows that move at the same time share links, and how long they take."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.program import Flow

# Two shares this close (relative) are one: symmetric links must fill together, not in rounding order.
TIE: Final = 1e-12


def max_min_rates(flows: Sequence[tuple[tuple[int, ...], int]], capacities: Sequence[float]) -> list[float]:
    """Rate of a single flow of each entry [B/s]; infinite where the route is empty.

    An entry is (route, count): link numbers, and how many equal flows take them (at least 1). Progressive filling: all
    rates grow together until a link is full, whose flows then stay, while the others grow on (Eq. 6).
    Source: Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2.
    """
    rates = [math.inf] * len(flows)
    users, load = _users(flows)
    left = {link: capacities[link] for link in users}
    growing_flows = sum(1 for route, _ in flows if route)
    while load:
        shares = {link: left[link] / growing for link, growing in load.items()}
        share = min(shares.values())
        settled = []
        for link in [link for link, its_share in shares.items() if its_share <= share * (1 + TIE)]:
            for entry in users[link]:
                if rates[entry] == math.inf:
                    rates[entry] = share
                    settled.append(entry)
        growing_flows -= len(settled)
        if not growing_flows:
            break  # nobody is left to have what these leave
        for entry in settled:
            route, count = flows[entry]
            for crossed in route:
                left[crossed] -= share * count
                load[crossed] -= count
        load = {link: growing for link, growing in load.items() if growing}
    return rates


def _users(flows: Sequence[tuple[tuple[int, ...], int]]) -> tuple[dict[int, list[int]], dict[int, int]]:
    """By link number: the entries that take it, and how many flows those are."""
    users: dict[int, list[int]] = {}
    load: dict[int, int] = {}
    for entry, (route, count) in enumerate(flows):
        for link in route:
            if link in load:
                users[link].append(entry)
                load[link] += count
            else:
                users[link], load[link] = [entry], count
    return users, load


def alone_s(flows: Sequence[Flow], capacities: Sequence[float]) -> float:
    """Time until the last of `flows`, which start together and have the links to themselves, is through [s].

    Rates are max-min fair and solved again whenever a flow finishes. Latency is not counted.
    """
    moving = [(flow.route, flow.count) for flow in flows if flow.route and flow.volume_bytes > 0]
    left_bytes = [flow.volume_bytes for flow in flows if flow.route and flow.volume_bytes > 0]
    elapsed_s = 0.0
    while moving:
        rates = max_min_rates(moving, capacities)
        needed_s = [volume / rate for volume, rate in zip(left_bytes, rates, strict=True)]
        if _slowest_finish_last(rates, needed_s):
            return elapsed_s + max(needed_s)
        first_s = min(needed_s)
        elapsed_s += first_s
        staying = [entry for entry, seconds in enumerate(needed_s) if seconds > first_s * (1 + TIE)]
        left_bytes = [left_bytes[entry] - rates[entry] * first_s for entry in staying]
        moving = [moving[entry] for entry in staying]
    return elapsed_s


def _slowest_finish_last(rates: Sequence[float], needed_s: Sequence[float]) -> bool:
    """Whether no flow finishes before a faster one, nor before one of its own rate: then no rate matters again.

    Filling settles rates in ascending order, each from the ones before it, so a flow that leaves changes only rates at
    or above its own. Equal volumes always pass: the time is then the volume over the least rate, in one solve.
    """
    ascending = sorted(zip(rates, needed_s, strict=True))
    return all(faster_s <= slower_s * (1 + TIE) for (_, slower_s), (_, faster_s) in pairwise(ascending))


def floor_s(flows: Sequence[Flow], capacities: Sequence[float]) -> float:
    """Least time for `flows` however they share: bytes over bandwidth of the most loaded link [s]."""
    load_bytes: dict[int, float] = {}
    for flow in flows:
        for link in flow.route:
            load_bytes[link] = load_bytes.get(link, 0.0) + flow.volume_bytes * flow.count
    return max((volume / capacities[link] for link, volume in load_bytes.items()), default=0.0)
