"""JSON Schemas of what podsim answers, `podsim/schemas/outputs/NAME.json`, as its studies declare their documents."""

from __future__ import annotations

import json
from typing import Final

from file_kinds import ROOT

from podsim.studies.schemas import schemas

FOLDER: Final = ROOT / "podsim" / "schemas" / "outputs"


def documents() -> dict[str, str]:
    """The text of each schema by the name of its file; a further type of a document has a number."""
    return {
        f"{title.removeprefix('podsim.').partition('/')[0]}{f'-{number}' if number > 1 else ''}.json": json.dumps(
            schema, indent=1, ensure_ascii=False
        )
        + "\n"
        for title, each in schemas().items()
        for number, schema in enumerate(each, 1)
    }
