"""One command on a host of a network: which host, which links, how it ends, and its record."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from slownet.hypotheses import commanded, recorded
from slownet.hypotheses.catalogue import find
from slownet.hypotheses.commanded import Request, make
from slownet.model.errors import ExperimentError, SlownetError, ToolError

ADDED = """
from slownet import TwoHosts, experiment

@experiment(topology=TwoHosts, prepare=lambda net: net.given.append("prepared"), vary={"rtt": ["0ms"]})
def mine(net, rtt):
    "Is it slow?"
"""


class Here:
    """A host that runs its programs on this machine."""

    name = "client"

    def IP(self):  # noqa: N802
        return "127.0.0.1"

    def popen(self, words, **options):
        return subprocess.Popen(words, start_new_session=True, **options)


class Net(dict):
    """A network that notes which links are set."""

    def __init__(self):
        super().__init__(client=Here(), server=Here())
        self.given = []

    def link(self, first, second):
        return SimpleNamespace(set=lambda named, **fields: self.given.append((first, second, named, fields)))


def words(*words, **options):
    return make(Request(command=words, **options), find)


def test_the_command_runs_on_the_client_unless_another_host_is_named():
    assert words("true", topology="two_hosts").question == "The time of true on client: where does it go?"
    assert "on server:" in words("true", topology="two_hosts", host="server").question


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"topology": "two_hosts", "host": "sever"}, "no host 'sever', --from: did you mean 'server'?"),
        ({"topology": "star,3", "host": None}, "the command has no host, --from: name one of"),
        ({"topology": "two_hots"}, "no topology 'two_hots': did you mean 'two_hosts'?"),
        ({"topology": "two_hosts", "links": ["client-sever=rtt=1ms"]}, "no link 'client-sever', --link: did you mean"),
        ({"topology": "two_hosts", "links": ["client-server=rtt=1"]}, "duration '1' has no unit"),
        ({"experiment": "client_dealy"}, "no experiment 'client_dealy': did you mean 'client_delay'?"),
    ],
)
def test_a_network_without_such_a_host_or_link(options, line):
    with pytest.raises(SlownetError) as caught:
        words("true", **options)
    assert line in caught.value.line


def test_links_are_set_before_the_command_and_its_captures():
    net, made = Net(), words("true", topology="two_hosts", links=["client-server=rtt=10ms,loss=1%"])
    made.prepare(net)
    assert net.given == [("client", "server", None, {"rtt": "10ms", "loss": "1%"})]


def test_an_experiment_lends_its_network_and_what_prepares_it(tmp_path):
    (tmp_path / "mine.py").write_text(ADDED)
    made = words("true", experiment=str(tmp_path / "mine.py"), links=["client-server=rtt=10ms"])
    net = Net()
    made.prepare(net)
    assert net.given == ["prepared", ("client", "server", None, {"rtt": "10ms"})]
    assert made.around == tmp_path / "mine.py"
    assert made.cells() == [{}]


def test_its_record_is_read_again_in_the_lab(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lan.py").write_text("from slownet.topologies import TwoHosts\ntopos = {'lan': TwoHosts}\n")
    made = words("true", topology="lan.py:lan", host="server", limit_s=3.0)
    file = made.write(tmp_path)
    record = json.loads(file.read_text())
    assert record["topology"] == f"{tmp_path}/lan.py:lan"
    assert record["limit_s"] == 3.0
    monkeypatch.chdir("/")
    again = find(str(file))
    assert (again.question, again.around, again.warm_up, again.tdf) == (made.question, tmp_path / "lan.py", 0, "inf")


def test_a_file_that_is_no_record(tmp_path):
    (tmp_path / "experiment.json").write_text("[1]")
    with pytest.raises(ExperimentError, match="is not an experiment"):
        recorded.read(tmp_path / "experiment.json")


def test_how_a_command_ends_is_kept():
    found = words("sh", "-c", "echo out; echo sh: wrong >&2; exit 3", topology="two_hosts").measure(Net())
    assert found.facts() == {"host": "client", "status": 3, "complaint": "sh: wrong"}
    assert found.raw == "out\nsh: wrong\n"
    assert found.metrics()["command_ms"]["mean"] == 1000 * found.seconds
    good = words("true", topology="two_hosts").measure(Net())
    assert good.facts() == {"host": "client", "status": 0, "complaint": ""}


def test_the_secrets_of_tls_are_kept():
    found = commanded.run(Here(), ["sh", "-c", 'echo SECRET 1 2 >> "$SSLKEYLOGFILE"'])
    assert found.files == {"keys": b"SECRET 1 2\n"}
    assert commanded.run(Here(), ["true"]).files == {}


def test_a_command_that_does_not_end_is_ended():
    with pytest.raises(ToolError, match=r"sleep did not end within 0\.2 s"):
        commanded.run(Here(), ["sleep", "100"], 0.2)


def test_a_command_that_is_not_there():
    with pytest.raises(ToolError, match="slownet-none is not installed"):
        commanded.run(Here(), ["slownet-none"])


def test_an_interrupt_ends_the_command_alone():
    program = f"import os, signal, time; os.kill({os.getpid()}, signal.SIGINT); time.sleep(100)"
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ToolError, match=r"was interrupted after [0-9.]+ m?s, host 'client'"):
        commanded.run(Here(), [sys.executable, "-c", program], 50.0)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_while_the_command_is_being_started_ends_it():
    """A program on a busy machine has begun before the one that starts it knows."""

    class Interrupted(Here):
        def popen(self, words, **options):
            signal.raise_signal(signal.SIGINT)
            return super().popen(words, **options)

    with pytest.raises(ToolError, match="was interrupted after"):
        commanded.run(Interrupted(), ["sleep", "100"], 50.0)


def test_names_of_runs_are_words(tmp_path):
    assert words("/usr/bin/curl-7", topology="two_hosts").name == "curl_7"
    assert words("./-", topology="two_hosts").name == "command"
    assert Path(words("curl", topology="two_hosts").write(tmp_path)).name == "experiment.json"
