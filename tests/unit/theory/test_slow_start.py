import pytest

from slownet.model.errors import SlownetError
from slownet.theory.slow_start import CLOSE, LAST_BYTE, round_trips

UNLIMITED = 1 << 40


def of_response(size, until=LAST_BYTE, **more):
    return round_trips(size, until=until, header_bytes=0, **more)


@pytest.mark.parametrize(
    ("size", "trips"),
    [
        (0, 2), (1, 2), (14_480, 2), (14_481, 3), (43_440, 3), (43_441, 4), (51_686, 4), (101_360, 4),
        (101_361, 5), (262_144_000, 16),
    ],
)  # fmt: skip
def test_slow_start_doubles_where_nothing_else_is_in_the_way(size, trips):
    assert of_response(size, receive_window=UNLIMITED) == trips


@pytest.mark.parametrize(
    ("body", "close", "last_byte"),
    [
        (1000, 2, 2), (12_700, 2, 2), (12_795, 2, 2), (12_796, 3, 2), (13_000, 3, 2), (14_243, 3, 2), (14_244, 3, 3),
        (14_480, 3, 3), (43_000, 3, 3), (43_203, 3, 3), (43_204, 4, 4), (43_400, 4, 4), (51_686, 4, 4), (101_123, 4, 4),
        (101_124, 5, 5),
    ],
)  # fmt: skip
def test_the_header_and_the_end_of_the_connection_count(body, close, last_byte):
    assert round_trips(body, until=CLOSE, header_bytes=237) == close
    assert round_trips(body, until=LAST_BYTE, header_bytes=237) == last_byte


def test_a_fin_waits_for_a_place_only_where_the_first_flight_is_full():
    assert [of_response(size, CLOSE) for size in (9 * 1448, 9 * 1448 + 1, 14_480)] == [2, 3, 3]
    assert [of_response(30 * 1448, until) for until in (CLOSE, LAST_BYTE)] == [3, 3]  # the last segment carries the FIN
    assert [of_response(64_239, CLOSE, initial_window=60), of_response(64_240, CLOSE, initial_window=60)] == [2, 3]


def test_the_client_offers_no_more_than_its_first_window():
    # The SYN's window of 64,240 bytes has room for 44 segments of 1448 bytes and a small one, that of 62,720 for seven of 8948.
    assert [of_response(size, initial_window=60) for size in (64_240, 64_241)] == [2, 3]
    assert [of_response(size, mss=8948) for size in (62_720, 62_721, 125_356, 125_357)] == [2, 3, 3, 4]
    assert of_response(80_000, mss=8948) == 3
    assert of_response(80_000, mss=8948, receive_window=UNLIMITED) == 2


def test_the_first_window_of_a_stock_client_is_no_limit_to_slow_start():
    for size in (14_480, 43_440, 101_360, 217_200, 448_880, 912_240):  # 10 + 20 + 40 + 80 + 160 + 320 segments
        for more in (0, 1):
            assert of_response(size + more) == of_response(size + more, receive_window=UNLIMITED)


@pytest.mark.parametrize(("size", "stock", "mininet"), [(80_000, 4, 4), (100_000, 4, 5)])
def test_that_of_a_client_that_mininet_sets_up_costs_a_round_trip(size, stock, mininet):
    """Measured beside Debian's own kernel: with ``tcp_rmem`` of 4096 131072 6291456, and of 10240 87380 16777216."""
    assert of_response(size) == stock
    assert of_response(size, receive_window=87_380 // 2) == mininet


def test_the_client_offers_more_as_it_reads():
    # Of 87,380 bytes of buffer: 10 + 20 + 29 + 58 + 116 + 232 and the rest.
    assert of_response(1_000_000, receive_window=87_380 // 2) == 8
    assert of_response(262_144_000) == 16


def test_other_connections():
    assert of_response(51_686, new_connection=False) == 1
    assert of_response(51_686, initial_window=3) == 5  # 3 + 6 + 12 + 15 of 24
    assert of_response(51_686, mss=524) == 5  # 99 segments: 10 + 20 + 40 + 29
    assert of_response(100_000, receive_window=2 * 1460) == 36  # two segments a round trip, 70 of them


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"mss": 0}, "mss is 0, in round_trips: give 1 or more"),
        ({"size_bytes": -1}, "size_bytes is -1"),
        ({"header_bytes": -1}, "header_bytes is -1"),
        ({"initial_window": 0}, "initial_window is 0"),
        ({"receive_window": 1459}, "receive_window is 1459, in round_trips: give 1460 or more"),
        ({"until": "eof"}, "until is 'eof', in round_trips: write 'last byte' or 'close'"),
    ],
)
def test_what_is_no_response(given, why):
    with pytest.raises(SlownetError, match=why):
        round_trips(**{"size_bytes": 1, "until": CLOSE, "header_bytes": 0} | given)
