from slownet.conditions.link import Condition
from slownet.net.told import Told


def test_the_highest_rate_is_remembered_until_the_next_sample_begins():
    told = Told()
    assert told.highest_rate is None
    told["cable"] = Condition.parse(rate_up="2Mbit", rate_down="3Mbit")
    told["cable"] = Condition.parse(rtt="10ms")
    assert told.highest_rate == 3e6
    told["other"] = Condition.parse(rate="1Mbit")
    told.begin()
    assert told.highest_rate == 1e6  # it is still there
    told["other"] = Condition()
    told.begin()
    assert told.highest_rate is None
