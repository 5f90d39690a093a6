"""The ping that verifies a link."""

from types import SimpleNamespace

import pytest

from slownet.lab import native
from slownet.net import verify

HOST = SimpleNamespace(name="client")


def interval_s(monkeypatch, low_ms, high_ms, cpu_is_free):
    """Return the interval of the ping over a path whose ends add that much to a round trip."""
    asked = []
    monkeypatch.setattr(native, "cpu_is_free", lambda: cpu_is_free)
    monkeypatch.setattr(verify, "ping", lambda source, address, **options: asked.append(options["interval"]))
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
