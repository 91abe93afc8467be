"""A workload file becomes the model of its family, and keeps all else that it says."""

from podsim.files import catalog
from podsim.model.workload import Conv, Gather


def test_the_family_of_the_file_is_built():
    assert isinstance(catalog.workload("bert").value.units[0].operators[0].shape, Gather)
    assert isinstance(catalog.workload("resnet50").value.units[0].operators[0].shape, Conv)


def test_a_changed_size_changes_the_model():
    """Twice the layers: twice the encoder's 302.3 M parameters, nothing else."""
    base = catalog.workload("bert").value
    deep = catalog.workload("bert", {"workload.transformer.layers": "48"}).value
    assert deep.parameters - base.parameters == 24 * (12 * 1024**2 + 13 * 1024)
    assert len(deep.units) - len(base.units) == 48


def test_a_row_of_bert_is_two_samples_as_submissions_count_and_a_little_more_in_truth():
    model = catalog.workload("bert").value
    assert model.samples_per_row == 2
    assert 1 < model.packing < 1.05
    assert catalog.workload("resnet50").value.samples_per_row == 1


def test_names_are_unique():
    for name in ("bert", "resnet50"):
        model = catalog.workload(name).value
        names = [operator.name for unit in model.units for operator in unit.operators]
        assert len(names) == len(set(names))
        assert len({unit.name for unit in model.units}) == len(model.units)
