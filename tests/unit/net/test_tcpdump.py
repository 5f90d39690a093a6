"""Captures by a program that prints what tcpdump prints; the real one runs in tests/lab."""

import signal
import subprocess
from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.net import tcpdump
from slownet.net.tcpdump import Capture

LISTENING = "tcpdump: listening on client-eth0, link-type EN10MB (Ethernet), snapshot length 96 bytes"
COUNTS = "4 packets captured\n4 packets received by filter\n0 packets dropped by kernel"


class Scripted:
    """A host whose tcpdump prints one text at its start, and another one when it must count or end."""

    name = "here"

    def __init__(self, first: str, last: str = COUNTS, stays: bool = True) -> None:
        says = "trap 'echo \"$2\" >&2' USR1; trap 'echo \"$2\" >&2; exit 0' INT"
        loop = f'{says}; echo "$1" >&2; while :; do sleep 0.02; done' if stays else 'echo "$1" >&2; exit 1'
        self.script = ["sh", "-c", loop, "sh", first, last]
        self.argv: list[str] = []

    def IP(self) -> str:  # noqa: N802
        return "127.0.0.1"

    def popen(self, argv, **options):
        self.argv = argv
        return subprocess.Popen(self.script, start_new_session=True, **options)


def test_it_returns_tcpdumps_counts(tmp_path: Path):
    host = Scripted(LISTENING)
    with Capture(host, "client-eth0", tmp_path / "new" / "pcap", filter="tcp port 5000", snaplen=96) as capture:
        assert (capture.packets, capture.path) == (0, tmp_path / "new" / "pcap")
    assert (capture.packets, capture.dropped) == (4, 0)
    assert host.argv[host.argv.index("-i") + 1] == "client-eth0"
    assert host.argv[-4:] == ["-s", "96", "--", "tcp port 5000"]
    capture.stop()


def test_what_the_kernel_dropped_is_counted(tmp_path: Path):
    counts = COUNTS.replace("4 packets received", "7 packets received").replace("0 packets dropped", "3 packets dropped")
    with Capture(Scripted(LISTENING, counts), "client-eth0", tmp_path / "pcap") as capture:
        pass
    assert (capture.packets, capture.dropped) == (4, 3)


def test_it_does_not_wait_long_for_packets_from_before_its_filter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tcpdump, "STILL_S", 0.1)
    with Capture(
        Scripted(LISTENING, COUNTS.replace("4 packets received", "5 packets received")), "x", tmp_path / "x"
    ) as capture:
        pass
    assert capture.packets == 4


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("tcpdump: nothing0: No such device exists", "tcpdump: nothing0: No such device exists, capture on x"),
        ("tcpdump: No such file or directory", "tcpdump is not installed, capture on x: apt-get install tcpdump"),
        ("", "tcpdump: tcpdump does not listen, capture on x"),
    ],
)
def test_a_tcpdump_that_does_not_start_says_why(tmp_path: Path, first: str, said: str):
    with pytest.raises(ToolError, match=said) as caught, Capture(Scripted(first, stays=False), "x", tmp_path / "pcap"):
        pass
    assert caught.value.raw.strip() == first


@pytest.mark.parametrize(
    ("last", "stays", "said"),
    [
        ("tcpdump: pcap_loop: The interface disappeared", True, "tcpdump: pcap_loop: The interface disappeared"),
        (COUNTS, False, "tcpdump: tcpdump does not end"),
    ],
)
def test_a_tcpdump_that_ended_without_counts_is_an_error(tmp_path: Path, last: str, stays: bool, said: str):
    capture = Capture(Scripted(LISTENING, last, stays), "x", tmp_path / "pcap").start()
    capture._process.send_signal(signal.SIGINT)
    capture._process.wait()
    with pytest.raises(ToolError, match=said):
        capture.stop()
    capture.stop()


def test_a_file_that_cannot_be_written(tmp_path: Path):
    capture = Capture(Scripted(LISTENING), "x", tmp_path)
    with pytest.raises(ToolError, match=f"cannot capture to {tmp_path}: Is a directory, capture on x"):
        capture.start()
