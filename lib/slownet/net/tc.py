"""One tc per node, kept running: a process costs 14 ms in the lab, a line to one that is there 1 ms."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from slownet.errors import NetworkError

# In a batch tc buffers what it prints until the end, unless it is told otherwise.
COMMAND = ["stdbuf", "-oL", "tc", "-json", "-s", "-batch", "-"]


def run(interface: Any, lines: Sequence[str]) -> list[dict[str, Any]]:
    """Gives tc lines such as "qdisc replace ...", in order, and returns the interface's qdiscs after them.

    interface: a Mininet Intf. The qdiscs are as `tc -json -s qdisc show` prints them. Raises NetworkError with tc's own words.
    """
    node = interface.node
    process = getattr(node, "slownet_tc", None)
    if process is None:
        process = node.slownet_tc = _start(node)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write("\n".join([*lines, f"qdisc show dev {interface.name}", ""]))
        process.stdin.flush()
        answer = process.stdout.readline()
    except BrokenPipeError:
        answer = ""
    if not answer:  # it ends at the first line that fails
        errors = close(node)
        raise NetworkError(f"tc: {errors} in: {'; '.join(lines)}", where=f"interface {interface.name} of {node.name}")
    return list(json.loads(answer))


def close(node: Any) -> str:
    """Ends a node's tc, if there is one, and returns what it complained about."""
    process = getattr(node, "slownet_tc", None)
    if process is None:
        return ""
    node.slownet_tc = None
    _, errors = process.communicate()
    return str(errors).strip()


def _start(node: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "LC_ALL": "C", "TC_LIB_DIR": str(_tables())}
    pipe = subprocess.PIPE
    process: subprocess.Popen[str] = node.popen(COMMAND, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)
    return process


@cache
def _tables() -> Path:
    """A folder with the tables of the distributions, where tc looks for them.

    iproute2's, and a uniform one: netem keeps the table that it was given last, so only another one takes it back. (Its
    own uniform draw without a table is 32 bits of nanoseconds: it ends at 2 s.)
    """
    folder = Path(tempfile.mkdtemp(prefix="slownet-tc-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for pattern in ("tc/*.dist", "*/tc/*.dist"):
        for table in Path("/usr/lib").glob(pattern):
            if not (folder / table.name).exists():
                (folder / table.name).symlink_to(table)
    steps = range(-8192, 8193, 8)  # 8192 is one jitter
    (folder / "uniform.dist").write_text("\n".join(map(str, steps)) + "\n")
    return folder
