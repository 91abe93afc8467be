"""Run fuzz targets by hand: `python tests/fuzz/run.py 100000`; README.md says how."""

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ |= {"PODSIM_CACHE": "", "XDG_DATA_HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"}
for name in [name for name in os.environ if name.startswith("PODSIM_") and name != "PODSIM_CACHE"]:
    del os.environ[name]

LETTERS = re.compile(r"[^a-z ]")
LONGEST = 160
CHUNK = 250
WEIGHTS = {
    "command_lines": 0.02,
    "results_file": 0.02,
    "signatures": 0.1,
    "topology_file": 0.2,
    "workload_file": 0.3,
    "sweep_file": 0.3,
    "mlperf_logs": 0.3,
    "points_file": 0.4,
    "onnx_file": 0.5,
    "settings_file": 3.0,
    "fault_strings": 6.0,
    "quantities": 6.0,
}
"""Shares of the count against 1 for the others: what takes long is drawn less often."""


@dataclass
class Tally:
    """What came of the inputs of one target."""

    verdicts: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    slowest: str = ""
    spent_s: float = 0.0
    peak_bytes: int = 0
    kinds: dict[str, tuple[int, str, str]] = field(default_factory=dict)  # by traceback: how often, input, text

    def add(self, other: "Tally") -> None:
        """Take in what another process did."""
        self.verdicts.update(other.verdicts)
        self.spent_s += other.spent_s
        self.peak_bytes = max(self.peak_bytes, other.peak_bytes)
        if other.slowest_s > self.slowest_s:
            self.slowest_s, self.slowest = other.slowest_s, other.slowest
        for kind, (count, data, text) in other.kinds.items():
            known = self.kinds.get(kind, (0, data, text))
            self.kinds[kind] = (known[0] + count, *known[1:])


def inputs(seed: str, count: int) -> Iterator[bytes]:
    """Bytes of many lengths, the same for the same seed."""
    drawn = random.Random(seed)  # noqa: S311  (no secret)
    for _ in range(count):
        yield drawn.randbytes(drawn.randrange(8, LONGEST))


def work(job: tuple[str, str, int]) -> tuple[str, Tally]:
    """One target on some inputs; every violation is kept with its input."""
    from fuzz import judge
    from fuzz.targets import target

    name, seed, count = job
    ask, tally = target(name), Tally()
    ask(b"warm")
    for data in inputs(seed, count):
        began = time.process_time()
        try:
            with judge.limits():
                verdict = ask(data)
        except (Exception, SystemExit) as error:  # noqa: BLE001  (that is what is looked for)
            verdict, text = "violations", traceback.format_exc()
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{type(error).__name__} {last.filename} {last.lineno} {LETTERS.sub('', str(error))[:30]}"
            kind = hashlib.blake2b(place.encode()).hexdigest()[:12]
            tally.kinds[kind] = (tally.kinds.get(kind, (0,))[0] + 1, data.hex(), text)
        spent_s = time.process_time() - began
        tally.verdicts[verdict] += 1
        tally.spent_s += spent_s
        if spent_s > tally.slowest_s:
            tally.slowest_s, tally.slowest = spent_s, data.hex()
    tally.peak_bytes = judge.peak_bytes()
    return name, tally


def jobs(names: list[str], count: int, seed: int) -> Iterator[tuple[str, str, int]]:
    """The count over targets by weight, in portions."""
    whole = sum(WEIGHTS.get(name, 1.0) for name in names)
    for name in names:
        share = max(1, round(count * WEIGHTS.get(name, 1.0) / whole))
        for at in range(0, share, CHUNK):
            yield name, f"{seed} {name} {at}", min(CHUNK, share - at)


def told(tallies: dict[str, Tally]) -> str:
    """The counts as a table."""
    head = ("target", "inputs", "accepted", "refused", "ms each", "slowest s", "MiB", "violations")
    rows = [head]
    for name, tally in [*sorted(tallies.items()), ("all", _sum(tallies))]:
        verdicts = tally.verdicts
        rows.append(
            (
                name,
                f"{verdicts.total():,}",
                f"{verdicts['accepted']:,}",
                f"{verdicts['refused']:,}",
                f"{1e3 * tally.spent_s / max(verdicts.total(), 1):.1f}",
                f"{tally.slowest_s:.2f}",
                f"{tally.peak_bytes / 2**20:.0f}",
                f"{verdicts['violations']:,}",
            )
        )
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _sum(tallies: dict[str, Tally]) -> Tally:
    whole = Tally()
    for tally in tallies.values():
        whole.add(tally)
    return whole


def by_atheris(name: str, more: list[str]) -> None:
    """One target under atheris, which looks for new paths through podsim; ends with the first violation."""
    import atheris

    with atheris.instrument_imports(include=["podsim"]):
        from fuzz import judge
        from fuzz.targets import target

        ask = target(name)
    ask(b"warm")

    def one(data: bytes) -> None:
        with judge.limits():
            ask(data)

    atheris.Setup([sys.argv[0], f"-max_len={LONGEST}", *more], one)
    atheris.Fuzz()


def main() -> int:
    """Parse the command line, run, report; 1 where there was a violation."""
    from fuzz.targets import NAMES

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=10_000, help="inputs over all targets")
    parser.add_argument("--targets", default=",".join(NAMES), help="names with commas between")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"), help="folder for inputs that failed")
    parser.add_argument("--again", metavar="HEX", help="one input of one target again, with its traceback")
    parser.add_argument("--atheris", metavar="TARGET", help="run one target under atheris, until it fails")
    namespace, more = parser.parse_known_args()
    if namespace.atheris:
        by_atheris(namespace.atheris, more)
        return 0
    names = namespace.targets.split(",")
    if namespace.again:
        from fuzz import judge
        from fuzz.targets import target

        with judge.limits():
            sys.stdout.write(target(names[0])(bytes.fromhex(namespace.again)) + "\n")
        return 0
    tallies = swept(names, namespace)
    sys.stdout.write(told(tallies) + "\n")
    return 1 if any(tally.kinds for tally in tallies.values()) else 0


def swept(names: list[str], namespace: argparse.Namespace) -> dict[str, Tally]:
    """Tallies by target, over processes that are replaced now and then."""
    tallies: dict[str, Tally] = {name: Tally() for name in names}
    began, planned = time.monotonic(), list(jobs(names, namespace.count, namespace.seed))
    random.Random(namespace.seed).shuffle(planned)  # noqa: S311  (no secret)
    context = multiprocessing.get_context("spawn")
    with context.Pool(namespace.processes, maxtasksperchild=40) as pool:
        for done, (name, tally) in enumerate(pool.imap_unordered(work, planned), 1):
            tallies[name].add(tally)
            report(name, tally, namespace.failures)
            if done % 20 == 0 or done == len(planned):
                bad = sum(len(tally.kinds) for tally in tallies.values())
                spent_s = time.monotonic() - began
                sys.stderr.write(f"{done:,} of {len(planned):,} portions, {spent_s:.0f} s, {bad} kinds of violation\n")
    return tallies


def report(name: str, tally: Tally, folder: Path) -> None:
    """Write each kind of violation as it comes, with an input that leads to it."""
    for kind, (count, data, text) in tally.kinds.items():
        path = folder / f"{name}-{kind}.json"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"target": name, "input": data, "count": count, "traceback": text}, indent=1))
            sys.stdout.write(f"{name}: {path}\n{text}\n")


if __name__ == "__main__":
    sys.exit(main())
