"""Transfers side by side with Debian's libcurl, the library of ``curl`` (its ABI: curl.h, multi.h).

pycurl brings a libcurl of its own, whose QUIC is another one than that of Debian's ``curl``.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from collections.abc import Mapping
from ctypes import POINTER, byref, c_char_p, c_int, c_long, c_longlong, c_size_t, c_uint, c_void_p
from typing import Any

NAME = "libcurl.so.4"
URL, USERAGENT, WRITEFUNCTION, SOCKOPTFUNCTION, SSL_EC_CURVES = 10_002, 10_018, 20_011, 20_148, 10_298
FAILONERROR, SSL_VERIFYPEER, SSL_VERIFYHOST, HTTP_VERSION, BUFFERSIZE, NOSIGNAL, PIPEWAIT = 45, 64, 81, 84, 98, 99, 237
HTTP_1_1, HTTP_2, HTTP_3_ONLY = 2, 3, 31
NUM_CONNECTS, SIZE_DOWNLOAD, TOTAL_TIME_US = (0x200000 + 26, c_long), (0x600000 + 8, c_longlong), (0x600000 + 50, c_longlong)
MULTI_MAXCONNECTS, MOST_KEPT = 6, 1000
"""Connections are kept between transfers: by default four for each transfer under way, which may be none for a moment."""
WAIT_MS = 1000
DATAGRAM_BYTES, SO_RCVBUFFORCE = 2**22, 33
"""A flight that comes at one instant, over a link without a rate, lies in a UDP socket's buffer until curl reads it. Linux's
own has room for 92 packets of QUIC and drops more; a client that reads each packet as it comes loses none."""
Write = ctypes.CFUNCTYPE(c_size_t, c_void_p, c_size_t, c_size_t, c_void_p)
Opened = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, c_int)


class CurlError(Exception):
    """A transfer failed, or libcurl is missing: one line."""


class _Message(ctypes.Structure):
    """A CURLMsg, which explains how a transfer ended."""

    _fields_ = (("kind", c_int), ("handle", c_void_p), ("result", c_int))


def _discard(_content: int, size: int, count: int, _mine: int) -> int:
    """Take all of the content, as ``--output /dev/null`` does."""
    return size * count


def _widen(_mine: int, number: int, _purpose: int) -> int:
    """Give a UDP socket a receive buffer for a whole flight."""
    with socket.socket(fileno=os.dup(number)) as opened:
        if opened.type == socket.SOCK_DGRAM:
            with contextlib.suppress(PermissionError):  # without root it keeps Linux's
                opened.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, DATAGRAM_BYTES)
    return 0


_DISCARD, _WIDEN = Write(_discard), Opened(_widen)


class Transfers:
    """Transfers that share connections, for a ``with`` block, at whose end the connections are closed."""

    def __init__(self) -> None:
        try:
            self._curl = ctypes.CDLL(NAME)
        except OSError as error:
            raise CurlError(f"{error}: apt-get install curl") from None
        for name in ("curl_easy_init", "curl_multi_init"):
            getattr(self._curl, name).restype = c_void_p
        for name in ("curl_version", "curl_easy_strerror"):
            getattr(self._curl, name).restype = c_char_p
        self._curl.curl_multi_info_read.restype = POINTER(_Message)
        self._multi = c_void_p(self._curl.curl_multi_init())
        self._curl.curl_multi_setopt(self._multi, c_int(MULTI_MAXCONNECTS), c_long(MOST_KEPT))
        self._urls: dict[int, str] = {}

    def __enter__(self) -> Transfers:
        return self

    def __exit__(self, *exception: object) -> None:
        for handle in list(self._urls):
            self.close(handle)
        self._curl.curl_multi_cleanup(self._multi)

    @property
    def version(self) -> str:
        """The version, such as "8.14.1"."""
        return str(self._curl.curl_version().decode()).split()[0].removeprefix("libcurl/")

    def begin(self, url: str, options: Mapping[int, int | str]) -> int:
        """Begin a transfer whose content is discarded, and return its number."""
        handle = self._curl.curl_easy_init()
        self._urls[handle] = url
        for option, value in {**options, URL: url}.items():
            given = c_long(value) if isinstance(value, int) else c_char_p(value.encode())
            if result := self._curl.curl_easy_setopt(c_void_p(handle), c_int(option), given):
                raise self._failed(handle, result)
        self._curl.curl_easy_setopt(c_void_p(handle), c_int(WRITEFUNCTION), _DISCARD)
        self._curl.curl_easy_setopt(c_void_p(handle), c_int(SOCKOPTFUNCTION), _WIDEN)
        self._curl.curl_multi_add_handle(self._multi, c_void_p(handle))
        return int(handle)

    def wait(self) -> list[int]:
        """Wait until some transfers have ended, and return them. Raises CurlError if one failed."""
        count = c_int()
        while True:
            self._curl.curl_multi_perform(self._multi, byref(count))
            ended = []
            while message := self._curl.curl_multi_info_read(self._multi, byref(count)):
                if message.contents.result:
                    raise self._failed(message.contents.handle, message.contents.result)
                ended.append(message.contents.handle)
            if ended:
                return ended
            self._curl.curl_multi_poll(self._multi, None, c_uint(0), c_int(WAIT_MS), None)

    def figures(self, handle: int) -> dict[str, object]:
        """Return the figures of a transfer that has ended, by the names of ``curl --write-out %{json}``."""
        return {
            "url": self._urls[handle],
            "time_total": self._info(handle, *TOTAL_TIME_US) / 1e6,
            "size_download": self._info(handle, *SIZE_DOWNLOAD),
            "num_connects": self._info(handle, *NUM_CONNECTS),
        }

    def close(self, handle: int) -> None:
        """Forget a transfer; its connection stays open."""
        del self._urls[handle]
        self._curl.curl_multi_remove_handle(self._multi, c_void_p(handle))
        self._curl.curl_easy_cleanup(c_void_p(handle))

    def _info(self, handle: int, number: int, kind: type[Any]) -> int:
        found = kind()
        self._curl.curl_easy_getinfo(c_void_p(handle), c_int(number), byref(found))
        return int(found.value)

    def _failed(self, handle: int, result: int) -> CurlError:
        return CurlError(f"({result}) {self._curl.curl_easy_strerror(c_int(result)).decode()}: {self._urls[handle]}")
