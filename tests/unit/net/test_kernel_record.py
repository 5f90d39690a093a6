"""What a kernel knows of connections: a message of sock_diag as a lab's kernel (7.3.4) has sent it, and the file made of it."""

import json

import pytest

from slownet.model.errors import ToolError
from slownet.net.kernel_record import UNLIMITED, Connection, KernelRecord, connections, read

ENDED = bytes.fromhex(
    "7c01000014000000000000000000000002070000e6c593147f0000010000000000000000000000007f00000100000000000000000000000000000000"
    "0100000000000000000000000000000000000000000000000000000005000a00060000001c0102000700000000077700802c0300409c000040b90000"
    "18020000000000000000000000000000000000000000000024000000000000002c00000000000000ffff0000cbff00007c150000f82a000007000000"
    "07000000cbff00000300000000000000cbff000001000000d728510400000000ffffffffffffffffa186010000000000010000000000000006000000"
    "0500000000000000a00f000001000000040000006cc4310000000000e0ab000000000000000000000000000000000000000000000500000000000000"
    "400d020000000000a086000000000000000000000000000000000000006c000000000100000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000"
)
"""Of a server on loopback that sent 100 kB to a client which read after 50 ms; a tail probe had reduced its window to seven."""
SERVER = Connection(("127.0.0.1", 59077), ("127.0.0.1", 37652), 44_000, 0, 0, 7, 7)


def test_a_connection_that_has_ended():
    assert list(connections(ENDED)) == [SERVER]


def test_several_in_one_message_and_what_is_cut_off():
    assert list(connections(ENDED + ENDED)) == [SERVER, SERVER]
    assert list(connections(ENDED[:-100])) == []
    assert list(connections(ENDED[:20])) == []


def test_an_ipv4_connection_of_a_socket_for_both_has_its_packets_addresses():
    mapped = bytes(10) + b"\xff\xff" + bytes([10, 0, 0, 1])
    message = ENDED[:16] + b"\x0a" + ENDED[17:24] + mapped + mapped + ENDED[56:]
    (found,) = connections(message)
    assert (found.local[0], found.remote[0]) == ("10.0.0.1", "10.0.0.1")


def test_a_record_is_read_as_it_was_written():
    record = KernelRecord((SERVER,), {"ListenOverflows": 3}, {"nginx": 1200})
    assert read(json.dumps(record.to_json()), "000-web.kernel.json") == record
    assert UNLIMITED == 2**31 - 1


def written(connections=(), **counts):
    return json.dumps({"connections": list(connections), "counters": {}, "cpu_us": {}, **counts})


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}",
        written(counters={"a": -1}), written(cpu_us={"a": 0.5}), written([{}]),
        written([{**SERVER.__dict__, "local": ["a"]}]), written([{**SERVER.__dict__, "local": [1, 2]}]),
        written([{**SERVER.__dict__, "cwnd": "7"}]),
    ],
)  # fmt: skip
def test_what_is_no_record_is_one_line(text):
    with pytest.raises(ToolError, match=r"^not a record of a kernel: .*web\.kernel\.json: measure it again") as raised:
        read(text, "web.kernel.json")
    assert "\n" not in raised.value.line
