"""Clocks of machines that stopped themselves, put back: the first 341 bytes of what QEMU 7.2.22 saved of two, of one lab."""

import struct

import pytest

from slownet.lab.exact import exact
from slownet.model.errors import LabError

SAVED = bytes.fromhex("""
    5145564d0000000304000000000574696d6572000000000000000200000009a5f4d00300000000000000000000000431e4e3ac050c74696d65722f69
    636f756e740000000100000000000000000000000085c40eba7e000000000400000001067265706c6179000000000000000200000000000000000000
    00000000000000000000859ede3300000000ffffffff000000000000000000002cab0000000000000000ffffffffffffffff7e000000010400000005
    0a6370755f636f6d6d6f6e0000000000000001000000000000000005196370755f636f6d6d6f6e2f63726173685f6f6363757272656400000001017e
    00000005040000000603637075000000000000000c0000000000000001000000000044b557000000000000050500007fffffffe98000007fffffffe5
    e000007fffffffe7c000000000000000010000000000000505736c6f776e6574210000000085c40eb4
""")
"""Its processor's thread was not the first that stopped."""
MOVED = bytes.fromhex("""
    5145564d0000000304000000000574696d657200000000000000020000000a8018cfcc00000000000000000000000490bce101050c74696d65722f69
    636f756e7400000001000000000000d7970000000085c40eba7e000000000400000001067265706c6179000000000000000200000000000000000000
    0000000000000000000085c40eba00000000ffffffff000000000000000000002cba0000000000000000ffffffffffffffff7e000000010400000005
    0a6370755f636f6d6d6f6e0000000000000001000000000000000005196370755f636f6d6d6f6e2f63726173685f6f6363757272656400000001017e
    00000005040000000603637075000000000000000c0000000000000001000000000044b557000000000000050500007fffffffe98000007fffffffe5
    e000007fffffffe7c000000000000000010000000000000505736c6f776e6574210000000085c40eb4
""")
"""Its clock was moved on to the next timer."""


def moved(state: bytes) -> int:
    return struct.unpack_from(">q", state, state.find(exact.STATE_CLOCK) + len(exact.STATE_CLOCK))[0]


def with_clock(by: int) -> bytes:
    at = SAVED.find(exact.STATE_CLOCK) + len(exact.STATE_CLOCK)
    return SAVED[:at] + struct.pack(">q", by) + SAVED[at + 8 :]


def test_a_clock_that_was_moved_on_is_put_back():
    assert (moved(SAVED), moved(MOVED)) == (0, 55191)
    assert (exact.moved_on(SAVED), exact.moved_on(MOVED)) == (0, 55191)
    assert exact.at_its_stop(SAVED) == SAVED
    found = exact.at_its_stop(MOVED)
    assert moved(found) == 0
    assert [at for at, (was, now) in enumerate(zip(MOVED, found, strict=True)) if was != now] == [75, 76]
    assert exact.at_its_stop(with_clock(1)) == SAVED


@pytest.mark.parametrize(
    "state",
    [b"", SAVED[:-1], SAVED.replace(exact.STATE_MARKER, b"\0" * 8), SAVED.replace(b"icount", b"icounts"), MOVED[:80]],
    ids=["empty", "cut short", "no marker", "another format", "no registers"],
)
def test_a_state_in_another_format_is_one_line(state):
    with pytest.raises(LabError, match="a format that is not known"):
        exact.at_its_stop(state)


@pytest.mark.parametrize("by", [-1, 1 << 32, -(1 << 62), 1 << 62])
def test_a_clock_that_no_stop_can_have_is_one_line(by):
    with pytest.raises(LabError, match="a clock that is not the one of its time stamp counter"):
        exact.at_its_stop(with_clock(by))
