"""How close the memory estimate is to bytes that were measured; docs/explanation/accuracy.md has these numbers.

Bytes of a program were profiled once: the vision encoder of SigLIP on a C600 (ipu-stack). Products that were measured
ran, so they fit; the largest square product that fits a GC2 was published (jia-2019).
"""

from dataclasses import replace
from pathlib import Path

import pytest

import podsim
from podsim.calibration.microbenchmarks.product_measurements import PRECISIONS
from podsim.files import catalog, microbenchmarks
from podsim.model.chip import Precision
from podsim.model.inference import ServedState
from podsim.tiles import memory

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs/explanation/accuracy.md").read_text(encoding="utf-8").split())
SIGLIP = str(ROOT / "tests/data/siglip-so400m.toml")
MEASURED = {
    (row.precision, row.what.split(": ")[1]): row.value
    for row in microbenchmarks.all_measurements()
    if "SigLIP encoder" in row.what and row.unit == "bytes"
}
ALL, CODE = "all allocated memory per tile", "exchange code per tile"
STORED = ("FP8", "FP8 weights")
"""Products of 8 bit, and of 16 bit with weights of one byte."""
SMALL = 2**28  # multiply-adds below which a product is no test of memory


def estimate(stored: str) -> tuple[float, float]:
    """Bytes of the fullest tile and of the mean tile of the profiled encoder."""
    report = podsim.infer(SIGLIP, topology="c600", batch=1, precision="8.16", engine="analytic", requests=100)
    topology, model = catalog.topology("c600").value, catalog.workload(SIGLIP).value
    precision = Precision.FP8_16 if stored == "FP8" else Precision.FP16_16
    served = ServedState(row_bytes=model.row_bytes, result_bytes=0.0)
    (content,) = memory.fit(replace(model, precision=precision), report.mapping, topology, served).ipus
    weights = content.by_category["weights"] / (1 if stored == "FP8" else 2)
    buffers, tiles = content.by_category["exchange_buffers"], topology.chip.tiles
    even = content.used_bytes - content.by_category["weights"] - buffers + weights
    return (even + buffers) / tiles, (even + buffers * content.tiles / tiles) / tiles


@pytest.mark.parametrize("stored", STORED)
def test_the_estimate_of_a_profiled_program(stored):
    fullest, mean = estimate(stored)
    most, average = MEASURED[stored, f"{ALL}, maximum"], MEASURED[stored, f"{ALL}, average"]
    assert -0.20 < fullest / most - 1 < 0
    assert -0.10 < mean / average - 1 < 0
    line = f"| {stored} |" + "".join(
        f" {measured / 1e3:.0f} | {value / 1e3:.0f} | −{-100 * (value / measured - 1):.0f} % |"
        for measured, value in ((most, fullest), (average, mean))
    )
    assert line in PAGE, line


def test_exchange_code_is_less_than_all_code_that_is_assumed():
    """A tenth of SRAM is for exchange code, vertices, control code and stacks."""
    assumed = memory.CODE_SHARE * catalog.chip("c600").value.sram.bytes_per_tile
    for stored in STORED:
        average, most = (MEASURED[stored, f"{CODE}, {which}"] for which in ("average", "maximum"))
        assert 0.2 * assumed < average < most < 0.6 * assumed


def products():
    """Sizes of measured products that are large enough to fill tiles, each once."""
    rows = [
        row
        for row in microbenchmarks.all_measurements()
        if row.category == "gemm" and {"m", "k", "n"} <= set(row.shape)
    ]
    sizes = {(row.chip, row.precision, *(row.shape[name] for name in "mkn")) for row in rows}
    return sorted(size for size in sizes if _large(size) and size[1] in PRECISIONS)


def _large(texts: tuple[str, ...]) -> bool:
    m, k, n = texts[2:]
    return all(size.isdigit() for size in (m, k, n)) and int(m) * int(k) * int(n) >= SMALL


def test_every_measured_product_fits():
    """With operands, the temporary data of its plan at the default and code, as `podsim op` adds them up."""
    shares = []
    for chip, precision, *sizes in products():
        m, k, n = map(int, sizes)
        report = podsim.op("matmul", m=m, k=k, n=n, precision=PRECISIONS[precision].value, chip=chip)
        assert not report.overflows, (chip, precision, sizes)
        needed = report.resident_bytes / report.chip.tiles + report.sram_bytes + report.code_bytes_per_tile
        shares.append(needed / report.chip.sram.bytes_per_tile)
    assert f"All {len(shares)} measured products" in PAGE, len(shares)
    assert f"the largest with {100 * max(shares):.0f} % of its SRAM" in PAGE, max(shares)
