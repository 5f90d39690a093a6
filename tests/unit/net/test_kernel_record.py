"""The file of what a kernel has counted during a capture."""

import json

import pytest

from slownet.model.errors import ToolError
from slownet.net.kernel_record import KernelRecord, read
from slownet.net.sock_diag import Connection

SERVER = Connection(("127.0.0.1", 59077), ("127.0.0.1", 37652), 1, 44_000, 0, 0, 100_001, 7, 7)


def test_a_record_is_read_as_it_was_written():
    record = KernelRecord((SERVER,), {"ListenOverflows": 3}, {"nginx": 1200})
    assert read(json.dumps(record.to_json()), "000-web.kernel.json") == record


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
