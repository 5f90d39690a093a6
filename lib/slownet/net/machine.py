"""What an installed system does for programs when it starts, and a lab, which has no services, does when a program needs it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from slownet.lab import native
from slownet.net import openvswitch

SUDOERS = Path("/etc/sudoers.d/slownet")
KEEPS_PLAIN = 'Defaults env_keep += "NO_COLOR"\n'
"""A host's shell tells programs to write no colours, also those that sudo starts."""
CONTROLLER = Path("/usr/local/bin/controller")
"""OpenFlow's reference controller, which programs also start by its name. Debian has Open vSwitch's of the same kind."""
REFERENCE = """\
#!/bin/sh
# The reference controller listens on port 6633 if none is stated, the one of Open vSwitch on 6653.
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
"""What programs look up there before they limit the CPU with Mininet's scheduler "rt", as in Debian's own configuration."""
BUILT_IN = (
    "8021q", "act_mirred", "act_police", "bridge", "cls_basic", "cls_flower", "cls_fw", "cls_matchall", "cls_u32", "dummy",
    "ifb", "ip_tables", "iptable_filter", "iptable_mangle", "iptable_nat", "nf_conntrack", "nf_nat", "openvswitch", "sch_cake",
    "sch_codel", "sch_drr", "sch_fq", "sch_fq_codel", "sch_hfsc", "sch_htb", "sch_ingress", "sch_netem", "sch_pie", "sch_prio",
    "sch_red", "sch_sfq", "sch_tbf", "tcp_bbr", "tcp_bic", "tcp_cubic", "tcp_dctcp", "tcp_htcp", "tcp_illinois", "tcp_vegas",
    "tcp_westwood", "tun", "veth", "vxlan", "xt_conntrack", "xt_MASQUERADE",
)  # fmt: skip
"""What the lab's kernel has without a module, by the names that programs give to modprobe."""
MODULES = Path("/lib/modules", os.uname().release)
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
    if "modprobe" in program and not MODULES.exists():
        _state_what_is_built_in()
    if "sshd" in program and SSH_KEY.parent.is_dir() and not SSH_KEY.exists():
        SSH_RUN.mkdir(exist_ok=True)
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(SSH_KEY)]
        with suppress(OSError):
            subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def _state_what_is_built_in() -> None:
    """Tell modprobe what the kernel has built in: of that it says nothing, and succeeds."""
    with suppress(OSError):
        MODULES.mkdir(parents=True)
        lines = [f"kernel/{name}.ko\n" for name in BUILT_IN]
        (MODULES / "modules.builtin").write_text("".join(lines))
        (MODULES / "modules.order").write_text("")
        subprocess.run(["depmod", MODULES.name], stdin=subprocess.DEVNULL, capture_output=True, check=False)
