"""Texts that stand for booleans and numbers, as every variable is one: read as compose's own library reads them.

Compose converts texts twice: some fields as soon as their variables are replaced, before it checks their
kinds (`early`), and what is left when it fills its types (`late`). A field of the second kind may be a text only where
`slownet.compose.values` allows one. What it does not understand it refuses; so does this, at the place of the value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from slownet.compose.document import Items, Map, Place
from slownet.model.errors import ComposeError
from slownet.model.units import TIMES

Cast = Callable[[str], Any]
_ANY = "*"
_TRUE, _FALSE = ("true", "y", "yes", "on"), ("false", "n", "no", "off")
_WHOLE = re.compile(r"[-+]?[0-9]{1,40}", re.ASCII)
_REAL = re.compile(r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,9})?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE)
_MOST_REAL = 400
"""Characters of a number with a fraction; more digits are not a mistake of a person's."""
_BYTES = re.compile(r"(?P<number>[0-9.eE+ -]*?[0-9.])(?P<space> ?)(?P<unit>[a-z]*)", re.ASCII | re.IGNORECASE)
_PLAIN_BYTES = re.compile(r"[0-9]+(?:[kmg](?:i?b)?)?", re.ASCII | re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_UNIT = re.compile(r"b?|([kmgtp])(?:i?b)?")
SECONDS = {name: float(each.seconds) for each in TIMES for name in each.in_compose}
_PART = rf"(\d+\.?\d*|\.\d+)({'|'.join(sorted(SECONDS, key=len, reverse=True))})"
_DURATION = re.compile(rf"[-+]?(?:0|(?:{_PART})+)", re.ASCII)
_LONGEST_S = 2**63 / 1e9
"""Go's durations are 64 bits of nanoseconds: 292 years."""
_BITS = 63


def boolean(text: str) -> bool:
    """Return what a text stands for: true, y, yes and on; false, n, no and off, in any case. Raises ValueError."""
    word = text.lower()
    if word not in (*_TRUE, *_FALSE):
        raise ValueError("write true or false; in quotes and variables also yes, on, y, no, off and n")
    return word in _TRUE


def whole(text: str) -> int:
    """Return a whole number of 64 bits. Raises ValueError."""
    number = int(text) if _WHOLE.fullmatch(text) else None
    if number is None or not -(1 << _BITS) <= number < 1 << _BITS:
        raise ValueError("write a whole number")
    return number


def natural(text: str) -> int:
    """Return a whole number that is not negative. Raises ValueError."""
    number = whole(text)
    if number < 0:
        raise ValueError("write a whole number, at least 0")
    return number


def real(text: str) -> float:
    """Return a number that may have a fraction. Raises ValueError."""
    if len(text) > _MOST_REAL or not _REAL.fullmatch(text):
        raise ValueError("write a number")
    return float(text)


def size(text: str) -> int:
    """Return a number of bytes: ``64m`` and ``64 MiB`` are 67108864. Raises ValueError."""
    how = "write a number of bytes, such as 64m; units: b k m g t p"
    if _WHOLE.fullmatch(text):
        return whole(text)
    found = _BYTES.fullmatch(text[:_MOST_REAL])
    unit = _UNIT.fullmatch(found["unit"].lower()) if found else None
    if not found or not unit or not _REAL.fullmatch(found["number"]) or len(text) > _MOST_REAL:
        raise ValueError(how)
    try:
        number = int(Decimal(found["number"]) * 1024 ** _POWERS[unit[1] or ""])
    except (ArithmeticError, ValueError) as error:
        raise ValueError(how) from error
    if not 0 <= number < 1 << _BITS:
        raise ValueError(how)
    return number


def seconds(text: str) -> float:
    """Return the seconds of ``1m30s``. Raises ValueError."""
    how = "write it like 1m30s; units: w d h m s ms us ns"
    if len(text) > _MOST_REAL or not _DURATION.fullmatch(text):
        raise ValueError(how)
    found = sum(float(number) * SECONDS[unit] for number, unit in re.findall(_PART, text, re.ASCII))
    if not math.isfinite(found) or found >= _LONGEST_S:
        raise ValueError(how)
    return -found if text.startswith("-") else found


def _bytes(text: str) -> str | int:
    """Check a number of bytes; a plain one stays the text that it is, because mounts and builds take it."""
    number = size(text)
    return text if _PLAIN_BYTES.fullmatch(text) else number


def _duration(text: str) -> str:
    """Check a duration, which stays a text: the reader of its field makes seconds of it."""
    seconds(text)
    return text


def mode(text: str) -> int:
    """Return a file's mode: a text is octal. Raises ValueError."""
    if not re.fullmatch(r"[0-7]{1,6}", text, re.ASCII):
        raise ValueError("write it like 0440")
    return int(text, 8)


def umask(text: str) -> int:
    """Return a mask, written as YAML's whole numbers are: a leading 0 or 0o makes it octal. Raises ValueError."""
    plain = text.replace("_", "").lower()
    base = {"0x": 16, "0o": 8, "0b": 2}.get(plain[:2], 8 if plain.startswith("0") and plain != "0" else 10)
    try:
        number = int(plain, base) if len(plain) <= 40 else -1
    except ValueError:
        number = -1
    if not 0 <= number < 1 << 32:
        raise ValueError("write it like 0022")
    return number


def count(text: str) -> int:
    """Return how many devices: ``all`` is -1. Raises ValueError."""
    return -1 if text.lower() == "all" else whole(text)


def _paths(prefix: str, cast: Cast, *names: str) -> dict[str, Cast]:
    return {f"{prefix}{'.' if prefix else ''}{name}": cast for name in names}


_SERVICE = "services.*"
_EARLY: Mapping[str, Cast] = {
    **_paths("networks.*", boolean, "external", "internal", "attachable", "enable_ipv4", "enable_ipv6"),
    **{f"{kind}.*.external": boolean for kind in ("volumes", "secrets", "configs")},
    **_paths(
        _SERVICE, whole, "cpu_count", "cpu_period", "cpu_quota", "cpu_rt_period", "cpu_rt_runtime", "cpu_shares",
        "oom_score_adj", "pids_limit", "ulimits.*", "ulimits.*.hard", "ulimits.*.soft", "healthcheck.retries",
        "ports.*.target", "deploy.replicas", "deploy.update_config.parallelism", "deploy.rollback_config.parallelism",
        "deploy.restart_policy.max_attempts", "deploy.placement.max_replicas_per_node", "scale",
    ),
    **_paths(
        _SERVICE, real, "cpu_percent", "cpus", "deploy.update_config.max_failure_ratio",
        "deploy.rollback_config.max_failure_ratio",
    ),
    **_paths(
        _SERVICE, boolean, "init", "networks.*.use_service_name_alias", "oom_kill_disable", "privileged", "read_only",
        "volumes.*.read_only", "volumes.*.volume.nocopy", "depends_on.*.required", "depends_on.*.restart",
        "healthcheck.disable", "stdin_open", "tty",
    ),
    **_paths(_SERVICE, umask, "umask"),
}  # fmt: skip
_LATE: Mapping[str, Cast] = {
    **_paths(
        _SERVICE, boolean, "attach", "use_api_socket", "build.no_cache", "build.pull", "build.privileged",
        "volumes.*.bind.create_host_path", "env_file.*.required", "post_start.*.privileged", "pre_stop.*.privileged",
        "develop.watch.*.initial_sync",
    ),
    **_paths(
        _SERVICE, _bytes, "mem_limit", "mem_reservation", "memswap_limit", "mem_swappiness", "shm_size", "build.shm_size",
        "volumes.*.tmpfs.size", "deploy.resources.limits.memory", "deploy.resources.reservations.memory",
    ),
    **_paths(
        _SERVICE, _duration, "stop_grace_period", "healthcheck.interval", "healthcheck.timeout", "healthcheck.start_period",
        "healthcheck.start_interval", "deploy.update_config.delay", "deploy.update_config.monitor",
        "deploy.rollback_config.delay", "deploy.rollback_config.monitor", "deploy.restart_policy.delay",
        "deploy.restart_policy.window",
    ),
    **_paths(_SERVICE, real, "deploy.resources.limits.cpus", "deploy.resources.reservations.cpus"),
    **_paths(
        _SERVICE, whole, "networks.*.gw_priority", "networks.*.priority", "deploy.resources.limits.pids",
        "deploy.resources.reservations.generic_resources.*.discrete_resource_spec.value",
    ),
    **_paths(
        _SERVICE, natural, "healthcheck.retries", "deploy.update_config.parallelism", "deploy.rollback_config.parallelism",
        "deploy.restart_policy.max_attempts", "deploy.placement.max_replicas_per_node",
    ),
    **_paths(_SERVICE, mode, "secrets.*.mode", "configs.*.mode", "build.secrets.*.mode"),
    **_paths(_SERVICE, count, "gpus.*.count", "deploy.resources.reservations.devices.*.count"),
}  # fmt: skip


def early(tree: Map) -> None:
    """Convert what compose converts before it checks a file, in place. Raises ComposeError."""
    _convert(tree, _EARLY_TREE, ())


def late(tree: Map) -> None:
    """Convert what compose converts when it fills its types, in place. Raises ComposeError."""
    _convert(tree, _LATE_TREE, ())


def _convert(tree: Any, known: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for name, value, at in list(_within(tree)):
        found = known.get(str(name), known.get(_ANY))
        if found is None:
            continue
        if isinstance(value, str) or (isinstance(value, int) and found.get("") is natural):
            value = str(value)
            if cast := found.get(""):
                tree[name] = _cast(cast, value, (*keys, str(name)), at)
        else:
            _convert(value, found, (*keys, str(name)))


def _within(tree: Any) -> Iterator[tuple[Any, Any, Place]]:
    if isinstance(tree, Map):
        yield from ((name, value, tree.keys_at[name]) for name, value in tree.items())
    elif isinstance(tree, Items):
        yield from ((number, value, at) for number, (value, at) in enumerate(zip(tree, tree.at, strict=True)))


def _cast(cast: Cast, text: str, keys: tuple[str, ...], at: Place) -> Any:
    try:
        return cast(text)
    except ValueError as error:
        shown = f"'{text[:40]}{'...' * (len(text) > 40)}'" if text else "empty"
        raise ComposeError(f"{'.'.join(keys)} is {shown}", str(at), str(error)) from error


def _as_tree(table: Mapping[str, Cast]) -> dict[str, Any]:
    """Return paths as mappings in one another; a path's own cast has the empty key."""
    made: dict[str, Any] = {}
    for path, cast in table.items():
        here = made
        for part in path.split("."):
            here = here.setdefault(part, {})
        here[""] = cast
    return made


_EARLY_TREE, _LATE_TREE = _as_tree(_EARLY), _as_tree(_LATE)
