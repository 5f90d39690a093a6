"""PHP-FPM, PHP's FastCGI process manager."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from slownet.net.process import Host
from slownet.services import arguments
from slownet.services.service import Service

PROGRAM = "/opt/slownet/bin/php-fpm"
"""Debian's php-fpm8.x under a name without its version, made by ``lab/build/provision``."""

CHILDREN = 2

SETTINGS = {"opcache.enable": "1", "opcache.validate_timestamps": "0", "output_buffering": "On"}
"""Settings in addition to Debian's. Timestamps need no check, because a lab's files do not change. With output buffering, a
page is sent when it is complete: if its beginning were sent while PHP is still working, delay would hide a part of T0, and the
law would not be a straight line."""

COMPILED = Path("/var/lib/slownet/wordpress/opcache")
"""WordPress compiled by PHP, in files made by ``lab/build/provision``; the workers do not write to them."""


class PhpFpm(Service):
    """PHP-FPM with two workers, a Unix socket (Debian's default) and the opcode cache.

    Parameters
    ----------
    host : Host
        The host that it runs on.
    directory : str or Path, optional
        The run directory, for log and configuration.
    variables : mapping of str to str, optional
        Environment variables of the pages, such as ``{"SLOWNET_DB_HOST": "10.0.0.3"}``.
    additions : mapping of Path to sequence of Path, optional
        For each directory, files that appear in it for these workers only, in addition to its own.
    """

    name = "php-fpm"

    def __init__(
        self,
        host: Host,
        directory: str | Path | None = None,
        *,
        variables: Mapping[str, str] | None = None,
        additions: Mapping[Path, Sequence[Path]] | None = None,
    ) -> None:
        super().__init__(host, directory)
        self.variables = arguments.mapping(variables, "PhpFpm", "variables", 'variables={"SLOWNET_DB_HOST": "10.0.0.3"}')
        self.additions = dict(additions or {})

    @property
    def socket(self) -> Path:
        """The Unix socket for the web server."""
        return self.state / "sock"

    @property
    def config(self) -> Path:
        """The configuration file, in the run directory."""
        return self.directory / f"{self.label}.conf"

    def prepare(self) -> None:
        """Write the configuration, and copy the added files."""
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
                path.chmod(0o755)  # the workers run as another user

    def _addition(self, number: int) -> Path:
        return self.state / f"addition{number}"

    def _mount(self, number: int, directory: Path) -> str:
        layers = f"ro,lowerdir={self._addition(number)}:{directory}"
        return shlex.join(["mount", "-t", "overlay", "-o", layers, "overlay", str(directory)])

    def command(self) -> Sequence[str]:
        """Return the command line."""
        # PHP does not start if the folder is missing. Checksums would make PHP read all files of the first page twice.
        found = {"opcache.file_cache": str(COMPILED), "opcache.file_cache_consistency_checks": "0"}
        compiled = found if COMPILED.is_dir() else {}
        settings = [part for name, value in (SETTINGS | compiled).items() for part in ("-d", f"{name}={value}")]
        php = [PROGRAM, "--nodaemonize", "--fpm-config", str(self.config), *settings]
        if not self.additions:
            return php
        mounts = (self._mount(number, directory) for number, directory in enumerate(self.additions))
        # The mounts are in a private mount namespace, so they cannot outlive the run.
        return ["unshare", "--mount", "sh", "-c", f'{" && ".join(mounts)} && exec "$@"', "sh", *php]

    def answers(self) -> bool:
        """Return whether it answers a FastCGI management record."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            connection.connect(os.fspath(self.socket))
            connection.sendall(GET_VALUES)
            return connection.recv(2) == b"\x01\x0a"  # version 1, FCGI_GET_VALUES_RESULT


GET_VALUES = b"\x01\x09\x00\x00\x00\x10\x00\x00" + b"\x0e\x00FCGI_MAX_CONNS"
"""A FastCGI management record that asks for one variable (FastCGI specification 1.0, section 4.1)."""
