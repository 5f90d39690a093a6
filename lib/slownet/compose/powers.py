"""Reads what a service's container may do besides: capabilities, groups of its user, and settings of the kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from slownet.compose.document import Map
from slownet.compose.longform import text
from slownet.containers.capabilities import ADDED, CAPABILITIES, WITHHELD
from slownet.model.errors import ComposeError, nearest

ALL = "ALL"
_PREFIX = "CAP_"
_OF_NETWORK = re.compile(r"net(?:\.[\w-]+)+")
_OF_IPC = re.compile(r"kernel\.(?:msgmax|msgmnb|msgmni|sem|shmall|shmmax|shmmni|shm_rmid_forced)|fs\.mqueue\.\w+")
"""Settings that a namespace has for itself, so that a container can: as in Docker."""


def capabilities(tree: Map, warnings: list[str]) -> tuple[str, ...] | None:
    """Return a service's capabilities as Docker finds them; None for the default ones. Raises ComposeError.

    warnings: gets a line for those that no container of a lab has.
    """
    added, dropped = (list(_named(tree, each)) for each in ("cap_add", "cap_drop"))
    if not added and not dropped:
        return None
    withheld = [each for each in added if each in WITHHELD]
    if withheld:
        what = ", ".join(each.removeprefix(_PREFIX) for each in withheld)
        warnings.append(
            f"{tree.keys_at['cap_add']}: ignored: {what} of cap_add: no container gets at a lab's kernel and devices"
        )
    if ALL in added:
        kept = [*CAPABILITIES, *ADDED]
    elif ALL in dropped:
        return tuple(each for each in added if each not in WITHHELD)
    else:
        kept = [*CAPABILITIES, *(each for each in added if each not in (*CAPABILITIES, *WITHHELD))]
    return tuple(each for each in kept if each not in dropped)


def _named(tree: Map, field: str) -> Iterator[str]:
    stated: Any = tree.get(field) or ()
    known = [ALL, *CAPABILITIES, *ADDED, *WITHHELD]
    for number, each in enumerate(stated):
        name = str(each).upper()
        whole = name if name == ALL or name.startswith(_PREFIX) else f"{_PREFIX}{name}"
        if whole not in known:
            fix = nearest(name.removeprefix(_PREFIX), [one.removeprefix(_PREFIX) for one in known])
            raise ComposeError(f"no capability '{each}'", str(stated.at[number]), fix)
        yield whole


def groups(tree: Map) -> tuple[str, ...]:
    """Return further groups of a service's user."""
    return tuple(text(each) for each in tree.get("group_add") or ())


def sysctls(tree: Map) -> dict[str, str]:
    """Return the settings of a service's network and IPC. Raises ComposeError for others, which Docker refuses, too."""
    stated: Any = tree.get("sysctls") or {}
    for name, value in stated.items():
        if not _OF_NETWORK.fullmatch(name) and not _OF_IPC.fullmatch(name):
            what = f"the setting '{name}' is the whole machine's"
            raise ComposeError(what, str(stated.keys_at[name]), "a container has those of its network (net...) and IPC")
        if value is None:
            raise ComposeError(f"the setting {name} has no value", str(stated.keys_at[name]), f"write {name}=1")
    return {name: text(value) for name, value in stated.items()}
