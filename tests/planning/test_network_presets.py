"""Published mappings of networks outside MLPerf: they fit, with the published global batch, on all IPUs."""

import pytest

import podsim
from podsim.files import catalog
from podsim.lowering import layerwise
from podsim.model.program import Part

BATCH = {
    ("flan-t5-xl", "fine-tune", "pod8"): 128,
    ("flan-t5-xl", "fine-tune", "pod16"): 128,
    ("flan-t5-xxl", "fine-tune", "pod16"): 128,
    ("flan-t5-xxl", "fine-tune", "pod64"): 128,
    ("gpt-j-6b", "fine-tune", "pod16"): 128,
    ("gpt-j-6b", "fine-tune", "pod64"): 128,
    ("yolov4-p5", "published", "pod16"): 64,
    ("dlrm", "comparison", "m2000"): 2048,
    ("dlrm-hashed", "published", "m2000"): 2048,
    ("dlrm-compositional", "published", "pod8"): 4096,
    ("dlrm-compositional", "published", "pod16"): 8192,
    ("schnet-water-small", "published", "bow-pod16"): 16 * 32 * 7 * 3,
    ("schnet-water", "published", "bow-pod64"): 64 * 32 * 7 * 2,
}
"""Graphcore-examples, compressed-dlrm and hydronet-gnn: replicas x accumulation x micro-batch x samples a row."""
SERVED = ("deberta-base", "whisper-tiny", "whisper-base", "whisper-small")


@pytest.mark.parametrize(("workload", "preset", "machine"), BATCH)
def test_the_published_mapping_fits(workload, preset, machine):
    prediction = podsim.predict(workload, preset=preset, topology=machine, engine="analytic", samples=1e7)
    assert prediction.mapping.global_batch == BATCH[workload, preset, machine]
    assert prediction.mapping.ipus == prediction.ipus
    assert prediction.memory.fits
    texts = {
        (name, preset.name, preset.topology)
        for name in {row[0] for row in BATCH}
        for preset in catalog.workload(name).value.presets
    }
    assert set(BATCH) <= texts


@pytest.mark.parametrize("workload", ["clip-text", *(pytest.param(name, marks=pytest.mark.slow) for name in SERVED)])
def test_networks_for_inference_train_and_answer(workload):
    assert podsim.predict(workload, pod=16, engine="analytic", samples=1e7).memory.fits
    assert podsim.infer(workload, pod=4, engine="analytic", requests=200).capacity_per_s.value > 0


def test_activations_that_wait_for_compute_take_longer_than_those_beside_it():
    """Published as on IO tiles without overlap; overlapped, what streams is hidden where compute is longer."""
    line, beside = (
        podsim.predict(
            "gpt-j-6b",
            preset="fine-tune",
            pod=16,
            engine="analytic",
            samples=1e5,
            changes=[f"workload.configuration.popxl-16.streams_in_line={value}"],
        ).step_s.value
        for value in ("true", "false")
    )
    assert beside < line


def test_layers_of_a_decoder_read_what_the_encoder_left(monkeypatch):
    """24 layers and 64 micro-batches: a tensor forward, three backward, an eighth of each on every IPU."""

    def streaming_s():
        prediction = podsim.predict("flan-t5-xl", preset="fine-tune", pod=16, engine="analytic", samples=1e5)
        return prediction.breakdown_s[Part.STREAMING]

    whole_s = streaming_s()
    monkeypatch.setattr(layerwise, "_encoder_elements", lambda *_: 0)
    ddr = catalog.topology("pod16").value.gateway.streaming_bytes_per_s_per_ipu
    extra_bytes = 24 * 64 * 4 * 512 * 2048 * 2 / 8
    assert whole_s - streaming_s() == pytest.approx(extra_bytes / ddr, rel=0.01)
