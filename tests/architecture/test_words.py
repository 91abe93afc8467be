"""One word for one thing: the names podsim defines use no word from the last column of docs/glossary.md."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from source import ROOT, modules, place, tracked, tree

DATA = ("topologies/", "calibration/", "podsim/workloads/")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

# Names in which such a word means something else.
EXCEPTIONS = {
    r"(.+_)?cycles?": "a clock cycle, the last word of a unit; or a cycle of the pipeline",
    r"worker_threads": "the hardware threads of a tile, as the programmer's guide calls them",
    r"dim": "faint letters on a terminal",
    r"batch": "the global batch of a reference convergence point, as the benchmark's files name it; images of a Conv",
    r"(most_)?batch(es)?": "requests that a replica answers together, as `podsim infer` and inference servers have it",
    r"wait(_s)?": "how long a request waits for others to fill its batch",
    r"(.+_)?(micro|global|critical)_batch(es)?(_.+)?": "the words themselves",
    r"(interval_)?per_batch": "the slope of the evaluation interval over the global batch, as the rules state it",
    r"batch_norm": "the norm over a batch, as its papers and every framework name it",
    r"phases?": "what a superstep of a plan is for: multiply, reduce, ...; the key of `podsim op --json` was asked for",
    r"phased|(in|predict|run|most|json)_phases|phase_of|phases_prediction": "a layer at a time (popxl); parts of a run",
    r"three_phase": "the collective in three phases, as the release notes of Graphcore's library name it",
    r"partitions": "IPUs of a machine set apart for jobs, as Graphcore's V-IPU calls them",
    r"(checkpoint_)?epochs": "passes over a data set, which is how the rules of ResNet-50 count",
}
ALLOWED = re.compile("|".join(f"(?:{pattern})" for pattern in EXCEPTIONS))


@cache
def banned() -> dict[tuple[str, ...], str]:
    """Words of the last column, lower case and split, with the word to use instead."""
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return {
        tuple(words(spelled.strip())): row[0].strip()
        for row in rows[2:]
        for spelled in row[3].split(",")
        if spelled.strip()
    }


def words(name: str) -> list[str]:
    """`ipusPerRack`, `ipus_per_rack` and `ipus-per-rack` alike, in lower case."""
    return [word.lower() for word in WORD.findall(name)]


def faults(name: str) -> list[str]:
    """Words of the name that docs/glossary.md bans, plural or not."""
    texts = words(name)
    if ALLOWED.fullmatch("_".join(texts)):
        return []
    texts += [word.removesuffix("s") for word in texts]
    text = f" {' '.join(texts)} "
    return [f"{' '.join(word)} (say {instead})" for word, instead in banned().items() if f" {' '.join(word)} " in text]


def defined(path: Path) -> Iterator[tuple[str, int]]:
    """Names a module gives to things; not the names other packages gave to theirs."""
    yield path.stem, 1
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((flag, node.lineno) for flag in re.findall(r"(?<!\S)--[a-z][a-z-]+", node.value))


def keys(table: object) -> Iterator[str]:
    """Every key of a parsed TOML file."""
    if isinstance(table, dict):
        for key, value in table.items():
            yield key
            yield from keys(value)
    elif isinstance(table, list):
        for value in table:
            yield from keys(value)


def test_names_in_code() -> None:
    texts = [
        f"{place(path, line)} {name}: {fault}"
        for path in modules("podsim")
        for name, line in defined(path)
        for fault in faults(name)
    ]
    assert texts == []


def test_keys_in_files() -> None:
    files = [path for path in tracked() if path.suffix == ".toml" and place(path).startswith(DATA)]
    assert files
    texts = [
        f"{place(path)} {key}: {fault}"
        for path in files
        for key in sorted(set(keys(tomllib.loads(path.read_text(encoding="utf-8")))))
        for fault in faults(key)
    ]
    assert texts == []


@pytest.mark.parametrize(
    "name", ["gpu_count", "GpuCount", "batchSize", "--batch-size", "n_workers", "sync_wait_s", "peak_flops", "cycle_s"]
)
def test_a_banned_word_is_noticed(name: str) -> None:
    assert faults(name)


@pytest.mark.parametrize("name", ["ipus", "micro_batch", "--global-batch", "start_cycles", "awaited", "flop_per_cycle"])
def test_a_good_word_is_left_alone(name: str) -> None:
    assert not faults(name)
