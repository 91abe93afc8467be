"""`podsim app`."""

import sys
from typing import Annotated

from cyclopts import Parameter

import podsim
from podsim.cli.console import put
from podsim.cli.exit import ExitCode
from podsim.cli.options import flag


def app(
    *,
    port: Annotated[int | None, flag("app", "port")] = None,
    browser: Annotated[bool, flag("app", "browser"), Parameter(negative="--no-browser")] = True,
) -> int:
    """Answer in a browser of this machine, until Ctrl-C: sliders, charts and files to hand over.

    The app listens on 127.0.0.1 alone, works without a network, and opens no file that a page names.
    """

    def announce(address: str) -> None:
        put(f"podsim app: {address} (Ctrl-C ends it)\n", sys.stdout)

    podsim.app(port=port, browser=browser, on_start=announce)
    return ExitCode.ANSWERED
