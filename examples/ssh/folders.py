"""A folder on a host, which programs copy to a client: rsync over SSH and from its own server, scp and sftp."""

import shlex
from pathlib import Path

from slownet import Command
from slownet.lab.host import owner
from slownet.services.sshd import Sshd
from slownet.tools.timed import timed


class RsyncServer(Command):
    """rsync's own server, for one folder."""

    def __init__(self, host, directory, folder):
        super().__init__(host, ["rsync"], directory, port=873, name="rsyncd")
        self.folder_served = folder

    def prepare(self):
        """Write its configuration."""
        (self.state / "conf").write_text(f"uid = root\nuse chroot = no\n[files]\npath = {self.folder_served}\n")

    def command(self):
        """Return the command line."""
        return ["rsync", "--daemon", "--no-detach", f"--config={self.state}/conf"]


class Folders:
    """A folder on the host ``server``, with OpenSSH's server and rsync's."""

    operation = "copy"

    def __init__(self, net, directory):
        self.server = net["server"]
        self.sshd, self.directory = Sshd(self.server, directory), directory

    def __enter__(self):
        self.sshd.start()
        self.path = self.sshd.state / "files"
        self.rsync = RsyncServer(self.server, self.directory, self.path).start()
        return self

    def __exit__(self, *error):
        self.rsync.stop()
        self.sshd.stop()

    def copy(self, client, program, files, size, *, again=False):
        """Copy so many files of a size to a new folder; `again` times a second copy, of which nothing is new."""
        with owner.temporary("copy") as there:
            self.path.mkdir()
            for number in range(files):
                with open(self.path / f"{number:04}", "wb") as file:
                    file.truncate(size)
            try:
                argv = self.argv(program, Path(there) / "copy")
                if again:
                    timed(client, argv)
                return timed(client, argv)
            finally:
                for each in self.path.iterdir():
                    each.unlink()
                self.path.rmdir()

    def argv(self, program, target):
        """Return the command of a program that copies the folder."""
        login, options = f"root@{self.server.IP()}:{self.path}", self.sshd.options
        return {
            "rsync, ssh": ["rsync", "-a", "-e", shlex.join(["ssh", *options]), f"{login}/", f"{target}/"],
            "rsync, own": ["rsync", "-a", f"rsync://{self.server.IP()}/files/", f"{target}/"],
            "scp": ["scp", "-q", "-r", *options, login, str(target)],
            "sftp": ["sftp", "-q", "-r", *options, login, str(target)],
        }[program]
