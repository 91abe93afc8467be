"""Operators of a program, counted by hand."""

from dataclasses import replace

import pytest

import podsim
from podsim.files import catalog
from podsim.lowering import program_size
from podsim.model.framework import Framework
from podsim.model.training import Recompute


@pytest.fixture(scope="module")
def mapping():
    return podsim.predict("squad", pod=16, engine="analytic").mapping


@pytest.fixture(scope="module")
def phased():
    return podsim.predict("gpt-j-6b", pod=16, engine="analytic", samples=1e4).mapping


def with_configuration(mapping, **changes):
    return replace(mapping, configuration=replace(mapping.configuration, **changes))


def test_passes_of_a_training_program():
    """Forward and backward of each operator, a gradient of each that has weights, an update of each tensor."""
    unit = next(unit for unit in catalog.workload("squad").value.units if unit.group == "ffn")
    plain = [operator for operator in unit.operators if not operator.option]
    weights = [operator for operator in plain if operator.kind == "matmul" and operator.shape.parameters]
    assert len(weights) == 2
    assert program_size.inference([unit]) == len(plain)
    once = program_size.training([unit], recompute=False, dropout=False)
    assert once == 2 * len(plain) + 2 + unit.weight_tensors
    assert program_size.training([unit], recompute=True, dropout=False) == once + len(plain)


def test_layers_alike_are_one():
    units = catalog.workload("squad").value.units
    assert [unit.group for unit in program_size.distinct(units)] == ["embedding", "attention", "ffn", "heads"]


def test_a_pipeline_compiles_every_layer_and_popxl_one_an_ipu(mapping):
    units = [unit for stage in mapping.stages for unit in stage.units]
    configuration = mapping.configuration
    recompute = configuration.recompute is not Recompute.NONE
    every = program_size.training(units, recompute=recompute, dropout=configuration.attention_dropout)
    assert program_size.operator_count(mapping) == every
    called = with_configuration(mapping, framework=Framework.POPXL)
    on_one = replace(called, stages=tuple(replace(stage, ipu=0) for stage in called.stages))
    assert program_size.operator_count(on_one) < every / 4
    assert program_size.operator_count(on_one) < program_size.operator_count(called) < every


def test_replicas_share_a_program(mapping):
    assert program_size.operator_count(replace(mapping, replicas=7 * mapping.replicas)) == program_size.operator_count(
        mapping
    )


def test_phases_are_compiled_on_every_ipu(phased):
    count = program_size.operator_count(phased)
    assert count % phased.ipus_per_replica == 0
    assert program_size.operator_count(replace(phased, ipus_per_replica=2 * phased.ipus_per_replica)) == 2 * count
