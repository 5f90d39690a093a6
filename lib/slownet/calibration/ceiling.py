"""The rate that a place's CPU carries.

Where CPU time is charged, a link of a higher rate is as fast as the CPU and not as stated: each packet that waits for its
turn costs a timer beside its way through the kernel.
"""

from __future__ import annotations

import json
import math
import os
import platform
import socket
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slownet.errors import LabError
from slownet.lab import cache

if TYPE_CHECKING:
    from slownet.lab.place import Place
    from slownet.net.cable import Link

BEYOND = 1e11  # bit/s that no CPU carries
KEPT, NEAR = 0.95, 1.2  # what has to get through of a carried rate; how near the next rate is that is not
QUEUE = "1000 packets"
FRAME_TO_PAYLOAD = 1514 / 1448
CHUNK, LEAST_BYTES, MOST_BYTES, LONG_S = 1 << 16, 1 << 18, 1 << 23, 0.2
TIMES = 2
FILE = "ceiling.json"


def known(place: Place) -> float | None:
    """The highest rate in bit/s that this place carries between programs over a switch; None where the CPU is free.

    On the virtual clock measured once per machine, kernel and TDF, and kept; on the real one each time, since what else the
    machine does has a part in it. Raises LabError.
    """
    if place.clock.cpu_is_free:
        return None
    if place.clock.kind == "real":
        return _measured(place)
    cpu = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith(("model name", "CPU part"))]
    name = cache.key(platform.node(), *cpu, str(place.facts["kernel"]), str(place.clock), Path(__file__))
    folder = cache.measured("ceiling", name, lambda half: _keep(_measured(place), half))
    return float(json.loads((folder / FILE).read_text())["bit_s"])


def _keep(bit_s: float, folder: Path) -> None:
    (folder / FILE).write_text(json.dumps({"bit_s": bit_s}) + "\n")


def _measured(place: Place) -> float:
    from slownet.lab.place import PACKAGE

    output, errors = bytearray(), bytearray()
    status = place.run(
        [place.python, "-m", "slownet.calibration.ceiling"], env={"PYTHONPATH": str(PACKAGE.parent)},
        stdout=output.extend, stderr=errors.extend,
    )  # fmt: skip
    if status < 0:
        raise KeyboardInterrupt
    if status:
        last = errors.decode(errors="replace").strip().splitlines()[-1:] or [f"status {status}"]
        raise LabError(f"cannot measure what the CPU carries: {last[0]}")
    return float(json.loads(output)["bit_s"])


def carried(link: Link, source: Any, target: Any) -> float:
    """The highest rate in bit/s that a link on the way from one Mininet host to another can be told and keeps."""

    def through(rate: float) -> float:
        count = int(min(max(rate * LONG_S / 8, LEAST_BYTES), MOST_BYTES)) // CHUNK * CHUNK
        with link.set(rate=f"{int(rate)}bit", queue=QUEUE, ping=False):
            return max(_poured(source, target, count) for _ in range(TIMES)) * FRAME_TO_PAYLOAD

    return highest(through)


def highest(through: Callable[[float], float]) -> float:
    """The highest rate of which nearly all gets through; `through(rate)` tells how much of a stated rate does.

    What gets through of a rate far above is no guide: packets then go in heaps, for less than each takes alone.
    """
    most, least = BEYOND, through(BEYOND)
    while (passed := through(least)) < KEPT * least:
        most, least = least, passed
    while most / least > NEAR:
        rate = math.sqrt(most * least)
        most, least = (most, rate) if through(rate) >= KEPT * rate else (rate, least)
    return least


def _poured(source: Any, target: Any, count: int) -> float:
    """Bit/s of what another process sends over TCP."""
    from slownet.net.nodes import inside

    with inside(target):
        listener = socket.create_server((target.IP(), 0))
    with inside(source), closing(listener):
        child = os.fork()
        if not child:
            _pour(listener.getsockname(), count)
        receiver, _ = listener.accept()
    with closing(receiver):
        buffer = bytearray(CHUNK)
        first = receiver.recv_into(buffer)
        began, total = time.monotonic(), 0
        while part := receiver.recv_into(buffer):
            total += part
        seconds = time.monotonic() - began
    os.waitpid(child, 0)
    if first + total != count:
        raise LabError(f"{first + total} of {count} bytes came")
    return 8 * total / seconds


def _pour(address: tuple[str, int], count: int) -> None:
    """The other process: sends, and ends without a word."""
    try:
        with socket.create_connection(address) as connection:
            chunk = bytes(CHUNK)
            for _ in range(count // CHUNK):
                connection.sendall(chunk)
    finally:
        os._exit(0)


def main() -> int:
    """Prints {"bit_s"}: between the client and the web server of the topology that the first experiments use."""
    from slownet.net import Network
    from slownet.topologies import ClientWebDb

    with Network(ClientWebDb) as net:
        print(json.dumps({"bit_s": carried(net.link("client", "switch"), net["client"], net["web"])}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
