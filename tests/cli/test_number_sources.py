"""Where the numbers of a machine and of a workload come from, as pages hand them over."""

import podsim
from podsim.files import catalog, comparator_machines, inputs
from podsim.report import number_sources
from podsim.report.origins import MachineNames, of_one, of_page


def test_a_machine_without_ipus_has_the_numbers_of_its_chip():
    placed = comparator_machines.machine("dgx-a100")
    assert number_sources.of_machine(MachineNames(called="it", topology="dgx-a100")) == placed.chip.provenance
    pod = catalog.topology("pod16")
    assert number_sources.of_machine(MachineNames(called="it", topology="pod16")) == pod.provenance


def test_a_run_in_phases_has_the_numbers_of_each():
    assert set(number_sources.of_run("bert", (), ())) == {"bert"}
    assert number_sources.of_run("bert", (), ())["bert"] == catalog.workload("bert").provenance


def test_a_page_names_machines_workloads_and_documents():
    prediction = podsim.predict("bert", pod=16, engine="analytic")
    used = MachineNames(called="POD16", topology="pod16")
    machines, workloads, documents = of_page([used], ["bert"], answers=[prediction])
    assert machines
    assert workloads
    assert len(documents) > 0
    machine, workload = of_one(used, "bert", prediction)
    assert machine
    assert workload


def test_numbers_that_flags_gave_are_listed_as_given():
    prediction = podsim.predict("bert", pod=16, engine="analytic")
    used = MachineNames(called="POD16", topology="pod16")
    with inputs.recording() as ledger:
        ledger.flags = {"workload": "bert", "pod": 16, "global_batch": 4608, "samples": 2.5e6, "kwh_price": 0.2}
        first, *_ = of_one(used, "bert", prediction)
        assert of_page([used], ["bert"], answers=[prediction])[0] == first
    heading, table = first
    assert heading.text == "Flags, 3 values: 3 given"
    assert table.rows == (("--global-batch", "4,608"), ("--samples", "2,500,000"), ("--kwh-price", "0.2"))
