"""`python -m podsim`, and the `podsim` of a shell: a signal while modules load is one line too."""

import gc
import sys
from contextlib import suppress

SELDOM = 500_000, 20, 50  # what a command makes it keeps, or drops without a cycle: looked through less often


def run() -> int:
    """Run the command line of this process; the return value is the exit code."""
    gc.set_threshold(*SELDOM)
    try:
        from podsim.cli import completion_candidates, signals

        signals.install()
        if sys.argv[1:2] == ["--complete"]:  # a key press waits for it: nothing else is loaded
            sys.stdout.write(completion_candidates.page(sys.argv[2:]))
            return 0
        from podsim.cli.command_line import main

        code = main()
        signals.release()
    except KeyboardInterrupt as error:
        with suppress(OSError):  # a terminal that was closed takes no message
            sys.stderr.write(f"{str(error) or 'interrupted'}\n")
        code = getattr(error, "code", 130)
    # Python ends by SIGINT where one fell into an `exec`, as dataclasses has them, unless another follows.
    exec("")  # noqa: S102
    gc.freeze()  # the interpreter looks through all objects as it ends; memory goes back to the system anyway
    return code


if __name__ == "__main__":
    sys.exit(run())
