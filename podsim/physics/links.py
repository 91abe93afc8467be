"""How flows that move at the same time share links, and how long they take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from podsim.physics.flow_symmetry import classes

if TYPE_CHECKING:
    from collections.abc import Callable

    from podsim.model.program import Flow

# Links that an entry crosses, and how many flows of its rate it puts on each.
Crossing = tuple[Sequence[int], Sequence[int]]

# Two shares this close (relative) are one: symmetric links must fill together, not in rounding order.
TIE: Final = 1e-12
FEW: Final = 32  # flows up to which solving for each again is quicker than finding classes
SCAN_LIMIT: Final = 256  # links up to which looking at all of them is quicker than keeping them in order


def max_min_rates(flows: Sequence[tuple[tuple[int, ...], int]], capacities: Sequence[float]) -> list[float]:
    """Rate of a single flow of each entry [B/s]; infinite where the route is empty.

    Parameters: `flows`, entries (route, count) of link numbers and how many equal flows take them (at least 1);
    `capacities`, rate of each link by number [B/s], all above 0. Result: one rate for each entry, in their order.

    Equation: max-min fair (Eq. 6); a link that a route crosses more than once is loaded as often. Validity: long
    transfers on fixed routes. Source: bertsekas-1992, section 6.5.2. One solve reads each entry once, so classes would
    save nothing here.
    """
    users: dict[int, list[int]] = {}
    load: dict[int, int] = {}
    for entry, (route, count) in enumerate(flows):
        for link in route:
            if link in load:
                users[link].append(entry)
                load[link] += count
            else:
                users[link] = [entry]
                load[link] = count
    even = _even(load, capacities)
    if even is not None:
        return [even if route else math.inf for route, _ in flows]
    return _fill([(route, (count,) * len(route)) for route, count in flows], users, load, capacities)


def fill(crossings: Sequence[Crossing], capacities: Sequence[float]) -> list[float]:
    """`max_min_rates` of entries that load each of their links differently [B/s]."""
    users: dict[int, list[int]] = {}
    load: dict[int, int] = {}
    for entry, (links, flow_counts) in enumerate(crossings):
        for link, flows in zip(links, flow_counts, strict=True):
            if link in load:
                users[link].append(entry)
                load[link] += flows
            else:
                users[link] = [entry]
                load[link] = flows
    even = _even(load, capacities)
    if even is not None:
        return [even if links else math.inf for links, _ in crossings]
    return _fill(crossings, users, load, capacities)


def _even(load: dict[int, int], capacities: Sequence[float]) -> float | None:
    """The share of every link where all have one and fill together; else None."""
    shares = [capacities[link] / growing for link, growing in load.items()]
    least = min(shares, default=math.inf)
    return least if max(shares, default=0.0) <= least * (1 + TIE) else None


def _fill(
    crossings: Sequence[Crossing], users: dict[int, list[int]], load: dict[int, int], capacities: Sequence[float]
) -> list[float]:
    """Progressive filling: all rates grow together until a link is full, whose entries stay; others grow on (Eq. 6).

    Source: Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2.
    """
    rates = [math.inf] * len(crossings)
    free_capacities = {link: capacities[link] for link in load}
    next_full = _scan if len(load) <= SCAN_LIMIT else _queue(free_capacities, load)
    while load:
        share, full = next_full(free_capacities, load)
        staying: dict[int, int] = {}
        for link in full:
            for entry in users[link]:
                if rates[entry] < math.inf:
                    continue
                rates[entry] = share
                links, flow_counts = crossings[entry]
                for crossed_link, flows in zip(links, flow_counts, strict=True):
                    staying[crossed_link] = staying.get(crossed_link, 0) + flows
        # Once a round for all flows that stay, so that links that are alike stay alike to the last digit.
        for link, flows in staying.items():
            free_capacities[link] -= share * flows
            load[link] -= flows
            if not load[link]:
                del load[link]
    return rates


def _scan(free_capacities: dict[int, float], load: dict[int, int]) -> tuple[float, list[int]]:
    """The least share of any link that still has growing flows, and the links that have it."""
    shares = {link: free_capacities[link] / growing for link, growing in load.items()}
    share = min(shares.values())
    return share, [link for link, its_share in shares.items() if its_share <= share * (1 + TIE)]


def _queue(free_capacities: dict[int, float], load: dict[int, int]) -> Callable[..., tuple[float, list[int]]]:
    """`_scan` for many links: shares only grow, so one of an earlier round is looked up again when it comes up."""
    queue = [(free_capacities[link] / growing, link) for link, growing in load.items()]
    heapify(queue)

    def next_full(free_capacities: dict[int, float], load: dict[int, int]) -> tuple[float, list[int]]:
        least = math.inf
        full: list[int] = []
        while queue and queue[0][0] <= least * (1 + TIE):
            _, link = heappop(queue)
            if link not in load:
                continue
            share = free_capacities[link] / load[link]
            limit = least * (1 + TIE) if full else queue[0][0] if queue else math.inf
            if share > limit:
                heappush(queue, (share, link))
            else:
                least = min(least, share)
                full.append(link)
        return least, full

    return next_full


def alone_s(flows: Sequence[Flow], capacities: Sequence[float]) -> float:
    """Time until the last of `flows`, which start together and have the links to themselves, is through [s].

    Parameters: `flows` with their volumes [B], counts and routes; `capacities`, rate of each link by number [B/s].

    Equation: rates are max-min fair and solved again whenever a flow finishes (Eq. 6). Validity: latency is not
    counted, nor what messages too small for the full rate lose. Source: bertsekas-1992, section 6.5.2.
    """
    moving = [flow for flow in flows if flow.route and flow.volume_bytes > 0]
    if not moving:
        return 0.0
    volumes = [flow.volume_bytes for flow in moving]
    if min(volumes) == max(volumes):
        return volumes[0] / min(max_min_rates([(flow.route, flow.count) for flow in moving], capacities))
    if len(moving) <= FEW:
        each = [(flow.route, (flow.count,) * len(flow.route)) for flow in moving]
        return _last_s(each, volumes, capacities)
    result = classes([(flow.route, flow.count, flow.volume_bytes) for flow in moving], capacities)
    return _last_s(result.crossings, [volumes[alike[0]] for alike in result.members], result.capacities)


def _last_s(crossings: Sequence[Crossing], left_bytes: list[float], capacities: Sequence[float]) -> float:
    """Time until the last entry has moved its bytes [s]."""
    elapsed_s = 0.0
    while crossings:
        rates = fill(crossings, capacities)
        needed_s = [volume / rate for volume, rate in zip(left_bytes, rates, strict=True)]
        if _slowest_finish_last(rates, needed_s):
            return elapsed_s + max(needed_s)
        first_s = min(needed_s)
        elapsed_s += first_s
        staying = [entry for entry, seconds in enumerate(needed_s) if seconds > first_s * (1 + TIE)]
        left_bytes = [left_bytes[entry] - rates[entry] * first_s for entry in staying]
        crossings = [crossings[entry] for entry in staying]
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
