"""A hundred thousand steps are analysed in bounded memory: segments of 1448 bytes, and questions with their answers."""

import struct
import subprocess
import sys

import pytest

LIMIT_MB = 300
"""The most memory of the whole process, of which Python with the package takes 60."""
PROGRAM = """
import resource, sys
from pathlib import Path
from slownet.lab.run.outbox import Outbox
from slownet.waits.door import account
from slownet.waits.trace import HostCapture
folder = Outbox(Path(sys.argv[1]))
hosts = (("client", "10.0.0.1"), ("server", "10.0.0.2"))
found = account([HostCapture(name, (address,), folder, f"{name}.pcap", f"{name}.before.pcap") for name, address in hosts])
assert found.remainder_ns == 0 and abs(sum(each.ns for each in found.steps) - found.elapsed_ns) <= 1000
print(len(found.steps), found.elapsed_ns, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
SEGMENTS, MSS, WAY_MS, TWO = 100_000, 1448, 20, 2
"""Segments, bytes of each, ms of the way; and how many are sent when an ACK comes."""
HEAD = struct.Struct("<IIII")
FROM = 1_700_000_000 * 10**9
ENDS = {"client": (bytes([10, 0, 0, 1]), b"\2\0\0\0\0\1", 40000), "server": (bytes([10, 0, 0, 2]), b"\2\0\0\0\0\2", 80)}


def frame(source, target, number, flags, sequence, acknowledged, payload=b""):
    one, mac, port = ENDS[source]
    other, _, to = ENDS[target]
    segment = struct.pack("!HHIIBBHHH", port, to, sequence, acknowledged, 5 << 4, flags, 60000, 0, 0) + payload
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(segment), number % 65536, 0, 64, 6, 0)
    return b"\2" * 6 + mac + b"\x08\x00" + head + one + other + segment


def transfer(folder, steps):
    """Write the captures of a connection, and return when it ended, in ms."""
    files = {}
    for name in ENDS:
        for kind in ("", ".before"):
            files[name, kind] = (folder / f"{name}{kind}.pcap").open("wb")
            files[name, kind].write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))

    def write(ms, data, *where):
        for file in where:
            seconds, ns = divmod(FROM + round(ms * 10**6), 10**9)
            files[file].write(HEAD.pack(seconds, ns, len(data), len(data)) + data)

    def goes(source, target, ms, data):
        write(ms, data, (source, ".before"), (source, ""))
        return ms + WAY_MS, data, (target, "")

    waiting = []
    waiting.append(goes("client", "server", 0, frame("client", "server", 1, 2, 99, 0)))
    waiting.append(goes("server", "client", WAY_MS, frame("server", "client", 1, 18, 499, 100)))
    for each in waiting:
        write(*each)
    at = steps(goes, write)
    for each in files.values():
        each.close()
    return at


def upload(goes, write):
    """Segments leave two at a time, as the ACK of the two before comes."""
    at, payload = 2 * WAY_MS, bytes(MSS)
    for first in range(0, SEGMENTS, TWO):
        for number in range(first, first + TWO):
            data = frame("client", "server", number + 2, 16, 100 + MSS * number, 500, payload)
            write(*goes("client", "server", at, data))
        write(
            *goes(
                "server", "client", at + WAY_MS, frame("server", "client", first // TWO + 2, 16, 500, 100 + MSS * (first + TWO))
            )
        )
        at += 2 * WAY_MS
    return at


def questions(goes, write):
    """A question of 8 bytes is answered by 6."""
    at = 2 * WAY_MS
    for number in range(SEGMENTS // TWO):
        asked, answered = 100 + 8 * number, 500 + 6 * number
        write(*goes("client", "server", at, frame("client", "server", number + 2, 24, asked, answered, b"question")))
        at += WAY_MS
        write(*goes("server", "client", at, frame("server", "client", number + 2, 24, answered, asked + 8, b"answer")))
        at += WAY_MS
    return at


@pytest.mark.parametrize("steps", [upload, questions])
def test_a_hundred_thousand_steps(tmp_path, steps):
    ended = transfer(tmp_path, steps)
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    steps, elapsed, megabytes = map(int, done.stdout.split())
    assert elapsed == ended * 10**6
    assert steps >= 2 * SEGMENTS // TWO
    assert megabytes <= LIMIT_MB
