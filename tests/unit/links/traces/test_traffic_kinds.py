"""Captures in which something looks like a loss and is none, or stands for more than one segment."""

import json
import time
import tracemalloc

import pytest
from wire import Exchange, block, enhanced, ethernet, interface, ip, ip6, pcap, section, tcp, timestamps

from slownet.cli import app as cli
from slownet.links.traces import traffic
from slownet.model.errors import TraceError

MSS = 1448


def parsed(*exchanges, kind=0x0800):
    return traffic.parse(pcap(sorted((at, ethernet(data, kind)) for each in exchanges for at, data in each.frames)))


def answer(start=0.1, *, twice=None, wrap=ip, identity=None, segments=8, rtt=0.03):
    exchange = Exchange(rtt=rtt, wrap=wrap)
    exchange.add(0.04, True, "PA", 0, 0, 100)
    for number in range(segments):
        exchange.add(start + number / 1000, False, "A", number * MSS, 100, MSS, twice=twice, identity=identity)
    return exchange


@pytest.mark.parametrize("later", [0.00001, 0.0001, 0.004, 0.15])
def test_a_frame_that_comes_twice_with_its_identification(later):
    found = parsed(answer(twice=later))
    assert (found.down.sent, found.down.lost, found.copies) == (8, 0, 8)
    assert found.rtts == pytest.approx([0.03])


def test_a_handshake_that_comes_twice_has_its_round_trip():
    exchange = Exchange()
    exchange.frames = [(at + later, data) for at, data in exchange.frames for later in (0, 0.0001)]
    found = parsed(exchange)
    assert found.rtts == pytest.approx([0.03])
    assert found.copies == 3


def test_on_a_router_the_copy_has_a_lower_ttl():
    exchange = answer(segments=0)
    for number in range(4):
        segment = tcp(False, "A", 2001 + number * MSS, 1101, b"x" * MSS)
        for hop, ttl in enumerate((64, 63)):
            exchange.frames.append((0.1 + number / 1000 + hop / 10_000, ip(False, segment, identity=70 + number, ttl=ttl)))
    found = parsed(exchange)
    assert (found.down.sent, found.down.lost, found.copies) == (4, 0, 4)


@pytest.mark.parametrize("more", [{"wrap": ip6}, {"identity": 0}, {"identity": 1}])
def test_without_identifications_time_decides(more):
    kind = 0x86DD if "wrap" in more else 0x0800
    found = parsed(answer(twice=0.0001, **more), kind=kind)
    assert (found.down.sent, found.down.lost, found.copies) == (8, 0, 8)


@pytest.mark.parametrize("more", [{}, {"wrap": ip6}, {"identity": 1}])
def test_a_retransmission_is_no_copy(more):
    kind = 0x86DD if "wrap" in more else 0x0800
    exchange = answer(**more)
    exchange.add(0.4, False, "A", 3 * MSS, 100, MSS, identity=more.get("identity"))
    found = parsed(exchange, kind=kind)
    assert (found.down.sent, found.down.lost, found.copies) == (9, 1, 0)


def test_a_copy_inside_of_a_vlan():
    frames = [
        (at + later, ethernet(data, tags=tags)) for at, data in answer().frames for later, tags in ((0, ()), (0.0001, [0x8100]))
    ]
    found = traffic.parse(pcap(frames))
    assert (found.down.sent, found.down.lost, found.connections) == (8, 0, 1)


@pytest.mark.parametrize(
    ("size", "options", "frame", "segments"),
    [
        (1460, timestamps(1), 14_480, 10),  # a maximum of 1460 is 1448 with timestamps (RFC 6691)
        (1460, b"", 14_600, 10),
        (1460, b"", 14_601, 11),
        (None, b"", 14_480, 10),
        (8960, timestamps(1), 17_896, 2),  # jumbo frames
        (65_495, b"", 65_160, 1),  # the loopback interface
        (536, b"", 5360, 10),
    ],
)
def test_an_offloaded_frame_is_many_segments(size, options, frame, segments):
    exchange = Exchange(size=size)
    exchange.add(0.1, False, "PA", 0, 0, frame, options=options)
    found = parsed(exchange)
    assert (found.down.sent, found.down.lost) == (segments, 0)


def test_the_retransmission_of_one_of_ten_segments():
    exchange = Exchange(size=1460)
    exchange.add(0.1, False, "PA", 0, 0, 10 * MSS, options=timestamps(1))
    for at in (0.13, 0.131, 0.132):
        exchange.add(at, True, "A", 0, 3 * MSS, options=timestamps(2))
    exchange.add(0.1325, False, "A", 3 * MSS, 0, MSS, options=timestamps(3))
    found = parsed(exchange)
    assert (found.down.sent, found.down.lost) == (11, 1)


def test_a_retransmission_that_is_merged_with_new_data_counts_what_is_old():
    exchange = Exchange(size=1460)
    exchange.add(0.1, False, "A", 0, 0, 2 * MSS, options=timestamps(1))
    exchange.add(0.5, False, "A", MSS, 0, 4 * MSS, options=timestamps(2))
    found = parsed(exchange)
    assert (found.down.sent, found.down.lost) == (6, 1)


def test_a_hole_that_is_filled_was_lost_before_the_capture():
    exchange = Exchange()
    for at, number in ((0.1, 0), (0.101, 3), (0.102, 4), (0.2, 1), (0.3, 2)):
        exchange.add(at, False, "A", number * MSS, 0, MSS)
    assert (parsed(exchange).down.sent, parsed(exchange).down.lost) == (7, 2)


def test_reordering_and_needless_retransmissions_are_no_loss():
    exchange = Exchange()
    for at, number in ((0.1, 0), (0.101, 2), (0.1012, 1)):
        exchange.add(at, False, "A", number * MSS, 0, MSS)
    exchange.add(0.12, True, "A", 0, 3 * MSS).add(0.5, False, "A", 2 * MSS, 0, MSS)
    found = parsed(exchange)
    assert (found.down.sent, found.down.lost) == (4, 0)


@pytest.mark.parametrize(("later", "lost"), [(0.005, 0), (0.014, 0), (0.016, 1), (0.04, 1)])
def test_a_hole_that_is_filled_while_others_pass_is_judged_by_its_age(later, lost):
    exchange = Exchange(rtt=0.03)
    exchange.add(0.1, False, "A", 0, 0, MSS)
    for number in range(50):  # 1 is missing
        exchange.add(0.101 + number / 1000, False, "A", (2 + number) * MSS, 0, MSS)
    found = parsed(exchange.add(0.101 + later, False, "A", MSS, 0, MSS))
    assert (found.down.sent, found.down.lost) == (52 + lost, lost)


def test_what_passes_again_while_others_pass_was_lost_behind_the_capture():
    exchange = Exchange(rtt=0.03)
    for number in range(50):
        exchange.add(0.1 + number / 1000, False, "A", number * MSS, 0, MSS)
    found = parsed(exchange.add(0.1405, False, "A", 3 * MSS, 0, MSS))
    assert (found.down.sent, found.down.lost) == (51, 1)


def test_a_port_that_is_used_again_is_a_new_connection():
    first, second = (Exchange(start, first=numbers) for start, numbers in ((0, (5_000_000, 7_000_000)), (120, (1000, 2000))))
    for start, each in ((0.1, first), (120.1, second)):
        for number in range(20):
            each.add(start + number / 1000, False, "A", number * MSS, 0, MSS)
    found = parsed(first, second)
    assert (found.connections, found.down.sent, found.down.lost) == (2, 40, 0)
    assert found.rtts == pytest.approx([0.03, 0.03])


@pytest.mark.parametrize("length", [0, 1])
def test_keep_alives_and_window_probes_are_no_loss(length):
    exchange = answer()
    for at in range(10, 110, 10):
        exchange.add(at, True, "A", 99, 8 * MSS, length).add(at + 0.03, False, "A", 8 * MSS, 100)
    exchange.add(120, True, "A", 100, 8 * MSS, window=0)
    for at in (120.3, 120.9, 122.1):
        exchange.add(at, False, "A", 8 * MSS, 100, 1).add(at + 0.001, True, "A", 100, 8 * MSS, window=0)
    found = parsed(exchange)
    assert (found.up.sent, found.up.lost, found.down.sent, found.down.lost) == (1, 0, 8, 0)


def test_data_in_a_syn_and_again_after_it():
    exchange = Exchange()
    exchange.frames = exchange.frames[:0]
    exchange.add(0, True, "S", -1, -2001, 100).add(0.03, False, "SA", -1, 100).add(0.031, True, "A", 100, 0)
    exchange.add(0.032, False, "A", 0, 100, MSS)
    found = parsed(exchange)
    assert (found.connections, found.up.lost, found.down.sent, found.rtts) == (1, 0, 1, (0.031,))


def test_a_damaged_frame_is_one_line():
    frames = [(at, ethernet(data)) for at, data in answer().frames]
    found = traffic.parse(pcap([*frames, (1.0, bytes(4))]))
    assert (found.down.sent, found.down.lost) == (8, 0)
    assert found.notes == ("damaged frame 13: its 4 bytes are not an Ethernet header",)
    assert found.facts()["note_1"] == found.notes[0]
    several = traffic.parse(pcap([(1.0, bytes(4)), *frames, (1.0, bytes(5))]))
    assert several.notes == ("2 damaged frames, the first is frame 1: its 4 bytes are not an Ethernet header",)
    cut = traffic.parse(pcap(frames)[:-1])
    assert cut.notes == ("the file is cut short after frame 11",)


def test_what_is_left_out_is_named():
    begun = Exchange(sport=50000)
    begun.frames = begun.frames[1:]
    frames = [(at, ethernet(data)) for each in (begun, answer()) for at, data in each.frames]
    fragment = ip(True, bytes(30))
    frames.append((1, ethernet(fragment[:6] + b"\x20\0" + fragment[8:])))
    assert traffic.parse(pcap(frames)).notes == (
        "1 fragments of IP packets left out",
        "1 connections left out, which began before the capture",
    )
    content = section() + interface(link=1) + interface(link=195)
    for at, data in frames[2:]:
        content += enhanced("<", 0, round((1_700_000_000 + at) * 10**6), data)
    assert (
        "1 frames left out: frames of IEEE 802.15.4 (link type 195) are not read"
        in traffic.parse(content + enhanced("<", 1, 0, bytes(50))).notes
    )


@pytest.mark.parametrize(
    ("frames", "why"),
    [
        ([0], "its SYN was not answered"),
        ([0, 0, 1, 2], "its SYN was sent again"),
        ([0, 1, 1, 2], "the answer to its SYN was sent again"),
        ([0, 1], "no ACK of the answer to its SYN, or no time of it, is in the capture"),
    ],
)
def test_why_there_is_no_round_trip(frames, why):
    handshake = Exchange().frames
    given = [(1.0 * at, ethernet(handshake[number][1])) for at, number in enumerate(frames)]
    found = traffic.parse(pcap(given))
    assert found.unmeasured == why
    assert found.facts()["condition"] == f"none: {why}"
    with pytest.raises(TraceError, match=f"no round trip can be measured: {why}"):
        found.condition()


def test_why_several_connections_have_no_round_trip():
    silent = [Exchange(sport=port) for port in (41000, 42000, 43000)]
    for each in silent[:2]:
        each.frames = each.frames[:1]
    silent[2].frames = silent[2].frames[:2]
    assert parsed(*silent).unmeasured == (
        "of 2 connections the SYN was not answered; of 1 connections no ACK of the answer to the SYN, "
        "or no time of it, is in the capture"
    )


def test_the_command_prints_one_line_of_each(tmp_path, capsys):
    (tmp_path / "a.pcap").write_bytes(
        pcap([*((at, ethernet(data)) for at, data in answer(twice=0.0001).frames), (1, bytes(4))])
    )
    with pytest.raises(SystemExit) as ended:
        cli.main(["field", "trace", str(tmp_path / "a.pcap")])
    assert not ended.value.code
    lines = capsys.readouterr().out.splitlines()
    assert "copies           8 frames that the capture has twice count once" in lines
    assert "note 1           damaged frame 21: its 4 bytes are not an Ethernet header" in lines
    with pytest.raises(SystemExit):
        cli.main(["field", "trace", "--json", str(tmp_path / "a.pcap")])
    assert json.loads(capsys.readouterr().out)["lost_down_share"] == 0


def test_many_holes_take_bounded_time_and_memory():
    exchange = Exchange()
    for number in range(3000):
        exchange.add(1 + number / 1000, False, "A", 2 * number * MSS, 0, 1)
    content = pcap([(at, ethernet(data)) for at, data in exchange.frames])
    began = time.process_time()
    assert traffic.parse(content).down.sent == 3000
    assert time.process_time() - began < 10
    tracemalloc.start()
    traffic.parse(content)
    assert tracemalloc.get_traced_memory()[1] < 10 << 20
    tracemalloc.stop()


def test_too_many_connections_are_one_line(monkeypatch):
    monkeypatch.setattr(traffic, "MOST_CONNECTIONS", 5)
    many = [Exchange(sport=port) for port in range(40000, 40006)]
    with pytest.raises(TraceError, match="more than 5 connections"):
        parsed(*many)


def test_a_block_of_no_use_is_skipped():
    content = section() + interface() + block("<", 11, bytes(40))
    with pytest.raises(TraceError, match="no connection starts in 0 TCP packets"):
        traffic.parse(content)
