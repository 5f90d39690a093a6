"""Options of routes (ip-route(8)), and the settings of all hosts that the environment names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from slownet.model import host_settings
from slownet.net.namespace import inside, write_sysctls
from slownet.net.process import Host
from slownet.net.tool import run

_IN_ORDER = ("dst", "gateway", "dev", "protocol", "scope", "prefsrc", "metric")
_WORDS = {"dst": "", "gateway": "via", "protocol": "proto", "prefsrc": "src"}
"""The words of ip-route for fields of its JSON that have another name."""


def apply(hosts: Sequence[Host]) -> None:
    """Set what the environment has for hosts. Raises ExperimentError, or NetworkError if a kernel or `ip` refuses it."""
    settings = host_settings.read()
    sysctls = {name: value for name, value in settings.items() if "." in name}
    options = {name: value for name, value in settings.items() if name in host_settings.OF_ROUTES}
    for host in hosts if sysctls or options else ():
        with inside(host):
            write_sysctls(sysctls)
        if options:
            for route in json.loads(run(host, ["ip", "-json", "-4", "route", "show"]).stdout or "[]"):
                if "dev" in route:  # not one of several ways
                    change_route(host, route, options)


def change_route(host: Host, route: Mapping[str, Any], options: Mapping[str, str]) -> None:
    """Give a route, of the JSON of `ip route show`, options; without any it has none afterwards. Raises ToolError."""
    words = [word for each in _IN_ORDER if each in route for word in (_WORDS.get(each, each), str(route[each])) if word]
    run(host, ["ip", "route", "change", *words, *(word for pair in options.items() for word in pair)])
