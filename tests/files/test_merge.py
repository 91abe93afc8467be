"""A file that extends another: what it says wins, table by table and level by level."""

from podsim.files.merge import merge, own_index

BASE = {
    "title": "POD16",
    "hosts": {"servers": 1, "rate": 10},
    "level": [{"name": "machine", "holds": 4}, {"name": "rack", "holds": 4}],
}


def test_tables_merge_by_key_and_other_values_are_replaced():
    merged = merge(BASE, {"title": "mine", "hosts": {"servers": 2}})
    assert merged == {**BASE, "title": "mine", "hosts": {"servers": 2, "rate": 10}}


def test_levels_merge_by_name_and_a_new_one_goes_outside():
    merged = merge(BASE, {"level": [{"name": "rack", "holds": 8}, {"name": "room", "holds": 2}]})
    assert [(level["name"], level["holds"]) for level in merged["level"]] == [("machine", 4), ("rack", 8), ("room", 2)]


def test_nothing_of_the_base_is_changed_in_place():
    merge(BASE, {"hosts": {"servers": 9}, "level": [{"name": "rack", "holds": 9}]})
    assert BASE["hosts"] == {"servers": 1, "rate": 10}
    assert BASE["level"][1] == {"name": "rack", "holds": 4}


def test_a_level_of_the_merged_list_is_found_in_the_file_that_states_it():
    """A message about a level points into the user's file where that states it, else nowhere."""
    changes = [{"name": "room", "holds": 2}, {"name": "rack", "holds": 8}]
    assert [own_index(BASE["level"], changes, at) for at in range(4)] == [None, 1, 0, None]
