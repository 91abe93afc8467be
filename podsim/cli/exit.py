"""What the exit code says."""

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended."""

    ANSWERED = 0
    NO = 1
    BAD_INPUT = 2
    BUG = 70
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


MEANINGS = {
    ExitCode.ANSWERED: "answered",
    ExitCode.NO: "the answer is no: does not fit, or outside tolerance",
    ExitCode.BAD_INPUT: "bad usage or input",
    ExitCode.BUG: "a bug in podsim",
    ExitCode.HUNG_UP: "the terminal was closed (SIGHUP)",
    ExitCode.INTERRUPTED: "interrupted (Ctrl-C)",
    ExitCode.TERMINATED: "terminated (SIGTERM)",
}
