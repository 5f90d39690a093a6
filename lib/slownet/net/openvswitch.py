"""Open vSwitch's two daemons: started here in a lab, a service of the machine elsewhere."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from slownet.model.errors import NetworkError

RUN = Path("/run/openvswitch")
DATABASE = Path("/var/lib/slownet/openvswitch/conf.db")  # empty, made with the image
DEADLINE_S = 30.0


def running() -> bool:
    """Return whether both daemons run."""
    return (RUN / "db.sock").exists() and any(RUN.glob("ovs-vswitchd.*.ctl"))


def ensure(may_start: bool) -> None:
    """Ensure that the daemons run. Raises NetworkError.

    may_start: whether to start them if they do not, as in a lab.
    """
    if running():
        return
    if not may_start:
        raise NetworkError("Open vSwitch is not running", fix="systemctl start openvswitch-switch")
    RUN.mkdir(parents=True, exist_ok=True)
    shutil.copy(DATABASE, RUN / "conf.db")
    _start("ovsdb-server", str(RUN / "conf.db"), f"--remote=punix:{RUN}/db.sock")
    subprocess.run(["ovs-vsctl", "--no-wait", "init"], check=True, capture_output=True)
    _start("ovs-vswitchd", f"unix:{RUN}/db.sock")


def _start(daemon: str, *words: str) -> None:
    """Start a daemon and wait until it answers; it runs until the lab ends."""
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
        raise NetworkError(f"{daemon} does not start: {said[-1] if said else 'it printed nothing'}") from None


def version() -> str:
    """Return Open vSwitch's version, such as "3.5.0"."""
    text = subprocess.run(["ovs-vsctl", "--version"], capture_output=True, text=True, check=True).stdout
    return text.split()[3] if text else ""
