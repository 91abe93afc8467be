"""Bytes and busy seconds of links, from times at which flows were in flight."""

from podsim.engines.des.record import link_uses
from podsim.model.program import LinkUse, Record


class Rates:
    """Flows in flight together, by what they load each link with [B/s]."""

    def __init__(self, **by_link):
        self.by_link = {int(name[1:]): rate for name, rate in by_link.items()}

    def loads(self):
        return self.by_link


ALONE, BOTH = Rates(l1=10.0), Rates(l1=10.0, l0=4.0)


def test_bytes_are_rate_times_time_and_idle_time_is_not_busy():
    """Link 1 from 0 to 3 s and from 5 to 6 s at 10 B/s; link 0 from 1 to 3 s at 4 B/s."""
    used = [(0.0, 1.0, ALONE), (1.0, 3.0, BOTH), (5.0, 6.0, ALONE)]
    assert link_uses(used, Record.TOTALS) == (LinkUse(0, 8.0, 2.0), LinkUse(1, 40.0, 4.0))


def test_loads_join_where_the_rate_stays_and_break_at_a_gap():
    used = [(0.0, 1.0, ALONE), (1.0, 3.0, BOTH), (5.0, 6.0, ALONE), (6.0, 7.0, Rates(l1=5.0))]
    zero, use = link_uses(used, Record.LOADS)
    assert zero.load == ((1.0, 3.0, 4.0),)
    assert use.load == ((0.0, 3.0, 10.0), (5.0, 6.0, 10.0), (6.0, 7.0, 5.0))
