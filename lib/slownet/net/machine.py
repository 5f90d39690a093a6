"""Setup that an installed system does at its start, and a lab, which has no services, when a program needs it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from slownet.lab.host import native
from slownet.net import openvswitch

SUDOERS = Path("/etc/sudoers.d/slownet")
KEEPS_PLAIN = 'Defaults env_keep += "NO_COLOR"\n'
"""A host's shell makes programs write no colours, also those that sudo starts."""
CONTROLLER = Path("/usr/local/bin/controller")
"""OpenFlow's reference controller, which programs also start by its name. Debian has Open vSwitch's of the same kind."""
REFERENCE = """\
#!/bin/sh
# The reference controller listens on port 6633 by default, the one of Open vSwitch on 6653.
for word do
    shift
    case $word in
        ptcp:) word=ptcp:6633 ;;
    esac
    set -- "$@" "$word"
done
exec ovs-testcontroller "$@"
"""
KERNEL_CONFIG = Path("/boot", f"config-{os.uname().release}")
NO_REAL_TIME_GROUPS = "# CONFIG_RT_GROUP_SCHED is not set\n"
"""The settings that programs read before they limit the CPU by Mininet's scheduler "rt", as Debian configures them."""
SSH_RUN, SSH_KEY = Path("/run/sshd"), Path("/etc/ssh/ssh_host_ed25519_key")


def prepare(program: str = "") -> None:
    """Prepare a lab for a Mininet program. Raises NetworkError.

    program: its text; one that starts sshd needs a key of the machine, one that runs ovs-vsctl itself its daemons.
    """
    if not native.inside_lab():
        return
    with suppress(OSError):
        SUDOERS.write_text(KEEPS_PLAIN)
        SUDOERS.chmod(0o440)
    if shutil.which("ovs-testcontroller") and not shutil.which("controller"):
        with suppress(OSError):
            CONTROLLER.write_text(REFERENCE)
            CONTROLLER.chmod(0o755)
    if not KERNEL_CONFIG.exists():
        with suppress(OSError):
            KERNEL_CONFIG.write_text(NO_REAL_TIME_GROUPS)
    if re.search(r"\bovs-", program):
        openvswitch.ensure(may_start=True)
    if "sshd" in program and SSH_KEY.parent.is_dir() and not SSH_KEY.exists():
        SSH_RUN.mkdir(exist_ok=True)
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(SSH_KEY)]
        with suppress(OSError):
            subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
