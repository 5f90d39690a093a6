"""tc's commands, and the check of its answers; the answers are real ones, from iproute2 6.15 on kernel 7.3."""

import copy

import pytest

from slownet.links.conditions.link import Condition
from slownet.net.plan import layers
from slownet.net.qdisc import deviations

NONE = "duplicate 0% 0% reorder 0% 0% corrupt 0% 0% slot 0ns"


def lines(way="up", child=False, **fields):
    return [layer.command("eth0") for layer in layers(Condition.parse(**fields), way, child=child)]


def test_a_delay():
    cable = f"qdisc replace dev eth0 root handle 51: netem limit 100000 delay 5000000ns 0ns 0% loss 0% 0% {NONE}"
    assert lines(rtt="10ms") == [cable]


def test_a_rate_is_a_bottleneck_below_the_cable():
    assert (
        lines(rate="2Mbit", queue="30 packets")[1]
        == "qdisc replace dev eth0 parent 51: handle 52: netem limit 30 rate 2000000bit"
    )
    assert lines(rtt="100ms", rate="10Mbit")[1].endswith("limit 83 rate 10000000bit")  # the bandwidth-delay product
    assert " delay 1ns " in lines(rate="2Mbit")[0]


def test_a_bottleneck_stays_without_a_rate():
    assert lines(child=True)[1] == "qdisc replace dev eth0 parent 51: handle 52: netem limit 100000 rate 0bit"


def test_the_kernels_own_queue_of_a_delay():
    assert " limit 1000 " in lines(delay="50ms", queue="1000 packets")[0]


def test_each_direction_has_its_own():
    assert lines("down", rate_up="1Mbit", rate_down="8Mbit")[1].endswith("rate 8000000bit")
    assert len(lines("down", rate_up="1Mbit")) == 1
    assert lines(loss="1%", seed=7)[0].endswith("seed 7")
    assert lines("down", loss="1%", seed=7)[0].endswith("seed 8")


def test_a_cut_loses_what_is_on_its_way_too():
    cut = lines(rtt="10ms", rate="2Mbit", loss="100%")
    assert " delay 5000000ns " in cut[0]
    assert " loss 100% 0% " in cut[0]
    assert cut[1:] == ["qdisc replace dev eth0 parent 51: handle 55: blackhole"]


def test_an_aqm_below_a_bucket():
    assert lines(rate="10Mbit", rtt="100ms", aqm="fq_codel", ecn=False)[1:] == [
        "qdisc replace dev eth0 parent 51: handle 53: tbf rate 10000000bit burst 3028b limit 125000b",
        "qdisc replace dev eth0 parent 53:1 handle 63: fq_codel limit 83 noecn",
    ]
    assert (
        lines(rate="10Mbit", burst="20kB", queue="64kB")[2] == "qdisc replace dev eth0 parent 53:1 handle 61: bfifo limit 64000"
    )
    assert (
        lines(rate="10Mbit", aqm="cake")[1]
        == "qdisc replace dev eth0 parent 51: handle 54: cake bandwidth 10000000bit besteffort"
    )


def test_loss_models():
    assert " loss gemodel 1% 10% 70% 0.1% " in lines(loss="gemodel 1% 10% 70% 0.1%")[0]
    assert " loss state 1% 20% 30% 5% 2% " in lines(loss="state 1% 20% 30% 5% 2%")[0]


SHOWN = [
    {"kind": "netem", "handle": "51:", "root": True, "options": {
        "limit": 100000, "delay": {"delay": 0.01, "jitter": 0.002, "correlation": 0.25}, "seed": 42, "gap": 0,
        "loss-gemodel": {"p": 0.01, "r": 0.1, "1-h": 0.7, "1-k": 0.001}, "ecn": False}},
    {"kind": "netem", "handle": "52:", "parent": "51:", "options": {
        "limit": 30, "rate": {"rate": 250000, "packetoverhead": 0, "cellsize": 0, "celloverhead": 0}, "gap": 0}},
]  # fmt: skip
STATED = {"delay": "10ms", "jitter": "2ms", "loss": "gemodel 1% 10% 70% 0.1%", "rate": "2Mbit", "queue": "30 packets"}


def found(shown, **fields):
    return list(deviations(layers(Condition.parse(**(STATED | fields)), "up"), shown))


def test_the_right_answer():
    assert found(SHOWN, correlation="25%") == []


@pytest.mark.parametrize(
    ("fields", "deviation"),
    [
        ({"delay": "11ms"}, ("netem delay.delay", 0.011, 0.01)),
        ({"loss": "2%"}, ("netem loss-random.loss", 0.02, 0)),
        ({"loss": "gemodel 1% 20% 70% 0.1%"}, ("netem loss-gemodel.r", 0.2, 0.1)),
        ({"rate": "3Mbit"}, ("netem rate.rate", 375_000, 250_000)),
        ({"queue": "31 packets"}, ("netem limit", 31, 30)),
        ({"duplicate": "1%"}, ("netem duplicate.duplicate", 0.01, 0)),
        ({"aqm": "pie"}, ("tbf", "at 51:", "nothing")),
        ({"aqm": "pie"}, ("netem 52:", "nothing", "it")),
        ({"rate": None, "queue": None}, ("netem 52:", "nothing", "it")),
        ({"loss": "1%", "seed": 43}, None),
    ],
)
def test_every_deviation_is_named_with_both_values(fields, deviation):
    if "correlation" not in fields and "seed" not in fields:
        fields = {"correlation": "25%"} | fields
    expected = deviation or ("netem seed", 43, 42)
    assert expected in found(SHOWN, **fields)


def test_an_impairment_that_was_not_stated_is_a_deviation():
    shown = copy.deepcopy(SHOWN)
    shown[0]["options"]["corrupt"] = {"corrupt": 0.01, "correlation": 0}
    assert found(shown, correlation="25%") == [("netem corrupt.corrupt", 0.0, 0.01)]
