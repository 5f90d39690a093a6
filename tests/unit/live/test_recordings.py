"""Own recordings on a page: which can be played, and what is refused with one line."""

import json

import pytest

from slownet.links.conditions.link import Condition
from slownet.live import recordings
from slownet.model.errors import TraceError

PINGS = "\n".join(
    [
        "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.",
        *(f"64 bytes from 10.0.0.2: icmp_seq={n} ttl=64 time={10 + n}.0 ms" for n in range(1, 5)),
        "",
        "--- 10.0.0.2 ping statistics ---",
        "4 packets transmitted, 4 received, 0% packet loss, time 3004ms",
        "rtt min/avg/max/mdev = 11.000/12.500/14.000/1.118 ms",
    ]
)
STEPS = "0 5\n2 1\n4 8\n"
"""Pensieve's: until 2 s 1 Mbit/s, then 8."""


def first(text):
    return next(iter(recordings.schedule(text.encode(), "own").states(Condition()))).condition


def test_a_log_of_pings_gives_delays():
    assert first(PINGS).rtt == pytest.approx(0.011)


def test_rates_hold_in_both_directions():
    state = first(STEPS)
    assert (state.rate_up, state.rate_down) == (1e6, 1e6)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "own"),
        (b"5\n3\n", "3 ms after 5 ms, own line 2"),
        (json.dumps({"what": "else"}).encode(), "own"),
        (b"\xff\xfe\x00", "own"),
    ],
)
def test_what_cannot_be_played_is_one_line_that_names_the_file(data, line):
    with pytest.raises(TraceError) as caught:
        recordings.packed(data, "own")
    text = str(caught.value)
    assert line in text
    assert "\n" not in text
    assert "recording/" not in text


def test_a_file_is_read_and_a_missing_or_long_one_is_one_line(tmp_path):
    path = tmp_path / "fcc.txt"
    path.write_text(STEPS)
    assert recordings.unpacked(recordings.read(path)) == STEPS.encode()
    with pytest.raises(TraceError, match="it cannot be read"):
        recordings.read(tmp_path / "missing")
    with path.open("wb") as file:
        file.truncate(recordings.BYTES + 1)
    with pytest.raises(TraceError, match="larger than 8 MB"):
        recordings.read(path)
