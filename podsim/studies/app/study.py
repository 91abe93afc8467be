"""The verb that answers in a browser."""

from __future__ import annotations

import socket
import webbrowser
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Final

from podsim.errors import InputError
from podsim.studies.argument_check import check_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

EXTRA: Final = ("starlette", "uvicorn")
"""Packages of the extra `app`."""
ADDRESS: Final = "127.0.0.1"


@check_arguments
def app(*, port: int | None = None, browser: bool = True, on_start: Callable[[str], object] | None = None) -> None:
    """Open podsim in a browser on this computer, until Ctrl-C: predict, plan, scale, compare, explain and trace.

    The page is served to this computer alone, and nothing is sent elsewhere. `on_start` is called with its address.
    Raises InputError with code `missing-package` where the extra `app` is not installed, and `cannot-listen` where the
    port is taken.
    """
    for name in EXTRA:
        try:
            import_module(name)
        except ImportError:
            raise InputError(
                f"podsim app needs {name}, which is not installed",
                code="missing-package",
                hint="pip install 'podsim[app]'",
            ) from None
    listener = _listener(port)
    address = f"http://{ADDRESS}:{listener.getsockname()[1]}/"

    def announce() -> None:
        if on_start is not None:
            on_start(address)
        if browser:
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # one of a terminal ends with its page

    import_module("podsim.studies.app.serve").run(listener, announce)


def _listener(port: int | None) -> socket.socket:
    """A socket of this machine alone; InputError where the port is taken or not allowed."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port or 0))
    except OSError as error:
        listener.close()
        raise InputError(
            f"port {port} of {ADDRESS} cannot be used: {error.strerror}", code="cannot-listen", hint="leave out --port"
        ) from None
    return listener
