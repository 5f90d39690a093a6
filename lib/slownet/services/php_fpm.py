"""PHP's FastCGI process manager on a host."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from slownet.services.service import Service
from slownet.tools.process import Host

PROGRAM = "/opt/slownet/bin/php-fpm"
"""Debian's php-fpm8.x under a name without its version, made by ``lab/provision``."""

CHILDREN = 2

SETTINGS = {"opcache.enable": "1", "opcache.validate_timestamps": "0", "output_buffering": "On"}
"""Settings beside Debian's own: the lab's files do not change while it runs, and a page leaves when it is whole. Were its
beginning on its way while PHP still works on the rest, a delay would hide a part of T0 and bend the law."""

COMPILED = Path("/var/lib/slownet/wordpress/opcache")
"""WordPress as PHP compiles it, in files made by ``lab/provision``; the workers do not write there."""


class PhpFpm(Service):
    """Two PHP workers behind a Unix socket, as Debian's default is, with the opcode cache on.

    Parameters
    ----------
    host, directory
        Where it runs, and the run directory for its log and configuration.
    variables
        What the pages see in their environment, for example ``{"SLOWNET_DB_HOST": "10.0.0.3"}``.
    additions
        Directories and the files that these workers, and nobody else, see there besides those that are.
    """

    name = "php-fpm"

    def __init__(
        self,
        host: Host,
        directory: str | Path,
        *,
        variables: Mapping[str, str] | None = None,
        additions: Mapping[Path, Sequence[Path]] | None = None,
    ) -> None:
        super().__init__(host, directory)
        self.variables = dict(variables or {})
        self.additions = dict(additions or {})

    @property
    def socket(self) -> Path:
        """The Unix socket that a web server passes requests to."""
        return self.state / "sock"

    @property
    def config(self) -> Path:
        """Its configuration, in the run directory."""
        return self.directory / f"{self.label}.conf"

    def prepare(self) -> None:
        lines = [
            "[global]",
            "error_log = /proc/self/fd/2",
            "log_limit = 8192",
            "daemonize = no",
            "systemd_interval = 0",
            "[www]",
            "user = www-data",
            "group = www-data",
            f"listen = {self.socket}",
            "listen.owner = www-data",
            "listen.group = www-data",
            "pm = static",
            f"pm.max_children = {CHILDREN}",
            "catch_workers_output = yes",
            "decorate_workers_output = no",
            *(f'env[{name}] = "{value}"' for name, value in self.variables.items()),
        ]
        self.config.write_text("\n".join(lines) + "\n")
        for number, files in enumerate(self.additions.values()):
            place = self._addition(number)
            place.mkdir()
            for file in files:
                shutil.copyfile(file, place / file.name)
            for path in (place, *place.iterdir()):
                path.chmod(0o755)  # the workers are another user

    def _addition(self, number: int) -> Path:
        return self.state / f"addition{number}"

    def _mount(self, number: int, directory: Path) -> str:
        layers = f"ro,lowerdir={self._addition(number)}:{directory}"
        return shlex.join(["mount", "-t", "overlay", "-o", layers, "overlay", str(directory)])

    def command(self) -> Sequence[str]:
        # PHP does not start without the folder. Checking the files' sums reads all that a first page loads once more.
        found = {"opcache.file_cache": str(COMPILED), "opcache.file_cache_consistency_checks": "0"}
        compiled = found if COMPILED.is_dir() else {}
        settings = [part for name, value in (SETTINGS | compiled).items() for part in ("-d", f"{name}={value}")]
        php = [PROGRAM, "--nodaemonize", "--fpm-config", str(self.config), *settings]
        if not self.additions:
            return php
        mounts = (self._mount(number, directory) for number, directory in enumerate(self.additions))
        # In a mount namespace of its own: whatever becomes of the run, the machine's files are as they were.
        return ["unshare", "--mount", "sh", "-c", f'{" && ".join(mounts)} && exec "$@"', "sh", *php]

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            connection.connect(os.fspath(self.socket))
            connection.sendall(GET_VALUES)
            return connection.recv(2) == b"\x01\x0a"  # version 1, FCGI_GET_VALUES_RESULT


GET_VALUES = b"\x01\x09\x00\x00\x00\x10\x00\x00" + b"\x0e\x00FCGI_MAX_CONNS"
"""A FastCGI management record that asks for one variable (FastCGI specification 1.0, section 4.1)."""
