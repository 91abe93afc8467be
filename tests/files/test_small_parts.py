"""Parts of reading that are a few lines each: names of imports, general configurations, pages of a notebook."""

import importlib.metadata

import pytest

from podsim.files import configurations, find
from podsim.files.imports import naming
from podsim.model import displayable, family
from podsim.model.training import StatePlace
from podsim.report import version


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("my net (2)", "my-net-2"),
        ("bert", "own-bert"),  # shipped: its fitted numbers are not those of the import
        ("../../etc/passwd", "etc-passwd"),
        ("", "own-model"),
        ("ß…", "own-model"),
        ("v1.2_b", "v1.2_b"),
    ],
)
def test_an_import_gets_a_name_that_is_no_path_and_of_no_shipped_workload(text, name):
    assert naming.name(text) == name


def test_names_of_imports_are_short():
    assert len(naming.name("a" * 1000)) == naming.MOST


def test_each_kind_of_network_has_published_networks_to_be_compared_with():
    general = configurations.general().value
    for kind in family.NetworkKind:
        names = general.networks_of(kind)
        assert names
        assert all((find.folders("workloads")[-1] / f"{name}.toml").is_file() for name in names)


def test_general_configurations_hold_for_every_chip_and_state_where_state_lies():
    general = configurations.general().value.configurations
    assert general
    assert all(not one.chips and one.state in StatePlace for one in general)


def test_what_has_no_view_has_no_page_in_a_notebook():
    import podsim.studies.notebook  # noqa: F401  (registers the views, as any answer does)

    class Plain(displayable.Displayable):
        pass

    assert Plain()._repr_html_() is None


def test_the_version_is_that_of_the_installed_package():
    assert version.version() == importlib.metadata.version("podsim")
