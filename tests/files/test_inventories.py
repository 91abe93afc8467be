"""Inventories: owned machines by name, chip and hosts; every fault at once, by line."""

from pathlib import Path

import pytest

from podsim.errors import InputError
from podsim.files import inventories
from podsim.model.inventory import MOST_ENTRIES, Inventory, InventoryMachine

EXAMPLE = Path(__file__).parents[2] / "examples" / "inventory.toml"


def text(*machines):
    return 'schema = "podsim.inventory/1"\n' + "".join(f"[[machine]]\n{machine}\n" for machine in machines)


def faults(write, *machines):
    with pytest.raises(InputError) as caught:
        inventories.inventory(str(write("a.toml", text(*machines))))
    assert caught.value.code == "bad-inventory-file"
    return caught.value.context


def test_machines_are_those_of_the_file(write):
    read = inventories.inventory(str(write("a.toml", text('topology = "pod64"\ncount = 3\nhosts = 2\nname = "hall"'))))
    assert read == Inventory(machines=(InventoryMachine(topology="pod64", count=3, hosts=2, name="hall"),))


def test_the_example_has_two_machines():
    (machine,) = inventories.inventory(str(EXAMPLE)).machines
    assert (machine.topology, machine.count, machine.hosts) == ("pod64", 2, None)


@pytest.mark.parametrize(
    ("topology", "chip", "name"),
    [
        ("pod64", "", "pod64"),
        ("pod64", "gc200", "pod64"),
        ("pod64", "bow", "bow-pod64"),
        ("bow-pod16", "gc200", "pod16"),
    ],
)
def test_a_chip_is_that_of_another_family(topology, chip, name):
    assert inventories.name(InventoryMachine(topology=topology, chip=chip)) == name


def test_every_fault_has_its_line(write):
    lines = faults(
        write,
        'topology = "dgx-a100"',
        'topology = "pod65"',
        'topology = "pod64"\nhosts = 5',
        'topology = "c600"\nchip = "bow"',
    )
    starts = ["3  machine[0].topology", "5  machine[1].topology", "8  machine[2].hosts", "11  machine[3].chip"]
    assert [line.strip().startswith(start) for line, start in zip(lines, starts, strict=True)] == [True] * 4
    for line, words in zip(lines, ("no IPUs", "pod64 and pod128", "at most 4 hosts, not 5", "c600 alone"), strict=True):
        assert words in line


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        ('topology = "pod64"\ncount = 0', "at least 1"),
        ('topology = "pod64"\ncount = 1025', "at most 1,024"),
        ('topology = "pod64"\nchip = "gc9"', "gc9"),
        ('topology = "pod64"\ncolour = "red"', "unknown key"),
        ("count = 2", "topology"),
    ],
)
def test_a_value_that_cannot_be_is_refused(write, machine, words):
    (line,) = faults(write, machine)
    assert words in line


def test_an_inventory_has_a_machine_and_not_too_many(write):
    many = (InventoryMachine(topology="pod4"),) * (MOST_ENTRIES + 1)
    for machines in ((), many):
        with pytest.raises(ValueError, match="from 1 to 32"):
            Inventory(machines=machines)
    assert faults(write)


def test_a_file_without_machines_has_no_second_fault():
    assert list(inventories.faults(None, {})) == []
