"""Which packet is lost, what counts as held back, and what must not pass for exactly one lost packet."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from slownet.links.packets.responses import Answered
from slownet.model.errors import ToolError
from slownet.reproductions import objects
from slownet.reproductions.objects import Load, LostPacket, position
from slownet.tools.curl import Curl

NONE, FIRST, SECOND, THIRD = (frozenset(each) for each in ((), {0}, {1}, {2}))
CARRIED = (NONE, FIRST, FIRST | SECOND, SECOND, THIRD, THIRD, THIRD, NONE)
HOST = SimpleNamespace(name="client")


def load(times_ms, carried=CARRIED):
    done = Curl(("curl",), "printed\n", times_ms, times_ms, 1, ("3",), 0, ("u",), 40.0)
    return Load(done, times_ms, Answered(None, carried), b"packets", "secrets")


def test_objects_later_by_more_than_half_a_round_trip_are_held_back():
    found = LostPacket(load((80.0, 80.5, 81.0)), load((100.0, 120.6, 121.2)), 4)
    assert found.later_ms == pytest.approx((20, 40.1, 40.2))
    assert found.held_back_ms == pytest.approx((40.1, 40.2))
    metrics = found.metrics()
    assert metrics["held_back_objects"]["mean"] == 2
    assert (metrics["held_back_ms"]["mean"], metrics["held_back_ms"]["n"]) == (pytest.approx(40.15), 2)
    assert found.facts() == {"lost_packet": 4, "packets": 8, "objects_in_lost_packet": 1}
    assert set(found.files) == {"without.pcap", "without.keys", "lossy.pcap", "lossy.keys"}
    assert found.raw == "printed\n" * 2


def test_without_an_object_held_back_there_is_no_time():
    assert set(LostPacket(load((80.0,)), load((81.0,)), 4).metrics()) == {"held_back_objects"}


def test_the_first_packet_that_is_one_objects_alone_is_lost():
    assert [position(CARRIED, of, "here") for of in (1, 2)] == [2, 4]


@pytest.mark.parametrize(
    ("carried", "of", "says"),
    [
        (CARRIED, 3, "2 packets of the page follow the first one of object 3, so a timer would .*: name an earlier object"),
        ((FIRST, FIRST | SECOND, SECOND | THIRD), 2, "no packet carries object 2 alone, here: give fewer or larger objects"),
        (CARRIED, 4, "no packet carries object 4 alone"),
    ],
)
def test_a_packet_that_cannot_be_chosen_is_one_line(carried, of, says):
    with pytest.raises(ToolError, match=says):
        position(carried, of, "here")


@pytest.fixture
def pretended(monkeypatch):
    """pretended(dropped, carried): a rule that counts these, and a second load with these packets."""

    def pretend(dropped, carried=CARRIED):
        loads = iter((load((80.0,)), load((120.0,), carried)))
        rules = []

        @contextmanager
        def filtering(host, *given):
            rules.extend(given)
            yield lambda: (dropped,)

        monkeypatch.setattr(objects, "_load", lambda *arguments: next(loads))
        monkeypatch.setattr(objects, "filtering", filtering)
        monkeypatch.setattr(objects, "run", lambda *arguments: None)
        return rules

    return pretend


@pytest.mark.parametrize(("protocol", "kind"), [("HTTP/2", "tcp"), ("HTTP/3", "udp")])
def test_a_rule_drops_the_packet_by_its_number(pretended, protocol, kind):
    rules = pretended(1)
    found = objects.lost_packet(HOST, "https://10.0.0.2/object", protocol, 3, of=2)
    assert found.lost == 4
    assert [(each.hook, each.match, each.action) for each in rules] == [
        ("input", f"{kind} sport 443 ct reply packets 4", "drop")
    ]


@pytest.mark.parametrize("dropped", [0, 2])
def test_other_than_one_drop_is_one_line(pretended, dropped):
    pretended(dropped)
    with pytest.raises(
        ToolError, match=f"^{dropped} packets were dropped instead of one, host 'client', https://10.0.0.2/object$"
    ):
        objects.lost_packet(HOST, "https://10.0.0.2/object", "HTTP/2", 3)


@pytest.mark.parametrize(("carried", "said"), [(NONE, "no object"), (SECOND, "object 2"), (FIRST | SECOND, "objects 1, 2")])
def test_another_packet_than_the_chosen_one_is_one_line(pretended, carried, said):
    pretended(1, (NONE, carried))
    with pytest.raises(ToolError, match=f"^the lost packet carried {said} instead of object 1 alone, host 'client'"):
        objects.lost_packet(HOST, "u", "HTTP/3", 3)


def test_a_protocol_of_many_connections_is_one_line():
    with pytest.raises(
        ToolError, match=r"^HTTP/1.1 has no connection for all objects, host 'client', u: give HTTP/2 or HTTP/3$"
    ):
        objects.lost_packet(HOST, "u", "HTTP/1.1", 3)
