"""The ping that verifies a link."""

from types import SimpleNamespace

import pytest

from slownet.lab.host import native
from slownet.model.errors import NetworkError
from slownet.net import verify

HOST = SimpleNamespace(name="client")


def interval_s(monkeypatch, low_ms, high_ms, cpu_is_free):
    """Return the interval of the ping over a path whose ends add that much to a round trip."""
    asked = []
    monkeypatch.setattr(native, "cpu_is_free", lambda: cpu_is_free)
    monkeypatch.setattr(verify, "echo", lambda source, address, **options: asked.append(options["interval"]))
    verify._Path(HOST, "10.0.0.2", [], [verify.Span(low_ms / 1000, high_ms / 1000)]).ping()
    return asked[0]


@pytest.mark.parametrize("cpu_is_free", [False, True])
@pytest.mark.parametrize(
    ("low_ms", "high_ms", "spins"),
    [(0, 0, False), (10.3, 10.3, False), (38, 38, False), (40.3, 40.3, True), (49, 49, True), (51, 51, False), (20, 60, True)],
)
def test_a_reply_does_not_come_just_before_the_next_ping_is_due(monkeypatch, low_ms, high_ms, spins, cpu_is_free):
    found = interval_s(monkeypatch, low_ms, high_ms, cpu_is_free)

    assert found == (0.1 if spins else 0.05)


def outcome(monkeypatch, least_ms, to_itself_ms, timers_late_ms=0.0, stated_ms=80, cpu_is_free=False):
    """Verify a link of 80 ms whose pings take that long, on a machine where a host's ping to itself takes that long."""

    def echo(source, address, **options):
        times = to_itself_ms if address == "127.0.0.1" else next(least)
        return SimpleNamespace(problem="", rtt_ms=times and SimpleNamespace(min=times))

    least = iter([*least_ms] + [least_ms[-1]] * verify.ROUNDS)
    end = SimpleNamespace(name="client-eth0", node=HOST)
    cable = SimpleNamespace(intf1=end, intf2=end)
    monkeypatch.setattr(native, "cpu_is_free", lambda: cpu_is_free)
    monkeypatch.setattr(verify, "echo", echo)
    monkeypatch.setattr(verify, "_blocked", lambda ends: frozenset())
    monkeypatch.setattr(verify, "across", lambda *how: (HOST, HOST, [cable]))
    monkeypatch.setattr(verify, "address_at", lambda host, cable: "10.0.0.2")
    monkeypatch.setattr(verify, "_sent", lambda interfaces: [0, 0])
    monkeypatch.setattr(verify, "_lateness_s", lambda: timers_late_ms / 1000)
    monkeypatch.setattr(verify, "span", lambda present, ip: verify.Span(stated_ms / 2000, stated_ms / 2000))
    shaping = SimpleNamespace(parts=(), present=lambda end: None)
    return verify.check((end, end), shaping).ping.rtt_ms.min


def test_what_is_no_later_than_a_millisecond_is_as_stated(monkeypatch):
    assert outcome(monkeypatch, [80.9], to_itself_ms=None) == 80.9


def test_a_moment_of_other_work_is_waited_for(monkeypatch):
    assert outcome(monkeypatch, [95.0, 83.0, 80.4], to_itself_ms=None) == 80.4


def test_a_slow_machine_takes_its_own_share(monkeypatch):
    """Four times a ping of a host to itself, and its timers' lateness at both ends; the least of all pings counts."""
    assert outcome(monkeypatch, [82.1, 81.05, 81.3], to_itself_ms=0.2, timers_late_ms=0.2) == 81.05


@pytest.mark.parametrize(
    ("least_ms", "to_itself_ms", "cpu_is_free"),
    [(81.3, 0.2, False), (84.0, 0.2, False), (81.3, None, False), (79.9, 9.0, False), (80.2, 0.2, True)],
)
def test_what_the_machine_does_not_explain_is_another_link(monkeypatch, least_ms, to_itself_ms, cpu_is_free):
    line = f"^the round trip takes {least_ms:g} ms instead of the 80 ms asked for, client to client"
    with pytest.raises(NetworkError, match=line):
        outcome(monkeypatch, [least_ms], to_itself_ms, timers_late_ms=0.2, cpu_is_free=cpu_is_free)
