"""Where the numbers of a machine and of a workload come from, as pages hand them over."""

import podsim
from podsim.cli import number_sources
from podsim.cli.origins import Used, of_one, of_page
from podsim.files import catalog, comparator_machines


def test_a_machine_without_ipus_has_the_numbers_of_its_chip():
    placed = comparator_machines.machine("dgx-a100")
    assert number_sources.of_machine(Used(called="it", topology="dgx-a100")) == placed.chip.provenance
    pod = catalog.topology("pod16")
    assert number_sources.of_machine(Used(called="it", topology="pod16")) == pod.provenance


def test_a_run_in_phases_has_the_numbers_of_each():
    assert set(number_sources.of_run("bert", (), ())) == {"bert"}
    assert number_sources.of_run("bert", (), ())["bert"] == catalog.workload("bert").provenance


def test_a_page_names_machines_workloads_and_documents():
    prediction = podsim.predict("bert", pod=16, engine="analytic")
    used = Used(called="POD16", topology="pod16")
    machines, workloads, documents = of_page([used], ["bert"], answers=[prediction])
    assert machines
    assert workloads
    assert len(documents) > 0
    machine, workload = of_one(used, "bert", prediction)
    assert machine
    assert workload
