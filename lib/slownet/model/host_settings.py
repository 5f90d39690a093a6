"""Settings for another measurement of an unchanged experiment: of the kernel, of routes, and of clients.

The environment has them, as `initcwnd=100;net.ipv4.tcp_rmem=4096 1048576 6291456`, so that no experiment, test or command needs
an option for them. A name with points is a sysctl of every host. The options of `OF_ROUTES` (ip-route(8)) are those of all
routes of IPv4 that a host has when its network is up. `KEEP_ALIVE` is for clients that can keep their connection.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from slownet.model.errors import ExperimentError, nearest

VARIABLE = "SLOWNET_SETTINGS"
OF_ROUTES = ("initcwnd", "initrwnd", "quickack", "rto_min", "cwnd", "window", "congctl", "mtu", "advmss")
KEEP_ALIVE = "keep-alive"


def read() -> dict[str, str]:
    """Return the settings that the environment has. Raises ExperimentError."""
    found: dict[str, str] = {}
    for text in filter(None, map(str.strip, os.environ.get(VARIABLE, "").split(";"))):
        name, equals, value = (each.strip() for each in text.partition("="))
        if not equals or not value:
            raise ExperimentError(f"unclear setting '{text}'", VARIABLE, "write NAME=VALUE;NAME=VALUE such as initcwnd=100")
        if "." not in name and name not in (*OF_ROUTES, KEEP_ALIVE):
            raise ExperimentError(f"unknown setting '{name}'", VARIABLE, nearest(name, [*OF_ROUTES, KEEP_ALIVE]))
        found[name] = value
    return found


def written(settings: Mapping[str, str]) -> str:
    """Return settings as the environment has them."""
    return ";".join(f"{name}={value}" for name, value in settings.items())


def is_on(name: str) -> bool:
    """Return whether a setting has a value other than 0. Raises ExperimentError."""
    return read().get(name, "0") != "0"
