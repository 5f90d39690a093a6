"""What the packets of an operation say that its round trips were."""

from types import SimpleNamespace

from slownet.costs import inside
from slownet.model.errors import ToolError
from slownet.waits.account import Account, Cause, Step

MS = 1_000_000


def step(begin, end, cause, source="client", target="server", **more):
    return Step(begin * MS, end * MS, cause, source, target, **more)


STEPS = (
    step(0, 50, Cause.HANDSHAKE, trip=True, detail="SYN"),
    step(50, 100, Cause.HANDSHAKE, "server", "client", trip=True, detail="SYN"),
    step(100, 150, Cause.EXCHANGE, trip=True, size=14),
    step(150, 170, Cause.TIMER, "server", "server"),
    step(170, 220, Cause.EXCHANGE, "server", "client", trip=True, size=5),
    step(220, 221, Cause.SERIALISATION, "server", "client"),
)


def captured(made):
    return SimpleNamespace(made=made)


def test_round_trips_are_half_the_messages_and_named_in_order():
    asked = []
    found = inside.account_of(captured(lambda between: asked.append(between) or Account("what", "client", STEPS)), 3, 9)
    assert asked == [(3, 9)]
    assert found == {
        "trips": 2.0,
        "parts": [
            "TCP handshake (SYN)", "0.5 x question and answer: 14 bytes", "(timer of the program)",
            "0.5 x question and answer: 5 bytes",
        ],
    }  # fmt: skip


def test_an_operation_without_packets_has_an_empty_account():
    def made(between):
        raise ToolError("client asked nothing")

    assert inside.account_of(captured(made), 0, 1) == {"trips": 0, "parts": []}
