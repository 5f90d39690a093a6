"""Which claims depend on what the CPU costs."""

import pytest

from slownet.judge.claim import all_of, any_of, bound, equal, law, not_, predicted, ratio
from slownet.judge.claim.laws import constant_round_trips
from slownet.judge.claim.requirements import any_depends_on_cpu, depends_on_cpu

AT, OF = {"rtt": "10ms"}, {"rtt": "0ms"}
LAW = law("time_per_request_ms", round_trips=4)
LIMIT = bound("time_per_request_ms", at=AT, at_most="50ms")


class Own:
    """A claim of a user's own class."""

    metric = "time_ms"

    def judge(self, run, siblings):
        raise NotImplementedError


@pytest.mark.parametrize("claim", [LAW, all_of(LAW, LAW), not_(LAW), bound("loss", at=AT, at_most=0.1)])
def test_what_links_make_does_not(claim):
    assert not depends_on_cpu(claim)


@pytest.mark.parametrize(
    "claim",
    [
        LIMIT, all_of(LAW, LIMIT), any_of(LAW, LIMIT), not_(LIMIT), Own(),
        ratio("time_per_request_ms", AT, of=OF, at_most=2), equal("wait_ms", AT, of=OF),
        predicted("time_per_request_ms", AT, expected=40, because="theory"),
        bound("users", at=AT, at_least=3),
    ],
    ids=lambda claim: type(claim).__name__,
)  # fmt: skip
def test_what_takes_time_may(claim):
    assert depends_on_cpu(claim)


def test_without_a_claim_a_number_is_asked_for():
    assert any_depends_on_cpu([])
    assert not any_depends_on_cpu([LAW, constant_round_trips("time_ms", within=0.03)])
    assert any_depends_on_cpu([LAW, LIMIT])
