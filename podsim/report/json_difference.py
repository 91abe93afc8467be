"""What moved between two saved answers, as JSON."""

from podsim.model.difference import Difference
from podsim.report.json_text import plain, text


def difference(found: Difference) -> str:
    """`podsim diff --json`, schema podsim.diff/1; changes are fractions, effects factors on time to train and step."""
    return text("diff", {
        "compared": found.what,
        "identical": not found.moved and not found.causes,
        "old_hash": found.old_hash,
        "new_hash": found.new_hash,
        "moved": [
            {"figure": one.path, "old": plain(one.old), "new": plain(one.new), "change": plain(one.change)}
            for one in found.moved
        ],
        "causes": plain(found.causes),
        "remainder": plain(found.remainder),
        "notes": plain(found.notes),
    })  # fmt: skip
