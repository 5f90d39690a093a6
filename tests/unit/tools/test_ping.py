"""ping's parser on output of iputils' ping on Debian 13."""

from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.tools.ping import Reply, Rtt, parse

DATA = Path(__file__).parent / "data"


def captured(name: str):
    return parse((DATA / f"{name}.txt").read_text())


def test_five_replies():
    record = captured("ping-5")
    assert (record.sent, record.received, record.loss) == (5, 5, 0.0)
    assert record.rtt_ms == Rtt(min=0.055, avg=0.102, max=0.268, mdev=0.083)
    assert record.replies[0] == Reply(sequence=1, ms=0.268)
    assert [reply.ms for reply in record.replies] == [0.268, 0.058, 0.055, 0.061, 0.068]
    assert record.problem == ""


def test_metrics_give_the_samples_deviation():
    metrics = captured("ping-5").metrics()
    assert list(metrics) == ["rtt_ms", "lost_percent"]  # a run's main metric is the first
    values = metrics["rtt_ms"].pop("values")
    assert metrics["rtt_ms"] == {"mean": 0.102, "sd": pytest.approx(0.083 * (5 / 4) ** 0.5), "n": 5, "ordered": True}
    assert sum(values) / 5 == pytest.approx(0.102, abs=0.001)
    assert metrics["lost_percent"] == {"mean": 0.0, "sd": 0.0, "n": 5}


def test_loss_is_a_result_and_not_an_error():
    record = captured("ping-loss")
    assert (record.sent, record.received) == (10, 7)
    assert record.loss == pytest.approx(0.3)
    assert [reply.sequence for reply in record.replies] == [1, 2, 3, 7, 8, 9, 10]
    assert record.problem == ""
    assert record.metrics()["lost_percent"] == {
        "mean": pytest.approx(30.0),
        "sd": pytest.approx(100 * (0.21 * 10 / 9) ** 0.5),
        "n": 10,
    }


def test_without_replies_there_is_no_round_trip():
    record = captured("ping-silent")
    assert (record.sent, record.received, record.loss, record.errors) == (3, 0, 1.0, 0)
    assert record.rtt_ms is None
    assert record.replies == ()
    assert record.problem == "none of 3 pings was answered"
    assert record.metrics().keys() == {"lost_percent"}


def test_an_unreachable_host_names_who_reported_it():
    record = captured("ping-unreachable")
    assert (record.received, record.errors) == (0, 3)
    assert "From 10.98.0.1 icmp_seq=3 Destination Host Unreachable" in record.problem


def test_a_long_round_trip_is_printed_without_decimals_and_a_duplicate_is_not_counted():
    text = (DATA / "ping-5.txt").read_text()
    text = text.replace("time=0.068 ms", "time=120 ms").replace(
        "icmp_seq=2 ttl=64 time=0.058 ms",
        "icmp_seq=2 ttl=64 time=0.058 ms\n64 bytes from 10.98.0.2: icmp_seq=2 ttl=64 time=0.059 ms (DUP!)",
    )
    record = parse(text.replace("5 received, 0%", "5 received, +1 duplicates, 0%"))
    assert record.replies[-1] == Reply(5, 120.0)
    assert len(record.replies) == 5
    assert record.duplicates == 1


@pytest.mark.parametrize("name", ["ping-no-route.err", "ping-unknown.err"])
def test_an_error_message_is_an_error(name: str):
    with pytest.raises(ToolError, match="ping printed no summary; its last line: 'ping: ") as caught:
        parse((DATA / name).read_text())
    assert caught.value.raw == (DATA / name).read_text()


def test_no_output_is_an_error():
    with pytest.raises(ToolError, match="its last line: 'nothing'"):
        parse("")


def test_a_summary_that_contradicts_itself_is_an_error():
    text = (DATA / "ping-5.txt").read_text()
    with pytest.raises(ToolError, match="contradicts itself"):
        parse(text.replace("5 received", "0 received"))
    with pytest.raises(ToolError, match="contradicts itself"):
        parse(text.replace("5 received", "6 received"))


def test_a_malformed_number_is_shown():
    with pytest.raises(ToolError, match=r"not understood: '64 bytes from .*time=0\.0\.58 ms'"):
        parse((DATA / "ping-5.txt").read_text().replace("time=0.058", "time=0.0.58"))


def paced(lasted_ms: int, interval: str, sent: int = 20):
    """A summary of iputils' ping, whose time is from the first packet to the last."""
    text = (
        f"--- 10.0.0.2 ping statistics ---\n{sent} packets transmitted, {sent} received, 0% packet loss, time {lasted_ms}ms\n"
        "rtt min/avg/max/mdev = 20.012/20.013/20.020/0.002 ms, pipe 3\n"
    )
    return parse(text, ("ping", "-n", "-c", str(sent), "-i", interval, "10.0.0.2"))


def test_a_ping_that_waits_for_replies_says_how_often_it_sent():
    record = paced(190, "0.002")
    assert (record.every_ms, record.asked_ms, record.is_paced) == (10, 2, True)
    assert record.facts() == {"sent_every_ms": 10, "stated_interval_ms": 2}


@pytest.mark.parametrize(("lasted_ms", "interval"), [(38, "0.002"), (39, "0.002"), (190, "0.01"), (3801, "0.2"), (3960, "0.2")])
def test_a_ping_that_keeps_to_its_interval_says_nothing(lasted_ms, interval):
    assert paced(lasted_ms, interval).facts() == {}


def test_a_log_without_an_interval_is_not_judged():
    assert captured("ping-5").asked_ms is None
    assert captured("ping-5").facts() == {}
    assert paced(0, "0.002", sent=1).facts() == {}
