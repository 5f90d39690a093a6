"""Serves the page of `slownet live` on 127.0.0.1: below one random name, and nothing else.

A second name is for pages that only watch: they see the same, and change nothing. Who knows neither gets an empty 404,
whatever is asked. A browser that was led here by another page states that page
as the origin, or another host's name if that name was bound anew to 127.0.0.1 (DNS rebinding): both get the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hmac
import secrets
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slownet.live import orders
from slownet.live.libraries import PAGE
from slownet.live.session import Client, Session
from slownet.model.errors import LabError, SlownetError
from slownet.model.options import Option

ADDRESS = "127.0.0.1"
OWN = ("live.js", "live.css")
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".LICENSE": "text/plain"}
HEARTBEAT_S = 30.0
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Of every answer. Styles may be inline because the terminal makes some; scripts may not."""
NEEDED = "aiohttp>=3.9"
"""The package of the extra "live": named by itself, because slownet need not be on the index that pip asks."""


def web() -> Any:
    """Return the server's library. Raises LabError if it is not installed."""
    try:
        from aiohttp import web as found
    except ImportError:
        raise LabError("aiohttp is not installed", "slownet live", f"python -m pip install '{NEEDED}'") from None
    return found


def new_token() -> str:
    """Return a random name, of 192 bits."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Page:
    """The files that are served: the page's own, and the folder of its libraries.

    token: the name below which it is; watching: that below which it only watches.
    """

    libraries: Path
    token: str = field(default_factory=new_token)
    watching: str = field(default_factory=new_token)

    def file(self, name: str) -> Path | None:
        """Return a file of the page; None if it has none of that name."""
        if name in ("", *OWN):
            return PAGE / (name or "index.html")
        folder, _, last = name.partition("/")
        path = self.libraries / last
        known = folder == "lib" and "/" not in last and not last.startswith(".") and path.suffix in TYPES
        return path if known and path.is_file() else None


class Server:
    """The server of one page. make: makes the session, in the server's loop."""

    def __init__(self, page: Page, make: Callable[[], Session]) -> None:
        self._page, self._make = page, make
        self._web = web()
        self.session: Session | None = None
        self.port = 0

    @property
    def address(self) -> str:
        """The page's address."""
        return f"http://{ADDRESS}:{self.port}/{self._page.token}/"

    @property
    def watching(self) -> str:
        """The address of the page that only watches."""
        return f"http://{ADDRESS}:{self.port}/{self._page.watching}/"

    async def run(self, port: int, ready: Callable[[str], None], until: asyncio.Event) -> None:
        """Serve until an event. ready: called with the address. Raises LabError."""
        app = self._web.Application(client_max_size=1024)
        app.router.add_route("*", "/{path:.*}", self._answer)
        app.on_response_prepare.append(_with_headers)
        runner = self._web.AppRunner(app, access_log=None, shutdown_timeout=1.0, handler_cancellation=True)
        await runner.setup()
        try:
            await self._listen(runner, port)
            self.session = self._make()
            self.session.watching = self._page.watching
            pacing = asyncio.create_task(self.session.pace())
            self.session.begin()
            ready(self.address)
            try:
                await self._until(until)
            finally:
                pacing.cancel()
                await self.session.end()
        finally:
            await runner.cleanup()

    async def _listen(self, runner: Any, port: int) -> None:
        try:
            await self._web.TCPSite(runner, ADDRESS, port).start()
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            what = f"port {port} is taken" if taken else f"cannot listen on port {port} ({error.strerror})"
            raise LabError(what, Option("port"), "choose another one, or leave it out") from error
        self.port = runner.addresses[0][1]

    async def _until(self, until: asyncio.Event) -> None:
        """Wait for the event, or for a network that cannot be built at all. Raises LabError."""
        assert self.session
        while not until.is_set():
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(until.wait(), 0.2)
            if line := self.session.has_failed:
                raise LabError(line)

    def _is_ours(self, request: Any) -> tuple[str, bool] | None:
        """Return what is asked for below a token, and whether it only watches; None if the request is not this page's."""
        hosts = {f"{name}:{self.port}" for name in (ADDRESS, "localhost")}
        host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
        token, slash, name = request.path[1:].partition("/")
        full, watches = (hmac.compare_digest(token.encode(), each.encode()) for each in (self._page.token, self._page.watching))
        if not (full or watches) or not slash or host not in hosts or (origin is not None and origin != f"http://{host}"):
            return None
        return str(name), watches

    async def _answer(self, request: Any) -> Any:
        found = self._is_ours(request)
        if found is None:
            return self._web.Response(status=404)
        name, watches = found
        if name == "ws" and request.method == "GET" and request.headers.get("Upgrade", "").lower() == "websocket":
            return await self._socket(request, watches)
        path = self._page.file(name) if request.method in ("GET", "HEAD") else None
        if path is None:
            return self._web.Response(status=404)
        return self._web.Response(body=path.read_bytes(), content_type=TYPES[path.suffix], charset="utf-8")

    async def _socket(self, request: Any, watches: bool) -> Any:
        assert self.session
        socket = self._web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=orders.BYTES, compress=False)
        await socket.prepare(request)
        try:
            client = self.session.join(watches)
        except SlownetError as error:
            await socket.close(code=1013, message=error.line.encode()[:120])
            return socket
        sending = asyncio.create_task(_send(client, socket))
        try:
            async for message in socket:
                if message.type.name == "TEXT":
                    self.session.take(client, message.data)
        finally:
            self.session.leave(client)
            sending.cancel()
        return socket


async def _with_headers(request: Any, response: Any) -> None:
    response.headers.update(HEADERS)
    response.headers.pop("Server", None)


async def _send(client: Client, socket: Any) -> None:
    """Send what is queued for a page, as fast as it takes it."""
    with contextlib.suppress(ConnectionError):
        while (text := await client.queue.get()) is not None:
            await socket.send_str(text)
        await socket.close(code=1013, message=b"this page reads too slowly")


def serve(server: Server, port: int, ready: Callable[[str], None]) -> None:
    """Serve until an interrupt. Raises LabError."""

    async def running() -> None:
        until = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                loop.add_signal_handler(number, until.set)
        await server.run(port, ready, until)

    asyncio.run(running())
