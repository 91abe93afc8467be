"""Who may ask: pages of this app in a browser of this machine alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse

from podsim.studies.app import html

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ADDRESS: Final = "127.0.0.1"
HOSTS: Final = (ADDRESS, "localhost")
OWN_SITES: Final = ("same-origin", "none")
"""Values of Sec-Fetch-Site that a page of the app, or a person at the address bar, has."""
METHODS: Final = ("GET", "HEAD")
HEADERS: Final = {
    # style attributes stand in charts and bars; no style element or script of a page runs
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}


class Guard:
    """Refuses requests under another name of this machine (DNS rebinding), and those that other sites send."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = tuple(f"{host}:{port}" for host in HOSTS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_checked(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await (self._refusal(scope) or self._app)(scope, receive, send_checked)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        """The response to a request that is refused; None for one of the app's own."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._hosts:
            return PlainTextResponse(f"this app answers at http://{self._hosts[0]}/ alone\n", 421)
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return PlainTextResponse("requests of other sites are refused\n", 403)
        if headers.get("sec-fetch-site", "none") not in OWN_SITES:
            return self._from_elsewhere(scope, headers)
        if scope["method"] not in METHODS:
            return PlainTextResponse("this app is only read\n", 405, {"allow": ", ".join(METHODS)})
        return None

    def _from_elsewhere(self, scope: Scope, headers: Headers) -> ASGIApp:
        """The refusal of a request of another site; a person who followed a link there may go on."""
        if headers.get("sec-fetch-mode") != "navigate" or headers.get("sec-fetch-dest") != "document":
            return PlainTextResponse("requests of other sites are refused\n", 403)
        query = scope["query_string"].decode("ascii", "replace")
        target = f"{scope['path']}{'?' if query else ''}{query}"
        return HTMLResponse(html.render("elsewhere.html.j2", target=target), 403)
