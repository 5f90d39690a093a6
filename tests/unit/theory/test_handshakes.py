"""Round trips before an answer, by the RFCs."""

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.handshakes import QUIC_WINDOW, STACKS, opened, round_trips

TO_THE_FIRST_BYTE = {
    "TCP": 2, "TCP Fast Open": 1, "TLS 1.2": 4, "TLS 1.2 resumed": 3, "TLS 1.3": 3, "TLS 1.3 PSK": 3, "TLS 1.3 0-RTT": 2,
    "TLS 1.3 over Fast Open": 2, "TLS 1.3 0-RTT over Fast Open": 1, "QUIC": 2, "QUIC 0-RTT": 1,
}  # fmt: skip


def test_every_stack_takes_its_round_trips_to_the_first_byte():
    assert {stack: round_trips(stack=stack) for stack in STACKS} == TO_THE_FIRST_BYTE


@pytest.mark.parametrize("stack", [name for name, traits in STACKS.items() if traits.security == "TLS 1.3"])
def test_a_hello_retry_costs_one_more_and_the_early_data(stack):
    early = STACKS[stack].early
    assert round_trips(stack=stack, hello_retry=True) == TO_THE_FIRST_BYTE[stack] + 1 + early
    assert not opened(stack, hello_retry=True).early


def test_a_retry_costs_one_more_but_validates_the_address():
    assert round_trips(stack="QUIC", retry=True) == 3
    assert round_trips(stack="QUIC", retry=True, certificate=7000) == 3  # without it, the certificate costs as much
    assert round_trips(stack="QUIC 0-RTT", retry=True) == 2


@pytest.mark.parametrize(
    ("stack", "certificate", "expected"),
    # 400 bytes of the server's flight are no certificate; windows are 14,480 and, until the address is validated, 3600 bytes
    [("TLS 1.3", 14_080, 3), ("TLS 1.3", 14_081, 4), ("TLS 1.2", 14_081, 5), ("QUIC", 3200, 2), ("QUIC", 3201, 3),
     ("QUIC", 15_200, 3), ("QUIC", 15_201, 4), ("TLS 1.3 PSK", 100_000, 3), ("TLS 1.3 over Fast Open", 14_081, 3)],
)  # fmt: skip
def test_a_certificate_above_what_may_be_sent_costs_one_more(stack, certificate, expected):
    assert round_trips(stack=stack, certificate=certificate) == expected


@pytest.mark.parametrize(
    ("stack", "size", "expected"),
    [("TCP", 14_480, 2), ("TCP", 14_481, 3), ("TCP", 43_440, 3), ("TCP", 43_441, 4), ("TLS 1.3", 14_481, 4),
     ("QUIC", 12_000, 2), ("QUIC", 12_001, 3), ("TCP Fast Open", 14_481, 2)],
)  # fmt: skip
def test_an_answer_comes_in_flights_that_double(stack, size, expected):
    assert round_trips(stack=stack, bytes=size) == expected


def test_early_data_over_quic_is_answered_by_three_times_what_came():
    assert round_trips(stack="QUIC 0-RTT", bytes=3200) == 1
    assert round_trips(stack="QUIC 0-RTT", bytes=3201) == 2
    assert round_trips(stack="QUIC 0-RTT", bytes=3200 + QUIC_WINDOW) == 2
    assert round_trips(stack="QUIC 0-RTT", bytes=20_000) == 3 == round_trips(stack="QUIC", bytes=20_000)


def test_a_window_that_was_filled_by_the_certificate_has_grown():
    assert round_trips(stack="TLS 1.3", certificate=16_000, bytes=28_960) == 4  # 20 segments
    assert round_trips(stack="TLS 1.3", certificate=7_000, bytes=28_960) == 4  # 10 and 10


def test_another_initial_window():
    assert round_trips(stack="QUIC", bytes=20_000, window=131_054) == 2


@pytest.mark.parametrize(
    ("asked", "says"),
    [({"stack": "TLS1.3"}, "did you mean 'TLS 1.3'"), ({"stack": "TCP", "hello_retry": True}, "TCP has no HelloRetryRequest"),
     ({"stack": "TLS 1.2", "hello_retry": True}, "TLS 1.3 has"), ({"stack": "TLS 1.3", "retry": True}, "has no Retry"),
     ({"stack": "TCP", "bytes": 0}, "bytes is 0, in round_trips: give 1 or more"),
     ({"stack": "TCP", "certificate": -1}, "give 0 or more"), ({"stack": "TCP", "window": -1}, "give 1 or more")],
)  # fmt: skip
def test_what_cannot_be_is_one_line(asked, says):
    with pytest.raises(SlownetError, match=says):
        round_trips(**asked)


def test_traits_in_words():
    assert str(STACKS["TLS 1.3 0-RTT over Fast Open"]) == "TCP with TLS 1.3, resumed, early, fast open"
    assert str(opened("QUIC", retry=True)) == "QUIC with TLS 1.3, retry"
