#!/bin/sh
# Question: do Python's readers of pcapng add an interface's if_tsoffset to the times of its packets?
#
# draft-ietf-opsawg-pcapng, 4.2: if_tsoffset "specifies an offset (in seconds) that must be added to the timestamp of each packet
# to obtain the absolute timestamp of a packet". A capture that was moved to another epoch, or merged from machines whose clocks
# differ, has one.
# Guess, written before: dpkt and python-pcapng add it, and Scapy does not.
#
# What came, with dpkt 1.9.8, python-pcapng 2.1.1 and Scapy 2.8.0 of PyPI, for 5.000000001 s in nanoseconds and an offset of 1000 s:
# "dpkt 1005.000000001, python-pcapng 5.000000001, Scapy 5.000000001". All three read the resolution. Fails if that changes.
#
# Installs the packages in a temporary folder.
set -eu
folder=$(mktemp -d)
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check dpkt==1.9.8 python-pcapng==2.1.1 scapy==2.8.0
cat > read.py <<'END'
import struct

import dpkt
import pcapng
from scapy.utils import rdpcap

FRAME = b"\xff" * 12 + b"\x88\xb5" + bytes(46)  # an EtherType for experiments


def option(code, data):
    return struct.pack("<HH", code, len(data)) + data + b"\0" * (-len(data) % 4)


def block(kind, body):
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
options = option(9, b"\x09") + option(14, struct.pack("<q", 1000)) + option(0, b"")  # if_tsresol: ns; if_tsoffset
interface = block(1, struct.pack("<HHI", 1, 0, 0) + options)
when = 5_000_000_001
packet = block(6, struct.pack("<IIIII", 0, when >> 32, when & 0xFFFFFFFF, len(FRAME), len(FRAME)) + FRAME)
with open("moved.pcapng", "wb") as file:
    file.write(section + interface + packet)
with open("moved.pcapng", "rb") as file:
    ((of_dpkt, _),) = dpkt.pcapng.Reader(file)
with open("moved.pcapng", "rb") as file:
    (of_pcapng,) = (each.timestamp for each in pcapng.FileScanner(file) if hasattr(each, "packet_data"))
(of_scapy,) = (each.time for each in rdpcap("moved.pcapng"))
print(f"dpkt {of_dpkt:.9f}, python-pcapng {of_pcapng:.9f}, Scapy {of_scapy:.9f}")
END
came=$(venv/bin/python read.py)
echo "$came"
[ "$came" = "dpkt 1005.000000001, python-pcapng 5.000000001, Scapy 5.000000001" ]
