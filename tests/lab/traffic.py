"""Our own packets to observe a link: numbered datagrams, and a transfer over TCP."""

import json
import subprocess

RECEIVER = """
import json, socket, struct, sys, time
quiet = float(sys.argv[1])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)  # SO_RCVBUFFORCE
s.bind(("", 5002))
print("up", flush=True)
got = []
s.settimeout(30)  # all may be lost
try:
    while True:
        data = s.recv(65536)
        s.settimeout(quiet)
        got.append((struct.unpack_from("!Id", data), time.monotonic()))
except TimeoutError:
    print(json.dumps([[number, sent, now] for (number, sent), now in got]))
"""

SENDER = """
import socket, struct, sys, time
address, count, size, burst, pause = sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 32, 1 << 26)  # SO_SNDBUFFORCE
start = time.monotonic()
for number in range(count):
    s.sendto(struct.pack("!Id", number, time.monotonic()).ljust(size - 28, b"x"), (address, 5002))
    if number % burst == burst - 1:
        time.sleep(max(0, start + pause * (number + 1) / burst - time.monotonic()))
"""

DRINK = """
import json, socket, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("", 5003))
s.listen()
print("up", flush=True)
c, _ = s.accept()
total, marks = 0, []
while part := c.recv(1 << 20):
    total += len(part)
    marks.append((time.monotonic(), total))
print(json.dumps(marks))
"""

POUR = """
import socket, sys
s = socket.create_connection((sys.argv[1], 5003))
s.sendall(bytes(int(sys.argv[2])))
s.shutdown(1)
s.recv(1)
"""


def start(host, program, *words, output=subprocess.DEVNULL):
    command = ["python", "-c", program, *map(str, words)]
    return host.popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, text=True)


def listening(host, program, *words):
    process = start(host, program, *words, output=subprocess.PIPE)
    assert process.stdout.readline() == "up\n"
    return process


class Datagrams:
    """A stream of numbered datagrams; `end` waits for the last and returns (number, sent, received) of each received one."""

    def __init__(self, source, target, count, *, size=100, burst=10, pause=0.001, quiet=3):
        self._receiver = listening(target, RECEIVER, quiet)
        self._sender = start(source, SENDER, target.IP(), count, size, burst, pause)

    def end(self):
        output, _ = self._receiver.communicate()
        assert self._sender.wait() == 0
        return [tuple(row) for row in json.loads(output)]


def lost(net, count, **how):
    """Return the numbers of the lost datagrams from client to web, in order."""
    came = {number for number, _, _ in Datagrams(net["client"], net["web"], count, **how).end()}
    return [number for number in range(count) if number not in came]


def poured(source, target, count):
    """Send `count` bytes over TCP; return (clock, bytes until then) for each read of the receiver."""
    sink = listening(target, DRINK)
    pour = start(source, POUR, target.IP(), count)
    marks = json.loads(sink.communicate()[0])
    assert pour.wait() == 0
    return marks


def goodput(source, target, count):
    """Return the bit/s of TCP payload over the last three quarters of `count` bytes."""
    marks = poured(source, target, count)
    warm = next(mark for mark in marks if mark[1] >= count / 4)
    return 8 * (count - warm[1]) / (marks[-1][0] - warm[0])
