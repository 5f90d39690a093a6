import pytest

from slownet.links.conditions.impairment import Chance, GilbertElliott, Markov
from slownet.links.conditions.link import Condition
from slownet.links.conditions.queueing import Queue
from slownet.model.errors import ConditionError, SlownetError, UnitError


@pytest.mark.parametrize(
    ("fields", "up", "down"),
    [
        ({"delay": "5ms"}, 0.005, 0.005),
        ({"rtt": "5ms"}, 0.0025, 0.0025),
        ({"delay_up": "30ms", "delay_down": "5ms"}, 0.030, 0.005),
        ({"delay_up": "30ms"}, 0.030, 0.0),
        ({}, 0.0, 0.0),
        ({"rtt": None, "delay": "1ms"}, 0.001, 0.001),
    ],
)
def test_delay_is_one_way_and_rtt_is_a_round_trip(fields, up, down):
    condition = Condition.parse(**fields)
    assert (condition.up, condition.down) == (up, down)
    assert condition.rtt == up + down


def test_every_field_is_read_with_its_unit():
    condition = Condition.parse(
        delay="20ms", jitter="2ms", distribution="pareto", correlation="25%", loss="1% 10%", duplicate="2%", reorder="3% 30%",
        gap=4, corrupt="0.1%", rate_up="384kbit", rate_down="1.5Mbit", burst="3kB", queue="50ms", aqm="red", ecn=True,
        mtu=1400, offloads="on",
    )  # fmt: skip
    assert condition == Condition(
        up=0.020, down=0.020, jitter_up=0.002, jitter_down=0.002, distribution="pareto", correlation=0.25,
        loss=Chance(0.01, 0.1), duplicate=Chance(0.02), reorder=Chance(0.03, 0.3), gap=4, corrupt=Chance(0.001), rate_up=384e3,
        rate_down=1.5e6, burst=3000, queue=Queue(0.05, "seconds"), aqm="red", ecn=True, mtu=1400, offloads=True,
    )  # fmt: skip


def test_loss_may_be_of_one_direction():
    condition = Condition.parse(loss_up="10%")
    assert (condition.loses("up"), condition.loses("down")) == (Chance(0.1), None)
    assert condition.reversed == Condition.parse(loss_down="10%")
    assert condition.steady == Condition()
    assert str(condition) == "loses 10 % up"
    both = Condition.parse(loss="10%")
    assert both.loses("up") == both.loses("down") == Chance(0.1)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"rtt": "1ms", "delay": "1ms"}, "a condition takes delay or rtt, not both"),
        ({"rtt": "1ms", "delay_up": "1ms"}, "a condition takes rtt or delay_up, not both"),
        ({"rate": "1Mbit", "rate_up": "1Mbit"}, "a condition takes rate or rate_up, not both"),
        ({"jiter": "1ms"}, "a condition has no field 'jiter': did you mean 'jitter'?"),
        ({"up": 3}, "a condition has no field 'up'"),
        ({"jitter": "1ms"}, "jitter without delay"),
        ({"jitter": "1ms", "delay_up": "5ms"}, "jitter without delay"),
        ({"jitter": "6ms", "delay": "5ms"}, "jitter of 6 ms around a delay of 5 ms"),
        ({"delay": "5ms", "correlation": "5%"}, "correlation without jitter"),
        ({"delay": "5ms", "distribution": "normal"}, "a distribution without jitter"),
        ({"delay": "5ms", "jitter": "1ms", "distribution": "nomal"}, "no distribution 'nomal': did you mean 'normal'?"),
        ({"reorder": "5%"}, "reorder without delay"),
        ({"delay": "5ms", "gap": 5}, "gap without reorder"),
        ({"delay": "5ms", "reorder": "5%", "gap": 0}, "gap 0 is not a whole number of 1 or more"),
        ({"loss": "1%", "loss_up": "1%"}, "a condition takes loss or loss_up, not both"),
        ({"loss": "0% 25%"}, "loss '0% 25%' correlates an event of probability 0"),
        ({"loss": "1% 25%", "seed": 1}, "correlation with a seed"),
        ({"loss": "1% 2% 3%"}, "loss '1% 2% 3%' has 3 numbers instead of 1 to 2"),
        ({"loss": "90% in bursts of 2"}, "bursts of 2 packets cannot lose 90 %: bursts of 9 packets or more can"),
        ({"loss": "5% in bursts of many"}, "'many' is not a burst length"),
        ({"loss": GilbertElliott(1.5, 0.1)}, "1.5 is not a probability"),
        ({"burst": "3kB"}, "burst without rate"),
        ({"rate": "1Mbit", "burst": "1kB"}, "a burst of 1000 B lets no full frame through: give 1514B or more"),
        ({"rate": "7bit"}, "the kernel has no rate below 8 bit/s"),
        ({"queue": "50ms"}, "a queue of 50 ms without rate"),
        ({"queue": "bdp"}, "a queue of 1 bdp without rate"),
        ({"rate": "1Mbit", "queue": "0 packets"}, "queue '0 packets' is empty"),
        ({"rate": "1Mbit", "queue": "much"}, "'much' is not a queue size"),
        ({"aqm": "fq_codel"}, "fq_codel without rate"),
        ({"rate": "1Mbit", "aqm": "codel"}, "no AQM 'codel': did you mean 'fq_codel'?"),
        ({"rate": "1Mbit", "aqm": "cake", "queue": "9 packets"}, "a queue with cake"),
        ({"rate": "1Mbit", "aqm": "cake", "burst": "9kB"}, "a burst with cake"),
        ({"rate": "1Mbit", "aqm": "cake", "ecn": False}, "cake without ecn: it always marks"),
        ({"rate": "1Mbit", "ecn": True}, "ecn without an AQM"),
        ({"mtu": 67}, "mtu 67 is not a whole number of 68 or more"),
        ({"mtu": 70000}, "no MTU of 70000"),
        ({"seed": -1}, "seed -1 is not a whole number of 0 or more"),
        ({"offloads": "maybe"}, "offloads 'maybe' is neither on nor off"),
        ({"loss": "101%"}, "percentage '101%' is above 100%"),
        ({"loss": "1"}, "percentage '1' has no unit"),
        ({"loss": 0.01}, "percentage 0.01 has no unit"),
    ],
)
def test_what_cannot_be_says_why_in_one_line(fields, line):
    with pytest.raises(SlownetError) as caught:
        Condition.parse(**fields)
    assert str(caught.value).startswith(line)
    assert len(str(caught.value).splitlines()) == 1
    assert isinstance(caught.value, ConditionError | UnitError)


def test_none_is_as_good_as_not_given():
    nothing = dict.fromkeys(
        ("rtt", "delay", "delay_up", "jitter", "loss", "rate", "rate_up", "queue", "aqm", "ecn", "mtu", "seed")
    )
    assert Condition.parse(**nothing) == Condition()
    assert Condition.parse(loss="0%", rtt="0ms") == Condition()


def test_a_condition_but_for_some_fields():
    lte = Condition.parse(rtt="70ms", rate="12Mbit", loss="1%")
    assert lte.but(loss="2%") == Condition.parse(rtt="70ms", rate="12Mbit", loss="2%")
    assert lte.but(loss=None, rate=None) == Condition.parse(rtt="70ms")
    assert lte.but(rate_up="1Mbit").rate_down == 12e6
    assert lte.but(rate=None, rate_up="1Mbit") == Condition.parse(rtt="70ms", rate_up="1Mbit", rate_down="12Mbit", loss="1%")
    assert (lte.but(delay_up="50ms").up, lte.but(delay_up="50ms").down) == (0.050, 0.035)
    assert lte.but(rtt=None, delay_up="50ms").rtt == pytest.approx(0.050)


def test_steady_is_what_a_ping_can_verify():
    chancy = Condition.parse(rtt="70ms", rate="12Mbit", loss="1%", seed=4)
    assert chancy.chancy
    assert chancy.steady == Condition.parse(rtt="70ms", rate="12Mbit")
    assert not chancy.steady.chancy


def test_from_the_other_end():
    condition = Condition.parse(delay_up="3ms", delay_down="1ms", rate_up="1Mbit", rate_down="8Mbit", loss="1%")
    assert condition.reversed == Condition.parse(
        delay_up="1ms", delay_down="3ms", rate_up="8Mbit", rate_down="1Mbit", loss="1%"
    )
    assert condition.reversed.reversed == condition


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "no condition"),
        ({"rtt": "10ms"}, "+10 ms RTT"),
        ({"delay_up": "3ms", "delay_down": "1ms"}, "+4 ms RTT (3 ms up, 1 ms down)"),
        ({"rtt": "10ms", "loss": "2% in bursts of 8", "rate": "2000kbit"}, "+10 ms RTT, loses 2 % in bursts of 8, 2 Mbit"),
        ({"rate_up": "384kbit", "rate_down": "1500kbit", "queue": "bdp"}, "384 kbit up, 1.5 Mbit down, queue 1 bdp"),
        ({"rate": "1Gbit", "aqm": "red", "ecn": True, "mtu": 9000}, "1 Gbit, red with ECN, MTU 9000"),
    ],
)
def test_for_people(fields, text):
    assert str(Condition.parse(**fields)) == text


@pytest.mark.parametrize(
    ("text", "model", "mean"),
    [
        ("1%", Chance(0.01), 0.01),
        ("2% in bursts of 8", GilbertElliott(0.02 / 8 / 0.98, 1 / 8), 0.02),
        ("gemodel 1% 10%", GilbertElliott(0.01, 0.1), 1 / 11),
        ("gemodel 1%", GilbertElliott(0.01, 0.99), 0.01),
        ("gemodel 1% 10% 70% 0.1%", GilbertElliott(0.01, 0.1, 0.7, 0.001), (0.7 + 10 * 0.001) / 11),
        ("state 1%", Markov(0.01, 0.99), 0.01),
        ("state 1% 20% 30% 5% 2%", Markov(0.01, 0.2, 0.3, 0.05, 0.02), (0.05 + 0.02) / (1 + 0.3 + 0.05 + 0.02)),
    ],
)
def test_loss_models(text, model, mean):
    loss = Condition.parse(loss=text).loss
    assert loss == model
    assert loss.mean == pytest.approx(mean)


@pytest.mark.parametrize(
    ("text", "packets", "count"),
    [
        ("100 packets", 100, 151_400), ("1 packet", 1, 1514), ("64kB", 43, 64_000), ("50ms", 42, 62_500),
        ("bdp", 83, 125_000), ("0.5 bdp", 42, 62_500), ("0.01bdp", 10, 15_140), ("1us", 1, 1514),
    ],
)  # fmt: skip
def test_a_queue_at_10_mbit_and_100_ms(text, packets, count):
    queue = Queue.parse(text)
    assert queue.packets(10e6, 0.1, 1514) == packets
    assert queue.bytes(10e6, 0.1, 1514) == count
