"""Which waits for an ACK a full send buffer explains: flights as Linux has them, of connections that labs have shown."""

import json
from dataclasses import replace

import pytest
from told import MSS, Told, opened

from slownet.net.kernel_record import KernelRecord
from slownet.net.sock_diag import UNLIMITED, Connection
from slownet.waits.account import Cause
from slownet.waits.causes import full_buffers
from slownet.waits.door import account


def known(cwnd, ssthresh=UNLIMITED):
    return Connection(("10.0.0.2", 80), ("10.0.0.1", 40000), 1, 1000, 0, 0, 50_000, cwnd, ssthresh)


@pytest.mark.parametrize(
    ("flights", "cwnd", "ssthresh", "full"),
    [
        ([10, 20, 40], 158, UNLIMITED, []),  # slow start
        ([10], 18, UNLIMITED, []),
        ([7, 7, 7], 16, UNLIMITED, [0, 1, 2]),  # SO_SNDBUF of 8 kB
        ([7], 16, UNLIMITED, [0]),
        ([10, 20, 28, 28], 60, UNLIMITED, [2, 3]),  # of 32 kB
        ([4, 8, 16], 34, UNLIMITED, []),  # a first window of four by a route's initcwnd
        ([10, 20, 40, 60, 64, 67], 69, 58, []),  # slow start that HyStart has ended
        ([7, 8, 9, 11, 13, 15], 17, 7, []),  # after a loss
        ([40, 30, 44, 44, 44], 60, 30, [2, 3, 4]),  # a window that has opened again, beyond the buffer
        ([], 10, UNLIMITED, []),
    ],
)
def test_flights(flights, cwnd, ssthresh, full):
    assert full_buffers(flights, known(cwnd, ssthresh)) == [place in full for place in range(len(flights))]


@pytest.mark.parametrize(
    ("flights", "cwnd", "round_trip_ms", "full"),
    [
        ([7] * 14, 8, 40, range(14)),  # SO_SNDBUF of 8 kB
        ([7, 8, 8, 8, 10, 10, 10, 10, 12, 12, 12, 14, 14, 14, 14, 14, 14], 16, 40, range(11, 17)),  # of 16 kB
        ([7, 8, 8, 8, 10, 10, 10, 12, 12, 12, 12, 14, 14, 14, 16, 16], 16, 40, []),  # of 32 kB, which are not reached
        ([7, 8, 8, 8, 9, 9, 11, 11, 11, 13, 13, 13, 13, 15, 15, 15], 17, 40, []),
        ([1000] * 14, 1001, 100, []),  # CUBIC's own curve stays at what the window was for 27 round trips
        ([7] * 14, 7, 40, []),  # a window that ended as large as the flight
    ],
)
def test_flights_after_a_loss(flights, cwnd, round_trip_ms, full):
    found = full_buffers(flights, known(cwnd, 7), round_trip_ns=round_trip_ms * 1e6)
    assert found == [place in full for place in range(len(flights))]


@pytest.mark.parametrize(
    ("flights", "cwnd", "full"),
    [
        ([6] * 14 + [5, 5], 14, range(16)),  # SO_SNDBUF of 8 kB
        ([10] + [13] * 13 + [4], 34, range(1, 14)),  # of 16 kB
        ([19, 27, 27, 27, 27, 27, 17, 15], 68, range(1, 6)),  # of 32 kB
        ([19, 39, 41, 86], 218, []),  # slow start
        ([19, 39, 63, 57], 218, []),
    ],
)
def test_flights_where_computing_takes_time(flights, cwnd, full):
    found = full_buffers(flights, known(cwnd), free=False, round_trip_ns=40e6)
    assert found == [place in full for place in range(len(flights))]


def flying(folder, flights):
    """Write an answer of so many segments in each round trip of 40 ms."""
    made = Told(folder)
    opened(made)
    made.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"GET /")
    back, first = {"ports": (80, 40000)}, 501
    for trip, flight in enumerate(flights):
        at = 60.0 + 40 * trip
        for number in range(flight):
            made.say("web", "client", "A", first + MSS * number, 106, at=at, came=at + 20, payload=bytes(MSS), **back)
        first += MSS * flight
        made.say("client", "web", "A", 106, first, at=at + 20, came=at + 40)
    return made


@pytest.fixture
def told(tmp_path):
    """Two segments a round trip, though ten would be allowed."""
    return flying(tmp_path, [2, 2, 2, 2])


def with_kernel(captures, folder, cwnd):
    """Let the web server's kernel know how large its window was at the end."""
    (folder / "web.kernel.json").write_text(json.dumps(KernelRecord((known(cwnd),)).to_json()))
    return [replace(each, kernel="web.kernel.json") if each.host == "web" else each for each in captures]


@pytest.mark.parametrize(
    ("is_known", "detail"), [(True, "send buffer, 2,896 bytes in flight"), (False, "slow start, 2 segments in flight")]
)
def test_the_kernel_tells_a_full_buffer_from_slow_start(told, tmp_path, is_known, detail):
    captures = told.captures()
    found = account(with_kernel(captures, tmp_path, 10) if is_known else captures)
    assert {each.detail for each in found.of(Cause.WINDOW)} == {detail}
    assert sum(each.ms for each in found.of(Cause.WINDOW)) == 120


def test_the_first_window_limits_whatever_the_buffer_is(tmp_path):
    """Of ten segments (RFC 6928); the buffer holds eight of the program's later writes."""
    found = account(with_kernel(flying(tmp_path, [10, 8, 8]).captures(), tmp_path, 20))
    details = [each.detail for each in found.of(Cause.WINDOW)]
    assert details == ["slow start, 10 segments in flight"] * 2 + ["send buffer, 11,584 bytes in flight"] * 2


def test_a_record_that_cannot_be_read_is_a_note(told, tmp_path):
    (tmp_path / "web.kernel.json").write_text("{")
    captures = [replace(each, kernel="web.kernel.json" if each.host == "web" else None) for each in told.captures()]
    found = account(captures)
    assert found.elapsed_ns == 200 * 10**6
    assert any(each.startswith("web: what its kernel counted is not known: ") for each in found.notes)
