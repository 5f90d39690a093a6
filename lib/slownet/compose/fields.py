"""The treatment of each field of a compose file, at every level: the reader and the documentation use this table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slownet.compose.container_fields import ROWS
from slownet.compose.document import Map, Reset
from slownet.model.options import MEMORY, TDF, Option

DONE, IGNORED, REFUSED = "done", "ignored", "refused"
ANY = "*"
"""In a level's path: whatever name or index. In a table: every other field."""


@dataclass(frozen=True)
class Field:
    """A field: `status`, and in `note` how it is done, why it may be ignored, or what to do instead of it."""

    status: str
    note: str = ""
    harmless: tuple[Any, ...] = ()
    """Values of a field that is not done which change nothing in a lab."""
    same_as: str = ""
    """Another field of the mapping: nothing is lost if both agree."""

    def says_nothing(self, value: Any, around: Map) -> bool:
        """Return whether a value is as good as none. around: the mapping that has it."""
        if value is None or isinstance(value, Reset) or value in ("", [], {}):
            return True
        if value is False or value == "false":
            return True not in self.harmless  # it is true unless said
        return value in self.harmless or bool(self.same_as and str(value) == str(around.get(self.same_as)))


def _done(note: str = "") -> Field:
    return Field(DONE, note)


def _ignored(note: str, *harmless: Any, same_as: str = "") -> Field:
    return Field(IGNORED, note, harmless, same_as)


def _refused(note: str, *harmless: Any) -> Field:
    return Field(REFUSED, note, harmless)


_SET_LINK = "x-slownet sets the links"
_NO_LIMIT = f"a lab has no cgroup controllers ({MEMORY} limits the lab, {TDF} sets its CPU)"
_NO_DAEMON = "there is no container engine"
_OWN_NAMESPACE = "a container has namespaces of its own in a lab"
_NO_DEVICE = "a lab has no devices of the host's"
_NO_LABELS = "nothing reads labels"
_NOT_PUBLISHED = "nothing is published: the client reaches the service's own host"
_BY_HAND = "the command that builds the image lacks it"
_NO_STORE = "a lab has no store of them: name a file"

SERVICE: Mapping[str, Field] = {
    "annotations": _ignored("nothing reads them"),
    "attach": _ignored("each service has a log file"),
    "blkio_config": _ignored(_NO_LIMIT),
    "build": _done("the image must be built and kept before; the error names the commands"),
    "cgroup": _ignored(_NO_LIMIT),
    "cgroup_parent": _ignored(_NO_LIMIT),
    "configs": _done("file, content or environment; read-only, owned by root and 0444 by default"),
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
    "depends_on": _done("with all conditions"),
    "deploy": _done("replicas; see there"),
    "develop": _ignored("nothing is rebuilt while a lab runs"),
    "device_cgroup_rules": _refused(_NO_DEVICE),
    "devices": _refused(_NO_DEVICE),
    "dns": _ignored("names are in each host's /etc/hosts"),
    "dns_opt": _ignored("names are in each host's /etc/hosts"),
    "dns_search": _ignored("names are in each host's /etc/hosts"),
    "domainname": _ignored("hosts have short names"),
    "env_file": _done("with required and format"),
    "environment": _done("a name without a value is taken from the caller's environment"),
    "expose": _done("a service without a healthcheck is up when one of its ports accepts a connection"),
    "extends": _done("of the same file or another one"),
    "external_links": _refused("only the project's own services are in the lab"),
    "extra_hosts": _done("host-gateway is the host client"),
    "gpus": _refused(_NO_DEVICE),
    "healthcheck": _done("the image's own, if the file has none"),
    "image": _done("a name that slownet lab image list shows"),
    "ipc": _refused(_OWN_NAMESPACE, "private", "none"),
    "isolation": _ignored("it is for Windows"),
    "label_file": _ignored(_NO_LABELS),
    "labels": _ignored(_NO_LABELS),
    "links": _done("an order of start, and the alias as one more name"),
    "logging": _ignored("each service has a log file in the run directory"),
    "mac_address": _done(),
    "mem_limit": _ignored(_NO_LIMIT),
    "mem_reservation": _ignored(_NO_LIMIT),
    "mem_swappiness": _ignored(_NO_LIMIT),
    "memswap_limit": _ignored(_NO_LIMIT),
    "models": _refused("a lab runs no models"),
    "network_mode": _done("bridge; host: on the host client; service:NAME: on that service's host; others are refused"),
    "networks": _done("names are known to the services of the same network; packets are not filtered, which a warning reports"),
    "oom_kill_disable": _ignored(_NO_LIMIT),
    "oom_score_adj": _ignored(_NO_LIMIT),
    "pid": _refused(_OWN_NAMESPACE),
    "pids_limit": _ignored(_NO_LIMIT),
    "platform": _ignored("the kept image decides: a lab is x86-64", "linux/amd64"),
    "ports": _done("the port in the container, on the service's own host: nothing is published"),
    "post_start": _done("after the container has started; an error ends the network"),
    "pre_start": _refused("write a service of its own, with depends_on and service_completed_successfully"),
    "pre_stop": _done("before the container gets its stop signal"),
    "privileged": _refused("a container has the default capabilities"),
    "profiles": _done(f"COMPOSE_PROFILES, or {Option('profile').in_command('shell compose')}"),
    "provider": _refused("only containers are services of a lab"),
    "pull_policy": _ignored("images are added by slownet lab image add"),
    "pull_refresh_after": _ignored("images are added by slownet lab image add"),
    "restart": _ignored("a service that ends fails the run", "no"),
    "runtime": _ignored("it is crun"),
    "scale": _done("a host for each: web-1, web-2; the name web has the addresses of all"),
    "secrets": _done("file or environment; read-only, owned by root and 0444 by default"),
    "security_opt": _ignored("no new privileges is always set"),
    "shm_size": _done("of /dev/shm; 64 MB by default"),
    "stdin_open": _ignored("standard input is empty"),
    "storage_opt": _ignored("a container writes to memory"),
    "tmpfs": _done("with its options"),
    "tty": _ignored("output goes to a log file"),
    "umask": _refused("set it in the image's entrypoint"),
    "use_api_socket": _refused(_NO_DAEMON),
    "userns_mode": _refused(_OWN_NAMESPACE),
    "uts": _refused(_OWN_NAMESPACE),
    "volumes": _done("bind: read-only, or written to memory; named ones begin with what the image has there; tmpfs"),
    "volumes_from": _done("those that the files give; an image's own are separate"),
    **{name: _done(row.note) for name, row in ROWS.items()},
}  # fmt: skip
TOP: Mapping[str, Field] = {
    "version": _ignored("it is obsolete"),
    "name": _done("the project's name"),
    "include": _done("as part of this project; of two with one name the first is merged over the other, with a warning"),
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
    "in a service: the condition of its host's link, a name (LTE) or fields (rtt: 10ms); at the top: the client's, "
    "and what breaks (faults: {5s: kill db, 8s: start db})"
)
EXTENDED = ("", "services.*")
"""The levels that have `X_SLOWNET`."""

_UPDATE = _ignored("nothing is updated while a lab runs")
_HOOK: Mapping[str, Field] = {
    "command": _done("a text is split like a shell's line"), "user": _done("the service's by default"),
    "privileged": _refused("a container has the default capabilities"), "working_dir": _done(), "environment": _done(),
}  # fmt: skip
_CONTENT: Mapping[str, Field] = {
    "source": _done(), "target": _done("the path in the container"), "uid": _done("a number"), "gid": _done("a number"),
    "mode": _done(),
}  # fmt: skip
_SOURCE: Mapping[str, Field] = {
    "file": _done(), "environment": _done("a variable's value"), "external": _refused(_NO_STORE),
    "name": _done("other projects are not in the lab"), "labels": _ignored(_NO_LABELS), "template_driver": _refused(_NO_STORE),
}  # fmt: skip


@dataclass(frozen=True)
class Level:
    """The fields that a mapping of a compose file may have."""

    title: str
    fields: Mapping[str, Field]


LEVELS: Mapping[str, Level] = {
    "": Level("Fields at the top", TOP),
    "include.*": Level("An included project", {
        "path": _done("a file, or several that are merged; of a repository it is refused"),
        "project_directory": _done("for its relative paths; that of its first file by default"),
        "env_file": _done("in place of .env in its directory"),
    }),
    "services.*": Level("A service's fields", dict(sorted(SERVICE.items()))),
    "services.*.build": Level("A service's build", {
        "context": _done(), "dockerfile": _done(), "dockerfile_inline": _done("piped into the command"), "target": _done(),
        "args": _done(), "labels": _done(), "tags": _done(), "network": _done(), "no_cache": _done(), "pull": _done(),
        "platforms": _done(), "additional_contexts": _done(), "extra_hosts": _done(), "shm_size": _done(), "ulimits": _done(),
        "secrets": _done("file or environment"), "ssh": _done(), "cache_from": _done(), "cache_to": _done(),
        "entitlements": _ignored(_BY_HAND), "isolation": _ignored("it is for Windows"), "no_cache_filter": _ignored(_BY_HAND),
        "privileged": _ignored(_BY_HAND), "provenance": _ignored(_BY_HAND), "sbom": _ignored(_BY_HAND),
    }),
    "services.*.build.secrets.*": Level("A secret of a build", {
        "source": _done(), "target": _done("its id"), "uid": _ignored(_BY_HAND), "gid": _ignored(_BY_HAND),
        "mode": _ignored(_BY_HAND),
    }),
    "services.*.configs.*": Level("A service's config", _CONTENT),
    "services.*.depends_on.*": Level("A dependency", {
        "condition": _done(), "required": _done(), "restart": _ignored("nothing is restarted in a lab"),
    }),
    "services.*.deploy": Level("A service's deploy", {
        "replicas": _done("as scale"), "mode": _ignored("replicas sets the number", "replicated"),
        "endpoint_mode": _ignored("a name has the addresses of all replicas", "dnsrr"), "labels": _ignored(_NO_LABELS),
        "placement": _ignored("a lab is one machine"), "resources": _done("limits are ignored"), "rollback_config": _UPDATE,
        "restart_policy": _ignored("a service that ends fails the run"), "update_config": _UPDATE,
    }),
    "services.*.deploy.resources": Level("A service's resources", {
        "limits": _ignored(_NO_LIMIT), "reservations": _done("only devices count"),
    }),
    "services.*.deploy.resources.reservations": Level("Reserved resources", {
        "cpus": _ignored(_NO_LIMIT), "memory": _ignored(_NO_LIMIT), "generic_resources": _ignored(_NO_LIMIT),
        "devices": _refused(_NO_DEVICE),
    }),
    "services.*.env_file.*": Level("A service's file of variables", {
        "path": _done(), "required": _done(), "format": _done("raw, or as compose's own"),
    }),
    "services.*.extends": Level("What a service extends", {"service": _done(), "file": _done()}),
    "services.*.healthcheck": Level("A health check", {
        "test": _done(), "disable": _done(), "interval": _done(), "timeout": _done(), "retries": _done(),
        "start_period": _done(), "start_interval": _done(),
    }),
    "services.*.networks.*": Level("A service in a network", {
        "aliases": _done(), "ipv4_address": _done("in the network's subnet"), "ipv6_address": _done("in the network's subnet"),
        "mac_address": _done(), "driver_opts": _ignored("interface_name names an interface"),
        "gw_priority": _done("eth0 is in the network with the highest one; a lab's hosts have no default route"),
        "interface_name": _done(), "link_local_ips": _ignored("hosts have no link-local addresses"),
        "priority": _done("the network with the highest one gets the service's mac_address"),
        "use_service_name_alias": _ignored("a service always has its own name", True),
    }),
    "services.*.ports.*": Level("A port", {
        "target": _done("a service without a healthcheck is up when one of its TCP ports accepts a connection"),
        "protocol": _done(), "published": _ignored(_NOT_PUBLISHED, same_as="target"), "host_ip": _ignored(_NOT_PUBLISHED),
        "mode": _ignored(_NOT_PUBLISHED, "ingress", "host"), "name": _ignored("nothing reads it"),
        "app_protocol": _ignored("nothing reads it"),
    }),
    "services.*.post_start.*": Level("A command after the start", _HOOK),
    "services.*.pre_stop.*": Level("A command before the end", _HOOK),
    "services.*.secrets.*": Level("A service's secret", _CONTENT),
    "services.*.volumes.*": Level("A service's volume", {
        "type": _done("bind, volume and tmpfs; others are refused"), "source": _done(), "target": _done(), "read_only": _done(),
        "bind": _done(), "volume": _done(), "tmpfs": _done(), "image": _refused("use bind, volume or tmpfs"),
        "consistency": _ignored("there is one copy", "consistent", "default"),
    }),
    "services.*.volumes.*.bind": Level("A bind", {
        "create_host_path": _done("an empty folder, in the lab only"),
        "recursive": _ignored("mounts below it are folders", "enabled"),
        "propagation": _ignored("a container's mounts are private", "rprivate", "private"),
        "selinux": _ignored("a lab has no SELinux"),
    }),
    "services.*.volumes.*.tmpfs": Level("A tmpfs", {"size": _done(), "mode": _done()}),
    "services.*.volumes.*.volume": Level("A volume of a service", {
        "nocopy": _done(), "subpath": _done("a folder that the volume has by then"), "labels": _ignored(_NO_LABELS),
    }),
    "networks.*": Level("A network", {
        "attachable": _done("no other project is in the lab"), "driver": _ignored("one switch", "bridge", "default", "overlay"),
        "driver_opts": _done("the MTU"), "enable_ipv4": _ignored("a host always has IPv4", True),
        "enable_ipv6": _done("of the given subnet, or one in fd00::/8"), "external": _done("as if it were declared here"),
        "internal": _done("a lab reaches nothing else anyway"), "ipam": _done(), "labels": _ignored(_NO_LABELS),
        "name": _done("other projects are not in the lab"),
    }),
    "networks.*.driver_opts": Level("Options of a network's driver", {
        "com.docker.network.driver.mtu": _done("of both ends of its services' links, and of the client's"),
        ANY: _ignored("one switch"),
    }),
    "networks.*.ipam": Level("A network's addresses", {
        "config": _done(), "driver": _ignored("slownet gives addresses", "default"),
        "options": _ignored("slownet gives addresses"),
    }),
    "networks.*.ipam.config.*": Level("A network's subnet", {
        "subnet": _done("each service of the network has an address there: its own one, or the next"),
        "gateway": _done("the client's address; by default the subnet's first one"),
        "ip_range": _done("for addresses that are not given"), "aux_addresses": _done("no service gets one of them"),
    }),
    "volumes.*": Level("A named volume", {
        "driver": _ignored("a volume is in the lab's memory", "local", "default"), "driver_opts": _done(),
        "external": _done("empty at first, which a warning reports"), "labels": _ignored(_NO_LABELS),
        "name": _done("other projects are not in the lab"),
    }),
    "volumes.*.driver_opts": Level("Options of a volume's driver", {
        "type": _done("none, bind or tmpfs; others are refused"), "device": _done("a folder of this machine"),
        "o": _done("bind, and ro; others are ignored"), ANY: _ignored("a volume is in the lab's memory"),
    }),
    "secrets.*": Level("A secret", {**_SOURCE, "driver": _refused(_NO_STORE), "driver_opts": _refused(_NO_STORE)}),
    "configs.*": Level("A config", {**_SOURCE, "content": _done()}),
}  # fmt: skip
"""The tables of all mappings whose fields are not ignored or refused as a whole, by path."""


def markdown() -> str:
    """Return the tables of docs/reference/compose.md."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    for path, level in LEVELS.items():
        where = f": `{path}`" if path and path not in EXTENDED else ""
        yield from ("", f"## {level.title}{where}", "", "| field | | |", "|---|---|---|")
        extended = [(X_SLOWNET, EXTENSION)] if path in EXTENDED else []
        for name, field in [*level.fields.items(), *extended]:
            yield f"| {'others' if name == ANY else f'`{name}`'} | {field.status} | {field.note} |"
