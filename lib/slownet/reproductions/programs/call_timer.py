"""Unary calls of gRPC with messages of a size, at a pace.

    python -m slownet.reproductions.programs.call_timer ask ADDRESS BYTES COUNT EVERY_S
    python -m slownet.reproductions.programs.call_timer serve

`ask` prints {"call": [nanoseconds, ...]}: the time of each call; they begin EVERY_S seconds apart. `serve` answers them with
nothing. Both need python3-grpcio.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

PORT = 50_052
SERVICE, NAME = "slownet.Taker", "Take"
METHOD = f"/{SERVICE}/{NAME}"
PATIENCE_S = 60
WINDOW = 1 << 20
"""HTTP/2's window for a new stream in bytes, as in the published measurement, so that only TCP's counts."""


def serve() -> None:
    """Answer calls with nothing, until the program is ended."""
    from concurrent.futures import ThreadPoolExecutor

    import grpc  # type: ignore[import-untyped]

    take = grpc.unary_unary_rpc_method_handler(lambda request, context: b"")
    made = grpc.server(ThreadPoolExecutor(2), options=[("grpc.http2.lookahead_bytes", WINDOW)])
    made.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {NAME: take}),))
    if not made.add_insecure_port(f"0.0.0.0:{PORT}"):
        sys.exit(f"port {PORT} is taken")
    made.start()
    made.wait_for_termination()


def ask(address: str, size: str, count: str, every: str) -> None:
    """Call, and print the times."""
    import grpc

    times, message = [], bytes(int(size))
    try:
        call = grpc.insecure_channel(f"{address}:{PORT}").unary_unary(METHOD)
        call(b"", timeout=PATIENCE_S)  # connects
        due = time.monotonic()
        for _ in range(int(count)):
            due += float(every)
            time.sleep(max(0.0, due - time.monotonic()))
            began = time.monotonic_ns()
            call(message, timeout=PATIENCE_S)
            times.append(time.monotonic_ns() - began)
    except grpc.RpcError as error:
        sys.exit(f"grpc: {error.code().name}: {' '.join(error.details().split())}")
    print(json.dumps({"call": times}))


if __name__ == "__main__":
    verbs: dict[str, Callable[..., None]] = {"ask": ask, "serve": serve}
    verbs[sys.argv[1]](*sys.argv[2:])
