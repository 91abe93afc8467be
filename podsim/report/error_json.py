"""An error as programs read it: the last line of stderr under `--json`, and what `podsim app` answers."""

import json
from typing import Final

from podsim.errors import PodsimError
from podsim.report.version import version

SCHEMA: Final = "podsim.error/1"


def document(error: PodsimError) -> str:
    """The error as one line of JSON."""
    fields = {"code": error.code, "message": error.message, "context": list(error.context), "hint": error.hint}
    return json.dumps({"schema": SCHEMA, "podsim": version(), **fields}) + "\n"
