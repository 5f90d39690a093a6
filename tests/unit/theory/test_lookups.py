"""Round trips of lookups, by the RFCs."""

import pytest

from slownet.model.errors import SlownetError
from slownet.theory.lookups import STACKS, round_trips


def test_a_lookup_takes_the_handshakes_of_its_transport_and_one_more():
    assert {name: round_trips(transport=name) for name in STACKS} == {"UDP": 1, "TCP": 2, "TLS": 3, "HTTPS": 3}


def test_a_connection_that_is_kept_saves_the_handshakes():
    assert {round_trips(transport=name, kept=True) for name in ("TCP", "TLS", "HTTPS")} == {1}


def test_nagles_algorithm_costs_one_more():
    assert round_trips(transport="TCP", held=True) == 3
    assert round_trips(transport="TCP", held=True, kept=True) == 2


@pytest.mark.parametrize("wrong", [{"kept": True}, {"held": True}])
def test_udp_has_no_connection(wrong):
    with pytest.raises(SlownetError, match="UDP has no connection, in round_trips"):
        round_trips(transport="UDP", **wrong)


def test_an_unknown_transport_is_one_line():
    with pytest.raises(SlownetError, match="no transport 'TSL', in round_trips: did you mean 'TLS'"):
        round_trips(transport="TSL")
