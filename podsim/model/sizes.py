"""Lists of sizes as a text states them: "16..1024" doubles, "16,64,256" lists."""

import re
from typing import Final

_DIGITS: Final = re.compile(r"\d{1,18}(?:_\d{1,18})*", re.ASCII)


def sizes(text: str) -> tuple[int, ...]:
    """Sizes in the order of the text, ranges by doublings as far as they go; ValueError for any other text."""
    numbers: list[int] = []
    for part in text.split(","):
        first, dots, last = (word.strip() for word in part.partition(".."))
        ends = [first, last] if dots else [first]
        if not all(_DIGITS.fullmatch(end) and int(end) > 0 for end in ends) or (dots and int(last) < int(first)):
            raise ValueError(f'"{part.strip()[:40]}" is neither a size above 0 nor a range that grows, such as 16..64')
        low, high = int(first), int(ends[-1])
        numbers += [low << doublings for doublings in range((high // low).bit_length())]
    return tuple(numbers)
