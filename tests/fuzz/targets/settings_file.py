"""Settings files; words of an accepted one are those of a command line."""

from fuzz import mutate
from fuzz.choices import Choices
from fuzz.judge import judged
from fuzz.scratch import put

from podsim.files import settings

TEXT = """
[predict]
pod = 64
engine = "analytic"
set = ["chip.clock=1.5 GHz", "gw-link.bandwidth=400 Gbit/s"]
money = true
[plan]
within = "5min"
confidence = 0.9
[topology.show]
links = true
"""


def one_input(data: bytes) -> str:
    """One settings file."""
    draw = Choices(data)
    path = put("podsim.toml", mutate.toml(TEXT, draw))
    return judged(lambda: [word for setting in settings.read(path) for word in setting.words])
