"""A model stated operator by operator: written and read back it is equal; a few lines are enough; slips are named."""

from dataclasses import fields

import pytest
from slow_cases import slow_but

import podsim
from podsim.errors import InputError, MissingParameter
from podsim.files import catalog, toml_text
from podsim.model.operator_list import SHAPES, GivenOperator
from podsim.model.workload import Operator, Stream
from podsim.workloads import unit

HEAD = 'schema = "podsim.workload/1"\nname = "mine"\n'
PRODUCT = '{ name = "p", kind = "matmul", m = 64, k = 512, n = 512 }'
CONVOLUTION = '{ name = "p", kind = "convolution", size = 8, in_channels = 6, out_channels = 8, kernel = 3'
SMALL = f'{HEAD}[[unit]]\nname = "u"\noperator = [{PRODUCT}]\n'
ONE = {"pod": 4, "replicas": 4, "ipus_per_replica": 1, "micro_batch": 8, "accumulation": 32}


def written(folder, text):
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def refused(folder, text):
    with pytest.raises(InputError) as no:
        catalog.workload(written(folder, text))
    return "\n".join([no.value.message, *no.value.context])


@pytest.mark.parametrize("name", slow_but(catalog.names("workloads")[::5], catalog.names("workloads")))
def test_every_workload_written_as_units_reads_back_equal(name, tmp_path):
    shipped = catalog.workload(name).value
    text = toml_text.workload_text({"name": "mine", "unit": unit.unit_tables(shipped.units)})
    read = catalog.workload(written(tmp_path, text)).value
    assert read.units == shipped.units
    assert read.parameters == shipped.parameters


def test_layers_are_written_once():
    bert = catalog.workload("bert").value
    tables = unit.unit_tables(bert.units)
    assert [(table["name"], table.get("repeat")) for table in tables] == [
        ("embedding", None),
        ("attention", 24),
        ("ffn", 24),
        ("heads", None),
    ]


def test_every_size_of_a_shape_can_be_stated():
    stated = {each.name for each in fields(GivenOperator)}
    for shape in (*SHAPES.values(), Stream):
        assert {each.name for each in fields(shape)} <= stated
    assert {each.name for each in fields(Operator)} - {"shape"} <= stated


def test_a_few_lines_answer_and_say_what_they_leave_to_podsim(tmp_path):
    answer = podsim.predict(written(tmp_path, SMALL), pod=4)
    assert answer.mapping.configuration.name.startswith("usual")
    assert (
        sum("run length not specified" in line or "no configuration" in line for line in map(str, answer.assumptions))
        == 2
    )
    assert not answer.has_length
    assert answer.mapping.global_batch == pytest.approx(1024, rel=0.05)


def test_the_input_of_a_row_is_two_bytes_an_element_and_four_an_index(tmp_path):
    assert catalog.workload(written(tmp_path, SMALL)).value.row_bytes == 64 * 512 * 2
    gather = '{ name = "g", kind = "gather", table = 100, width = 8, lookups = 7, input_gradient = false }'
    assert catalog.workload(written(tmp_path, SMALL.replace(PRODUCT, gather))).value.row_bytes == 7 * 4


def test_a_block_is_repeated_with_its_neighbours(tmp_path):
    block = "".join(
        f'[[unit]]\nname = "{name}"\nblock = "layer"\nrepeat = 3\noperator = [{PRODUCT}]\n' for name in "ab"
    )
    workload = catalog.workload(written(tmp_path, HEAD + block)).value
    assert [item.name for item in workload.units] == [f"layer{number}.{name}" for number in range(3) for name in "ab"]
    assert workload.parameters == 6 * 512 * 512
    assert "repeat together" in refused(tmp_path, HEAD + block.replace("repeat = 3", "repeat = 2", 1))


def test_configuration_and_length_of_a_file_come_first(tmp_path):
    stated = '[benchmark]\nstyle = "fixed"\ntarget = "short"\nrun_samples = 8192\nglobal_batch = 1024\n'
    path = written(tmp_path, SMALL + stated)
    assert podsim.predict(path, pod=4).run.steps == 8
    assert not any("no length" in note for note in map(str, catalog.workload(path).value.notes))


def test_without_a_batch_one_is_asked_for(tmp_path):
    path = written(tmp_path, SMALL + '[benchmark]\nstyle = "fixed"\ntarget = "short"\nrun_samples = 8192\n')
    with pytest.raises(MissingParameter, match=r"global batch of .mine. not specified"):
        podsim.predict(path, pod=4)
    assert podsim.predict(path, **ONE).run.steps == 8


@pytest.mark.parametrize(
    ("operator", "part"),
    [
        ('{ name = "p", kind = "matmul", m = 64, k = 512 }', "a matmul needs n"),
        ('{ name = "p", kind = "matmul", m = 64, k = 512, n = 2, row = 3 }', "a matmul has none"),
        ('{ name = "p", kind = "matmul", m = 64, k = 512, n = 99999999999999 }', "at most 1,099,511,627,776"),
        ('{ name = "p", kind = "softmax", elements = 10, row = 3 }', "rows of 3 do not divide"),
        ('{ name = "p", kind = "elementwise", elements = 10, operations = ["wobble"] }', 'no operation "wobble"'),
        ('{ name = "p", kind = "elementwise", elements = 10, operations = [] }', "at least one operation"),
        ('{ name = "p", kind = "softmax", elements = 9, row = 3, between = ["a", "b"] }', "no matmul of this unit"),
        ('{ name = "p", kind = "wobble" }', '"wobble" is not known'),
        (f"{PRODUCT}, {PRODUCT}", '"p" is there twice'),
        ("", "at least one"),
        (f"{CONVOLUTION}, channel_groups = 4 }}", "do not divide in_channels"),
    ],
)
def test_a_slip_is_named_where_it_stands(operator, part, tmp_path):
    assert part in refused(tmp_path, SMALL.replace(PRODUCT, operator))


def test_one_family_and_no_other(tmp_path):
    assert "exactly one of" in refused(tmp_path, HEAD)


def test_too_many_operators_are_refused(tmp_path):
    many = SMALL.replace("operator =", 'block = "b"\nrepeat = 1000000\noperator =')
    assert "at most 50,000" in refused(tmp_path, many)
