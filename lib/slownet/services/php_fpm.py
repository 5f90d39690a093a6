"""PHP's FastCGI process manager on a host."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from slownet.services.service import Service
from slownet.tools.process import Host

PROGRAM = "/opt/slownet/bin/php-fpm"
"""Debian's php-fpm8.x under a name without its version, made by ``lab/provision``."""

CHILDREN = 2

SETTINGS = {"opcache.enable": "1", "opcache.validate_timestamps": "0"}
"""Settings beside Debian's own: the lab's files do not change while it runs."""


class PhpFpm(Service):
    """Two PHP workers behind a Unix socket, as Debian's default is, with the opcode cache on.

    Parameters
    ----------
    variables
        What the pages see in their environment, for example ``{"SLOWNET_DB_HOST": "10.0.0.3"}``.
    """

    name = "php-fpm"

    def __init__(self, host: Host, directory: str | Path, *, variables: Mapping[str, str] | None = None) -> None:
        super().__init__(host, directory)
        self.variables = dict(variables or {})

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

    def command(self) -> Sequence[str]:
        settings = [part for name, value in SETTINGS.items() for part in ("-d", f"{name}={value}")]
        return [PROGRAM, "--nodaemonize", "--fpm-config", str(self.config), *settings]

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            connection.connect(os.fspath(self.socket))
            connection.sendall(GET_VALUES)
            return connection.recv(2) == b"\x01\x0a"  # version 1, FCGI_GET_VALUES_RESULT


GET_VALUES = b"\x01\x09\x00\x00\x00\x10\x00\x00" + b"\x0e\x00FCGI_MAX_CONNS"
"""A FastCGI management record that asks for one variable (FastCGI specification 1.0, section 4.1)."""
