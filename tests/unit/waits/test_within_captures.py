"""Accounts of one operation among others, whose begin and end are known: captured are packets before and after it, too."""

from dataclasses import replace

import pytest
from told import MSS, Told, opened
from wire import START

from slownet.waits.account import Cause
from slownet.waits.door import account

MS = 1_000_000


@pytest.fixture
def told(tmp_path):
    return Told(tmp_path)


def within(told, begin, end):
    """The account of a time in ms."""
    between = tuple(START * 10**9 + int(ms * MS) for ms in (begin, end))
    return account([replace(each, between=between) for each in told.captures()], "client", whole=True)


def asks(told, at, *, payload=b"?", answer=b"!", sequence=(101, 501), ports=(40000, 80), took=0.0):
    """A question and its answer, 20 ms each way."""
    told.say("client", "web", "PA", *sequence, at=at, came=at + 20, ports=ports, payload=payload)
    asked, answered = sequence[0] + len(payload), sequence[1]
    at += 20 + took
    told.say("web", "client", "PA", answered, asked, at=at, came=at + 20, ports=ports[::-1], payload=answer)


def trips(found):
    return len(list(found.trips())) / 2


def test_what_entered_a_queue_before_has_not_entered_it_when_it_leaves(told):
    """The acknowledgement of an earlier answer leaves the client's queue meanwhile: it was on its way for 20 ms, not 0."""
    opened(told)
    asks(told, 40.0)
    told.say("client", "web", "A", 102, 502, at=80.0, left=100.0, came=100.0)
    asks(told, 81.0, sequence=(102, 502))
    found = within(told, 80.5, 125)
    assert [(each.cause, each.ms) for each in found.steps if each.ns] == [(Cause.EXCHANGE, 20.0), (Cause.EXCHANGE, 20.0)]
    assert trips(found) == 1


def test_a_kept_connection_that_ends_before_another_is_opened_is_of_the_operation(told):
    """A redirect, after whose answer the client opens a connection of its own for the other page."""
    opened(told)
    asks(told, 61.0)
    told.say("client", "web", "FA", 102, 502, at=101.0, came=121.0)
    opened(told, at=101.01, ports=(40001, 80))
    asks(told, 141.01, ports=(40001, 80))
    assert trips(within(told, 60.5, 190)) == 3


@pytest.mark.parametrize("acknowledged", [False, True])
def test_the_end_of_a_connection_may_be_what_the_answer_on_another_one_waited_for(told, acknowledged):
    """FTP: the server confirms a transfer when the client has closed the connection of the data, too.

    The first answer may be acknowledged just before: what that let go would be sent in the same instant.
    """
    opened(told)
    opened(told, at=61.0, ports=(40001, 2000))
    told.say("client", "web", "PA", 101, 501, at=101.0, came=121.0, payload=b"RETR")
    told.say("web", "client", "PA", 501, 105, at=121.0, came=141.0, ports=(80, 40000), payload=b"150")
    told.say("web", "client", "FPA", 501, 101, at=121.0, came=141.0, ports=(2000, 40001), payload=b"data")
    if acknowledged:
        told.say("client", "web", "A", 105, 504, at=141.0, came=161.0)
    told.say("client", "web", "FA", 101, 506, at=141.01, came=161.01, ports=(40001, 2000))
    told.say("web", "client", "PA", 504, 105, at=161.012, came=181.012, ports=(80, 40000), payload=b"226")
    found = within(told, 60.5, 182)
    assert trips(found) == 3
    assert not [*found.of(Cause.TIMER), *found.of(Cause.NAGLE), *found.of(Cause.WINDOW)]


@pytest.mark.parametrize(("end", "waited_for"), [(161.05, 2), (190, 1)])
def test_the_servers_end_was_waited_for_if_the_operation_ended_with_it(told, end, waited_for):
    """A client that closes its own direction may wait for the other one, or not: its packets are the same."""
    opened(told)
    asks(told, 81.0)
    told.say("client", "web", "FA", 102, 502, at=121.0, came=141.0)
    told.say("web", "client", "FA", 502, 103, at=141.0, came=161.0, ports=(80, 40000))
    assert trips(within(told, 80.5, end)) == waited_for


@pytest.mark.parametrize(("flags", "waited_for"), [(0, 2), (1, 1)])
def test_settings_of_http2_may_be_waited_for_their_acknowledgement_not(told, flags, waited_for):
    """A client of gRPC that takes 3 ms from the server's SETTINGS to its first call."""
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=61.0, came=81.0, payload=b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9))
    settings = bytes([0, 0, 0, 4, flags, 0, 0, 0, 0])
    told.say("web", "client", "PA", 501, 134, at=81.0, came=101.0, ports=(80, 40000), payload=settings)
    asks(told, 104.0, sequence=(134, 510))
    found = within(told, 60.5, 150)
    assert trips(found) == waited_for
    assert [each.ms for each in found.of(Cause.TIMER)] == [3.0 if waited_for == 2 else 43.0]


def test_a_window_whose_scale_was_agreed_before_closes_nothing(told):
    """Of 13 segments ten go at once; the window of 500 is one of 64,000 bytes, by a scale that only the SYN has."""
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=61.0, came=81.0, payload=b"?", window=500)
    for number in range(13):
        at = 81.0 if number < 10 else 121.0
        told.say("web", "client", "A", 501 + MSS * number, 102, at=at, came=at + 20, ports=(80, 40000), payload=bytes(MSS))
        told.say("client", "web", "A", 102, 501 + MSS * (number + 1), at=at + 20, came=at + 40, window=500)
    found = within(told, 60.5, 145)
    assert trips(found) == 2
    assert {each.detail for each in found.of(Cause.WINDOW)} == {"slow start, 10 segments in flight"}


def test_a_small_segment_waits_for_nagle_even_if_the_program_turns_it_off_later(told):
    """ssh sets TCP_NODELAY after its login."""
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=61.0, came=81.0, payload=b"one")
    told.say("web", "client", "A", 501, 104, at=81.0, came=101.0, ports=(80, 40000))
    told.say("client", "web", "PA", 104, 501, at=101.0, came=121.0, payload=b"two")
    told.say("web", "client", "PA", 501, 107, at=121.0, came=141.0, ports=(80, 40000), payload=b"!")
    for sequence, at in ((107, 141.0), (108, 141.001)):
        told.say("client", "web", "PA", sequence, 502, at=at, came=at + 20, payload=b"x")
    told.say("web", "client", "PA", 502, 109, at=161.001, came=181.001, ports=(80, 40000), payload=b"!")
    found = within(told, 60.5, 190)
    assert trips(found) == 3
    assert len(list(found.of(Cause.NAGLE))) == 2
    assert not list(found.of(Cause.WINDOW))


def test_a_message_that_was_sent_just_before_and_is_on_its_way_counts(told):
    """MQTT without TCP_NODELAY: a message that has no answer, and the next one, which waits for its acknowledgement."""
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=80.499, left=100.499, came=100.499, payload=b"0")
    told.say("web", "client", "A", 501, 102, at=100.499, came=120.499, ports=(80, 40000))
    asks(told, 120.499, sequence=(102, 501))
    found = within(told, 80.5, 162)
    assert trips(found) == 2
    assert found.elapsed_ns == 80_000_000
    assert Cause.NAGLE in {each.cause for each in found.steps}
