"""iperf3's parser on output from a lab (iperf 3.18, 100 ms of delay); iperf3-window.txt is from a loopback (iperf 3.12)."""

import json
import subprocess
from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.tools import iperf3 as module
from slownet.tools.iperf3 import iperf3, parse

DATA = Path(__file__).parent / "data"


def text(name: str) -> str:
    return (DATA / name).read_text()


def test_a_test_that_ran():
    record = parse(text("iperf3-bbr.txt"), ["iperf3", "-c", "10.0.0.2"])
    assert (record.received, record.seconds, record.retransmits) == (42_598_400, 3.002034, 0)
    assert record.congestion == "bbr"
    assert record.intervals == pytest.approx((51913985.88, 158715531.03, 128479840.50))
    assert record.mbit_per_s == pytest.approx(113.518767608)
    assert record.command == ("iperf3", "-c", "10.0.0.2")


def test_the_senders_windows_come_with_the_servers_output():
    assert parse(text("iperf3-window.txt")).windows == pytest.approx((1.12 * 2**20, 1.12 * 2**20))
    assert parse(text("iperf3-bbr.txt")).windows == ()
    omitted = text("iperf3-window.txt").replace("1.12 MBytes       ", "1.12 MBytes       (omitted)", 1)
    assert len(parse(omitted).windows) == 1


def test_metrics():
    found = parse(text("iperf3-cubic.txt")).metrics()
    assert found["mbit_per_s"]["n"] == 5
    assert found["mbit_per_s"]["mean"] > 100
    assert found["retransmits"] == {"mean": 0.0, "sd": 0.0, "n": 1}
    assert parse(text("iperf3-cubic.txt")).facts()["congestion"] == "cubic"


def test_seconds_that_were_left_out_do_not_count():
    report = json.loads(text("iperf3-bbr.txt"))
    report["intervals"][0]["sum"]["omitted"] = True
    steady = parse(json.dumps(report))
    assert len(steady.intervals) == 2
    found = steady.metrics()["mbit_per_s"]
    assert (found["values"], found["ordered"]) == (pytest.approx([158.7, 128.5], abs=0.1), True)


def test_seconds_that_include_slow_start_are_not_a_series():
    assert "values" not in parse(text("iperf3-bbr.txt")).metrics()["mbit_per_s"]


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        (text("iperf3-unknown.txt"), "iperf3: unable to set TCP_CONGESTION: Supplied congestion control"),
        (text("iperf3-refused.txt"), "iperf3: unable to connect to server - server may have stopped running"),
        ("iperf3: parameter error\n", "iperf3 printed no JSON; its last line: 'iperf3: parameter error'"),
        ("", "iperf3 printed no JSON; its last line: 'nothing'"),
        ('{"end": {}, "intervals": []}', "iperf3 printed JSON without 'sum_received'"),
    ],
)
def test_unusable_output_is_an_error(printed: str, message: str):
    with pytest.raises(ToolError) as caught:
        parse(printed)
    assert message in str(caught.value)
    assert caught.value.raw == printed


class Server:
    """A host whose iperf3 prints one line, and then keeps running or ends."""

    name = "server"

    def __init__(self, script: str):
        self.script = script

    def IP(self) -> str:  # noqa: N802
        return "127.0.0.1"

    def popen(self, argv, **options):
        self.started = subprocess.Popen(["sh", "-c", self.script], start_new_session=True, **options)
        return self.started


LISTENS = "echo 'Server listening on 5201 (test #1)'; exec sleep 60"


def test_the_server_listens_before_the_client_starts_and_is_ended_after_it(canned):
    client = canned(text("iperf3-bbr.txt"))
    server = Server(LISTENS)
    assert iperf3(server, client, seconds=3, congestion="bbr").received == 42_598_400
    assert client.argv[0][:4] == ["iperf3", "--client", "127.0.0.1", "--reverse"]
    assert client.argv[0][-2:] == ["--congestion", "bbr"]
    assert server.started.poll() is not None


def test_another_congestion_control_than_the_one_asked_for(canned):
    with pytest.raises(ToolError, match="iperf3 used bbr where reno was asked for, host 'server'"):
        iperf3(Server(LISTENS), canned(text("iperf3-bbr.txt")), congestion="reno")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'iperf3: error - unable to start listener'; exit 1", "iperf3's server does not listen: iperf3: error - unable"),
        ("exit 1", "iperf3's server does not listen: it printed nothing"),
        ("echo 'mnexec iperf3: No such file or directory'; exit 1", "iperf3 is not installed, host 'server'"),
        ("exec sleep 60", "iperf3's server does not listen"),
    ],
)
def test_a_server_that_does_not_listen(script: str, message: str, canned, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "UP_S", 0.3)
    with pytest.raises(ToolError, match=message):
        iperf3(Server(script), canned(text("iperf3-bbr.txt")))
