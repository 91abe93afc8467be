"""The two words in which every check ends, on screens, on pages and in JSON."""

from typing import Final

SUCCESS: Final = "PASS"
FAILURE: Final = "FAIL"


def verdict(*, passed: bool) -> str:
    """PASS or FAIL, whatever was checked: errors against bars, intervals, a file, a fit against the user's own runs."""
    return SUCCESS if passed else FAILURE
