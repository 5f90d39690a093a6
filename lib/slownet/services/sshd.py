"""OpenSSH's server, for a client that has a key of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from slownet.net.tool import run
from slownet.services.service import Service

PORT = 22
PROGRAM = "/usr/sbin/sshd"
SEPARATION = Path("/run/sshd")
"""The folder that sshd confines its unprivileged part to."""


class Sshd(Service):
    """OpenSSH's server. Its host key and the client's key are made at its start.

    host: the host that it runs on.
    directory: the run directory, for the log.
    """

    name = "sshd"

    @property
    def options(self) -> Sequence[str]:
        """Options of ``ssh``, ``scp`` and ``sftp`` that log in as this process's user, without a question.

        Nothing of the user's own configuration counts.
        """
        return (
            "-F", "none", "-i", str(self.state / "key"), "-o", "StrictHostKeyChecking=yes", "-o", "BatchMode=yes",
            "-o", f"UserKnownHostsFile={self.state}/known_hosts", "-o", "LogLevel=ERROR",
        )  # fmt: skip

    def prepare(self) -> None:
        """Make the keys and write the configuration. Raises ServiceError if the port is taken."""
        self.require_port(PORT)
        for name in ("host_key", "key"):
            run(self.host, ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(self.state / name)])
        key = (self.state / "host_key.pub").read_text()
        (self.state / "known_hosts").write_text(f"{self.host.IP()} {key}")
        SEPARATION.mkdir(mode=0o755, parents=True, exist_ok=True)
        (self.state / "sshd_config").write_text(
            f"Port {PORT}\n"
            f"HostKey {self.state}/host_key\n"
            f"AuthorizedKeysFile {self.state}/key.pub\n"
            f"PidFile {self.state}/pid\n"
            "StrictModes no\n"
            "UsePAM no\n"
            "UseDNS no\n"
            "PasswordAuthentication no\n"
            "KbdInteractiveAuthentication no\n"
            "PermitRootLogin prohibit-password\n"
            "AcceptEnv GIT_PROTOCOL\n"  # without it git falls back to protocol 0 (gitprotocol-v2)
            "Subsystem sftp internal-sftp\n"
        )

    def command(self) -> Sequence[str]:
        """Return the command line."""
        return [PROGRAM, "-D", "-e", "-f", str(self.state / "sshd_config")]

    def answers(self) -> bool:
        """Return whether it listens."""
        return bool(run(self.host, ["ss", "-Htln", f"sport = :{PORT}"]).stdout)
