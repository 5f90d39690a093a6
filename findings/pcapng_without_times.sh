#!/bin/sh
# Question: what do Python's readers of pcapng make of a packet whose block has no time?
#
# A Simple Packet Block (draft-ietf-opsawg-pcapng, 4.4) has a packet's bytes and its original length, and no time: programs write it
# where captures have to be short. It has as many bytes as the original length says, or as SnapLen of its interface if that is less;
# a SnapLen of 0 is no limit (4.2).
# Guess, written before: each of three readers gives the packet, and says in its own way that there is no time.
#
# What came, with dpkt 1.9.8, python-pcapng 2.1.1 and Scapy 2.8.0 of PyPI: "dpkt no packet, python-pcapng 60 bytes without a time,
# Scapy 60 bytes as old as the call" and, with SnapLen 0, "Scapy 0 bytes". dpkt leaves the packet out without a word, and the times
# that Scapy gives for a file are others whenever it is read. Fails if that changes.
#
# Installs the packages in a temporary folder.
set -eu
folder=$(mktemp -d)
cd "$folder"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check dpkt==1.9.8 python-pcapng==2.1.1 scapy==2.8.0
cat > read.py <<'END'
import struct
import time

import dpkt
import pcapng
from scapy.utils import rdpcap

FRAME = b"\xff" * 12 + b"\x88\xb5" + bytes(46)  # an EtherType for experiments


def block(kind, body):
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def write(snap_length):
    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    interface = block(1, struct.pack("<HHI", 1, 0, snap_length))
    with open("simple.pcapng", "wb") as file:
        file.write(section + interface + block(3, struct.pack("<I", len(FRAME)) + FRAME))


write(262144)
with open("simple.pcapng", "rb") as file:
    packets = list(dpkt.pcapng.Reader(file))
with open("simple.pcapng", "rb") as file:
    (simple,) = (each for each in pcapng.FileScanner(file) if hasattr(each, "packet_data"))
ages = []
for _ in range(2):
    began = time.time()
    (read,) = rdpcap("simple.pcapng")
    ages.append(began <= float(read.time) <= time.time())
    time.sleep(1)
print("dpkt", len(packets[0][1]) if packets else "no packet", end=", ")
print("python-pcapng", len(simple.packet_data), "bytes", getattr(simple, "timestamp", "without a time"), end=", ")
print("Scapy", len(read), "bytes", "as old as the call" if all(ages) else read.time)
write(0)
(read,) = rdpcap("simple.pcapng")
print("Scapy", len(read), "bytes")
END
came=$(venv/bin/python read.py)
echo "$came"
[ "$came" = "dpkt no packet, python-pcapng 60 bytes without a time, Scapy 60 bytes as old as the call
Scapy 0 bytes" ]
