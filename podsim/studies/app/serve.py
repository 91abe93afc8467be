"""uvicorn with the app on a socket."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn

from podsim.studies.app.server import application

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable


class _Server(uvicorn.Server):
    """A server that says when it answers."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()


def run(listener: socket.socket, on_start: Callable[[], None]) -> None:
    """Serve until Ctrl-C."""
    port = listener.getsockname()[1]
    config = uvicorn.Config(application(port), log_level="warning", timeout_graceful_shutdown=1, server_header=False)
    with listener, suppress(KeyboardInterrupt):
        _Server(config, on_start).run([listener])
