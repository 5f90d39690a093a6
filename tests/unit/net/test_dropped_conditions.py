"""What queueing disciplines no longer do of a stated condition."""

import pytest

from slownet.links.conditions.link import Condition
from slownet.links.conditions.oneway import OneWay
from slownet.net.fast_mininet import dropped

NETEM = {"kind": "netem", "handle": "10:", "options": {"delay": {"delay": 0.02, "jitter": 0.0}, "loss-random": {"loss": 0.01}}}
SHORT = {"kind": "netem", "handle": "1:", "options": {"delay": {"delay": 0.005}, "limit": 1000}}
HTB = {"kind": "htb", "handle": "1:", "options": {"default": "0x1"}}
STATED = OneWay(Condition.parse(delay="20ms", loss="1%", rate="10Mbit"))


@pytest.mark.parametrize(
    ("shown", "lost"),
    [
        ([HTB, NETEM], []),
        ([HTB], ["delay of 20 ms", "loss"]),
        ([NETEM], ["rate of 10 Mbit/s"]),
        ([SHORT], ["loss", "rate of 10 Mbit/s"]),
        ([{**NETEM, "options": {**NETEM["options"], "rate": {"rate": 125000}}}], []),
        ([], ["delay of 20 ms", "loss", "rate of 10 Mbit/s"]),
    ],
)
def test_what_is_gone_is_in_words(shown, lost):
    assert dropped(STATED, shown) == lost


def test_nothing_is_gone_of_no_condition():
    assert dropped(OneWay(Condition()), [HTB]) == []
