from slownet.links.conditions.link import Condition
from slownet.net.seeds import ConditionLog


def test_the_highest_rate_is_remembered_until_the_next_sample_begins():
    told = ConditionLog()
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


def test_each_links_conditions_are_remembered_until_the_next_sample_begins():
    told = ConditionLog()
    far, lossy = Condition.parse(rtt="10ms"), Condition.parse(loss="1%")
    for condition in (far, lossy, far, Condition()):  # the last one removes it
        told["cable"] = condition
    told["other"] = Condition()
    assert told.given == {"cable": [far, lossy]}
    told["other"] = lossy
    told.begin()
    assert told.given == {"other": [lossy]}  # it is still there


def test_seeds_and_chance_are_remembered_until_the_next_sample_begins():
    told = ConditionLog()
    assert (told.random, told.seeds) == (False, [])
    told["cable"] = Condition.parse(rtt="10ms", seed=4)
    assert (told.random, told.seeds) == (False, [])  # nothing is random
    told["cable"] = Condition.parse(loss="1%", seed=7)
    told["other"] = Condition.parse(loss="1%")
    told["cable"] = Condition.parse(loss="2%", seed=9)
    assert (told.random, told.seeds) == (True, [7, 9])
    told.begin()
    assert (told.random, told.seeds) == (True, [9])  # it is still there
    told["cable"] = told["other"] = Condition()
    told.begin()
    assert (told.random, told.seeds) == (False, [])
