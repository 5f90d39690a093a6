"""Captures are read as tshark reads them: each frame's time, and each TCP segment's connection, length and what it is.

The captures are those of tcpdump's own tests (`apt-get source`, or a folder in CAPTURES), broken ones among them, and ours.
What differs has a reason below; anything else fails. tshark 4.0 was compared; if a later version decides otherwise, the rules
of `slownet.links.packets.tcp_analysis` are to be compared with its own.
"""

import os
import shutil
import subprocess
import tarfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from slownet.links.packets import decoding
from slownet.links.packets.capture_file import NO_TIME, CaptureFile
from slownet.links.packets.tcp_analysis import Connections, Kind
from slownet.links.traces import traffic
from slownet.model.errors import ToolError, TraceError

OURS = Path(__file__).parents[1] / "unit" / "links" / "packets" / "data"
FEWEST = 600
"""Captures of tcpdump 4.99.3, Debian 12's, are 674."""
FLAGS = {
    "retransmission": Kind.RETRANSMISSION, "fast_retransmission": Kind.FAST_RETRANSMISSION,
    "spurious_retransmission": Kind.SPURIOUS_RETRANSMISSION, "out_of_order": Kind.OUT_OF_ORDER, "keep_alive": Kind.KEEP_ALIVE,
    "keep_alive_ack": Kind.KEEP_ALIVE_ACK, "zero_window_probe": Kind.ZERO_WINDOW_PROBE,
    "zero_window_probe_ack": Kind.ZERO_WINDOW_PROBE_ACK, "duplicate_ack": Kind.DUPLICATE_ACK, "lost_segment": Kind.GAP,
    "ack_lost_segment": Kind.ACKED_UNSEEN,
}  # fmt: skip
FIELDS = ["frame.time_epoch", "tcp.stream", "tcp.len", "tcp.analysis.initial_rtt", *(f"tcp.analysis.{each}" for each in FLAGS)]
FRAGMENT = "a first fragment of IP is left out; tshark counts it to a connection, without a length"
NOT_THEIRS = "this version of tshark does not know its link type"
OTHER_LINK = "its link type is not read, and is named"
SECONDS = "its header states a fraction of more than a second, which tshark prints as it stands"
HEADER = "its TCP header is damaged; tshark counts it to a connection all the same"
BIG = "a packet of more than 64 KiB (BIG TCP), which tshark 4.0 does not know"
LARGEST = 65_535


@pytest.fixture(scope="session")
def captures(tmp_path_factory):
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    if given := os.environ.get("CAPTURES"):
        return captures_in(Path(given))
    folder = tmp_path_factory.mktemp("tcpdump")
    archive = source_of("tcpdump", folder)
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "source", filter="data")
    return captures_in(folder / "source")


def captures_in(folder):
    found = sorted(path for path in folder.rglob("*") if path.suffix in (".pcap", ".pcapng", ".cap"))
    assert len(found) >= FEWEST
    return found


def source_of(package, folder):
    """Fetch a source package from the machine's own mirrors, whose sources of programs need not be enabled."""
    for name in ("parts", "lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    lists = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    for path in lists:
        if path.suffix == ".sources":
            (folder / "parts" / path.name).write_text(path.read_text().replace("Types: deb\n", "Types: deb-src\n"))
        elif path.suffix == ".list" and path.is_file():
            lines = [line.replace("deb ", "deb-src ", 1) for line in path.read_text().splitlines() if line.startswith("deb ")]
            (folder / "parts" / path.name).write_text("\n".join(lines) + "\n")
    options = {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": folder / "parts",
               "Dir::State::lists": folder / "lists", "Dir::Cache": folder / "cache"}  # fmt: skip
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    subprocess.run(["apt-get", "-qq", *words, "update"], check=True)
    subprocess.run(["apt-get", "-qq", *words, "source", "--download-only", package], check=True, cwd=folder)
    return next(path for path in folder.glob("*.orig.tar.*") if path.suffix != ".asc")


def theirs(path):
    """Return tshark's fields of each frame, None if it has no reader for the link type.

    Packets of IP are not put together, nor are streams.
    """
    settings = ("ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE")
    words = [word for each in settings for word in ("-o", each)] + [word for each in FIELDS for word in ("-e", each)]
    # Fields of a tunnel occur several times: the last one is the innermost, which is read here.
    done = subprocess.run(
        ["tshark", "-n", "-r", path, "-T", "fields", "-E", "occurrence=l", *words], capture_output=True, text=True, timeout=120
    )
    if "unknown or unsupported" in done.stderr:
        return None
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


def compared(path):
    """Return how many TCP segments were compared, and of each difference the frame, ours, theirs and the reason or None."""
    try:
        capture = CaptureFile(path.read_bytes())
        frames = list(capture)
    except ToolError as error:
        return 0, [] if not theirs(path) else [(0, str(error), "read", None)]
    rows = theirs(path)
    if rows is None:
        return 0, [(0, len(frames), None, NOT_THEIRS)]
    found = [] if len(frames) == len(rows) else [(0, len(frames), len(rows), None)]
    connections, segments = Connections(), 0
    for frame, row in zip(frames, rows, strict=False):
        ns, reason = nanoseconds(row["frame.time_epoch"])
        reason = SECONDS if frame.ns == NO_TIME else reason
        if ns is not None and (reason or ns != frame.ns):
            found.append((frame.number, frame.ns, row["frame.time_epoch"], reason))
        ours, reason = segment(frame)
        if ours is None:
            if row["tcp.stream"]:
                found.append((frame.number, ours, row["tcp.stream"], reason))
            continue
        segments += 1
        one, _, kind = connections.judge(ours)
        stated = row["tcp.analysis.initial_rtt"]  # not printed with each segment
        if stated and one.first_rtt is None and any(each.ns == NO_TIME for each in frames):
            found.append((frame.number, None, stated, SECONDS))
            stated = ""
        mine = (one.number, ours.length, {name for name, each in FLAGS.items() if kind & each}, rtt(one) if stated else "")
        other = (
            int(row["tcp.stream"] or -1),
            int(row["tcp.len"] or -1),
            {name for name in FLAGS if row[f"tcp.analysis.{name}"]},
            stated,
        )
        if mine != other:
            found.append((frame.number, mine, other, BIG if ours.length > LARGEST and not row["tcp.len"] else None))
    return segments, found


def rtt(connection):
    ns = connection.first_rtt
    return "" if ns is None else f"{ns // 10**9}.{ns % 10**9:09d}"


def nanoseconds(text):
    """Return what a time is in ns, or why it cannot be compared."""
    whole, _, part = text.partition(".")
    if not text or text.startswith("-"):
        return None, None
    return int(whole) * 10**9 + int(part or 0), SECONDS if len(part) > 9 else None


def segment(frame):
    """Return a frame's TCP segment, or None and why it is left out."""
    if frame.link not in decoding.LINKS:
        return None, OTHER_LINK
    try:
        return decoding.segment(frame), None
    except decoding.FragmentError:
        return None, FRAGMENT
    except decoding.DamagedFrameError as error:
        return None, HEADER if "TCP header" in str(error) or "end in a header" in str(error) else None


def test_each_segment_of_each_capture(captures):
    segments, reasons, wrong = 0, Counter(), {}
    paths = [*captures, *sorted(OURS.glob("*.pcap"))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # starting tshark is what takes long
        results = list(pool.map(compared, paths))
    for path, (count, found) in zip(paths, results, strict=True):
        segments += count
        reasons.update(reason for *_, reason in found if reason)
        if without := [each for each in found if each[-1] is None]:
            wrong[path.name] = without[:3]
    print(f"{len(captures)} captures, {segments} segments; {dict(reasons)}")
    assert wrong == {}
    assert segments > 2 * len(captures)  # how many there are depends on the release of tcpdump
    assert sum(count for reason, count in reasons.items() if reason not in (SECONDS, NOT_THEIRS)) < 100


def test_no_capture_is_more_than_one_line_of_error(captures):
    """The command's own way: it reads what it can of each."""
    read, errors = 0, []
    for path in captures:
        try:
            read += bool(traffic.load(path).connections)
        except TraceError as error:
            errors.append(str(error))
    assert not [each for each in errors if "\n" in each]
    assert read > 10
