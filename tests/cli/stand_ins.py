"""What stands in for `podsim` and for a terminal in tests of the command line."""

import importlib.util
import io
import types
from pathlib import Path
from typing import Any

from podsim.errors import Infeasible, InputError
from podsim.model.prediction import Prediction


def _hand_made() -> types.ModuleType:
    path = Path(__file__).parents[1] / "report" / "samples_of_results.py"
    spec = importlib.util.spec_from_file_location("hand_made_results", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RESULTS = _hand_made()


class FakeApi:
    """Answers by the name of the workload, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}
        self.worst = 0.049

    def predict(self, workload: str, **flags: Any) -> Prediction:
        self.asked = {"workload": workload, **flags}
        refusals = {
            "brt": InputError(
                'no workload "brt"; did you mean "bert"?', code="unknown-workload", hint="podsim workload list"
            ),
            "huge": Infeasible(
                "one IPU a replica needs 2.9 GB; a gc200 has 900 MB", hint="--ipus-per-replica 4 fits at 83 %"
            ),
            "faults.toml": InputError(
                "faults.toml has 2 errors", code="bad-workload-file", context=(" 9  one", "10  two"), hint="mend it"
            ),
            "bug": ZeroDivisionError("division by zero"),
            "impatience": KeyboardInterrupt(),
        }
        if workload in refusals:
            raise refusals[workload]
        return RESULTS.prediction()  # type: ignore[no-any-return]

    def validate(self, **_: Any) -> Any:
        return RESULTS.validation(worst=self.worst)

    def calibrate(self, **flags: Any) -> Any:
        self.asked = flags
        return RESULTS.fit_report()


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True
