"""Open vSwitch's two daemons: in a lab they are started here, on a machine of its own they are its service."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from slownet.errors import NetworkError

RUN = Path("/run/openvswitch")
DATABASE = Path("/var/lib/slownet/openvswitch/conf.db")  # empty, made when the image was
DEADLINE_S = 30.0


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
    _start("ovsdb-server", str(RUN / "conf.db"), f"--remote=punix:{RUN}/db.sock")
    subprocess.run(["ovs-vsctl", "--no-wait", "init"], check=True, capture_output=True)
    _start("ovs-vswitchd", f"unix:{RUN}/db.sock")


def _start(daemon: str, *words: str) -> None:
    """Returns when the daemon answers. It ends with the lab."""
    log = RUN / f"{daemon}.log"
    options = [
        f"--pidfile={RUN}/{daemon}.pid",
        "--detach",
        "--no-chdir",
        "--verbose=off",
        "--verbose=file:warn",
        f"--log-file={log}",
    ]
    argv = [daemon, *words, *options]
    try:
        with open(log, "wb") as output:
            subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=DEADLINE_S, check=True)
    except subprocess.SubprocessError:
        said = log.read_text(errors="replace").strip().splitlines()
        raise NetworkError(f"{daemon} does not come up: {said[-1] if said else 'it said nothing'}") from None
