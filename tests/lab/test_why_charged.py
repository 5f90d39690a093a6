"""Accounts on a clock that charges for CPU: which program computed, and what cannot have been computing."""

import sys
from pathlib import Path

import pytest
from why_scenarios import ask, ms, serving, why

from slownet.topologies import ClientWebDb
from slownet.waits.account import Cause
from slownet.waits.account_text import answer

TOPOLOGY = ClientWebDb
pytestmark = pytest.mark.charged
PROGRAM = Path(sys.executable).name
SPINS = "end = time.monotonic() + 0.05\n    while time.monotonic() < end: pass\n    c.sendall(b'!'); c.close()"


def test_what_computes_has_its_program(far, tmp_path):
    """The server computes for 50 ms, without a wait."""
    with serving(far["web"], f"c.recv(99); {SPINS}"):
        found = why(far, tmp_path, ask(far), free=False)
    assert [each for each in found.of(Cause.COMPUTING) if each.source == "web" and each.ms >= 50 and PROGRAM in each.detail]
    assert not [each for each in found.of(Cause.TIMER) if each.source == "web"]
    assert f"computing on web ({PROGRAM}" in answer(found)


def test_a_sleep_is_longer_than_all_that_was_computed(far, tmp_path):
    """Its server sleeps for a second; to answer, it computes for a few ms."""
    with serving(far["web"], "c.recv(99); time.sleep(1); c.sendall(b'!'); c.close()"):
        found = why(far, tmp_path, ask(far), free=False)
    (slept,) = (each for each in found.of(Cause.TIMER) if each.source == "web")
    assert slept.ms >= 1000
    assert PROGRAM in slept.detail
    assert slept.detail.startswith("at most ")
    assert ms(found, Cause.EXCHANGE) >= 40


def test_slow_start_is_no_pacing(far, tmp_path):
    """The kernel takes some microseconds to send what an ACK lets go."""
    with serving(far["web"], "c.recv(99); c.sendall(bytes(50000)); c.close()"):
        found = why(far, tmp_path, ask(far, "s.sendall(b'?')\nwhile s.recv(99999): pass"), free=False)
    assert ms(found, Cause.WINDOW, "pacing") == 0
    assert ms(found, Cause.WINDOW, "slow start") >= 80


@pytest.mark.parametrize("buffer", [8192, 16_384, 32_768, None])
def test_a_send_buffer_is_no_slow_start(far, tmp_path, buffer):
    """The kernel takes twice the size. Slow start needs two round trips up to 32 kB; the last two flights may be smaller."""
    limits = f"c.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, {buffer})" if buffer else "pass"
    with serving(far["web"], f"c.recv(99); {limits}; c.sendall(bytes(300_000)); c.close()"):
        found = why(far, tmp_path, ask(far, "s.sendall(b'?')\nwhile s.recv(99999): pass"), free=False)
    full, opens = ms(found, Cause.WINDOW, "send buffer"), ms(found, Cause.WINDOW, "slow start")
    if buffer is None:
        assert full == 0
        assert opens >= 2 * 40
    else:
        assert full >= 300_000 / (2 * buffer) * 40 - 3 * 40
        assert opens < 5 * 40
