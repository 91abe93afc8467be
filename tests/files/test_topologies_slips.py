"""A misspelt key of a machine file is one fault with a suggestion, not a list of all that would be missing."""

from pathlib import Path

import pytest

import podsim
from podsim.errors import InputError

SHIPPED = Path(__file__).parents[2] / "topologies/pod64.toml"


@pytest.mark.parametrize(
    ("key", "typed"), [("extends", "extend"), ("extends", "extnds"), ("source", "sorce"), ("kind", "knd")]
)
def test_a_misspelt_key_of_the_file_is_suggested(key: str, typed: str, tmp_path: Path) -> None:
    own = tmp_path / "my.toml"
    text = SHIPPED.read_text(encoding="utf-8")
    own.write_text(text.replace(f"\n{key} ", f"\n{typed} ", 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        podsim.predict("bert", topology=own, engine="analytic")
    (fault,) = caught.value.context
    assert fault.endswith(f'unknown key; did you mean "{key}"?')
    assert typed in fault


@pytest.mark.parametrize("typed", ["netes", "linkes", "external_key"])
def test_a_key_nearer_to_another_is_not_taken_for_one_of_the_file(typed: str, tmp_path: Path) -> None:
    own = tmp_path / "my.toml"
    own.write_text(f'{typed} = "x"\n' + SHIPPED.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        podsim.predict("bert", topology=own, engine="analytic")
    assert not any('"extends"?' in fault or '"aliases"?' in fault for fault in caught.value.context)
