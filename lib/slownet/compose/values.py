"""The values that each field of a compose file may have, at every level: those that compose's own schema allows.

tests/compose_go compares them with that schema, which is part of compose's library (compose-go), and with its answers.
"""

from __future__ import annotations

from collections.abc import Mapping

from slownet.compose.kinds import (
    ALL,
    NONE,
    NOTHING,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    Kind,
    between,
    choice,
    formed,
    listed,
    named,
    record,
)

_NAME = r"^[a-zA-Z0-9._-]+\Z"
_SOMETHING, _OF_ONE_LINE = r"^.+$", r"^.+\Z"
_MOST_UMASK = 2**32 - 1
_POLICY = r"^(always|never|build|if_not_present|missing|refresh|daily|weekly|every_([0-9]+[wdhms])+)\Z"
_POLICIES = "always, never, build, if_not_present, missing, refresh, daily, weekly or every_12h"

_FLAG, _COUNT, _REAL = TRUTH | TEXT, WHOLE | TEXT, NUMBER | TEXT
"""A variable makes a text of any number and truth."""
_MANY, _TEXTS = listed(TEXT), listed(TEXT, once=True)
_ONE_OR_MORE = TEXT | _TEXTS
_COMMAND = NOTHING | TEXT | _MANY
_PAIRS = named(TEXT | NUMBER | TRUTH | NOTHING, ".+") | _TEXTS
_OPTIONS = named(TEXT | NUMBER, _SOMETHING, ALL)
_HOSTS = named(TEXT | _MANY, ".+") | _TEXTS
_ULIMITS = named(_COUNT | record({"hard": _COUNT, "soft": _COUNT}, required=("soft", "hard")), "^[a-z]+$", ALL)


def _all_of(kind: Kind, names: str) -> dict[str, Kind]:
    """Return fields of one kind. names: with spaces between them."""
    return dict.fromkeys(names.split(), kind)


_CONTENTS = listed(TEXT | record({**_all_of(TEXT, "source target uid gid"), "mode": _REAL}))
_DEVICE: Mapping[str, Kind] = {
    "capabilities": _TEXTS, "count": _COUNT, "device_ids": _TEXTS, "driver": TEXT, "options": _PAIRS,
}  # fmt: skip
_HOOK = record(
    {"command": _COMMAND, "user": TEXT, "privileged": _FLAG, "working_dir": TEXT, "environment": _PAIRS}, required=("command",)
)
_VOLUME = record(
    {
        "type": choice("bind", "volume", "tmpfs", "cluster", "npipe", "image"), "read_only": _FLAG,
        **_all_of(TEXT, "source target consistency"),
        "bind": record({
            "propagation": TEXT, "create_host_path": _FLAG, "selinux": choice("z", "Z"),
            "recursive": choice("enabled", "disabled", "writable", "readonly"),
        }),
        "volume": record({"labels": _PAIRS, "nocopy": _FLAG, "subpath": TEXT}),
        "tmpfs": record({"size": between(0) | TEXT, "mode": _REAL}),
        "image": record({"subpath": TEXT}),
    },
    required=("type",),
)  # fmt: skip
_JOINED = record({
    **_all_of(_TEXTS, "aliases link_local_ips"), **_all_of(TEXT, "interface_name ipv4_address ipv6_address mac_address"),
    "driver_opts": _OPTIONS, **_all_of(NUMBER, "priority gw_priority"), "use_service_name_alias": _FLAG,
})  # fmt: skip
_LIMITS = listed(record({"path": TEXT, "rate": _COUNT}, others=NONE))

_CONTAINER: Mapping[str, Kind] = {
    **_all_of(
        TEXT,
        "cgroup_parent cpuset domainname hostname image ipc isolation mac_address network_mode platform pull_refresh_after "
        "runtime stop_grace_period stop_signal user uts userns_mode working_dir",
    ),
    **_all_of(_FLAG, "init oom_kill_disable privileged read_only"),
    **_all_of(
        _REAL,
        "cpu_shares cpu_quota cpu_period cpu_rt_period cpu_rt_runtime cpus mem_limit memswap_limit pids_limit shm_size",
    ),
    **_all_of(_COUNT, "mem_reservation mem_swappiness"),
    **_all_of(_PAIRS, "annotations environment labels sysctls"),
    **_all_of(_TEXTS, "cap_add cap_drop device_cgroup_rules dns_opt security_opt volumes_from"),
    **_all_of(_ONE_OR_MORE, "dns dns_search tmpfs"),
    **_all_of(_COMMAND, "command entrypoint"),
    **_all_of(_CONTENTS, "configs secrets"),
    "blkio_config": record(
        {
            **_all_of(_LIMITS, "device_read_bps device_read_iops device_write_bps device_write_iops"), "weight": _COUNT,
            "weight_device": listed(record({"path": TEXT, "weight": _COUNT}, others=NONE)),
        },
        others=NONE,
    ),
    "cgroup": choice("host", "private"),
    "cpu_count": TEXT | between(0),
    "cpu_percent": TEXT | between(0, 100),
    "credential_spec": record(_all_of(TEXT, "config file registry")),
    "devices": listed(TEXT | record(_all_of(TEXT, "source target permissions"), required=("source",))),
    "env_file": TEXT | listed(
        TEXT | record({"path": TEXT, "format": TEXT, "required": _FLAG}, required=("path",), others=NONE)
    ),
    "extra_hosts": _HOSTS,
    "gpus": choice("all") | listed(record(_DEVICE, others=ALL)),
    "group_add": listed(TEXT | NUMBER, once=True),
    "label_file": TEXT | _MANY,
    "logging": record({"driver": TEXT, "options": named(TEXT | NUMBER | NOTHING, _SOMETHING, ALL)}),
    "models": _TEXTS | named(record(_all_of(TEXT, "endpoint_var model_var")) | NOTHING, _NAME, ALL),
    "networks": _TEXTS | named(_JOINED | NOTHING, _NAME),
    "oom_score_adj": TEXT | between(-1000, 1000),
    "pid": TEXT | NOTHING,
    "pull_policy": formed(_POLICY, _POLICIES),
    "storage_opt": record({}, others=ALL),
    "ulimits": _ULIMITS,
    "umask": between(0, _MOST_UMASK) | TEXT | NOTHING,
    "use_api_socket": TRUTH,
    "volumes": listed(TEXT | _VOLUME, once=True),
}  # fmt: skip
_BUILD = record({
    **_all_of(TEXT, "context dockerfile dockerfile_inline network target isolation"),
    **_all_of(_MANY, "entitlements cache_from cache_to tags platforms"),
    **_all_of(_PAIRS, "args ssh labels additional_contexts"),
    **_all_of(_FLAG, "no_cache pull privileged provenance sbom"),
    "no_cache_filter": _ONE_OR_MORE, "shm_size": _COUNT, "extra_hosts": _HOSTS, "secrets": _CONTENTS, "ulimits": _ULIMITS,
})  # fmt: skip
_PORT = record({**_all_of(TEXT, "name mode host_ip protocol app_protocol"), **_all_of(_COUNT, "target published")})
_DEPENDENCY = record(
    {
        "restart": _FLAG, "required": TRUTH,
        "condition": choice("service_started", "service_healthy", "service_completed_successfully"),
    },
    required=("condition",),
)  # fmt: skip
_WORKLOAD: Mapping[str, Kind] = {
    "build": TEXT | _BUILD,
    "depends_on": _TEXTS | named(_DEPENDENCY, _NAME),
    "healthcheck": record({
        "disable": _FLAG, "retries": _REAL, "test": TEXT | _MANY,
        **_all_of(TEXT, "interval timeout start_period start_interval"),
    }),
    "ports": listed(NUMBER | TEXT | _PORT, once=True),
    "expose": listed(TEXT | NUMBER, once=True),
    **_all_of(_FLAG, "stdin_open tty"),
}  # fmt: skip
_UPDATE = record({
    "parallelism": _COUNT, **_all_of(TEXT, "delay failure_action monitor"), "max_failure_ratio": _REAL,
    "order": choice("start-first", "stop-first"),
})  # fmt: skip
_RESERVED = record({
    "cpus": _REAL, "memory": TEXT, "devices": listed(record(_DEVICE, required=("capabilities",))),
    "generic_resources": listed(record({"discrete_resource_spec": record({"kind": TEXT, "value": _REAL})})),
})  # fmt: skip
_DEPLOY = record({
    **_all_of(TEXT, "mode endpoint_mode"), "replicas": _COUNT, "labels": _PAIRS,
    **_all_of(_UPDATE, "rollback_config update_config"),
    "resources": record({"limits": record({"cpus": _REAL, "memory": TEXT, "pids": _COUNT}), "reservations": _RESERVED}),
    "restart_policy": record({**_all_of(TEXT, "condition delay window"), "max_attempts": _COUNT}),
    "placement": record({
        "constraints": _MANY, "preferences": listed(record({"spread": TEXT})), "max_replicas_per_node": _COUNT,
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
    "profiles": _TEXTS, "restart": TEXT, "scale": _COUNT, "attach": _FLAG,
    "container_name": formed("[a-zA-Z0-9][a-zA-Z0-9_.-]+", "two or more letters, digits and . _ -"),
    "provider": record(
        {"type": TEXT, "options": named(_OPTION | listed(_OPTION), _SOMETHING, ALL)}, required=("type",)
    ),
    "extends": TEXT | record(_all_of(TEXT, "service file"), required=("service",)),
    **_all_of(_TEXTS, "links external_links"), **_all_of(listed(_HOOK), "post_start pre_stop"),
    "pre_start": listed(record({**_CONTAINER, "per_replica": _FLAG})),
})  # fmt: skip
_SCHEDULE = record(
    {**_all_of(TEXT, "cron timezone"), "concurrency": choice("forbid", "queue"), "missed_fires": choice("one", "skip")},
    required=("cron",),
)  # fmt: skip
_TRIGGERS = record({"manual": _FLAG, "schedule": listed(TEXT | _SCHEDULE)}, one_of=("manual", "schedule"))
_JOB = record({**_CONTAINER, **_WORKLOAD, "profiles": _TEXTS, "triggers": _TRIGGERS}, required=("triggers",))
_EXTERNAL = _FLAG | record({"name": TEXT})
_SUBNET = record({**_all_of(TEXT, "subnet ip_range gateway"), "aux_addresses": named(TEXT, _OF_ONE_LINE)})
_NETWORK = record({
    **_all_of(TEXT, "name driver"), "driver_opts": _OPTIONS, "external": _EXTERNAL, "labels": _PAIRS,
    **_all_of(_FLAG, "internal enable_ipv4 enable_ipv6 attachable"),
    "ipam": record({"driver": TEXT, "config": listed(_SUBNET), "options": named(TEXT, _OF_ONE_LINE)}),
})  # fmt: skip
_STORED: Mapping[str, Kind] = {
    **_all_of(TEXT, "name environment file template_driver"), "labels": _PAIRS,
    "external": _FLAG | record({"name": TEXT}, others=ALL),
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
        record({**_all_of(TEXT, "name driver"), "driver_opts": _OPTIONS, "external": _EXTERNAL, "labels": _PAIRS}) | NOTHING,
        _NAME,
    ),
    "secrets": named(record({**_STORED, "driver": TEXT, "driver_opts": _OPTIONS}), _NAME),
    "configs": named(record({**_STORED, "content": TEXT}), _NAME),
    "jobs": named(_JOB, _NAME),
})  # fmt: skip
"""A whole file."""
