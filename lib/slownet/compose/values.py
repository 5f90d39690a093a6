"""The values that each field of a compose file may have, at every level: those that compose's own schema allows.

Compose converts texts twice: some fields as soon as their variables are replaced, before it checks their kinds (`early`), and
what is left when it fills its types (`late`). A field of the second kind may be a text only where `FILE` allows one.

tests/compose_go compares them with that schema, which is part of compose's library (compose-go), and with its answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slownet.compose import casts, container_fields
from slownet.compose.document import Items, Map, Place
from slownet.compose.kinds import (
    ALL,
    COMMAND,
    COUNT,
    FLAG,
    NONE,
    NOTHING,
    NUMBER,
    PAIRS,
    REAL,
    TEXT,
    TEXTS,
    TRUTH,
    ULIMITS,
    WHOLE,
    Kind,
    between,
    choice,
    formed,
    listed,
    named,
    record,
)
from slownet.model.errors import ComposeError

_NAME = r"^[a-zA-Z0-9._-]+\Z"
_SOMETHING, _OF_ONE_LINE = r"^.+$", r"^.+\Z"
_MOST_UMASK = 2**32 - 1
_POLICY = r"^(always|never|build|if_not_present|missing|refresh|daily|weekly|every_([0-9]+[wdhms])+)\Z"
_POLICIES = "always, never, build, if_not_present, missing, refresh, daily, weekly or every_12h"

_MANY = listed(TEXT)
_ONE_OR_MORE = TEXT | TEXTS
_OPTIONS = named(TEXT | NUMBER, _SOMETHING, ALL)
_HOSTS = named(TEXT | _MANY, ".+") | TEXTS


def _all_of(kind: Kind, names: str) -> dict[str, Kind]:
    """Return fields of one kind. names: with spaces between them."""
    return dict.fromkeys(names.split(), kind)


_CONTENTS = listed(TEXT | record({**_all_of(TEXT, "source target uid gid"), "mode": REAL}))
_DEVICE: Mapping[str, Kind] = {
    "capabilities": TEXTS, "count": COUNT, "device_ids": TEXTS, "driver": TEXT, "options": PAIRS,
}  # fmt: skip
_HOOK = record(
    {"command": COMMAND, "user": TEXT, "privileged": FLAG, "working_dir": TEXT, "environment": PAIRS}, required=("command",)
)
_VOLUME = record(
    {
        "type": choice("bind", "volume", "tmpfs", "cluster", "npipe", "image"), "read_only": FLAG,
        **_all_of(TEXT, "source target consistency"),
        "bind": record({
            "propagation": TEXT, "create_host_path": FLAG, "selinux": choice("z", "Z"),
            "recursive": choice("enabled", "disabled", "writable", "readonly"),
        }),
        "volume": record({"labels": PAIRS, "nocopy": FLAG, "subpath": TEXT}),
        "tmpfs": record({"size": between(0) | TEXT, "mode": REAL}),
        "image": record({"subpath": TEXT}),
    },
    required=("type",),
)  # fmt: skip
_JOINED = record({
    **_all_of(TEXTS, "aliases link_local_ips"), **_all_of(TEXT, "interface_name ipv4_address ipv6_address mac_address"),
    "driver_opts": _OPTIONS, **_all_of(NUMBER, "priority gw_priority"), "use_service_name_alias": FLAG,
})  # fmt: skip
_LIMITS = listed(record({"path": TEXT, "rate": COUNT}, others=NONE))

_CONTAINER: Mapping[str, Kind] = {
    **{name: row.kind for name, row in container_fields.ROWS.items()},
    **_all_of(
        TEXT,
        "cgroup_parent cpuset domainname image ipc isolation mac_address network_mode platform pull_refresh_after runtime uts "
        "userns_mode",
    ),
    **_all_of(FLAG, "oom_kill_disable privileged"),
    **_all_of(
        REAL,
        "cpu_shares cpu_quota cpu_period cpu_rt_period cpu_rt_runtime cpus mem_limit memswap_limit pids_limit shm_size",
    ),
    **_all_of(COUNT, "mem_reservation mem_swappiness"),
    **_all_of(PAIRS, "annotations environment labels"),
    **_all_of(TEXTS, "device_cgroup_rules dns_opt security_opt volumes_from"),
    **_all_of(_ONE_OR_MORE, "dns dns_search tmpfs"),
    **_all_of(_CONTENTS, "configs secrets"),
    "blkio_config": record(
        {
            **_all_of(_LIMITS, "device_read_bps device_read_iops device_write_bps device_write_iops"), "weight": COUNT,
            "weight_device": listed(record({"path": TEXT, "weight": COUNT}, others=NONE)),
        },
        others=NONE,
    ),
    "cgroup": choice("host", "private"),
    "cpu_count": TEXT | between(0),
    "cpu_percent": TEXT | between(0, 100),
    "credential_spec": record(_all_of(TEXT, "config file registry")),
    "devices": listed(TEXT | record(_all_of(TEXT, "source target permissions"), required=("source",))),
    "env_file": TEXT | listed(
        TEXT | record({"path": TEXT, "format": TEXT, "required": FLAG}, required=("path",), others=NONE)
    ),
    "extra_hosts": _HOSTS,
    "gpus": choice("all") | listed(record(_DEVICE, others=ALL)),
    "label_file": TEXT | _MANY,
    "logging": record({"driver": TEXT, "options": named(TEXT | NUMBER | NOTHING, _SOMETHING, ALL)}),
    "models": TEXTS | named(record(_all_of(TEXT, "endpoint_var model_var")) | NOTHING, _NAME, ALL),
    "networks": TEXTS | named(_JOINED | NOTHING, _NAME),
    "oom_score_adj": TEXT | between(-1000, 1000),
    "pid": TEXT | NOTHING,
    "pull_policy": formed(_POLICY, _POLICIES),
    "storage_opt": record({}, others=ALL),
    "umask": between(0, _MOST_UMASK) | TEXT | NOTHING,
    "use_api_socket": TRUTH,
    "volumes": listed(TEXT | _VOLUME, once=True),
}  # fmt: skip
_BUILD = record({
    **_all_of(TEXT, "context dockerfile dockerfile_inline network target isolation"),
    **_all_of(_MANY, "entitlements cache_from cache_to tags platforms"),
    **_all_of(PAIRS, "args ssh labels additional_contexts"),
    **_all_of(FLAG, "no_cache pull privileged provenance sbom"),
    "no_cache_filter": _ONE_OR_MORE, "shm_size": COUNT, "extra_hosts": _HOSTS, "secrets": _CONTENTS, "ulimits": ULIMITS,
})  # fmt: skip
_PORT = record({**_all_of(TEXT, "name mode host_ip protocol app_protocol"), **_all_of(COUNT, "target published")})
_DEPENDENCY = record(
    {
        "restart": FLAG, "required": TRUTH,
        "condition": choice("service_started", "service_healthy", "service_completed_successfully"),
    },
    required=("condition",),
)  # fmt: skip
_WORKLOAD: Mapping[str, Kind] = {
    "build": TEXT | _BUILD,
    "depends_on": TEXTS | named(_DEPENDENCY, _NAME),
    "healthcheck": record({
        "disable": FLAG, "retries": REAL, "test": TEXT | _MANY,
        **_all_of(TEXT, "interval timeout start_period start_interval"),
    }),
    "ports": listed(NUMBER | TEXT | _PORT, once=True),
    "expose": listed(TEXT | NUMBER, once=True),
    **_all_of(FLAG, "stdin_open tty"),
}  # fmt: skip
_UPDATE = record({
    "parallelism": COUNT, **_all_of(TEXT, "delay failure_action monitor"), "max_failure_ratio": REAL,
    "order": choice("start-first", "stop-first"),
})  # fmt: skip
_RESERVED = record({
    "cpus": REAL, "memory": TEXT, "devices": listed(record(_DEVICE, required=("capabilities",))),
    "generic_resources": listed(record({"discrete_resource_spec": record({"kind": TEXT, "value": REAL})})),
})  # fmt: skip
_DEPLOY = record({
    **_all_of(TEXT, "mode endpoint_mode"), "replicas": COUNT, "labels": PAIRS,
    **_all_of(_UPDATE, "rollback_config update_config"),
    "resources": record({"limits": record({"cpus": REAL, "memory": TEXT, "pids": COUNT}), "reservations": _RESERVED}),
    "restart_policy": record({**_all_of(TEXT, "condition delay window"), "max_attempts": COUNT}),
    "placement": record({
        "constraints": _MANY, "preferences": listed(record({"spread": TEXT})), "max_replicas_per_node": COUNT,
    }),
})  # fmt: skip
_WATCH = record(
    {
        **_all_of(_ONE_OR_MORE, "ignore include"), **_all_of(TEXT, "path target"), "exec": _HOOK, "initial_sync": TRUTH,
        "action": choice("rebuild", "sync", "restart", "sync+restart", "sync+exec"),
    },
    required=("path", "action"),
)  # fmt: skip
_OPTION = TEXT | NUMBER | TRUTH
_SERVICE = record({
    **_CONTAINER, **_WORKLOAD,
    "deploy": _DEPLOY | NOTHING, "develop": record({"watch": listed(_WATCH)}) | NOTHING,
    "profiles": TEXTS, "restart": TEXT, "scale": COUNT, "attach": FLAG,
    "container_name": formed("[a-zA-Z0-9][a-zA-Z0-9_.-]+", "two or more letters, digits and . _ -"),
    "provider": record(
        {"type": TEXT, "options": named(_OPTION | listed(_OPTION), _SOMETHING, ALL)}, required=("type",)
    ),
    "extends": TEXT | record(_all_of(TEXT, "service file"), required=("service",)),
    **_all_of(TEXTS, "links external_links"), **_all_of(listed(_HOOK), "post_start pre_stop"),
    "pre_start": listed(record({**_CONTAINER, "per_replica": FLAG})),
})  # fmt: skip
_SCHEDULE = record(
    {**_all_of(TEXT, "cron timezone"), "concurrency": choice("forbid", "queue"), "missed_fires": choice("one", "skip")},
    required=("cron",),
)  # fmt: skip
_TRIGGERS = record({"manual": FLAG, "schedule": listed(TEXT | _SCHEDULE)}, one_of=("manual", "schedule"))
_JOB = record({**_CONTAINER, **_WORKLOAD, "profiles": TEXTS, "triggers": _TRIGGERS}, required=("triggers",))
_EXTERNAL = FLAG | record({"name": TEXT})
_SUBNET = record({**_all_of(TEXT, "subnet ip_range gateway"), "aux_addresses": named(TEXT, _OF_ONE_LINE)})
_NETWORK = record({
    **_all_of(TEXT, "name driver"), "driver_opts": _OPTIONS, "external": _EXTERNAL, "labels": PAIRS,
    **_all_of(FLAG, "internal enable_ipv4 enable_ipv6 attachable"),
    "ipam": record({"driver": TEXT, "config": listed(_SUBNET), "options": named(TEXT, _OF_ONE_LINE)}),
})  # fmt: skip
_STORED: Mapping[str, Kind] = {
    **_all_of(TEXT, "name environment file template_driver"), "labels": PAIRS,
    "external": FLAG | record({"name": TEXT}, others=ALL),
}  # fmt: skip
_MODEL = record({**_all_of(TEXT, "name model"), "context_size": WHOLE, "runtime_flags": _MANY}, required=("model",))
_INCLUDE = TEXT | record({**_all_of(_ONE_OR_MORE, "path env_file"), "project_directory": TEXT})

FILE = record({
    **_all_of(TEXT, "version name"),
    "include": listed(_INCLUDE),
    "services": named(_SERVICE, _NAME),
    "models": named(_MODEL, _NAME),
    "networks": named(_NETWORK | NOTHING, _NAME),
    "volumes": named(
        record({**_all_of(TEXT, "name driver"), "driver_opts": _OPTIONS, "external": _EXTERNAL, "labels": PAIRS}) | NOTHING,
        _NAME,
    ),
    "secrets": named(record({**_STORED, "driver": TEXT, "driver_opts": _OPTIONS}), _NAME),
    "configs": named(record({**_STORED, "content": TEXT}), _NAME),
    "jobs": named(_JOB, _NAME),
})  # fmt: skip
"""A whole file."""


def _paths(prefix: str, cast: casts.Cast, *names: str) -> dict[str, casts.Cast]:
    return {f"{prefix}{'.' if prefix else ''}{name}": cast for name in names}


def _of_rows(when: str) -> dict[str, casts.Cast]:
    """Return the conversions of a service's fields that its container gets. when: "early" or "late"."""
    every = [(name, path, cast) for name, row in container_fields.ROWS.items() for path, cast in getattr(row, when).items()]
    return {f"{_OF_SERVICE}.{name}{path}": cast for name, path, cast in every}


_OF_SERVICE = "services.*"
_EARLY: Mapping[str, casts.Cast] = {
    **_paths("networks.*", casts.boolean, "external", "internal", "attachable", "enable_ipv4", "enable_ipv6"),
    **{f"{kind}.*.external": casts.boolean for kind in ("volumes", "secrets", "configs")},
    **_paths(
        _OF_SERVICE, casts.whole, "cpu_count", "cpu_period", "cpu_quota", "cpu_rt_period", "cpu_rt_runtime", "cpu_shares",
        "oom_score_adj", "pids_limit", "healthcheck.retries", "ports.*.target", "deploy.replicas",
        "deploy.update_config.parallelism", "deploy.rollback_config.parallelism", "deploy.restart_policy.max_attempts",
        "deploy.placement.max_replicas_per_node", "scale",
    ),
    **_paths(
        _OF_SERVICE, casts.real, "cpu_percent", "cpus", "deploy.update_config.max_failure_ratio",
        "deploy.rollback_config.max_failure_ratio",
    ),
    **_paths(
        _OF_SERVICE, casts.boolean, "networks.*.use_service_name_alias", "oom_kill_disable", "privileged",
        "volumes.*.read_only", "volumes.*.volume.nocopy", "depends_on.*.required", "depends_on.*.restart",
        "healthcheck.disable", "stdin_open", "tty",
    ),
    **_paths(_OF_SERVICE, casts.umask, "umask"),
    **_of_rows("early"),
}  # fmt: skip
_LATE: Mapping[str, casts.Cast] = {
    **_paths(
        _OF_SERVICE, casts.boolean, "attach", "use_api_socket", "build.no_cache", "build.pull", "build.privileged",
        "volumes.*.bind.create_host_path", "env_file.*.required", "post_start.*.privileged", "pre_stop.*.privileged",
        "develop.watch.*.initial_sync",
    ),
    **_paths(
        _OF_SERVICE, casts.byte_count, "mem_limit", "mem_reservation", "memswap_limit", "mem_swappiness", "shm_size",
        "build.shm_size", "volumes.*.tmpfs.size", "deploy.resources.limits.memory", "deploy.resources.reservations.memory",
    ),
    **_paths(
        _OF_SERVICE, casts.duration, "healthcheck.interval", "healthcheck.timeout", "healthcheck.start_period",
        "healthcheck.start_interval", "deploy.update_config.delay", "deploy.update_config.monitor",
        "deploy.rollback_config.delay", "deploy.rollback_config.monitor", "deploy.restart_policy.delay",
        "deploy.restart_policy.window",
    ),
    **_paths(_OF_SERVICE, casts.real, "deploy.resources.limits.cpus", "deploy.resources.reservations.cpus"),
    **_paths(
        _OF_SERVICE, casts.whole, "networks.*.gw_priority", "networks.*.priority", "deploy.resources.limits.pids",
        "deploy.resources.reservations.generic_resources.*.discrete_resource_spec.value",
    ),
    **_paths(
        _OF_SERVICE, casts.natural, "healthcheck.retries", "deploy.update_config.parallelism",
        "deploy.rollback_config.parallelism", "deploy.restart_policy.max_attempts", "deploy.placement.max_replicas_per_node",
    ),
    **_paths(_OF_SERVICE, casts.mode, "secrets.*.mode", "configs.*.mode", "build.secrets.*.mode"),
    **_of_rows("late"),
    **_paths(_OF_SERVICE, casts.count, "gpus.*.count", "deploy.resources.reservations.devices.*.count"),
}  # fmt: skip


def early(tree: Map) -> None:
    """Convert what compose converts before it checks a file, in place. Raises ComposeError."""
    _convert(tree, _EARLY_TREE, ())


def late(tree: Map) -> None:
    """Convert what compose converts when it fills its types, in place. Raises ComposeError."""
    _convert(tree, _LATE_TREE, ())


def _convert(tree: Any, known: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for name, value, at in list(_within(tree)):
        found = known.get(str(name), known.get("*"))
        if found is None:
            continue
        if isinstance(value, str) or (isinstance(value, int) and found.get("") is casts.natural):
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


def _cast(cast: casts.Cast, text: str, keys: tuple[str, ...], at: Place) -> Any:
    try:
        return cast(text)
    except ValueError as error:
        shown = f"'{text[:40]}{'...' * (len(text) > 40)}'" if text else "empty"
        raise ComposeError(f"{'.'.join(keys)} is {shown}", str(at), str(error)) from error


def _as_tree(table: Mapping[str, casts.Cast]) -> dict[str, Any]:
    """Return paths as mappings in one another; a path's own cast has the empty key."""
    made: dict[str, Any] = {}
    for path, cast in table.items():
        here = made
        for part in path.split("."):
            here = here.setdefault(part, {})
        here[""] = cast
    return made


_EARLY_TREE, _LATE_TREE = _as_tree(_EARLY), _as_tree(_LATE)
