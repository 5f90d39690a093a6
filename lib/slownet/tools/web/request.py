"""Requests one page on a new connection, like `ab`, and measures the time of each phase, by libcurl."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from dataclasses import dataclass

import pycurl

from slownet.model.errors import ServiceError
from slownet.model.options import TIMEOUT
from slownet.model.units import show_duration
from slownet.model.version import __version__
from slownet.tools.web.address import Address, Endpoint
from slownet.tools.web.protocol import NEGOTIATED, OF_QUIC, PLAIN, SPOKEN, Protocol

USER_AGENT = f"slownet/{__version__} (network measurement)"
MISSING = re.compile(r"(\d+) bytes (?:missing|remaining)")
WAKE_MS = 100
"""The longest sleep before it looks for an interrupt."""


class NoConnectionError(ServiceError):
    """The connection to this IP address failed; another address of the host may work."""


@dataclass(frozen=True)
class Page:
    """A response and its times in ms; ``tls_ms`` is None without TLS."""

    started_s: float
    """Seconds since the start of the first request."""
    connect_ms: float
    """Time to the answer to the first packet, one round trip: of TCP's handshake, or QUIC's."""
    tls_ms: float | None
    """Time from there to the end of the handshake of TLS, or of QUIC, which contains it."""
    waiting_ms: float
    """From the request to the head of the response: one round trip and the server's time."""
    total_ms: float
    """From the start of the connection to the last byte."""
    status: int
    reason: str
    location: str | None
    """The target of a redirect."""
    length: int
    """Size of the body in bytes."""
    http: str = "1.1"
    """The version of HTTP that the server answered in."""
    tls: str | None = None
    """The version of TLS, such as ``1.3``; None without TLS, or if it was not recorded."""

    @property
    def body_ms(self) -> float:
        """From the head of the response to its last byte."""
        return self.total_ms - self.connect_ms - (self.tls_ms or 0.0) - self.waiting_ms

    @property
    def problem(self) -> str:
        """Why this response does not measure the page; empty if it does."""
        if 200 <= self.status < 300:
            return ""
        if 300 <= self.status < 400 and self.location:
            return f"redirects to {self.location} (status {self.status})"
        return f"answers {self.status} {self.reason}".rstrip()


@dataclass
class _Answer:
    """The metadata of a response."""

    reason: str = ""
    location: str | None = None
    length: int = 0
    tls: str | None = None

    def head(self, line: bytes) -> None:
        text = line.decode("iso-8859-1").strip()
        name, colon, value = text.partition(":")
        if text.startswith("HTTP/"):
            self.reason, self.location = " ".join(text.split(maxsplit=2)[2:]), None
        elif colon and name.strip().lower() == "location":
            self.location = value.strip()

    def body(self, part: bytes) -> None:
        self.length += len(part)

    def debug(self, kind: int, text: bytes) -> None:
        if kind == pycurl.INFOTYPE_TEXT and (found := NEGOTIATED.match(text.decode(errors="replace"))):
            self.tls = found[1]


def get(address: Address, endpoint: Endpoint, timeout_s: float, protocol: Protocol, started_s: float) -> Page:
    """Load the page once, without following redirects.

    ``timeout_s`` is for the whole request; ``started_s`` is the time since the start of the first request.
    Raises NoConnectionError; ServiceError if the server closes the connection early, takes too long or speaks another protocol.
    """
    answer = _Answer()
    with contextlib.closing(pycurl.Curl()) as handle:
        _ask(handle, address, endpoint, timeout_s, protocol, answer)
        try:
            _perform(handle)
        except pycurl.error as error:
            raise _in_one_line(handle, int(error.args[0]), str(error.args[-1]), address, endpoint, timeout_s) from None
        http = SPOKEN[handle.getinfo(pycurl.INFO_HTTP_VERSION)]
        protocol.check(http, address, endpoint)
        times = (pycurl.CONNECT_TIME_T, pycurl.APPCONNECT_TIME_T, pycurl.STARTTRANSFER_TIME_T, pycurl.TOTAL_TIME_T)
        connected, secured, answered, ended = (handle.getinfo(each) / 1000 for each in times)
        return Page(
            started_s=started_s,
            connect_ms=connected,
            tls_ms=secured - connected if secured else None,
            waiting_ms=answered - (secured or connected),
            total_ms=ended,
            status=handle.getinfo(pycurl.RESPONSE_CODE),
            reason=answer.reason,
            location=answer.location,
            length=answer.length,
            http=http,
            tls=OF_QUIC if http == "3" else answer.tls,
        )


def _ask(
    handle: pycurl.Curl, address: Address, endpoint: Endpoint, timeout_s: float, protocol: Protocol, answer: _Answer
) -> None:
    """Say what is wanted: one page, from this address, on a connection of its own."""
    protocol.set(handle, address)
    host = f"[{address.host}]" if ":" in address.host else address.host
    ip = f"[{endpoint.ip}]" if ":" in endpoint.ip else endpoint.ip
    options = {
        pycurl.URL: f"{address.scheme}://{host}:{address.port}{address.path}",
        pycurl.PATH_AS_IS: 1,
        pycurl.CONNECT_TO: [f"::{ip}:{endpoint.address[1]}"],
        pycurl.PROXY: "",
        pycurl.USERAGENT: USER_AGENT,
        pycurl.TIMEOUT_MS: max(1, round(timeout_s * 1000)),
        pycurl.CONNECTTIMEOUT_MS: max(1, round(timeout_s * 1000)),
        pycurl.NOSIGNAL: 1,
        pycurl.HEADERFUNCTION: answer.head,
        pycurl.WRITEFUNCTION: answer.body,
        pycurl.VERBOSE: 1,
        pycurl.DEBUGFUNCTION: answer.debug,
    }
    options |= {pycurl.HTTPHEADER: ["Connection: close"]} if protocol.http == PLAIN else {}
    for option, value in options.items():
        handle.setopt(option, value)


def _perform(handle: pycurl.Curl) -> None:
    """Wait for the end of the request, and for interrupts: libcurl's own wait would not end at one. Raises pycurl.error."""
    with contextlib.closing(pycurl.CurlMulti()) as multi:
        multi.add_handle(handle)
        try:
            while multi.perform()[1]:
                wait = multi.timeout()
                multi.select(min(wait if wait >= 0 else WAKE_MS, WAKE_MS) / 1000)
            for _, code, said in multi.info_read()[2]:
                raise pycurl.error(code, said)
        finally:
            multi.remove_handle(handle)


def _in_one_line(
    handle: pycurl.Curl, code: int, said: str, address: Address, endpoint: Endpoint, timeout_s: float
) -> ServiceError:
    """Return what an error of libcurl means."""
    who, where = f"{address.host} port {address.port}", f"at {endpoint.ip}"
    connected = handle.getinfo(pycurl.CONNECT_TIME_T) > 0
    kind = ServiceError if connected else NoConnectionError
    if code == pycurl.E_OPERATION_TIMEDOUT:
        what = f"{who} takes longer than {show_duration(timeout_s)}"
        return kind(what, where, f"is it running and reachable? {TIMEOUT} allows more time")
    if code == pycurl.E_COULDNT_CONNECT and handle.getinfo(pycurl.OS_ERRNO) == errno.ECONNREFUSED:
        return kind(f"{who} refuses the connection", where, "is the service running, and is the port right?")
    if code == pycurl.E_PEER_FAILED_VERIFICATION:
        what = f"the certificate of {who} is not accepted ({said})"
        return ServiceError(what, where, "use the host name that it was issued for")
    if code == pycurl.E_SSL_CONNECT_ERROR:
        return ServiceError(f"the TLS handshake with {who} failed ({said})", where, "is it http, or another version of TLS?")
    if not connected:
        why = os.strerror(handle.getinfo(pycurl.OS_ERRNO)) if handle.getinfo(pycurl.OS_ERRNO) else said
        return kind(f"{who} cannot be reached ({why})", where, "is the network path open?")
    if code == pycurl.E_PARTIAL_FILE and (missing := MISSING.search(said)):
        return ServiceError(f"{missing[1]} bytes of the page are missing", where, "does the server end the connection early?")
    return ServiceError(
        f"{who} does not answer in HTTP ({said})", where, "is it https, another version of HTTP, or another service?"
    )
