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
    at, began = time.time(), time.perf_counter()
    yield
    sys.stdout.write(f"slownet-cost {name} {time.perf_counter() - began:.6f} {at:.6f}\n")
    sys.stdout.flush()
