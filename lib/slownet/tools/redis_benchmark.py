"""``redis-benchmark``: requests to a Redis server, one by one, on several connections at once, or in pipelines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from slownet.judge.measured import Metrics
from slownet.model.errors import ToolError
from slownet.net.output import DECIMAL, complaint, needed
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.tools.numbers import Metric, single
from slownet.tools.register import tool

_ROW = re.compile(rf'^"GET","({DECIMAL})","({DECIMAL})"', re.MULTILINE)
"""Of ``--csv``: the test, requests per second, and the mean latency in ms."""
_NO_TIME = re.compile(r'^"GET","(-?(?:inf|nan))"', re.MULTILINE)
"""It divides by the whole milliseconds that all requests took: 0 on a free CPU without a delay."""
PRINTED = 0.01
"""It prints the rate with two decimals."""


@dataclass(frozen=True)
class RedisBenchmark(Metrics):
    """The results of ``redis-benchmark``.

    command: the command.
    raw: its output.
    requests: how many requests were answered.
    at_once: how many requests all connections together send at a time, before they wait.
    per_s: requests per second; the time includes the handshake of the connections.
    latency_ms: the mean time from the write of a request, or of a pipeline of them, to the first byte of an answer.
    """

    command: tuple[str, ...]
    raw: str
    requests: int
    at_once: int
    per_s: float
    latency_ms: float

    def metrics(self) -> dict[str, Metric]:
        """Return ``requests_per_s``, ``turn_ms`` (from one turn of all connections to the next) and ``latency_ms``."""
        turn = 1000 * self.at_once / self.per_s
        return {
            "requests_per_s": single(self.per_s, self.requests, PRINTED),
            "turn_ms": single(turn, max(1, self.requests // self.at_once), turn * PRINTED / self.per_s),
            "latency_ms": single(self.latency_ms, self.requests, 0.001),
        }

    def facts(self) -> dict[str, object]:
        """Return the number of requests."""
        return {"requests": self.requests}


@tool("redis-benchmark", services=("redis",))
def redis_benchmark(
    host: Host, address: str, *, requests: int = 10_000, connections: int = 1, pipeline: int = 1, port: int = 6379
) -> RedisBenchmark:
    """Ask a Redis server for a key that it does not have, again and again.

    host: the client's host.
    address: the server's IP address.
    requests: how many requests in all.
    connections: how many connections ask at once.
    pipeline: how many requests a connection sends before it waits for their answers.
    port: the server's port.
    returns: rate and times.
    Raises ToolError: redis-benchmark is not installed, cannot reach the server, or printed something that is not understood,
    such as a rate of requests that took less than 1 ms together, on a free CPU without a delay.
    """
    command = [
        "redis-benchmark", "-h", address, "-p", str(port), "-t", "get", "--csv",
        "-n", str(requests), "-c", str(connections), "-P", str(pipeline),
    ]  # fmt: skip
    return parse(run(host, command, timeout=3600).stdout, command, requests, connections * pipeline)


def parse(text: str, command: Sequence[str] = ("redis-benchmark",), requests: int = 1, at_once: int = 1) -> RedisBenchmark:
    """Parse the output of ``--csv``. Raises ToolError that quotes it if it is not understood."""
    if found := _NO_TIME.search(text):
        what = f"redis-benchmark measured less than 1 ms for all requests: it printed the rate {found[1]}"
        raise ToolError(what, fix="give a link a rate or a delay, charge the CPU, or send more requests", raw=text)
    rate, latency = map(
        float, needed(_ROW, text, "redis-benchmark printed no rate and latency (since version 7 it does)", command).groups()
    )
    if not rate:
        raise complaint("redis-benchmark printed a rate of 0", text, command)
    return RedisBenchmark(tuple(command), text, requests, at_once, rate, latency)
