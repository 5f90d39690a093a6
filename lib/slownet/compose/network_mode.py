"""Services that have the network of another host in place of one of their own: ``network_mode``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from slownet.compose.document import Map
from slownet.compose.fields import X_SLOWNET
from slownet.compose.model import CLIENT, Dependency, Service
from slownet.model.errors import ComposeError

FIELD, HOST, SERVICE = "network_mode", "host", "service:"
_OWN = ("", "bridge", "default")
"""Modes where a service has a network of its own, as every service in a lab."""
_OF_AN_INTERFACE = ("networks", "mac_address", X_SLOWNET)
"""Fields of a network of its own."""


def mode(tree: Map) -> str:
    """Return the mode of a service that shares a network; empty if it does not."""
    found = str(tree.get(FIELD) or "")
    return "" if found in _OWN else found


def host(name: str, tree: Map) -> str:
    """Return the host whose network a service has; empty for one of its own. Raises ComposeError.

    The machine of a container engine is the host that measures: its address is the gateway's.
    """
    stated = str(tree.get(FIELD) or "")
    if stated and tree.get("networks"):
        raise ComposeError(f"{name} has both {FIELD} and networks", str(tree.keys_at[FIELD]), "leave one of them out")
    if stated in _OWN:
        return ""
    if stated != HOST and not stated.startswith(SERVICE):
        what = f"{FIELD} {stated} of {name} is not possible in a lab"
        raise ComposeError(what, str(tree.keys_at[FIELD]), f"write {HOST}, {SERVICE}NAME, or leave it out")
    found = CLIENT if stated == HOST else stated.removeprefix(SERVICE)
    for field in _OF_AN_INTERFACE:
        if tree.get(field):
            fix = f"leave it out, or {FIELD}"
            raise ComposeError(f"{field} of {name}, which has the network of {found}", str(tree.keys_at[field]), fix)
    return found


def dependency(name: str, tree: Map) -> Iterator[Dependency]:
    """Yield what a service waits for because it has another one's network."""
    other = mode(tree).removeprefix(SERVICE)
    if mode(tree).startswith(SERVICE) and other not in (tree.get("depends_on") or {}):
        yield Dependency(other, at=str(tree.keys_at[FIELD]))


def resolved(services: Mapping[str, Service], trees: Mapping[str, Map], counts: Mapping[str, int]) -> dict[str, Service]:
    """Return services with the host that each runs on in the end: one may share with one that shares. Raises ComposeError.

    counts: how many replicas of each there are.
    """
    made = {}
    for name, each in services.items():
        found = each.shares
        if found and max(counts[name], counts.get(found, 1)) > 1:
            several = name if counts[name] > 1 else found
            what = f"{name} has the network of {found}, and there are {counts[several]} of {several}"
            raise ComposeError(what, str(trees[name].keys_at[FIELD]), "have one replica")
        while found in services and services[found].shares:  # no circle: they depend on each other
            found = services[found].shares
        made[name] = replace(each, shares=found)
    return made


def warnings(services: Mapping[str, Service], trees: Mapping[str, Map]) -> Iterator[str]:
    """Yield what differs for services on the network of a container engine's machine."""
    for name, each in services.items():
        if each.shares == CLIENT:
            line = f"{name} is on the host {CLIENT}: ports of other services are on their own hosts"
            yield f"{trees[name].keys_at[FIELD]}: {line}"
