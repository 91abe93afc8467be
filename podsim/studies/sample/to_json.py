"""A run of a sampler, as JSON."""

from podsim.model.sampler import SamplerReport
from podsim.report.json_text import plain, text


def document(report: SamplerReport) -> str:
    """`podsim sample --json`, schema podsim.sample/1."""
    return text(
        "sample",
        {
            "sampler": {
                "name": report.sampler.name,
                "steps": report.sampler.steps,
                "precision": report.sampler.precision.value,
            },
            "samples": report.samples,
            "rounds": report.rounds,
            "topology": report.topology,
            "chip": report.chip,
            "ipus": report.ipus,
            "run_s": report.run_s,
            "samples_per_s": report.samples_per_s,
            "flop_per_s": report.flop_per_s,
            "limited_by": report.limited_by,
            "breakdown_s": plain(report.parts_s),
            "tiles": report.tiles,
            "samples_on_a_tile": report.on_a_tile,
            "most_samples": report.most_samples,
            "sram_bytes_per_tile": report.sram_bytes_per_tile,
            "returned_bytes": report.returned_bytes,
            "works": [
                {**work, "time_s": cost.time_s} for cost in report.works if isinstance(work := plain(cost), dict)
            ],
            "assumed": plain(report.assumed),
        },
    )
