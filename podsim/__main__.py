"""`python -m podsim`, and the `podsim` of a shell: Ctrl-C while modules load is one line too."""

import sys


def run() -> int:
    """Run the command line of this process; the return value is the exit code."""
    try:
        from podsim.cli.app import main

        code = main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        code = 130
    # Python ends by SIGINT where one fell into an `exec`, as dataclasses has them, unless another follows.
    exec("")  # noqa: S102
    return code


if __name__ == "__main__":
    sys.exit(run())
