"""Each field of a condition against independent witnesses: `tc -json`, ping and our own packets."""

import json
import re
from itertools import groupby, pairwise

import pytest
from readings import OWN_MS, qdiscs
from scipy.stats import binomtest, norm
from traffic import Datagrams, goodput, lost

from slownet.links.conditions.impairment import GilbertElliott
from slownet.links.conditions.profiles import TABLE, find
from slownet.model.errors import NetworkError
from slownet.net import tc


@pytest.fixture
def link(net):
    return net.link("client", "switch")


def shown(net):
    """Return the queueing disciplines that the client sends through."""
    return qdiscs(net["client"], "client-eth0")


def pings_ms(net, count=5, interval=0.05, words=""):
    text = net["client"].cmd(f"ping -c {count} -i {interval} {words} {net['web'].IP()}")
    return [float(each) for each in re.findall(r"time=([\d.]+)", text)]


EVERYTHING = {
    "delay": "20ms", "jitter": "2ms", "distribution": "normal", "correlation": "25%", "loss": "1%",
    "duplicate": "2%", "reorder": "3%", "gap": 4, "corrupt": "0.1%", "rate": "2Mbit", "queue": "30 packets",
}  # fmt: skip


def test_every_field_reaches_the_kernel_and_goes_back_to_none(net, link):
    with link.set(**EVERYTHING):
        cable, bottleneck = shown(net)["51:"], shown(net)["52:"]
        assert cable["delay"] == {"delay": 0.02, "jitter": 0.002, "correlation": pytest.approx(0.25)}
        assert cable["loss-random"] == {"loss": pytest.approx(0.01), "correlation": 0}
        assert cable["duplicate"] == {"duplicate": pytest.approx(0.02), "correlation": 0}
        assert cable["reorder"] == {"reorder": pytest.approx(0.03), "correlation": 0}
        assert cable["corrupt"] == {"corrupt": pytest.approx(0.001), "correlation": 0}
        assert cable["gap"] == 4
        assert (bottleneck["rate"]["rate"], bottleneck["limit"]) == (250_000, 30)
    for options in shown(net).values():
        assert not {"delay", "loss-random", "duplicate", "reorder", "corrupt", "rate"} & set(options)
    assert str(link.condition) == "no condition"
    assert max(pings_ms(net)) < OWN_MS


@pytest.mark.parametrize(
    ("loss", "key", "stated"),
    [
        ("gemodel 1% 10% 70% 0.1%", "loss-gemodel", {"p": 0.01, "r": 0.1, "1-h": 0.7, "1-k": 0.001}),
        ("state 1% 20% 30% 5% 2%", "loss-state", {"p13": 0.01, "p31": 0.2, "p32": 0.3, "p23": 0.05, "p14": 0.02}),
    ],
)
def test_loss_models_reach_the_kernel(net, link, loss, key, stated):
    with link.set(loss=loss, seed=1):
        assert shown(net)["51:"][key] == pytest.approx(stated)
        assert shown(net)["51:"]["seed"] == 1
    assert key not in shown(net)["51:"]


@pytest.mark.parametrize("aqm", ["fq_codel", "red", "pie"])
@pytest.mark.parametrize("ecn", [True, False])
def test_an_aqm_manages_the_bottleneck(net, link, aqm, ecn):
    with link.set(rate="10Mbit", queue="200 packets", aqm=aqm, ecn=ecn):
        found = shown(net)
        assert (found["53:"]["kind"], found["53:"]["rate"]) == ("tbf", 1_250_000)
        (managed,) = [options for options in found.values() if options["kind"] == aqm]
        assert managed.get("ecn", False) is ecn


def test_cake_paces_by_itself(net, link):
    with link.set(rate="10Mbit", aqm="cake"):
        assert shown(net)["54:"]["bandwidth"] == 1_250_000


def test_delays_of_one_direction(net, link):
    with link.set(delay_up="30ms", delay_down="5ms"):
        assert 35 <= min(pings_ms(net)) <= 35 + OWN_MS
        assert shown(net)["51:"]["delay"]["delay"] == pytest.approx(0.030)
        assert net.link("switch", "client").condition.up == pytest.approx(0.005)


@pytest.mark.parametrize("distribution", ["uniform", "normal", "pareto", "paretonormal"])
def test_jitter_spreads_the_round_trip(net, link, distribution):
    with link.set(delay="50ms", jitter="2ms", distribution=distribution):
        times = pings_ms(net, count=300, interval=0.01)
    # Two draws, each of 2 ms: half width of a uniform (sd 1.15 ms), standard deviation of the others.
    assert max(times) - min(times) > 3
    if distribution == "uniform":  # also after another table was used
        assert min(times) >= 96 - 0.02
        assert max(times) <= 104 + OWN_MS


def test_an_idle_line_takes_a_packets_length_over_its_rate(net, link):
    with link.set(rate="200kbit"):
        # 98 bytes of frame there and back at 25,000 B/s.
        assert 7.84 - 0.02 <= min(pings_ms(net)) <= 7.84 + OWN_MS


@pytest.mark.parametrize(
    "how",
    [
        {"rate": "200kbit"}, {"rate": "2Mbit", "rtt": "40ms"}, {"rate": "50Mbit"}, {"rate": "2Mbit", "burst": "10kB"},
        {"rate": "2Mbit", "aqm": "fq_codel"}, {"rate": "2Mbit", "aqm": "cake"}, {"rate_up": "2Mbit", "rate_down": "500kbit"},
    ],
    ids=str,
)  # fmt: skip
def test_goodput_is_the_rate_times_payload_over_frame(net, link, how):
    with link.set(**how):
        rate = link.condition.rate_up
        measured = goodput(net["client"], net["web"], max(500_000, int(rate / 8)))
    assert measured == pytest.approx(rate * 1448 / 1514, rel=0.02)


@pytest.mark.parametrize(
    ("queue", "seconds"),
    [("100 packets", 100 * 1514 * 8 / 10e6), ("50ms", 0.050), ("60560B", 40 * 1514 * 8 / 10e6), ("2 bdp", 0.2)],
)
def test_a_full_queue_delays_by_its_size_over_the_rate(net, link, queue, seconds):
    with link.set(rate="10Mbit", rtt="100ms", queue=queue):
        rows = Datagrams(net["client"], net["web"], 600, size=1500, burst=600).end()
    delay = max(came - sent for _, sent, came in rows) - 0.050
    assert delay == pytest.approx(seconds, rel=0.05)


def test_a_share_of_packets_is_lost_and_a_seed_loses_the_same_again(net, link):
    def once(seed):
        with link.set(delay="5ms", loss="5%", seed=seed):
            return lost(net, 4000)

    for host in (net["client"], net["web"]):
        host.cmd("ip neighbour flush all")  # removes learned entries; the permanent ones for a seed stay
    first = once(7)
    interval = binomtest(len(first), 4000).proportion_ci(confidence_level=0.99)
    assert interval.low <= 0.05 <= interval.high
    assert once(7) == first
    assert once(8) != first


def test_bursts_are_as_long_as_gilbert_and_elliott_say(net, link):
    with link.set(loss="5% in bursts of 8", seed=3):
        gone = set(lost(net, 20_000))
    runs = [len(list(run)) for missing, run in groupby(range(20_000), gone.__contains__) if missing]
    model = GilbertElliott.bursts(0.05, 8)
    # Geometric lengths: sd sqrt(1 - r)/r; 99 % of the means lie within 2.58 standard errors.
    error = norm.ppf(0.995) * (1 - model.r) ** 0.5 / model.r / len(runs) ** 0.5
    assert abs(sum(runs) / len(runs) - 8) <= error
    # A renewal process: the variance of the share is that of independent loss times (2 - p - r)/(p + r).
    spread = (0.05 * 0.95 / 20_000 * (2 - model.p - model.r) / (model.p + model.r)) ** 0.5
    assert abs(len(gone) / 20_000 - 0.05) <= norm.ppf(0.995) * spread


def test_a_correlated_loss_loses_what_it_states(net, link):
    with link.set(delay="5ms", loss="5% 50%"):
        assert shown(net)["51:"]["loss-random"]["correlation"] == pytest.approx(0.5)
        gone = len(lost(net, 8000))
    # Neighbours are alike: the variance is at most (1 + c)/(1 - c) = 3 times that of independent loss.
    # It has no seed, so five standard deviations: 2.9 to 7.1 %; with the uncorrected probability netem would lose nothing.
    assert abs(gone / 8000 - 0.05) <= 5 * (3 * 0.05 * 0.95 / 8000) ** 0.5


def test_packets_are_doubled_and_overtaken(net, link):
    with link.set(delay="5ms", duplicate="10%", seed=5):
        rows = Datagrams(net["client"], net["web"], 2000).end()
    interval = binomtest(len(rows) - 2000, 2000).proportion_ci(confidence_level=0.99)
    assert interval.low <= 0.10 <= interval.high
    with link.set(delay="50ms", reorder="20%", seed=5):
        rows = Datagrams(net["client"], net["web"], 2000).end()
    early = sum(came - sent < 0.025 for _, sent, came in rows)
    interval = binomtest(early, 2000).proportion_ci(confidence_level=0.99)
    assert interval.low <= 0.20 <= interval.high


CHANGES = [
    {"delay": "30ms"}, {"delay": "5ms"}, {}, {"rate": "10Mbit", "queue": "2000 packets"}, {"delay": "10ms", "jitter": "3ms"},
    {"rate": "10Mbit", "queue": "2000 packets", "aqm": "pie"}, {"rate": "20Mbit", "burst": "30kB", "queue": "2000 packets"},
    {"rate": "10Mbit", "queue": "3MB"}, {"rate": "10Mbit", "queue": "2000 packets", "aqm": "fq_codel"}, {},
]  # fmt: skip


def test_no_packet_is_lost_by_a_change(net, link):
    # 1 MB/s in bursts of 40 packets: at every change packets are in flight and in the queue.
    stream = Datagrams(net["client"], net["web"], 8000, size=1000, burst=40, pause=0.040)
    for fields in CHANGES:
        link.set(ping=False, **fields)
        net["db"].cmd("sleep 0.3")
    assert len(stream.end()) == 8000


EACH = [
    {"delay": "30ms"}, {"rtt": "30ms"}, {"delay_up": "20ms"}, {"delay_down": "20ms"}, {"delay": "30ms", "jitter": "10ms"},
    {"delay": "30ms", "jitter": "5ms", "distribution": "pareto"}, {"delay": "30ms", "jitter": "9ms", "correlation": "25%"},
    {"delay": "30ms", "reorder": "10%", "gap": 3}, {"rate": "20Mbit", "queue": "1MB"}, {"rate_up": "10Mbit", "queue": "100ms"},
    {"rate": "20Mbit", "burst": "20kB", "queue": "1MB"}, {"rate": "20Mbit", "queue": "900 packets", "aqm": "fq_codel"},
    {"rate": "20Mbit", "aqm": "cake"}, {"rate": "20Mbit", "queue": "1MB", "aqm": "red 500kB 900kB"},
    {"rate": "20Mbit", "queue": "900 packets", "aqm": "pie", "ecn": True}, {"mtu": 1400}, {"offloads": True}, {"seed": 4},
    {"queue": "5000 packets"},
]  # fmt: skip


@pytest.mark.parametrize("fields", EACH, ids=str)
def test_each_field_comes_and_goes_without_a_packet_lost(net, link, fields):
    stream = Datagrams(net["client"], net["web"], 1500, size=1000, burst=15, pause=0.015, quiet=1)
    link.set(ping=False, **fields)
    net["db"].cmd("sleep 0.4")
    link.set(ping=False)
    assert len(stream.end()) == 1500
    assert str(link.condition) == "no condition"


def test_a_change_of_a_link_that_is_full_is_no_error(net, link):
    link.set(rate="2Mbit", queue="50ms")
    # 4 Mbit/s on a link of 2: the queue is full, and each ping waits 50 ms or is dropped
    stream = Datagrams(net["client"], net["web"], 2000, size=1000, burst=10, pause=0.020, quiet=1)
    try:
        net["db"].cmd("sleep 0.2")
        before = len(net.verified)
        link.set(rate="2Mbit", queue="60ms", rtt="4ms")
        assert len(net.verified) == before
    finally:
        assert 0 < len(stream.end()) < 2000
        link.set()


def test_mtu_and_offloads(net, link):
    def passes(size):
        return len(pings_ms(net, count=1, words=f"-M do -W 1 -s {size - 28}")) == 1

    def segments():
        (shown,) = json.loads(net["client"].cmd("ip -details -json link show dev client-eth0"))
        on = "tcp-segmentation-offload: on" in net["client"].cmd("ethtool -k client-eth0")
        assert shown["gso_max_segs"] == (65535 if on else 1)
        return on

    assert passes(1500)
    with link.set(mtu=1400, offloads=True):
        assert passes(1400)
        assert not passes(1401)
        assert segments()
    assert passes(1500)
    assert not segments()


def test_one_direction_may_lose_alone(net, link):
    with link.set(loss_up="100%"):
        assert shown(net)["51:"]["loss-random"]["loss"] == 1
        assert lost(net, 20, quiet=1) == list(range(20))
    with link.set(loss_down="100%"):
        assert "loss-random" not in shown(net)["51:"]
        assert lost(net, 20, quiet=1) == []


def test_a_packet_of_tcp_holds_one_segment_where_offloads_are_off(net, link):
    # Two segments in one packet would arrive together and be lost together.
    with link.set(rate="200kbit"):
        net["web"].cmd("tcpdump -i web-eth0 -w /tmp/segments.pcap tcp & sleep 0.5")
        goodput(net["client"], net["web"], 100_000)
        net["web"].cmd("sleep 0.5; kill %1; wait %1")
        text = net["web"].cmd("tcpdump -tt -r /tmp/segments.pcap 'greater 1000' 2>/dev/null; rm /tmp/segments.pcap")
    came = [float(line.split()[0]) for line in text.splitlines()]
    assert len(came) >= 60
    assert min(after - before for before, after in pairwise(came)) >= 0.9 * 1514 * 8 / 200e3


def test_names_and_more(net, link):
    with link.set("LTE"):
        assert link.condition.rtt == pytest.approx(0.070)
        with link.set("LTE", loss="1%"):
            assert shown(net)["51:"]["loss-random"]["loss"] == pytest.approx(0.01)
        assert "loss-random" not in shown(net)["51:"]


@pytest.mark.parametrize("name", [row.name for row in TABLE])
def test_every_named_condition_can_be_set_and_is_verified(net, link, name):
    before = len(net.verified)
    with link.set(name):
        assert len(net.verified) == before + 1
        assert net.verified[-1].rtt_ms.min >= 1000 * find(name).rtt - 0.02
    assert str(link.condition) == "no condition"


def test_a_link_is_cut_and_another_one_behind_it_can_still_be_set(net, link):
    with link.set(loss="100%"):
        assert not pings_ms(net, count=2, words="-W 1")
        with net.link("web", "switch").set(rtt="10ms"):
            assert net.link("web", "switch").condition.rtt == pytest.approx(0.010)
    assert len(pings_ms(net, count=2)) == 2


def test_a_kernel_that_does_otherwise_is_an_error_that_names_both_values(net, link, monkeypatch):
    true = tc.Programs.run

    def meddled(programs, interface, lines):
        shown = true(programs, interface, lines)
        for each in shown:
            if each["kind"] == "netem" and "delay" in each["options"]:
                each["options"]["delay"]["delay"] = 0.007
        return shown

    monkeypatch.setattr(tc.Programs, "run", meddled)
    with pytest.raises(NetworkError, match=r"netem delay.delay 0\.007 instead of the 0\.01.*client-eth0"):
        link.set(delay="10ms", ping=False)
    monkeypatch.undo()
    assert str(link.condition) == "no condition"


def test_the_kernels_no_is_an_error_in_its_words_and_the_next_change_works(net, link):
    with pytest.raises(
        NetworkError, match=r"""tc: What is "nosuch"\? in 'qdisc replace .*', interface client-eth0 of client"""
    ) as caught:
        net.shaping.programs.run(link._ends[0], ["qdisc replace dev client-eth0 root handle 51: netem nosuch 1"])
    assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(NetworkError, match=r"ip: .*greater.*interface client-eth0"):
        net.shaping.programs.ip(link._ends[0], ["link set dev client-eth0 mtu 70000"])
    with link.set(mtu=9000):
        assert link.condition.mtu == 9000
    with link.set(rtt="10ms"):
        assert 10 <= min(pings_ms(net)) <= 10 + OWN_MS


def test_somebody_elses_shaping_is_not_overwritten(net):
    net["db"].cmd("tc qdisc add dev db-eth0 root handle 5: htb default 1")
    try:
        with pytest.raises(NetworkError, match="another program's htb 5: shapes"):
            net.link("db", "switch").set(rtt="10ms")
        assert "htb 5:" in net["db"].cmd("tc qdisc show dev db-eth0")
    finally:
        net["db"].cmd("tc qdisc del dev db-eth0 root")
