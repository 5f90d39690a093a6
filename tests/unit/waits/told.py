"""Captures of two hosts, written byte by byte: who sent what, when it left the queue and when it arrived, in ms."""

import struct

from wire import pcap

from slownet.lab.run.outbox import Outbox
from slownet.waits.trace import HostCapture

ADDRESSES = {"client": "10.0.0.1", "web": "10.0.0.2", "db": "10.0.0.3", "router": "10.0.0.9"}
FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16}
MSS = 1448


def address(host):
    return bytes(map(int, ADDRESSES[host].split(".")))


def _datagram(payload, ports):
    return struct.pack("!HHHH", *ports, 8 + len(payload), 0) + payload


class Told:
    """Writes the captures of hosts; each `say` is a segment, `number` its place among its sender's."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {}
        self.number = 0

    def say(
        self, source, target, flags, sequence, acknowledged, *, at, left=None, came=None, payload=b"", ports=(40000, 80),
        window=64000, options=b"",
    ):  # fmt: skip
        """A segment of TCP, sent at a time; `left` is None if there is no queue, `came` if it is lost."""
        self.number += 1
        bits = sum(FLAGS[each] for each in flags)
        options += bytes(-len(options) % 4)
        length = (20 + len(options)) // 4 << 4
        segment = struct.pack("!HHIIBBHHH", *ports, sequence, acknowledged, length, bits, window, 0, 0) + options + payload
        self._packet(source, target, 6, segment, at, left, came)

    def ask(self, source, target, payload, *, at, left=None, came=None, ports=(40000, 53)):
        """A datagram."""
        self.number += 1
        self._packet(source, target, 17, _datagram(payload, ports), at, left, came)

    def ask_divided(self, source, target, payloads, *, at, left, came, ports=(40000, 53)):
        """Datagrams that a program gives the kernel as one (UDP_SEGMENT), which are divided in the queue."""
        self.number += 1
        whole = self._frame(source, target, 17, _datagram(b"".join(payloads), ports), self.number)
        self.files.setdefault((source, "before"), []).append((at, whole))
        for each in payloads:
            frame = self._frame(source, target, 17, _datagram(each, ports), self.number)
            self.files.setdefault((source, "main"), []).append((left, frame))
            self.files.setdefault((target, "main"), []).append((came, frame))
            self.number += 1

    def forward(self, source, target, inner, *, hops, protocol=6):
        """A packet that routers forward; `hops`: (sender, receiver, at, came) of each."""
        self.number += 1
        for sender, receiver, at, came in hops:
            frame = self._frame(source, target, protocol, inner, self.number, sender)
            for kind in ("before", "main"):
                self.files.setdefault((sender, kind), []).append((at, frame))
                self.files.setdefault((receiver, kind), [])
            self.files[receiver, "main"].append((came, frame))

    def look_up(self, host, *, at, came, neighbour="web"):
        """A host looks for its neighbour's address, and finds it."""
        for operation, one, other, sent in ((1, host, neighbour, at), (2, neighbour, host, (at + came) / 2)):
            head = struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation)
            own = address(one).rjust(6, b"\2")
            to = b"\xff" * 6 if operation == 1 else address(other).rjust(6, b"\2")
            self._write(one, other, to + own + b"\x08\x06" + head + own + address(one) + bytes(6) + address(other),
                        sent, None, (at + came) / 2 if operation == 1 else came)  # fmt: skip

    def _packet(self, source, target, protocol, inner, at, left, came):
        self._write(source, target, self._frame(source, target, protocol, inner, self.number), at, left, came)

    def _write(self, source, target, frame, at, left, came):
        self.files.setdefault((source, "before"), []).append((at, frame))
        self.files.setdefault((source, "main"), []).append((at if left is None else left, frame))
        self.files.setdefault((target, "before"), [])
        self.files.setdefault((target, "main"), [])
        if came is not None:
            self.files[target, "main"].append((came, frame))

    def _frame(self, source, target, protocol, inner, number, sender=None):
        head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(inner), number % 65536, 0, 64, protocol, 0)
        mac = address(sender or source).rjust(6, b"\2")
        return b"\2" * 6 + mac + b"\x08\x00" + head + address(source) + address(target) + inner

    def captures(self):
        for (host, kind), frames in self.files.items():
            ordered = sorted(frames, key=lambda each: each[0])
            (self.folder / f"{host}.{kind}.pcap").write_bytes(pcap([(ms / 1000, data) for ms, data in ordered], nano=True))
        hosts = sorted({host for host, _ in self.files})
        return [
            HostCapture(each, (ADDRESSES[each],), Outbox(self.folder), f"{each}.main.pcap", f"{each}.before.pcap")
            for each in hosts
        ]


def opened(told, *, at=0.0, way=20.0, server="web", ports=(40000, 80), window=64000):
    """A handshake between the client and a server, each way so many ms long."""
    back = ports[::-1]
    scale = struct.pack("!BBHBBBB", 2, 4, 1460, 1, 3, 3, 0)
    told.say("client", server, "S", 100, 0, at=at, came=at + way, ports=ports, options=scale, window=window)
    told.say(server, "client", "SA", 500, 101, at=at + way, came=at + 2 * way, ports=back, options=scale, window=window)
    told.say("client", server, "A", 101, 501, at=at + 2 * way, came=at + 3 * way, ports=ports, window=window)
