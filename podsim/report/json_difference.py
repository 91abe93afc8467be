"""What moved between two saved answers, as JSON."""

from podsim.model.difference import Difference
from podsim.report.json_text import plain, text


def difference(difference: Difference) -> str:
    """`podsim diff --json`, schema podsim.diff/1; changes are fractions, effects factors on time to train and step."""
    return text(
        "diff",
        {
            "compared": difference.what,
            "identical": not difference.moved and not difference.causes,
            "old_hash": difference.old_hash,
            "new_hash": difference.new_hash,
            "moved": [
                {"figure": move.path, "old": plain(move.old), "new": plain(move.new), "change": plain(move.change)}
                for move in difference.moved
            ],
            "causes": plain(difference.causes),
            "remainder": plain(difference.remainder),
            "notes": plain(difference.notes),
        },
    )
