"""Links that change over time, as seen by ping, numbered datagrams and TCP."""

import json
import random
import re
import time
from bisect import bisect_right
from collections import Counter

import pytest
from readings import OWN_MS
from traffic import Datagrams, poured

from slownet.lab.host import native
from slownet.links.conditions.jitter import Table
from slownet.links.conditions.link import Condition
from slownet.links.conditions.schedule import Schedule, change, flap
from slownet.links.traces import mahimahi, pinglog
from slownet.links.traces.trace_format import quantile
from slownet.model.errors import ConditionError, NetworkError
from slownet.net import tc
from slownet.runner.measurement import Measurements, new_sample
from slownet.tools.ping import ping

LATE_S = 0.001 if native.cpu_is_free() else 0.05
SHARE = 0.02 if native.cpu_is_free() else 0.05  # with a charged CPU, steps take time and seconds begin late


@pytest.fixture
def link(net):
    return net.link("client", "switch")


def pinged_ms(net, count, interval=0.1):
    """Return {number: ms} of the answers."""
    text = net["client"].cmd(f"ping -i {interval} -c {count} {net['web'].IP()}")
    return {int(number): float(ms) for number, ms in re.findall(r"icmp_seq=(\d+) .*time=([\d.]+)", text)}


def neighbours(net):
    """Return {(host, address): state} as ip shows them."""
    return {
        (name, each["dst"]): each["state"]
        for name in ("client", "web", "db")
        for each in json.loads(net[name].cmd("ip -json -4 neighbour show") or "[]")
    }


def test_each_step_comes_at_its_time_and_the_link_is_restored(net, link):
    with link.set(rtt="100ms"):
        with link.play({"5s": {"rtt": "40ms"}, "9s": "cut", "10s": "restore"}) as playing:
            text = net["client"].cmd(f"ping -D -i 0.1 -c 150 {net['web'].IP()}")
        assert min(pinged_ms(net, 2).values()) >= 100 - 0.02
    start = playing.start + time.time() - time.monotonic()
    answers = re.findall(r"\[([\d.]+)\] .*icmp_seq=(\d+) .*time=([\d.]+)", text)
    times = {int(number): float(ms) for _, number, ms in answers}
    sent = {int(number): float(at) - start - float(ms) / 1000 for at, number, ms in answers}
    lost = sorted(set(range(1, 151)) - set(times))
    assert lost == list(range(lost[0], lost[-1] + 1))
    if native.cpu_is_free():  # ping keeps its interval exactly; number 51 is sent just after 5 s
        assert lost == list(range(91, 101))
        assert [number for number, ms in times.items() if ms > 90] == list(range(1, 51))
    assert 9 - 0.1 - LATE_S - 0.04 <= sent[lost[0] - 1] <= 9 + LATE_S
    assert 10 - LATE_S <= sent[lost[-1] + 1] <= 10 + 0.1 + LATE_S
    for number, at in sent.items():
        if not abs(at - 5) < LATE_S + 0.1:  # pings in flight at the change have one direction of each
            assert abs(times[number] - (100 if at < 5 else 40)) <= OWN_MS, (number, at)
    assert [(step.planned, step.what) for step in playing.steps] == [(5, "+40 ms RTT"), (9, "cut"), (10, "+40 ms RTT")]
    assert all(0 <= step.actual - step.planned <= LATE_S for step in playing.steps)
    assert net.played[-1] is playing.played
    assert net.played[-1].to_json()["steps"][1]["what"] == "cut"


def test_a_sample_knows_that_a_schedule_was_played_meanwhile(net, link):
    """So that none of its first values is taken for a warm-up."""
    samples = [new_sample("ping", {}, {}, number) for number in range(3)]
    measurements = Measurements(net)
    pinged = lambda: ping(net["client"], net["web"].IP(), count=3)  # noqa: E731
    measurements.take(samples[0], pinged)
    with link.play({"1s": {"rtt": "20ms"}}):
        measurements.take(samples[1], pinged)
    measurements.take(samples[2], pinged)
    assert [sample.get("played") for sample in samples] == [None, True, None]


def test_a_flap_loses_the_packets_of_its_gaps(net, link):
    with link.set(delay="5ms"), link.play(flap(up="900ms", down="100ms")) as playing:
        begun = time.monotonic() - playing.start
        rows = Datagrams(net["client"], net["web"], 3000, burst=1, pause=0.001).end()
    came = {number for number, _, _ in rows}
    sent = {number: at - playing.start for number, at, _ in rows}
    first = min(number for number in sent)
    lost_at = [sent[first] + (number - first) * 0.001 for number in range(3000) if number not in came]
    # Packets in flight when the cable is cut are lost, too: 5 ms before the gap.
    assert all(0.895 - LATE_S <= at % 1 < 1 or at % 1 <= LATE_S for at in lost_at)
    inside = [number for number, at in sent.items() if 0.900 + LATE_S <= at % 1 < 1 - LATE_S]
    assert not inside
    assert begun < 1
    assert len(lost_at) == pytest.approx(3 * 105, abs=3 + 3000 * LATE_S)


def test_a_cut_loses_what_travels_and_what_waits_in_both_directions(net, link):
    with link.set(delay="500ms", rate="1Mbit", queue="100 packets"):
        with link.play({"1s": "cut", "3s": "restore"}) as playing:
            stream = Datagrams(net["client"], net["web"], 100, size=1000, burst=100)  # 0.8 s at 1 Mbit/s, arrived after 0.5 s
            back = Datagrams(net["web"], net["client"], 100, size=1000, burst=100)
            rows, returned = stream.end(), back.end()
        assert pinged_ms(net, 3)
    for each in (rows, returned):
        assert 0 < len(each) < 100
        assert max(came for _, _, came in each) - playing.start <= 1 + LATE_S


def test_after_a_long_cut_the_first_packet_passes(net, link):
    before = neighbours(net)
    with link.set(rtt="20ms"), link.play({"0s": "cut", "15s": "restore"}) as playing:
        assert neighbours(net)["client", net["web"].IP()] == ["PERMANENT"]
        times = pinged_ms(net, 200)
    assert playing.steps[1].planned == 15
    assert max(times.values()) <= 20 + OWN_MS  # nothing waited for ARP
    assert sorted(times) == list(range(min(times), 201))
    assert 140 <= min(times) <= 151  # without answers, ping is a little slower than requested
    after = neighbours(net)
    assert not [each for each, state in after.items() if state == ["PERMANENT"] and before.get(each) != ["PERMANENT"]]
    assert ("db", net["web"].IP()) not in after or before.get(("db", net["web"].IP())) == after["db", net["web"].IP()]


def test_what_goes_wrong_in_a_step_is_raised_at_the_end_and_the_link_restored(net, link, monkeypatch):
    true = tc.Programs.run

    def meddled(programs, interface, lines):
        shown = true(programs, interface, lines)
        for each in shown:
            if each["kind"] == "netem" and each["options"].get("delay", {}).get("delay") == 0.02:
                each["options"]["delay"]["delay"] = 0.007
        return shown

    monkeypatch.setattr(tc.Programs, "run", meddled)
    with (
        pytest.raises(NetworkError, match=r"netem delay.delay 0\.007 instead of the 0\.02"),
        link.play({"0s": {"rtt": "10ms"}, "200ms": {"rtt": "40ms"}, "300ms": {}}) as playing,
    ):
        net["client"].cmd("sleep 0.5")
    assert [step.planned for step in playing.steps] == [0]
    monkeypatch.undo()
    assert str(link.condition) == "no condition"
    assert max(pinged_ms(net, 3).values()) <= OWN_MS


def test_one_schedule_a_link_and_nothing_beside_it(link):
    with link.play({"0s": {"rtt": "10ms"}}):
        with pytest.raises(NetworkError, match="a schedule is playing on client-switch"):
            link.set(rtt="20ms")
        with pytest.raises(NetworkError, match="a schedule is already playing on client-switch"), link.play({"0s": "cut"}):
            pass
    with pytest.raises(ConditionError, match="jitter without delay"), link.play({"9s": change(jitter="1ms")}):
        pass
    with link.set(rtt="10ms"):
        pass


def mobile(rates, seed):
    """Return a trace with each rate (Mbit/s) for a second, its packets at random times."""
    generator = random.Random(seed)
    ms = []
    for second, rate in enumerate(rates):
        packets = round(rate * 1e6 / 8 / 1500)
        ms += sorted(1000 * second + generator.randint(1, 1000) for _ in range(packets))
    return mahimahi.parse("\n".join(map(str, [*ms[:-1], 1000 * len(rates)])))


def packets_of(trace, seconds):
    """Return how many packets of a trace may leave in each second."""
    rounds = range(int(seconds / trace.seconds) + 1)
    found = Counter((int(1000 * trace.seconds) * each + ms - 1) // 1000 for each in rounds for ms in trace.ms)
    return [found[second] for second in range(seconds)]


def test_tcp_gets_what_a_mahimahi_trace_lets_through(net, link):
    trace = mobile([4, 6, 0, 9, 2, 5], seed=1)
    with link.set(rtt="20ms"), link.play(mahimahi.schedule(up=trace)) as playing:
        marks = poured(net["client"], net["web"], 8_000_000)
    times, totals = [at - playing.start for at, _ in marks], [0, *(total for _, total in marks)]
    until = int(times[-1])
    assert until >= 12
    passed = [totals[bisect_right(times, second)] / 1448 for second in range(until + 1)]
    for second, stated in list(enumerate(packets_of(trace, until)))[1:]:  # the first second is TCP's slow start
        assert abs(passed[second + 1] - passed[second] - stated) <= max(SHARE * stated, 3), (second, stated)
    stated = sum(packets_of(trace, until)[1:])
    assert passed[until] - passed[1] == pytest.approx(stated, rel=SHARE / 2)


def test_both_directions_have_a_trace_of_their_own(net, link):
    up, down = mobile([1, 3], seed=2), mobile([6, 0, 4], seed=3)
    with link.play(mahimahi.schedule(up=up, down=down, bin_length="200ms")) as playing:
        there = Datagrams(net["client"], net["web"], 1200, size=1500, burst=5, pause=0.005)
        back = Datagrams(net["web"], net["client"], 1500, size=1500, burst=5, pause=0.005)
        arrived = [[came - playing.start for _, _, came in each.end()] for each in (there, back)]
    for times, trace in zip(arrived, (up, down), strict=True):
        found = Counter(map(int, times))
        for second, stated in list(enumerate(packets_of(trace, 5)))[1:]:
            assert abs(found[second] - stated) <= max(SHARE * stated, 5), (second, stated)


def test_round_trips_are_distributed_as_those_that_were_measured(net, link):
    generator = random.Random(3)
    sample = [0.020 + 0.004 * generator.lognormvariate(0, 1) for _ in range(2000)]
    table, mean, unit = Table.measured(sample)
    up = min(sample) / 2
    condition = Condition(up=up, down=mean - up, jitter_down=unit, distribution=table, seed=4)
    with link.set(condition):
        shown = json.loads(net["switch"].cmd("tc -json qdisc show dev switch-eth1"))[0]["options"]["delay"]
        assert shown["delay"] == pytest.approx(mean - up, rel=1e-4)
        assert shown["jitter"] == pytest.approx(unit, rel=1e-4)
        found = [ms / 1000 for ms in pinged_ms(net, 4000, 0.01).values()]
    assert len(found) == 4000
    for part in (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99):
        # 99.9 % of the shares of 4,000 draws lie within 3.3 standard errors; ping prints three digits.
        error = 3.3 * (part * (1 - part) / 4000) ** 0.5
        low, high = quantile(sample, part - error), quantile(sample, min(1, part + error))
        assert low - 0.0001 <= quantile(found, part) <= high + 0.0001 + OWN_MS / 1000, part
    with link.set(delay="50ms", jitter="2ms"):  # netem keeps its last table
        times = pinged_ms(net, 300, 0.01).values()
    assert 96 - 0.02 <= min(times) <= max(times) <= 104 + OWN_MS


def test_a_link_follows_a_log_of_pings_and_pings_make_the_same_log(net, link):
    steps = {"0s": {"rtt": "30ms"}, "2s": {"rtt": "80ms"}, "4s": "cut", "5s": "restore", "6s": {"rtt": "50ms"}}
    with link.play(steps):
        first = pinglog.parse(net["client"].cmd(f"ping -D -i 0.1 -c 80 {net['web'].IP()}").replace("\r", ""))
    with link.play(first.schedule("500ms")):
        again = pinglog.parse(net["client"].cmd(f"ping -D -i 0.1 -c 80 {net['web'].IP()}").replace("\r", ""))
    assert sum(first.lost) == 10
    # A ping at the border of two steps may fall into the other one, and is then averaged or lost with its pings.
    differ = [number for number, pair in enumerate(zip(first.lost, again.lost, strict=True), 1) if pair[0] != pair[1]]
    assert len(differ) <= 2
    pairs = [(a.rtt, b.rtt) for a, b in zip(first.pings, again.pings, strict=True) if a.rtt and b.rtt]
    apart = [abs(one - other) > 0.002 for one, other in pairs]
    assert sum(apart) <= 6


def test_a_repeated_schedule_ends_with_its_with(net, link):
    schedule = Schedule.parse({"0s": {"rtt": "10ms"}, "100ms": {"rtt": "30ms"}}, every="200ms")
    with link.play(schedule) as playing:
        net["client"].cmd("sleep 1.05")
    assert [round(step.planned, 3) for step in playing.steps] == [round(0.1 * each, 3) for each in range(11)]
    assert str(link.condition) == "no condition"
