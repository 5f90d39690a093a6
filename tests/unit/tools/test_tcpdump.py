"""Captures by a program that says what tcpdump says; the real one runs in tests/lab."""

import subprocess
from pathlib import Path

import pytest

from slownet.errors import ToolError
from slownet.tools import tcpdump
from slownet.tools.tcpdump import capture

LISTENING = "tcpdump: listening on client-eth0, link-type EN10MB (Ethernet), snapshot length 96 bytes"
COUNTS = "4 packets captured\n5 packets received by filter\n0 packets dropped by kernel"


class Scripted:
    """A host where tcpdump says one thing at its start and another when it is interrupted."""

    name = "here"

    def __init__(self, first: str, last: str = COUNTS, stays: bool = True) -> None:
        loop = "trap 'echo \"$2\" >&2; exit 0' INT; while :; do sleep 0.02; done" if stays else "exit 1"
        self.script = ["sh", "-c", f'echo "$1" >&2; {loop}', "sh", first, last]
        self.argv: list[str] = []

    def IP(self) -> str:  # noqa: N802
        return "127.0.0.1"

    def popen(self, argv, **options):
        self.argv = argv
        return subprocess.Popen(self.script, start_new_session=True, **options)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tcpdump, "QUIET", 2)


def test_its_counts_come_back(tmp_path: Path):
    host = Scripted(LISTENING)
    with capture(host, "client-eth0", "tcp port 5000", tmp_path / "pcap") as dump:
        dump.stop()
    assert (dump.captured, dump.dropped) == (4, 0)
    assert host.argv[-3:] == ["tcp", "port", "5000"]
    assert host.argv[host.argv.index("-i") + 1] == "client-eth0"


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("tcpdump: nothing0: No such device exists", "tcpdump does not listen: tcpdump: nothing0: No such device exists"),
        ("tcpdump: No such file or directory", "tcpdump is not installed, host 'here': apt-get install tcpdump"),
    ],
)
def test_one_that_does_not_start_says_why(tmp_path: Path, first: str, said: str):
    with pytest.raises(ToolError, match=said) as caught, capture(Scripted(first, stays=False), "x", "", tmp_path / "pcap"):
        pass
    assert caught.value.raw.strip() == first


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (COUNTS.replace("0 packets dropped", "3 packets dropped"), "tcpdump lost 3 packets"),
        ("tcpdump: pcap_loop: The interface disappeared", "tcpdump printed no counts; its last line: 'tcpdump: pcap_loop"),
    ],
)
def test_a_capture_that_is_not_whole_is_an_error(tmp_path: Path, last: str, said: str):
    with (
        pytest.raises(ToolError, match=said) as caught,
        capture(Scripted(LISTENING, last), "client-eth0", "tcp", tmp_path / "pcap") as dump,
    ):
        dump.stop()
    assert caught.value.raw.strip().endswith(last)


def test_one_that_ended_by_itself_is_an_error(tmp_path: Path):
    with capture(Scripted(LISTENING, stays=False), "client-eth0", "tcp", tmp_path / "pcap") as dump:
        dump._process.wait()
        with pytest.raises(ToolError, match="tcpdump ended with status 1 before it was stopped"):
            dump.stop()
