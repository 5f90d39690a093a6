"""A repository of git on a host, over SSH, HTTPS and git's own protocol, and a clone of it at a client."""

import shlex
import subprocess
from contextlib import contextmanager

from slownet import Command
from slownet.net.tool import run
from slownet.services.https import HttpsServer
from slownet.services.sshd import Sshd
from slownet.tools.timed import timed

QUIET = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_SSL_NO_VERIFY": "1"}
NOBODY = ("-c", "user.name=nobody", "-c", "user.email=nobody@slownet.example")


class Smart(HttpsServer):
    """The web server nginx, with git's program for HTTP behind it."""

    def __init__(self, host, directory, gateway, root):
        super().__init__(host, directory, files={})
        self.gateway, self.projects = gateway, root

    def locations(self):
        """Return where requests go."""
        return (
            "        location / {\n            include /etc/nginx/fastcgi_params;\n"
            "            fastcgi_param SCRIPT_FILENAME /usr/lib/git-core/git-http-backend;\n"
            f"            fastcgi_param GIT_PROJECT_ROOT {self.projects};\n"
            "            fastcgi_param GIT_HTTP_EXPORT_ALL 1;\n            fastcgi_param PATH_INFO $uri;\n"
            f"            fastcgi_pass unix:{self.gateway};\n        }}\n"
        )


class Repositories:
    """A repository on the host ``server``, with one commit, and a clone of it for the host ``client``."""

    operation = "pull"

    def __init__(self, net, directory):
        self.client, self.server = net["client"], net["server"]
        self.sshd, self.directory = Sshd(self.server, directory), directory

    def __enter__(self):
        self.sshd.start()
        self.bare, self.clone = self.sshd.state / "project.git", self.sshd.state / "clone"
        for words in (
            ["init", "--quiet", "--bare", "--initial-branch=main", self.bare],
            ["clone", "--quiet", self.bare, self.clone],
            ["-C", self.clone, *NOBODY, "commit", "--quiet", "--allow-empty", "--message=first"],
            ["-C", self.clone, "push", "--quiet", "origin", "main"],
        ):
            subprocess.run(["git", *map(str, words)], check=True, env=None, capture_output=True)
        return self

    def __exit__(self, *error):
        self.sshd.stop()

    def pull(self, way, protocol):
        """Pull what is up to date, over "ssh", "ssh, shared", "https" or "git", by git's protocol "0" or "2"."""
        with WAYS[way](self) as (url, ssh):
            more = {**QUIET, "GIT_SSH_COMMAND": shlex.join(ssh)}
            run(self.client, ["git", "-C", str(self.clone), "remote", "set-url", "origin", url])
            argv = ["git", "-C", str(self.clone), "-c", f"protocol.version={protocol}", "pull", "--ff-only", "origin", "main"]
            return timed(self.client, argv, env=more)

    @contextmanager
    def over_ssh(self):
        """Yield the URL, and ssh with its options."""
        yield f"ssh://root@{self.server.IP()}{self.bare}", ["ssh", *self.sshd.options]

    @contextmanager
    def over_shared_ssh(self):
        """The same over a connection that another ssh has open (ControlMaster), as git's own would: with SendEnv."""
        with self.over_ssh() as (url, ssh):
            shared = [
                *ssh,
                "-o",
                f"ControlPath={self.sshd.state}/shared",
                "-o",
                "ControlPersist=yes",
                "-o",
                "SendEnv=GIT_PROTOCOL",
            ]
            login = f"root@{self.server.IP()}"
            run(self.client, ["sh", "-c", f"{shlex.join([*shared, '-o', 'ControlMaster=yes', login, 'true'])} >/dev/null 2>&1"])
            try:
                yield url, shared
            finally:
                run(self.client, [*shared, "-O", "exit", login])

    @contextmanager
    def over_https(self):
        """The same from a web server."""
        gateway = self.sshd.state / "gateway"
        gateway.unlink(missing_ok=True)  # of the cell before
        program = ["fcgiwrap", "-s", f"unix:{gateway}"]
        with Command(self.server, program, self.directory, ready=lambda _: gateway.exists()):
            gateway.chmod(0o777)
            with Smart(self.server, self.directory, gateway, self.bare.parent) as web:
                yield f"{web.url}{self.bare.name}", ["ssh"]

    @contextmanager
    def over_git(self):
        """The same from git's own server."""
        root = str(self.bare.parent)
        words = ["git", "daemon", f"--base-path={root}", "--export-all", root]
        with Command(self.server, words, self.directory, port=9418, name="daemon"):
            yield f"git://{self.server.IP()}/{self.bare.name}", ["ssh"]


WAYS = {
    "ssh": Repositories.over_ssh,
    "ssh, shared": Repositories.over_shared_ssh,
    "https": Repositories.over_https,
    "git": Repositories.over_git,
}
