"""A step is timed once for a question and those made of it, and anew wherever anything differs that it depends on."""

from dataclasses import replace

import pytest
from engines.worlds import published

from podsim.engines import analytic
from podsim.predicting.training_case import TrainingCase, step


@pytest.fixture
def timed(monkeypatch):
    """A question of a rack of BERT, its mapping, and the programs that were run so far."""
    setup, ran = published("bert", "pod16"), []

    def engine(program, fabric):
        ran.append(program)
        return analytic.run(program, fabric)

    question = TrainingCase(
        workload=setup.workload,
        machine=setup.machine,
        fabric=setup.fabric,
        engine=engine,
        engine_name="analytic",
        optimizer=setup.optimizer,
        division="closed",
    )
    return question, setup.mapping, ran


def test_the_same_step_is_timed_once_whatever_else_is_asked(timed):
    question, mapping, ran = timed
    first = step(question, mapping)
    count = len(ran)
    assert step(replace(question, seed=3, samples=1e6), replace(mapping)) is first
    assert step(replace(question, machine=replace(question.machine)), mapping) is first
    assert len(ran) == count


def test_another_machine_mapping_or_engine_is_timed_anew(timed):
    question, mapping, _ = timed
    first = step(question, mapping)
    fitted = question.machine.parameters.fitted
    slower = {name: replace(item, value=item.value * 1.1) for name, item in fitted.items()}
    machine = replace(question.machine, parameters=replace(question.machine.parameters, fitted=slower))
    for other, of in (
        (replace(question, machine=machine), mapping),
        (question, replace(mapping, accumulation=mapping.accumulation + 1)),
        (
            question,
            replace(
                mapping,
                configuration=replace(
                    mapping.configuration, merged_collectives=not mapping.configuration.merged_collectives
                ),
            ),
        ),
        (replace(question, optimizer="sgd"), mapping),
    ):
        fresh = TrainingCase(
            workload=other.workload,
            machine=other.machine,
            fabric=other.fabric,
            engine=analytic.run,
            engine_name="analytic",
            optimizer=other.optimizer,
            division="closed",
        )
        timeline = step(other, of)
        assert timeline is not first
        assert timeline.step_s == step(fresh, of).step_s
