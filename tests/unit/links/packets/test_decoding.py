"""A TCP segment is found below every link header that is read."""

import struct

import pytest
from wire import ethernet, ip, ip6, mss, pcap, tcp, timestamps

from slownet.links.packets.capture_file import CaptureFile, Frame
from slownet.links.packets.decoding import DamagedFrameError, FragmentError, link_name, segment
from slownet.links.traces import traffic
from slownet.model.errors import TraceError

SEGMENT = tcp(True, "PA", 100, 7, b"hello", options=timestamps(5))
V4, V6 = ip(True, SEGMENT, identity=0x1234), ip6(True, SEGMENT)
UDP = struct.pack("!HHHH", 5000, 4789, 0, 0)
GENEVE = struct.pack("!HHHH", 5000, 6081, 0, 0) + bytes([1, 0]) + b"\x65\x58" + bytes(4) + bytes(4)


def found(link, data, length=None):
    return segment(Frame(1, 0, link, data, length or len(data)))


LLC4, LLC6 = b"\xaa\xaa\x03\0\0\0\x08\x00", b"\xaa\xaa\x03\0\0\0\x86\xdd"


def wifi(control, rest):
    """A frame of IEEE 802.11 whose two bytes of control are given; duration, three addresses and a number follow."""
    return bytes(control) + bytes(2 + 18) + b"\x50\x00" + rest


RADIO = bytes([0, 0, 8, 0, 0, 0, 0, 0])
TIMED = bytes([0, 0, 17, 0]) + struct.pack("<I", 0b11) + bytes(8) + b"\x20"  # when it came, and that its header is padded
FURTHER = bytes([0, 0, 28, 0]) + struct.pack("<III", 1 << 31 | 0b11, 1 << 31, 0) + bytes(10)  # two more words, then the time


@pytest.mark.parametrize(
    ("link", "data"),
    [
        (105, wifi([0x08, 0x01], LLC4 + V4)), (105, wifi([0x08, 0x03], bytes(6) + LLC4 + V4)),  # from a bridge
        (105, wifi([0x88, 0x02], bytes(2) + LLC6 + V6)), (105, wifi([0x88, 0x82], bytes(2 + 4) + LLC4 + V4)),
        (127, RADIO + wifi([0x08, 0x01], LLC4 + V4)), (127, TIMED + wifi([0x88, 0x02], bytes(2 + 2) + LLC4 + V4)),
        (127, FURTHER[:16] + bytes(8) + b"\x00" + bytes(3) + wifi([0x08, 0x01], LLC4 + V4 + b"sums")),
        (1, ethernet(V4)), (1, ethernet(V6, 0x86DD)),
        (1, ethernet(V4, tags=[0x8100])), (1, ethernet(V4, tags=[0x88A8, 0x8100])),  # VLAN, and QinQ
        (1, ethernet(V4) + bytes(6)),  # padded to the least length of a frame
        (1, ethernet(bytes([0, 1, 0, 64, 0, 1, 1, 64]) + V4, 0x8847)),  # two labels of MPLS
        (1, ethernet(bytes([0x11, 0, 0, 1, 0, 0, 0, 0x21]) + V4, 0x8864)),  # PPPoE
        (1, ethernet(b"\xaa\xaa\x03\0\0\0\x08\x00" + V4, len(V4) + 8)),  # LLC with SNAP
        (1, ethernet(ip(True, V4, protocol=4))), (1, ethernet(ip(True, V6, protocol=41))),
        (1, ethernet(ip(True, struct.pack("!HHI", 0x2000, 0x0800, 9) + V4, protocol=47))),  # GRE with a key
        (1, ethernet(ip(True, UDP + bytes(8) + ethernet(V4), protocol=17))),  # VXLAN
        (1, ethernet(ip(True, GENEVE + ethernet(V6, 0x86DD), protocol=17))),
        (1, ethernet(ip6(True, bytes([6, 0]) + bytes(6) + SEGMENT, protocol=0), 0x86DD)),  # hop-by-hop options
        (0, struct.pack("<I", 2) + V4), (0, struct.pack(">I", 2) + V4), (0, struct.pack("<I", 30) + V6),
        (108, struct.pack(">I", 2) + V4),
        (9, b"\xff\x03\x00\x21" + V4), (9, b"\x00\x57" + V6), (9, b"\x21" + V4), (50, b"\xff\x03\x00\x21" + V4),
        (104, b"\x0f\0\x08\0" + V4), (12, V4), (14, V4), (101, V4), (101, V6), (228, V4), (229, V6),
        (113, struct.pack("!HHH8sH", 4, 1, 6, bytes(8), 0x0800) + V4),
        (113, struct.pack("!HHH8sHHH", 4, 1, 6, bytes(8), 0x8100, 5, 0x0800) + V4),
        (242, bytes(40) + struct.pack("!HH", 0x0800, 0) + V4),
        (276, struct.pack("!HHIHBB8s", 0x86DD, 0, 2, 1, 4, 6, bytes(8)) + V6),
    ],
)  # fmt: skip
def test_each_link_header(link, data):
    packet = found(link, data)
    assert (packet.sport, packet.dport, packet.sequence, packet.acknowledged) == (40000, 80, 100, 7)
    assert (packet.flags, packet.length, packet.options, packet.data) == (0x18, 5, 12, b"hello")
    assert packet.identity == (0x1234 if len(packet.source) == 4 else 0) or b"\x45" in data[14:40]


def test_what_is_stated_and_what_was_captured():
    cut = found(1, ethernet(ip(True, tcp(True, "A", 0, 0, bytes(1448))))[:96], 1502)
    assert (cut.length, len(cut.data)) == (1448, 42)
    offloaded = ethernet(ip(True, tcp(True, "A", 0, 0, bytes(2896)), length=0))
    assert found(1, offloaded).length == 2896
    assert found(1, ethernet(ip(True, tcp(True, "S", 0, options=b"\1\1" + mss(1400))))).mss == 1400
    assert found(1, ethernet(ip(True, tcp(True, "A", 0, options=mss(1400))))).mss == 0


@pytest.mark.parametrize(
    ("link", "data", "why"),
    [
        (1, bytes(4), "its 4 bytes are not an Ethernet header"),
        (1, b"", "its 0 bytes are not an Ethernet header"),
        (1, ethernet(V4)[:20], "damaged|end in a header"),
        (1, ethernet(b"\x43" + V4[1:]), "its header of IPv4 is damaged"),
        (1, ethernet(ip(True, SEGMENT, length=10)), "its packet states 10 bytes"),
        (1, ethernet(ip(True, SEGMENT))[:40], "end in a header"),
        (1, ethernet(ip(True, SEGMENT[:12] + b"\x10" + SEGMENT[13:])), "its TCP header states 4 bytes of 37"),
        (1, ethernet(b"", tags=[0x8100] * 3)[:20], "end in a header"),
        (113, bytes(10), "its 10 bytes are not a header of its link"),
        (105, b"\x08", "its 1 bytes are not a header of its link"),
        (105, wifi([8, 0], b"\xaa"), "its 25 bytes are not a header"),
        (127, RADIO[:4], "its 4 bytes are not a header"),
        (127, b"\0\0\x40\0" + bytes(20), "its 24 bytes are not a header"),
        (127, bytes([0, 0, 8, 0, 255, 255, 255, 255]), "end in a header"),
        (101, b"", "it is empty"),
    ],
)
def test_damaged_frames(link, data, why):
    with pytest.raises(DamagedFrameError, match=why):
        found(link, data)


def test_fragments_and_what_is_not_tcp():
    with pytest.raises(FragmentError):
        found(1, ethernet(V4[:6] + b"\x20\x00" + V4[8:]))
    assert found(1, ethernet(ip(True, bytes(8), protocol=1))) is None
    assert found(1, ethernet(bytes(28), 0x0806)) is None


@pytest.mark.parametrize(
    "frame",
    [
        wifi([0x80, 0], bytes(40)),  # a beacon
        bytes([0xD4, 0]) + bytes(8),  # an acknowledgement
        wifi([0x48, 0x01], b""),  # no content
        wifi([0x08, 0x41], bytes(8) + LLC4 + V4),  # encrypted
        wifi([0x88, 0x01], b"\x80\0" + bytes(14) + LLC4 + V4),  # several packets in one
        wifi([0x08, 0x05], LLC4 + V4),  # a part of a frame
    ],
)
def test_what_a_radio_sends_beside_whole_packets_is_not_tcp(frame):
    assert found(105, frame) is None
    assert found(127, RADIO + frame) is None


def test_many_tags_and_tunnels_end():
    assert found(1, ethernet(V4, tags=[0x8100] * 50_000)).length == 5
    inner = V4
    for _ in range(9):
        inner = ip(True, inner, protocol=4)
    assert found(1, ethernet(inner)) is None


@pytest.mark.parametrize(("link", "name"), [(195, "IEEE 802.15.4 (link type 195)"), (119, "Prism"), (9999, "link type 9999")])
def test_a_link_type_that_is_not_read_is_named(link, name):
    assert name in link_name(link)
    with pytest.raises(TraceError) as caught:
        traffic.parse(pcap([(0, bytes(60))], link=link))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_frames_keep_their_numbers():
    assert [each.number for each in CaptureFile(pcap([(0, b"a"), (1, b"b")]))] == [1, 2]
