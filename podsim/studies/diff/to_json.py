"""What moved between two saved answers, as JSON."""

from podsim.report.json_text import plain, text
from podsim.studies.diff.result import Difference


def document(difference: Difference) -> str:
    """`podsim diff --json`, schema podsim.diff/1: changes are fractions, effects factors on the headline figures.

    `interaction` is what inputs do together, in the units of those figures.
    """
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
            "headline": [
                {
                    "figure": figure.name,
                    "unit": figure.unit,
                    "old": figure.old,
                    "new": figure.new,
                    "change": plain(figure.change),
                }
                for figure in difference.headline
            ],
            "chosen": plain(difference.chosen),
            "causes": plain(difference.causes),
            "remainder": plain(difference.remainder),
            "interaction": plain(difference.interaction),
            "notes": plain(difference.notes),
        },
    )
