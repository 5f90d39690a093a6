"""Times the operations of a client program of an entry: `with operation("connect"): ...`."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

SERVER, STATE = os.environ.get("SERVER", ""), os.environ.get("STATE", "")


@contextmanager
def operation(name: str) -> Iterator[None]:
    """Print the seconds that the block takes, and when it began."""
    at, began = divmod(time.time_ns() // 1000, 1_000_000), time.perf_counter()
    yield
    sys.stdout.write(f"slownet-cost {name} {time.perf_counter() - began:.6f} {at[0]}.{at[1]:06d}\n")
    sys.stdout.flush()
