"""One page, asked for on a new connection as `ab` does, with the time of each phase."""

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
    """Nobody at this address takes the connection; at another one of the host somebody may."""


@dataclass(frozen=True)
class Page:
    """A response with its times in ms, all but ``tls_ms`` (None without TLS) part of every request."""

    started_s: float
    """Since the first request's start."""
    connect_ms: float
    """TCP's handshake as ``connect`` sees it: one round trip."""
    tls_ms: float | None
    waiting_ms: float
    """From the request to the answer's head: one round trip and what the server thinks."""
    total_ms: float
    """From before the connection to the last byte."""
    status: int
    reason: str
    location: str | None
    """Where a redirect leads."""
    length: int
    """Bytes of the body."""

    @property
    def problem(self) -> str:
        """Why this is no measurement of the page; empty when it is one."""
        if 200 <= self.status < 300:
            return ""
        if 300 <= self.status < 400 and self.location:
            return f"redirects to {self.location} (status {self.status})"
        return f"answers {self.status} {self.reason}".rstrip()


def get(address: Address, endpoint: Endpoint, timeout_s: float, context: ssl.SSLContext | None, origin: float) -> Page:
    """Loads the page once; no redirect is followed.

    timeout_s: for all of it; origin: the first request's start on ``time.perf_counter``.
    Raises NoConnectionError, and ServiceError for a server that breaks off, takes too long or does not speak HTTP.
    """
    asked = (
        HTTPSConnection(address.host, address.port, context=context) if context else HTTPConnection(address.host, address.port)
    )
    begun = time.perf_counter()
    deadline = begun + timeout_s
    with _said_in_one_line(address, endpoint, timeout_s), _connect(address, endpoint, timeout_s) as plain:
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
                    if not answer.isclosed():  # the socket may be closed with the last byte
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
    """A connection to one of the host's addresses, of a family that this machine may lack. Raises NoConnectionError."""
    with _said_in_one_line(address, endpoint, timeout_s, NoConnectionError), ExitStack() as unless_connected:
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
def _said_in_one_line(
    address: Address, endpoint: Endpoint, timeout_s: float, kind: type[ServiceError] = ServiceError
) -> Iterator[None]:
    who, where = f"{address.host} port {address.port}", f"at {endpoint.ip}"
    try:
        yield
    except TimeoutError:
        what = f"{who} takes longer than {show_duration(timeout_s)}"
        raise kind(what, where, "is it up, and is the way to it open? --timeout gives it longer") from None
    except ConnectionRefusedError:
        raise kind(f"{who} refuses the connection", where, "is the service up, and is the port right?") from None
    except ssl.SSLCertVerificationError as error:
        what = f"the certificate of {who} is not accepted ({error.verify_message})"
        raise kind(what, where, "name the host that it was made for") from None
    except ssl.SSLError as error:
        raise kind(f"{who} speaks no TLS with us ({error.reason or error})", where, "is it http?") from None
    except HTTPException as error:
        said = str(error) or type(error).__name__
        raise kind(f"{who} does not answer in HTTP ({said})", where, "is it https, or another service?") from None
    except OSError as error:
        raise kind(f"{who} cannot be reached ({error.strerror or error})", where, "is the way to it open?") from None
