"""What an installed system does for programs when it starts, and a lab, which has no services, does when a program needs it."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

from slownet.lab import native

SUDOERS = Path("/etc/sudoers.d/slownet")
KEEPS_PLAIN = 'Defaults env_keep += "NO_COLOR"\n'
"""A host's shell tells programs to write no colours, also those that sudo starts."""
SSH_RUN, SSH_KEY = Path("/run/sshd"), Path("/etc/ssh/ssh_host_ed25519_key")


def prepare(program: str = "") -> None:
    """Prepare a lab for a Mininet program. program: its text; one that starts sshd needs a key of the machine."""
    if not native.inside_lab():
        return
    with suppress(OSError):
        SUDOERS.write_text(KEEPS_PLAIN)
        SUDOERS.chmod(0o440)
    if "sshd" in program and SSH_KEY.parent.is_dir() and not SSH_KEY.exists():
        SSH_RUN.mkdir(exist_ok=True)
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(SSH_KEY)]
        with suppress(OSError):
            subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
