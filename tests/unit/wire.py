"""Writes captures byte by byte, from the formats' definitions: no code of the project's, and no library's."""

import struct

CLIENT, SERVER = "192.0.2.7", "192.0.2.1"
START = 1_700_000_000


def tcp(outward, flags, sequence, acknowledged=0, payload=b"", *, sport=40000, window=1000, options=b""):
    """A TCP segment; its checksum is a sum of what it covers, which tells segments apart as a real one does."""
    ports = (sport, 80) if outward else (80, sport)
    bits = sum({"F": 1, "S": 2, "R": 4, "P": 8, "A": 16}[each] for each in flags)
    options += bytes(-len(options) % 4)
    head = struct.pack("!HHIIBBH", *ports, sequence % 2**32, acknowledged % 2**32, (20 + len(options)) // 4 << 4, bits, window)
    total = sum(head + options + payload) & 0xFFFF
    return head + struct.pack("!HH", total, 0) + options + payload


def mss(size):
    return struct.pack("!BBH", 2, 4, size)


def timestamps(value):
    return struct.pack("!BBBBII", 1, 1, 8, 10, value, 0)


def ip(outward, inner, *, identity=1, protocol=6, ttl=64, length=None):
    ends = (CLIENT, SERVER) if outward else (SERVER, CLIENT)
    octets = b"".join(bytes(map(int, each.split("."))) for each in ends)
    whole = 20 + len(inner) if length is None else length
    return struct.pack("!BBHHHBBH", 0x45, 0, whole, identity, 0, ttl, protocol, 0) + octets + inner


def ip6(outward, inner, *, protocol=6):
    ends = (b"\x20\x01\x0d\xb8" + bytes(11) + bytes([each]) for each in ((7, 1) if outward else (1, 7)))
    return struct.pack("!IHBB", 6 << 28, len(inner), protocol, 64) + b"".join(ends) + inner


def ethernet(inner, kind=0x0800, tags=()):
    return bytes(12) + b"".join(struct.pack("!HH", tag, 5) for tag in tags) + struct.pack("!H", kind) + inner


def pcap(frames, *, link=1, order="<", nano=False, modified=False, snaplen=262144):
    """frames: (seconds, bytes)."""
    magic = 0xA1B2CD34 if modified else 0xA1B23C4D if nano else 0xA1B2C3D4
    found = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link)
    for at, data in frames:
        ns = START * 10**9 + round(at * 10**9)
        part = ns % 10**9 // (1 if nano else 1000)
        found += struct.pack(order + "IIII", ns // 10**9, part, min(len(data), snaplen), len(data))
        found += (bytes(8) if modified else b"") + data[:snaplen]
    return found


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + size + body + size


def section(order="<"):
    return block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(order="<", link=1, resolution=None, offset=None, snaplen=0):
    options = b""
    if resolution is not None:
        options += struct.pack(order + "HHBxxx", 9, 1, resolution)
    if offset is not None:
        options += struct.pack(order + "HHq", 14, 8, offset)
    options += struct.pack(order + "HH", 0, 0) if options else b""
    return block(order, 1, struct.pack(order + "HHI", link, 0, snaplen) + options)


def enhanced(order, number, ticks, data):
    return block(order, 6, struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data)) + data)


class Exchange:
    """Frames of one connection, each with an identification of its own as Linux has them; times in seconds."""

    def __init__(self, start=0.0, rtt=0.03, *, sport=40000, first=(1000, 2000), size=None, wrap=ip):
        self.frames, self.rtt, self.sport, self.first, self.wrap = [], rtt, sport, first, wrap
        self.number, options = 7, mss(size) if size else b""
        self.add(start, True, "S", -1, -first[1] - 1, options=options)
        self.add(start + rtt - 0.001, False, "SA", -1, 0, options=options)
        self.add(start + rtt, True, "A", 0, 0)

    def add(self, at, outward, flags, sequence, acknowledged, length=0, *, twice=None, identity=None, **more):
        """A segment; sequence and acknowledged count from the first byte of data. twice: how much later a copy comes."""
        self.number += 1
        mine, other = self.first if outward else self.first[::-1]
        segment = tcp(outward, flags, mine + 1 + sequence, other + 1 + acknowledged, b"x" * length, sport=self.sport, **more)
        extra = {} if self.wrap is not ip else {"identity": self.number if identity is None else identity}
        data = self.wrap(outward, segment, **extra)
        self.frames.append((at, data))
        if twice is not None:
            self.frames.append((at + twice, data))
        return self
