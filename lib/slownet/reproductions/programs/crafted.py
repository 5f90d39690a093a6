"""A TCP connection of segments crafted with scapy, to see what a peer's kernel answers to each, and when.

    python -m slownet.reproductions.programs.crafted ADDRESS PORT SOURCE_PORT KIND COUNT

The listener is real, this end is not: no socket of this machine belongs to the connection, so its kernel would reset it, and
who starts this program has to drop that reset (`slownet.reproductions.delayed_ack`). KIND is "answered" (COUNT requests in two
small segments, the second held back until the first is acknowledged, as Nagle's algorithm does) or "silent" (COUNT small
segments of an unfinished request). Prints {"kind", "first_ns", "second_ns", "answer_ns"}: the times from sending the first and
the second segment to their acknowledgements, and from the second to the answer.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

from slownet.model.errors import ToolError
from slownet.reproductions.programs.request_writer import ANSWER, FIRST, HEADER, REQUEST, message

PATIENCE_S = 5.0
FIN, SYN, PSH_ACK, ACK = "FA", "S", "PA", "A"
IPV4 = 0x0800
SO_TIMESTAMPNS = 35  # asm-generic/socket.h; Python's socket module does not have it
TIMESPEC = struct.Struct("qq")
FIRST_SEQUENCE = 1000
WINDOW = 64240  # Linux's first receive window
WRAP = 1 << 32


class Connection:
    """One end of a hand-made TCP connection: no retransmission, no window, no options.

    Times are in ns, from sending a segment until the kernel received the answer.
    """

    def __init__(self, address: str, port: int, own: int) -> None:
        from scapy.config import conf
        from scapy.layers.inet import IP, TCP
        from scapy.layers.l2 import Ether, getmacbyip

        self._ip, self._tcp, self._ether = IP, TCP, Ether
        self.address, self.port, self.own = address, port, own
        interface, self.source, _ = conf.route.route(address)
        self.hardware = getmacbyip(address)
        if self.hardware is None:
            raise ToolError(f"{address} does not answer ARP requests", fix="is it on the same cable?")
        # not scapy's socket, whose times since 1970 are floats with a resolution of 240 ns
        self._wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(IPV4))
        self._wire.bind((interface, IPV4))
        self._wire.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.sequence, self.acknowledged = FIRST_SEQUENCE, 0

    def open(self) -> None:
        """Do the handshake."""
        self._send(SYN)
        self.sequence += 1
        answer, _ = self._await(lambda tcp: bool(tcp.flags.S) and self._acknowledges(tcp))
        self.acknowledged = (answer.seq + 1) % WRAP
        self._send(ACK)

    def small(self, data: bytes) -> int:
        """Send a segment; return the ns until it is acknowledged."""
        began = self._send(PSH_ACK, data)
        self.sequence += len(data)
        return self._await(self._acknowledges)[1] - began

    def request_end(self, data: bytes, answer: int) -> tuple[int, int]:
        """Send a request's last segment; return the ns until it is acknowledged, and until its answer arrives."""
        began = self._send(PSH_ACK, data)
        self.sequence += len(data)
        tcp, acknowledged = self._await(self._acknowledges)
        seen = acknowledged
        if not tcp.payload:
            tcp, seen = self._await(lambda tcp: self._acknowledges(tcp) and bool(tcp.payload))
        if len(tcp.payload) != answer:
            raise ToolError(f"an answer of {len(tcp.payload)} bytes instead of {answer}")
        self.acknowledged = (tcp.seq + answer) % WRAP
        self._send(ACK)
        return acknowledged - began, seen - began

    def close(self) -> None:
        """Send a FIN and wait for the peer's."""
        self._send(FIN)
        self.sequence += 1
        tcp, _ = self._await(lambda tcp: bool(tcp.flags.F))
        self.acknowledged = (tcp.seq + 1) % WRAP
        self._send(ACK)
        self._wire.close()

    def _acknowledges(self, tcp: Any) -> bool:
        """Return whether a segment acknowledges everything that was sent."""
        return bool(tcp.flags.A) and tcp.ack == self.sequence % WRAP

    def _send(self, flags: str, data: bytes = b"") -> int:
        """Send a segment; return the time, in ns since 1970."""
        tcp = self._tcp(
            sport=self.own, dport=self.port, flags=flags, seq=self.sequence % WRAP, ack=self.acknowledged, window=WINDOW
        )
        packet = bytes(self._ether(dst=self.hardware) / self._ip(src=self.source, dst=self.address) / tcp / data)
        began = time.time_ns()
        self._wire.send(packet)
        return began

    def _await(self, wanted: Callable[[Any], bool]) -> tuple[Any, int]:
        """Return the peer's next segment that is wanted, and when the kernel received it, in ns since 1970."""
        deadline = time.monotonic() + PATIENCE_S
        while (left := deadline - time.monotonic()) > 0 and select.select([self._wire], [], [], left)[0]:
            data, controls, _, (_, _, direction, *_) = self._wire.recvmsg(2048, socket.CMSG_SPACE(TIMESPEC.size))
            tcp = self._own(data) if direction != socket.PACKET_OUTGOING else None
            if tcp is None:
                continue
            if tcp.flags.R:
                raise ToolError(f"{self.address} reset the connection: does anything listen on port {self.port}?")
            if wanted(tcp):
                seconds, nanoseconds = TIMESPEC.unpack(controls[0][2])
                return tcp, seconds * 10**9 + nanoseconds
        raise ToolError(f"{self.address} port {self.port} did not answer a crafted segment within {PATIENCE_S:g} s")

    def _own(self, data: bytes) -> Any:
        """Return the TCP part of a frame of this connection without padding; None for other frames."""
        packet = self._ether(data)
        if self._tcp not in packet or packet[self._ip].src != self.address:
            return None
        ip, tcp = packet[self._ip], packet[self._tcp]
        if (tcp.sport, tcp.dport) != (self.port, self.own):
            return None
        payload = bytes(tcp.payload)[: ip.len - 4 * ip.ihl - 4 * tcp.dataofs]
        tcp.remove_payload()
        return tcp / payload if payload else tcp


def answered(connection: Connection, count: int) -> dict[str, list[int]]:
    """Send requests in two small segments, the second held back until the first is acknowledged."""
    whole = message(REQUEST)
    times: dict[str, list[int]] = {"first_ns": [], "second_ns": [], "answer_ns": []}
    for _ in range(count):
        times["first_ns"].append(connection.small(whole[:FIRST]))
        acknowledged, answer = connection.request_end(whole[FIRST:], len(ANSWER))
        times["second_ns"].append(acknowledged)
        times["answer_ns"].append(answer)
    return times


def silent(connection: Connection, count: int) -> dict[str, list[int]]:
    """Send small segments of a request that is never completed, so that the listener has nothing to answer."""
    start = message(2 * count + HEADER.size)
    return {"first_ns": [connection.small(start[2 * n : 2 * n + 2]) for n in range(count)], "second_ns": [], "answer_ns": []}


def main(address: str, port: str, own: str, kind: str, count: str) -> None:
    """Run one kind of connection and print its times."""
    connection = Connection(address, int(port), int(own))
    connection.open()
    times = {"answered": answered, "silent": silent}[kind](connection, int(count))
    connection.close()
    print(json.dumps({"kind": kind, **times}))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except ToolError as error:
        sys.exit(f"crafted: {error}")
