"""A proxy with a small buffer: it writes the data of each read in one write.

    python -m slownet.reproductions.programs.proxy READY PORT ADDRESS PORT BYTES [nodelay]

A request longer than BYTES is forwarded in several writes, and the proxy then waits for the answer: write, write, read.
"""

from __future__ import annotations

import selectors
import socket
import sys
from pathlib import Path


class Proxy:
    """All connections in one thread: data read from one end is written to the other before anything else."""

    def __init__(self, listener: socket.socket, address: tuple[str, int], size: int, nodelay: bool) -> None:
        self.listener, self.address, self.size, self.nodelay = listener, address, size, nodelay
        self.other: dict[socket.socket, socket.socket] = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ)

    def serve(self) -> None:
        """Serve until the process is ended."""
        while True:
            for key, _ in self.selector.select():
                source = key.fileobj
                assert isinstance(source, socket.socket)
                if source is self.listener:
                    self.accept()
                elif source in self.other:  # it may just have been closed with the other end of its pair
                    self.pass_on(source)

    def accept(self) -> None:
        """Accept a connection and open its other half; close it if the target refuses."""
        near, _ = self.listener.accept()
        try:
            far = socket.create_connection(self.address)
        except OSError:
            near.close()
            return
        self.other |= {near: far, far: near}
        for each in (near, far):
            if self.nodelay:
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.selector.register(each, selectors.EVENT_READ)

    def pass_on(self, source: socket.socket) -> None:
        """Write the data of one read to the other end; close both ends after the last."""
        try:
            data = source.recv(self.size)
            self.other[source].sendall(data)
        except OSError:
            data = b""
        if not data:
            for each in (source, self.other[source]):
                del self.other[each]
                self.selector.unregister(each)
                each.close()


def main(ready: str, port: str, address: str, target: str, size: str, option: str = "") -> None:
    """Listen on a port and forward connections."""
    with socket.create_server(("", int(port))) as listener:
        Path(ready).touch()
        Proxy(listener, (address, int(target)), int(size), option == "nodelay").serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
