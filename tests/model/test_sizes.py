"""Lists of machine sizes as a flag gives them."""

import pytest

from podsim.model.sizes import sizes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("16..128", (16, 32, 64, 128)),
        ("16..100", (16, 32, 64)),
        ("3..3", (3,)),
        ("64, 16,4..8", (64, 16, 4, 8)),
        ("1_024", (1024,)),
    ],
)
def test_a_range_doubles_and_a_list_keeps_its_order(text, expected):
    assert sizes(text) == expected


@pytest.mark.parametrize("text", ["", "0", "-4", "16..8", "16..", "..16", "4,,8", "1e3", "٣", "4...8"])
def test_any_other_text_is_refused(text):
    with pytest.raises(ValueError, match="neither a size above 0 nor a range"):
        sizes(text)
