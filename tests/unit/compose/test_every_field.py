"""Each field of the specification, at every level, does what its table says: it changes the project, is named, or is refused.

The fields are those whose values have a kind (test_reader.py compares the two tables); here each is set to a value
that means something.
"""

import copy
import functools
import json

import pytest

from slownet.compose import fields, kinds, reader, values
from slownet.model.errors import ComposeError

HERE = object()
"""In place of a value: the field is taken out, where the base has it."""
BASE = {
    "name": "base",
    "services": {
        "a": {
            "image": "x", "build": {"context": ".", "secrets": [{"source": "s"}]}, "configs": [{"source": "c"}],
            "secrets": [{"source": "s"}], "depends_on": {"b": {"condition": "service_started"}},
            "deploy": {"resources": {"reservations": {}}}, "env_file": [{"path": "more.env"}],
            "healthcheck": {"test": ["CMD", "t"]}, "networks": {"n": {}}, "ports": [{"target": 80}],
            "post_start": [{"command": "p"}], "pre_stop": [{"command": "p"}],
            "volumes": [{"type": "volume", "source": "v", "target": "/v", "bind": {}, "volume": {}, "tmpfs": {}}],
        },
        "b": {"image": "x"},
    },
    "networks": {"n": {"driver_opts": {}, "ipam": {"config": [{"subnet": "10.9.0.0/16"}]}}},
    "volumes": {"v": {"driver_opts": {}}}, "secrets": {"s": {"file": "text"}}, "configs": {"c": {"content": "c"}},
    "include": [{"path": "included.yaml"}],
}  # fmt: skip
BIND = {"services.*.volumes.*.type": "bind", "services.*.volumes.*.source": "./folder"}
TMPFS = {"services.*.volumes.*.type": "tmpfs", "services.*.volumes.*.source": HERE}
DEVICE = {"volumes.*.driver_opts.type": "none", "volumes.*.driver_opts.o": "bind", "volumes.*.driver_opts.device": "./folder"}
SIX = {"networks.*.enable_ipv6": True, "networks.*.ipam.config": [{"subnet": "fd00:9::/64"}]}
ALONE = {"services.*.networks": HERE}
TWO = {"services.*.networks": {"n": {}, "o": {}}, "networks": {"n": {}, "o": {}}}
VALUES = {
    "include": [],
    "include.*.path": ["included.yaml", "more.yaml"],
    "include.*.project_directory": "folder",
    "include.*.env_file": "included.env",
    "services": {"a": {"image": "x"}},
    "networks": {"n": {}},
    "volumes": {"v": {"driver_opts": {"type": "none", "o": "bind", "device": "./folder"}}},
    "secrets": {"s": {"file": "more.env"}},
    "configs": {"c": {"content": "d"}},
    "services.*.build": {"context": "folder"},
    "services.*.cap_add": ["NET_ADMIN"],
    "services.*.cap_drop": ["KILL"],
    "services.*.container_name": "one",
    "services.*.develop": {"watch": [{"action": "sync", "path": ".", "target": "/x"}]},
    "services.*.pull_policy": "always",
    "services.*.configs": [],
    "services.*.depends_on": {},
    "services.*.deploy": {"replicas": 2},
    "services.*.entrypoint": ["e"],
    "services.*.env_file": [],
    "services.*.environment": {"NEW": "1"},
    "services.*.expose": ["81"],
    "services.*.extends": {"service": "b", "file": "base.yaml"},
    "services.*.extra_hosts": {"m": "10.0.0.9"},
    "services.*.healthcheck": {"test": ["CMD", "u"]},
    "services.*.image": "y",
    "services.*.init": True,
    "services.*.ipc": "host",
    "services.*.links": ["b:c"],
    "services.*.mac_address": "02:42:ac:11:00:03",
    "services.*.network_mode": ("host", ALONE),
    "services.*.networks": {"n": {"aliases": ["z"]}},
    "services.*.platform": "linux/arm64",
    "services.*.ports": [81],
    "services.*.post_start": [],
    "services.*.pre_start": [{"command": "p"}],
    "services.*.pre_stop": [],
    "services.*.profiles": ["p"],
    "services.*.restart": "always",
    "services.*.scale": 2,
    "services.*.secrets": [],
    "services.*.shm_size": "1g",
    "services.*.stop_grace_period": "3s",
    "services.*.sysctls": ["net.core.somaxconn=1"],
    "services.*.tmpfs": ["/t"],
    "services.*.ulimits": {"nofile": 5},
    "services.*.volumes": [],
    "services.*.volumes_from": (["b"], {"services": {"a": {"image": "x"}, "b": {"image": "x", "volumes": ["/data"]}}}),
    "services.*.build.additional_contexts": {"n": "folder"},
    "services.*.build.context": "folder",
    "services.*.build.dockerfile": "Other",
    "services.*.build.dockerfile_inline": "FROM x",
    "services.*.build.extra_hosts": {"m": "10.0.0.9"},
    "services.*.build.secrets": [],
    "services.*.build.ulimits": {"nofile": 5},
    "services.*.depends_on.*.condition": "service_healthy",
    "services.*.depends_on.*.required": (
        False,
        {
            "services": {
                "a": {"image": "x", "depends_on": {"c": {"condition": "service_started"}}},
                "c": {"image": "x", "profiles": ["p"]},
            },
        },
    ),
    "services.*.healthcheck.interval": "3s",
    "services.*.healthcheck.timeout": "3s",
    "services.*.healthcheck.start_period": "3s",
    "services.*.healthcheck.start_interval": "3s",
    "services.*.deploy.endpoint_mode": "vip",
    "services.*.deploy.mode": "global",
    "services.*.deploy.replicas": 2,
    "services.*.deploy.resources.reservations.devices": [{"capabilities": ["gpu"]}],
    "services.*.env_file.*.format": "raw",
    "services.*.env_file.*.path": "text",
    "services.*.env_file.*.required": (False, {"services.*.env_file.*.path": "none.env"}),
    "services.*.extends.service": ("b", {"services.*.extends": {"service": "c", "file": "base.yaml"}}),
    "services.*.extends.file": ("base2.yaml", {"services.*.extends": {"service": "b", "file": "base.yaml"}}),
    "services.*.healthcheck.test": ["CMD", "u"],
    "services.*.networks.*.aliases": ["z"],
    "services.*.networks.*.ipv4_address": "10.9.0.77",
    "services.*.networks.*.ipv6_address": ("fd00:9::77", SIX),
    "services.*.networks.*.mac_address": "02:42:ac:11:00:03",
    "services.*.networks.*.gw_priority": (-1, TWO),
    "services.*.networks.*.priority": (-1, TWO | {"services.*.mac_address": "02:42:ac:11:00:03"}),
    "services.*.networks.*.use_service_name_alias": False,
    "services.*.mem_reservation": ("1m", {"services.*.deploy": HERE}),
    "services.*.ports.*.host_ip": "127.0.0.1",
    "services.*.ports.*.mode": "other",
    "services.*.ports.*.protocol": "udp",
    "services.*.ports.*.published": "8080",
    "services.*.ports.*.target": 81,
    "services.*.volumes.*.bind": ({"create_host_path": False}, BIND | {"services.*.volumes.*.source": "./none"}),
    "services.*.volumes.*.bind.create_host_path": (False, BIND | {"services.*.volumes.*.source": "./none"}),
    "services.*.volumes.*.bind.propagation": ("shared", BIND),
    "services.*.volumes.*.bind.recursive": ("disabled", BIND),
    "services.*.volumes.*.bind.selinux": ("z", BIND),
    "services.*.volumes.*.consistency": "cached",
    "services.*.volumes.*.source": ("./folder", BIND | {"services.*.volumes.*.source": "./other"}),
    "services.*.volumes.*.target": "/w",
    "services.*.volumes.*.tmpfs": ({"size": 1024}, TMPFS),
    "services.*.volumes.*.tmpfs.mode": (0o1770, TMPFS),
    "services.*.volumes.*.tmpfs.size": (1024, TMPFS),
    "services.*.volumes.*.type": ("tmpfs", {"services.*.volumes.*.source": HERE}),
    "services.*.volumes.*.volume": {"nocopy": True},
    "services.*.configs.*.source": ("d", {"configs": {"c": {"content": "c"}, "d": {"content": "d"}}}),
    "services.*.secrets.*.source": ("t", {"secrets": {"s": {"file": "text"}, "t": {"file": "more.env"}}}),
    "services.*.build.secrets.*.source": ("t", {"secrets": {"s": {"file": "text"}, "t": {"file": "more.env"}}}),
    "networks.*.driver": "macvlan",
    "networks.*.driver_opts": {"com.docker.network.driver.mtu": "1400"},
    "networks.*.driver_opts.com.docker.network.driver.mtu": "1400",
    "networks.*.enable_ipv4": False,
    "networks.*.enable_ipv6": True,
    "networks.*.ipam": {},
    "networks.*.ipam.config": [],
    "networks.*.ipam.config.*.aux_addresses": {"x": "10.9.0.2"},
    "networks.*.ipam.config.*.gateway": "10.9.0.2",
    "networks.*.ipam.config.*.ip_range": "10.9.7.0/24",
    "networks.*.ipam.config.*.subnet": "10.8.0.0/16",
    "volumes.*.driver": "nfs",
    "volumes.*.external": (True, {"volumes.*.driver_opts": HERE}),
    "volumes.*.driver_opts": ({"type": "none", "o": "bind", "device": "./folder"}, {}),
    "volumes.*.driver_opts.device": ("./folder", DEVICE | {"volumes.*.driver_opts.device": "./other"}),
    "volumes.*.driver_opts.o": ("bind,ro", DEVICE),
    "volumes.*.driver_opts.type": "nfs",
    "secrets.*.environment": ("WORD", {"secrets.*.file": HERE}),
    "secrets.*.file": "more.env",
    "configs.*.content": "d",
    "configs.*.environment": ("WORD", {"configs.*.content": HERE}),
    "configs.*.file": ("more.env", {"configs.*.content": HERE}),
}
"""Values, with what has to be set beside them; any other field is set to a value of its kind."""
NO_DIFFERENCE = {
    "networks.*.attachable": "no other project is in the lab",
    "networks.*.external": "it is made like any other",
    "volumes.*.external": "it is empty at first, which a line reports",
    "networks.*.internal": "a lab reaches nothing else anyway",
    "networks.*.name": "other projects are not in the lab",
    "volumes.*.name": "other projects are not in the lab",
    "secrets.*.name": "other projects are not in the lab",
    "configs.*.name": "other projects are not in the lab",
    "services.*.deploy.resources": "what is in it counts",
    "services.*.deploy.resources.reservations": "what is in it counts",
}
"""Fields that are done although the project is the same."""
EVERY = [f"{path}#{name}" for path, level in fields.LEVELS.items() for name in level.fields if name != fields.ANY]
WRONG_HERE = {
    "services.*.volumes.*.bind": "the folder is not there",
    "services.*.volumes.*.bind.create_host_path": "the folder is not there",
    "volumes.*.driver_opts.type": "of folders and memory there is only one type each",
}
"""Fields that are done by an error."""
FILES = {
    "included.yaml": "services: {i: {image: '${A:-w}', env_file: e}}\n", "more.yaml": "services: {i: {image: v}}\n",
    "base.yaml": "services: {b: {image: y, user: '7'}, c: {image: z, user: '8'}}\n",
    "base2.yaml": "services: {b: {image: y, user: '9'}}\n",
    "more.env": "A='1'\n", "text": "B=2\n", "e": "E=1\n", "folder/e": "E=2\n", "other/x": "", "included.env": "A=5\n",
}  # fmt: skip


def put(tree, path, value):
    """Set a field of a document, or take it out; `*` is the first of a mapping or list."""
    *way, last = keys(path)
    for key in way:
        tree = next(iter(tree.values() if isinstance(tree, dict) else tree)) if key == "*" else tree.setdefault(key, {})
    if value is HERE:
        tree.pop(last, None)
    else:
        tree[last] = copy.deepcopy(value)


def keys(path):
    level, _, mtu = path.partition(".com.docker.")
    return [*level.split("."), *([f"com.docker.{mtu}"] if mtu else [])]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text)
    return made


@functools.cache
def found(folder, text):
    """Return the project without places, and its warnings; or what is refused."""
    (folder / "compose.yaml").write_text(text)
    try:
        project = reader.read([folder / "compose.yaml"], machine={"WORD": "word"})
    except ComposeError as error:
        return error.line, []
    return without_places(project.to_json()) | {"warnings": ()}, list(project.warnings)


def without_places(value):
    if isinstance(value, dict):
        return {name: without_places(each) for name, each in value.items() if name != "at"}
    return [without_places(each) for each in value] if isinstance(value, (list, tuple)) else value


def of_its_kind(path):
    """Return a value that a field may have, and that means something."""
    kind = values.FILE
    for key in keys(path):
        kind = kind.named or kind.element if key == "*" else kind.fields.get(key) or kind.named
    return sample(kind)


def sample(kind):
    if kind.choices:
        return kind.choices[-1]
    if kind.kinds & set(SAMPLES):
        return next(each for name, each in SAMPLES.items() if name in kind.kinds)
    if kinds.A_MAPPING in kind.kinds:
        return {name: sample(one) for name, one in list(kind.fields.items())[:1]} or {"k": "1"}
    return [sample(kind.element)]


SAMPLES = {kinds.A_TRUTH: True, kinds.A_TEXT: "1", kinds.A_WHOLE: 1, kinds.A_NUMBER: 1}


@pytest.mark.parametrize("path", EVERY)
def test_each_field_is_done_or_named_or_refused(path, folder):
    level, _, name = path.partition("#")
    whole = f"{level}.{name}".lstrip(".")
    field = fields.LEVELS[level].fields[name]
    value, beside = VALUES.get(whole, of_its_kind(whole) if whole not in VALUES else None), {}
    if isinstance(value, tuple):
        value, beside = value
    tree = copy.deepcopy(BASE)
    for other, each in beside.items():
        put(tree, other, each)
    before, said_before = found(folder, json.dumps(tree))
    put(tree, whole, value)
    after, said = found(folder, json.dumps(tree))
    news = [line for line in said if line not in said_before]
    if field.status == fields.REFUSED:
        assert isinstance(after, str), whole
        assert name in after
    elif field.status == fields.IGNORED:
        assert after == before
        assert any(f"{name} (" in line or f" {name}" in line for line in news if "ignored: " in line)
    elif whole in NO_DIFFERENCE:
        assert after == before
    else:
        assert after != before
        assert isinstance(after, dict) or whole in WRONG_HERE
