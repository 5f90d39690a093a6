"""Requests one page on a new connection, like `ab`, and measures the time of each phase."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection

from slownet import __version__
from slownet.errors import ServiceError
from slownet.field.address import Address, Endpoint
from slownet.units import show_duration

USER_AGENT = f"slownet/{__version__} (network measurement)"
CHUNK = 65536


class NoConnectionError(ServiceError):
    """The connection to this IP address failed; another address of the host may work."""


@dataclass(frozen=True)
class Page:
    """A response and its times in ms; ``tls_ms`` is None without TLS."""

    started_s: float
    """Seconds since the start of the first request."""
    connect_ms: float
    """Time of ``connect``, TCP's handshake: one round trip."""
    tls_ms: float | None
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

    @property
    def problem(self) -> str:
        """Why this response does not measure the page; empty if it does."""
        if 200 <= self.status < 300:
            return ""
        if 300 <= self.status < 400 and self.location:
            return f"redirects to {self.location} (status {self.status})"
        return f"answers {self.status} {self.reason}".rstrip()


def get(address: Address, endpoint: Endpoint, timeout_s: float, context: ssl.SSLContext | None, origin: float) -> Page:
    """Load the page once, without following redirects.

    ``timeout_s`` is for the whole request; ``origin`` is the start of the first request on ``time.perf_counter``.
    Raises NoConnectionError; ServiceError if the server closes the connection early, takes too long or does not speak HTTP.
    """
    asked = (
        HTTPSConnection(address.host, address.port, context=context) if context else HTTPConnection(address.host, address.port)
    )
    begun = time.perf_counter()
    deadline = begun + timeout_s
    with _errors_in_one_line(address, endpoint, timeout_s), _connect(address, endpoint, timeout_s) as plain:
        connected = secured = time.perf_counter()
        channel = plain
        if context:
            channel = context.wrap_socket(plain, server_hostname=address.host)
            secured = time.perf_counter()
        with channel:
            asked.sock = channel
            _within(channel, deadline)
            asked.request("GET", address.path, headers={"User-Agent": USER_AGENT, "Accept": "*/*", "Connection": "close"})
            with asked.getresponse() as answer:
                answered = time.perf_counter()
                length = 0
                while chunk := answer.read1(CHUNK):
                    length += len(chunk)
                    if not answer.isclosed():  # the socket may already be closed after the last byte
                        _within(channel, deadline)
                ended = time.perf_counter()
                if answer.length:
                    raise HTTPException(f"{answer.length} bytes of the page are missing")
    return Page(
        started_s=begun - origin,
        connect_ms=(connected - begun) * 1000,
        tls_ms=(secured - connected) * 1000 if context else None,
        waiting_ms=(answered - secured) * 1000,
        total_ms=(ended - begun) * 1000,
        status=answer.status,
        reason=answer.reason,
        location=answer.getheader("Location"),
        length=length,
    )


def _connect(address: Address, endpoint: Endpoint, timeout_s: float) -> socket.socket:
    """Connect to one of the host's addresses; this machine may not support its family. Raises NoConnectionError."""
    with _errors_in_one_line(address, endpoint, timeout_s, NoConnectionError), ExitStack() as unless_connected:
        plain = unless_connected.enter_context(socket.socket(endpoint.family, socket.SOCK_STREAM))
        plain.settimeout(timeout_s)
        plain.connect(endpoint.address)
        unless_connected.pop_all()
        return plain


def _within(channel: socket.socket, deadline: float) -> None:
    left = deadline - time.perf_counter()
    if left <= 0:
        raise TimeoutError
    channel.settimeout(left)


@contextmanager
def _errors_in_one_line(
    address: Address, endpoint: Endpoint, timeout_s: float, kind: type[ServiceError] = ServiceError
) -> Iterator[None]:
    who, where = f"{address.host} port {address.port}", f"at {endpoint.ip}"
    try:
        yield
    except TimeoutError:
        what = f"{who} takes longer than {show_duration(timeout_s)}"
        raise kind(what, where, "is it running and reachable? --timeout allows more time") from None
    except ConnectionRefusedError:
        raise kind(f"{who} refuses the connection", where, "is the service running, and is the port right?") from None
    except ssl.SSLCertVerificationError as error:
        what = f"the certificate of {who} is not accepted ({error.verify_message})"
        raise kind(what, where, "use the host name that it was issued for") from None
    except ssl.SSLError as error:
        raise kind(f"the TLS handshake with {who} failed ({error.reason or error})", where, "is it http?") from None
    except HTTPException as error:
        why = str(error) or type(error).__name__
        raise kind(f"{who} does not answer in HTTP ({why})", where, "is it https, or another service?") from None
    except OSError as error:
        raise kind(f"{who} cannot be reached ({error.strerror or error})", where, "is the network path open?") from None
