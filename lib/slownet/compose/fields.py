"""What is done with each field of a compose file: the one table that the reader follows and that docs/compose.md shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

DONE, IGNORED, REFUSED = "done", "ignored", "refused"


@dataclass(frozen=True)
class Field:
    """A field: `status`, and in `note` how it is done, why it may be ignored, or what to do instead of it."""

    status: str
    note: str = ""


def _done(note: str = "") -> Field:
    return Field(DONE, note)


def _ignored(note: str) -> Field:
    return Field(IGNORED, note)


def _refused(note: str) -> Field:
    return Field(REFUSED, note)


_SET_LINK = "x-slownet says what a link does"
_NO_LIMIT = "a lab has no cgroup controllers; --memory limits the lab, --tdf sets its CPU"
_NO_DAEMON = "there is no container engine"
_OWN_NAMESPACE = "a container has namespaces of its own in a lab"
_NO_DEVICE = "a lab has no devices of the host's"
_ONE = "name a service for each, such as web1 and web2"

SERVICE: Mapping[str, Field] = {
    "annotations": _ignored("nothing reads them"),
    "attach": _ignored("each service has a log file"),
    "blkio_config": _ignored(_NO_LIMIT),
    "build": _done("the image must be built and kept before; the error names the commands"),
    "cap_add": _refused("a container has the default capabilities"),
    "cap_drop": _ignored("a container has the default capabilities"),
    "cgroup": _ignored(_NO_LIMIT),
    "cgroup_parent": _ignored(_NO_LIMIT),
    "command": _done("a text is split like a shell's line"),
    "configs": _done("file, content or environment; read-only"),
    "container_name": _done("one more name of the host"),
    "cpu_count": _ignored(_NO_LIMIT),
    "cpu_percent": _ignored(_NO_LIMIT),
    "cpu_period": _ignored(_NO_LIMIT),
    "cpu_quota": _ignored(_NO_LIMIT),
    "cpu_rt_period": _ignored(_NO_LIMIT),
    "cpu_rt_runtime": _ignored(_NO_LIMIT),
    "cpu_shares": _ignored(_NO_LIMIT),
    "cpus": _ignored(_NO_LIMIT),
    "cpuset": _ignored("a lab has one processor"),
    "credential_spec": _refused("it is for Windows"),
    "depends_on": _done("with all conditions; restart is ignored"),
    "deploy": _ignored("but replicas other than 1, which are refused"),
    "develop": _ignored("nothing is rebuilt while a lab runs"),
    "device_cgroup_rules": _refused(_NO_DEVICE),
    "devices": _refused(_NO_DEVICE),
    "dns": _ignored("names are in each host's /etc/hosts"),
    "dns_opt": _ignored("names are in each host's /etc/hosts"),
    "dns_search": _ignored("names are in each host's /etc/hosts"),
    "domainname": _ignored("hosts have short names"),
    "entrypoint": _done("a text is split like a shell's line; the image's Cmd is then not used"),
    "env_file": _done("with required and format"),
    "environment": _done("a name without a value is taken from the caller's environment"),
    "expose": _done("a service without a healthcheck is up when one of its ports accepts a connection"),
    "extends": _done("of the same file or another one"),
    "external_links": _refused("only the project's own services are in the lab"),
    "extra_hosts": _done("host-gateway is refused: a lab's hosts have no gateway"),
    "gpus": _refused(_NO_DEVICE),
    "group_add": _refused("set user: to a user and group, such as 1000:1000"),
    "healthcheck": _done("the image's own, if the file has none"),
    "hostname": _done(),
    "image": _done("a name that slownet image list shows"),
    "init": _done("tini is the first process; without it the program gets its signals itself"),
    "ipc": _refused(_OWN_NAMESPACE),
    "isolation": _ignored("it is for Windows"),
    "label_file": _ignored("nothing reads labels"),
    "labels": _ignored("nothing reads labels"),
    "links": _done("an order of start, and the alias as one more name"),
    "logging": _ignored("each service has a log file in the run directory"),
    "mac_address": _ignored("addresses are given by the network"),
    "mem_limit": _ignored(_NO_LIMIT),
    "mem_reservation": _ignored(_NO_LIMIT),
    "mem_swappiness": _ignored(_NO_LIMIT),
    "memswap_limit": _ignored(_NO_LIMIT),
    "models": _refused("a lab runs no models"),
    "network_mode": _refused("each service is a host; leave it out"),
    "networks": _done("names are known to the services of the same network; packets are not filtered; addresses are ignored"),
    "oom_kill_disable": _ignored(_NO_LIMIT),
    "oom_score_adj": _ignored(_NO_LIMIT),
    "pid": _refused(_OWN_NAMESPACE),
    "pids_limit": _ignored(_NO_LIMIT),
    "platform": _ignored("the kept image decides: a lab is x86-64"),
    "ports": _done("the port in the container, on the service's own host: nothing is published"),
    "post_start": _refused("write a service of its own with depends_on"),
    "pre_start": _refused("write a service of its own, with depends_on and service_completed_successfully"),
    "pre_stop": _refused("use stop_signal"),
    "privileged": _refused("a container has the default capabilities"),
    "profiles": _done("--profile, or COMPOSE_PROFILES"),
    "provider": _refused("only containers are services of a lab"),
    "pull_policy": _ignored("images are added by slownet image add"),
    "pull_refresh_after": _ignored("images are added by slownet image add"),
    "read_only": _done("the container writes to its volumes alone"),
    "restart": _ignored("a service that ends fails the run"),
    "runtime": _ignored("it is crun"),
    "scale": _refused(_ONE),
    "secrets": _done("file or environment; read-only"),
    "security_opt": _ignored("no new privileges is always set"),
    "shm_size": _ignored(_NO_LIMIT),
    "stdin_open": _ignored("standard input is empty"),
    "stop_grace_period": _done(),
    "stop_signal": _done(),
    "storage_opt": _ignored("a container writes to memory"),
    "sysctls": _refused("a lab's kernel has the settings that the run's record states"),
    "tmpfs": _done("options are ignored"),
    "tty": _ignored("output goes to a log file"),
    "ulimits": _ignored("a lab's limits are those of its root"),
    "umask": _refused("set it in the image's entrypoint"),
    "use_api_socket": _refused(_NO_DAEMON),
    "user": _done(),
    "userns_mode": _refused(_OWN_NAMESPACE),
    "uts": _refused(_OWN_NAMESPACE),
    "volumes": _done("bind: read-only, or written to memory; named ones begin with what the image has there; tmpfs"),
    "volumes_from": _refused("name the volume in both services"),
    "working_dir": _done(),
}  # fmt: skip
TOP: Mapping[str, Field] = {
    "version": _ignored("it is obsolete"),
    "name": _done("the project's name"),
    "include": _refused("name the files themselves, one after the other"),
    "services": _done("each is a host"),
    "models": _refused("a lab runs no models"),
    "networks": _done(f"one switch for all; {_SET_LINK}"),
    "volumes": _done("empty at first, and gone with the lab"),
    "secrets": _done("file or environment"),
    "configs": _done("file, content or environment"),
    "jobs": _refused("write a service with depends_on"),
}  # fmt: skip
X_SLOWNET = "x-slownet"
EXTENSION = _done(
    "in a service: the condition of its host's link, a name (LTE) or fields (rtt: 10ms); at the top: the client's"
)
TABLES: Mapping[str, Mapping[str, Field]] = {"A service's fields": SERVICE, "Fields at the top": TOP}


def markdown() -> str:
    """Return docs/compose.md's tables."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    for title, table in TABLES.items():
        yield from ("", f"## {title}", "", "| field | | |", "|---|---|---|")
        for name, field in [*table.items(), (X_SLOWNET, EXTENSION)]:
            yield f"| `{name}` | {field.status} | {field.note} |"
