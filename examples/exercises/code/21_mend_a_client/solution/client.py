"""Sends twenty orders, each when the last one is confirmed, in one write."""

import socket
import struct
import sys

with socket.create_connection((sys.argv[1], 7000)) as server:
    for number in range(20):
        order = f"order {number}".encode()
        server.sendall(struct.pack(">I", len(order)) + order)
        if server.recv(2, socket.MSG_WAITALL) != b"ok":
            sys.exit("not confirmed")
