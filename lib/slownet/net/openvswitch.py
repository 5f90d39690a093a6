"""Open vSwitch's two daemons: in a lab they are started here, on a machine of its own they are its service."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from slownet.errors import NetworkError

RUN = Path("/run/openvswitch")
DATABASE = Path("/var/lib/slownet/openvswitch/conf.db")  # empty, made when the image was
DEADLINE_S = 30.0
POLL_S = 0.005

_daemons: list[subprocess.Popen[bytes]] = []  # they end with the lab


def running() -> bool:
    """Whether both daemons answer."""
    return (RUN / "db.sock").exists() and any(RUN.glob("ovs-vswitchd.*.ctl"))


def ensure(may_start: bool) -> None:
    """Makes sure that a switch can be made. Raises NetworkError.

    may_start: whether the daemons are ours to start, as they are in a lab.
    """
    if running():
        return
    if not may_start:
        raise NetworkError("Open vSwitch does not run here", fix="systemctl start openvswitch-switch")
    RUN.mkdir(parents=True, exist_ok=True)
    shutil.copy(DATABASE, RUN / "conf.db")
    _start(["ovsdb-server", str(RUN / "conf.db"), f"--remote=punix:{RUN}/db.sock", f"--pidfile={RUN}/ovsdb-server.pid"])
    _wait(lambda: (RUN / "db.sock").exists(), "ovsdb-server")
    subprocess.run(["ovs-vsctl", "--no-wait", "init"], check=True, capture_output=True)
    _start(["ovs-vswitchd", f"unix:{RUN}/db.sock", f"--pidfile={RUN}/ovs-vswitchd.pid"])
    _wait(running, "ovs-vswitchd")


def _start(argv: list[str]) -> None:
    with open(RUN / f"{argv[0]}.log", "wb") as log:
        words = [*argv, "--verbose=console:warn", "--no-chdir"]
        _daemons.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))


def _wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        if time.monotonic() > deadline:
            log = (RUN / f"{what}.log").read_text(errors="replace").strip().splitlines()
            raise NetworkError(f"{what} does not come up: {log[-1] if log else 'it said nothing'}")
        time.sleep(POLL_S)
