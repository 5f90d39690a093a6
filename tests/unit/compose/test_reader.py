"""What is wrong in a compose file is one line with its place and how to mend it; what is right becomes the model."""

import json
import socket

import pytest

from slownet.compose import fields, reader, values
from slownet.compose.model import COMPLETED, HEALTHY, Content, Dependency, Health, Hook, Volume, of_json
from slownet.containers.privileges import ADDED, CAPABILITIES
from slownet.model.errors import ComposeError

WEB = "services:\n  web:\n    image: shop:1\n"


def project(folder, text, profiles=(), machine=None, name="compose.yaml"):
    path = folder / name
    path.write_text(text)
    return reader.read([path], profiles, machine or {})


def web(folder, *lines, rest="", **options):
    return project(folder, WEB + "".join(f"    {line}\n" for line in lines) + rest, **options)["web"]


def test_documents_of_one_file_are_merged_as_files_are(tmp_path):
    text = (
        f"---\n{WEB}    environment: {{A: 1, B: 1}}\n---\nservices:\n  web: {{environment: [B=2]}}\n  db: {{image: db}}\n---\n"
    )
    found = project(tmp_path, text)
    assert found["web"].environment == {"A": "1", "B": "2"}
    assert found["db"].image == "db"


@pytest.mark.parametrize(("text", "seconds"), [("1d", 86400.0), ("1w2h", 612000.0), ("1m30s", 90.0)])
def test_durations_have_days_and_weeks(tmp_path, text, seconds):
    assert web(tmp_path, f"stop_grace_period: {text}").container["stop_s"] == seconds


def test_one_port_may_be_published_at_any_of_a_range(tmp_path):
    assert web(tmp_path, "ports: ['8000-8010:80', '90-91:90-91']").ports == (80, 90, 91)


# ---- what is wrong ----

WRONG = {
    "unknown field": (WEB + "    enviroment: {A: 1}\n", "4:5", "unknown field 'enviroment' in services.web", "'environment'?"),
    "unknown field in a list": (
        WEB + "    volumes:\n      - {type: volume, sorce: a, target: /b}\n",
        "5:24",
        "unknown field 'sorce' in services.web.volumes.0",
        "'source'?",
    ),
    "unknown field at the top": ("serices: {}\n", "1:1", "unknown field 'serices'", "'services'?"),
    "unknown word": (
        WEB + "    depends_on: {db: {condition: service_helthy}}\n",
        "4:23",
        'services.web.depends_on.db.condition is "service_helthy"',
        "'service_healthy'?",
    ),
    "number for a text": (
        "services:\n  web:\n    image: 5\n",
        "3:5",
        "services.web.image is 5, not a text",
        "put it in quotes",
    ),
    "mapping for a list": (WEB + "    ports: {a: 1}\n", "4:5", "services.web.ports is a mapping, not a list", ""),
    "mapping for a command": (
        WEB + "    command: {a: b}\n",
        "4:5",
        "services.web.command is a mapping, not a text or a list",
        "",
    ),
    "name of a service": (
        'services:\n  "we b": {image: x}\n',
        "2:3",
        "the name 'we b' is not valid in services",
        "use letters",
    ),
    "missing field": (WEB + "    env_file: [{required: true}]\n", "4:16", "services.web.env_file.0 lacks 'path'", "add path:"),
    "no YAML": ("services:\n  web: [\n", "3:1", "not YAML: ", ""),
    "tab": ("services:\n\tweb:\n", "2:1", "not YAML: found character '\\t'", ""),
    "not a mapping": ("- a\n", "1:1", "a compose file is a mapping", "begin it with services:"),
    "empty": ("", "", "a compose file is a mapping", "begin it with services:"),
    "key twice": (WEB + "    image: shop:2\n", "4:5", "the key 'image' is there twice", "it is also in line 3"),
    "tag": (WEB + "    user: !secret a\n", "4:11", "unknown tag !secret", "compose has !reset and !override"),
    "endless": ("a: &a\n  b: *a\n", "1:4", "an alias within its own anchor", ""),
    "merge": (WEB + "    <<: 5\n", "4:9", "<< takes a mapping", "name an anchor"),
    "no service": ("services: {}\n", "", "there is no service", "add one below services:"),
    "no image": ("services:\n  web: {user: a}\n", "2:8", "the service 'web' has no image", "add image:"),
    "variable": (WEB + "    user: ${5}\n", "4:11", "unclear variable in '${5}'", "$$ stands for a dollar sign"),
    "variable left open": (WEB + '    user: "${A:-b"\n', "4:11", "unclear variable in '${A:-b'", "write $NAME"),
    "missing variable": (WEB + '    user: "${WHO:?say who}"\n', "4:11", "the variable WHO is missing", "say who"),
    "missing variable, no reason": (WEB + '    user: "${WHO?}"\n', "4:11", "the variable WHO is missing", "export WHO=..."),
    "port": (WEB + "    ports: [abc]\n", "4:13", "unclear port 'abc'", '"80:8000"'),
    "published port out of range": (WEB + "    ports: ['99999:80']\n", "4:13", "unclear port '99999'", "1 to 65535"),
    "published ports of another number": (
        WEB + "    ports: ['8080-8081:80-85']\n",
        "4:13",
        "6 ports of the container and 2 of the machine",
        "one length",
    ),
    "two numbers of replicas": (
        WEB + "    scale: 3\n    deploy: {replicas: 2}\n",
        "4:5",
        "web has scale: 3 and 2 replicas",
        "leave one",
    ),
    "a second document that is none": (WEB + "---\n- web\n", "5:1", "a compose file is a mapping", "services:"),
    "port of thousands of digits": (WEB + f"    expose: ['{'9' * 5000}']\n", "4:14", "unclear port '999", "1 to 65535"),
    "port out of range": (WEB + "    expose: [70000]\n", "4:14", "unclear port '70000'", "1 to 65535"),
    "volume with too many parts": (
        WEB + "    volumes: ['./a:/b:ro:z']\n",
        "4:15",
        "too many colons in the volume './a:/b:ro:z'",
        "SOURCE:/path:ro",
    ),
    "volume target": (WEB + "    volumes: ['./a:b']\n", "4:15", "'b' is not a whole path", "SOURCE:/path/in/container"),
    "volume type": (
        WEB + "    volumes: [{type: npipe, target: /b}]\n",
        "4:15",
        "a volume of the type npipe is not possible",
        "tmpfs",
    ),
    "volume twice": (WEB + "    volumes: [/b]\n    tmpfs: [/b]\n", "5:13", "two volumes are mounted on /b", "in line 4"),
    "volume not declared": (WEB + "    volumes: ['data:/b']\n", "4:15", "the volume 'data' is not declared", "below volumes:"),
    "no bind": (
        WEB + "    volumes: [{type: bind, source: ./no, target: /b, bind: {create_host_path: false}}]\n",
        "4:15",
        "no /",
        "create it",
    ),
    "socket": (
        WEB + "    volumes: ['/dev/null:/b']\n",
        "4:15",
        "/dev/null is neither a file nor a folder",
        "sockets or devices",
    ),
    **{
        f"bind of {source}": (
            WEB + f"    volumes: ['{source}:/host{mode}']\n",
            "4:15",
            what,
            "bind a folder of files that the service needs",
        )
        for what, sources in {
            "/ is the whole machine": ("/", "//", "/usr/..", "/proc/self/root"),
            "/proc is this machine's processes": ("/proc", "/usr/../proc"),
            "/sys/kernel is this machine's processes": ("/sys/kernel",),
            "/dev/shm is this machine's processes": ("/dev/shm",),
            "/run is this machine's processes": ("/run", "/var/run"),
            "/proc/version is this machine's processes": ("/proc/version",),
        }.items()
        for source in sources
        for mode in ("", ":ro")
    },
    "a secret of the kernel's": (
        WEB + "    secrets: [key]\nsecrets: {key: {file: /proc/version}}\n",
        "5:23",
        "/proc/version is this machine's processes",
        "name a file with the secret",
    ),
    "network not declared": (WEB + "    networks: [back]\n", "4:16", "the network 'back' is not declared", "below networks:"),
    "secret not declared": (WEB + "    secrets: [key]\n", "4:15", "the secret 'key' is not declared", "below secrets:"),
    "secret's file": (
        WEB + "    secrets: [key]\nsecrets: {key: {file: ./key}}\n",
        "5:23",
        "no file ",
        "create it",
    ),
    "secret's variable": (
        WEB + "    secrets: [key]\nsecrets: {key: {environment: KEY}}\n",
        "5:30",
        "the variable KEY of the secret 'key' is not set",
        "export KEY=...",
    ),
    "external config": (
        WEB + "    configs: [conf]\nconfigs: {conf: {external: true}}\n",
        "5:18",
        "configs.external of conf is not possible in a lab",
        "name a file",
    ),
    "env_file": (WEB + "    env_file: no.env\n", "4:15", "no file ", "required: false"),
    "duration": (WEB + "    stop_grace_period: 10\n", "4:5", "services.web.stop_grace_period is 10, not a text", "in quotes"),
    "duration without a unit": (
        WEB + "    stop_grace_period: '10'\n",
        "4:5",
        "services.web.stop_grace_period is '10'",
        "1m30s",
    ),
    "retries": (
        WEB + "    healthcheck: {retries: -1, test: a}\n",
        "4:19",
        "services.web.healthcheck.retries is '-1'",
        "whole number",
    ),
    "test": (WEB + "    healthcheck: {test: [curl, -f]}\n", "4:19", "unclear test ['curl', '-f']", '["CMD", "program"'),
    "command": (WEB + "    command: a 'b\n", "4:5", "unclear command: a quote is not closed", "quote as in a shell"),
    "privileged": (WEB + "    privileged: true\n", "4:5", "privileged of web is not possible in a lab", "default capabilities"),
    "devices": (WEB + "    devices: [/dev/kvm]\n", "4:5", "devices of web is not possible in a lab", "no devices"),
    "no network": (WEB + "    network_mode: none\n", "4:5", "network_mode none of web is not possible in a lab", "write host"),
    "host pid": (WEB + "    pid: host\n", "4:5", "pid of web is not possible in a lab", "namespaces of its own"),
    "scale": (WEB + "    scale: -3\n", "4:5", "-3 replicas of web", "whole number"),
    "replicas with one name": (
        WEB + "    container_name: web-of-mine\n    deploy: {replicas: 2}\n",
        "4:5",
        "web has 2 replicas, and one",
        "leave it out",
    ),
    "replica's name": (
        WEB + "    scale: 2\n  web-2: {image: x}\n",
        "5:10",
        "a replica of web has the name of a service, 'web-2'",
        "rename the service",
    ),
    "include": ("include: [a.yaml]\n" + WEB, "1:11", "no file ", "include names files relative to "),
    "include of a repository": (
        "include: ['https://a.example/b.git']\n" + WEB,
        "1:11",
        "'https://a.example/b.git' is not on this machine",
        "fetch it",
    ),
    "include of itself": ("include: [{path: compose.yaml}]\n" + WEB, "1:11", "", "take out one of the includes"),
    "hook's privilege": (
        WEB + "    post_start: [{command: a, privileged: true}]\n",
        "4:31",
        "post_start.privileged of web is not possible",
        "",
    ),
    "owner of a config": (
        WEB + "    configs: [{source: k, uid: root}]\nconfigs: {k: {content: a}}\n",
        "4:27",
        "uid is 'root'",
        "a number",
    ),
    "limit": (WEB + "    ulimits: {nfile: 5}\n", "4:15", "unknown limit 'nfile'", "'nofile'?"),
    "size of shared memory": (WEB + "    shm_size: lots\n", "4:5", "services.web.shm_size is 'lots'", "such as 64m"),
    "option of a tmpfs": (
        WEB + "    tmpfs: ['/run:siz=5m']\n",
        "4:13",
        "unknown option 'siz=5m' of the tmpfs /run",
        "size=64m",
    ),
    "mode of a config": (
        WEB + "    configs: [{source: c, mode: '0999'}]\nconfigs: {c: {content: a}}\n",
        "4:27",
        "services.web.configs.0.mode is '0999'",
        "0440",
    ),
    "reserved devices": (
        WEB + "    deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}\n",
        "4:41",
        "deploy.resources.reservations.devices of web is not possible in a lab",
        "no devices",
    ),
    "subpath": (
        WEB + "    volumes: [{type: volume, source: v, target: /v, volume: {subpath: ../a}}]\nvolumes: {v: }\n",
        "4:15",
        "the subpath '../a' of the volume 'v' is not a folder in it",
        "relative path",
    ),
    "volume of a file server": (
        WEB + "    volumes: ['vol:/v']\nvolumes: {vol: {driver_opts: {type: nfs, device: ':/e', o: addr=10.0.0.9}}}\n",
        "5:31",
        "the volume 'vol' is of the type nfs",
        "o: bind",
    ),
    "volume's device": (
        WEB + "    volumes: ['vol:/v']\nvolumes: {vol: {driver_opts: {type: none, device: ./no, o: bind}}}\n",
        "5:43",
        "no folder ",
        "create it",
    ),
    "volumes of no service": (
        WEB + "    volumes_from: [bb]\n",
        "4:20",
        "web depends on bb, which does not exist",
        "choose from",
    ),
    "volumes of a container": (
        WEB + "    volumes_from: ['container:x']\n",
        "4:20",
        "unclear volumes_from 'container:x'",
        "write a service's name",
    ),
    "volumes of replicas": (
        WEB + "    volumes_from: [b]\n  b: {image: x, scale: 2}\n",
        "4:20",
        "web has the volumes of b, and there are 2 of it",
        "have one replica",
    ),
    "no capability": (WEB + "    cap_add: [NET_ADMN]\n", "4:15", "no capability 'NET_ADMN'", "did you mean 'NET_ADMIN'?"),
    "no sysctl of a container": (
        WEB + "    sysctls: {vm.max_map_count: 262144}\n",
        "4:15",
        "the setting 'vm.max_map_count' is the whole machine's",
        "a container has those of its network",
    ),
    "a path as a sysctl": (WEB + "    sysctls: ['net./../vm=1']\n", "4:15", "the setting 'net./../vm' is", "a container has"),
    "a sysctl without a value": (
        WEB + "    sysctls: [net.core.somaxconn]\n",
        "4:15",
        "the setting net.core.somaxconn has no value",
        "write net.core",
    ),
    "extra host": (WEB + "    extra_hosts: ['me']\n", "4:19", "unclear host 'me'", "NAME=ADDRESS"),
    "cycle": (
        "services:\n  a: {image: x, depends_on: [b]}\n  b: {image: x, depends_on: [c]}\n  c: {image: x, depends_on: [b]}\n",
        "4:30",
        "the services wait for each other: b -> c -> b",
        "take out one",
    ),
    "depends on itself": (
        WEB + "    depends_on: [web]\n",
        "4:18",
        "the services wait for each other: web -> web",
        "take out one",
    ),
    "depends on nothing": (
        WEB + "    depends_on: [dbs]\n  db: {image: x}\n",
        "4:18",
        "web depends on dbs, which does not exist",
        "'db'?",
    ),
    "depends on another profile": (
        WEB + "    depends_on: [db]\n  db: {image: x, profiles: [full]}\n",
        "4:18",
        "web depends on db, of the profile full, which is not active",
        "COMPOSE_PROFILES=full",
    ),
    "only profiles": ("services:\n  a: {image: x, profiles: [p]}\n", "", "every service has a profile", "COMPOSE_PROFILES=p"),
    "name of the measuring host": ("services:\n  client: {image: x}\n", "2:11", "a service is called 'client'", "another name"),
    "name of the switch": ("services:\n  switch: {image: x}\n", "2:11", "a service is called 'switch'", "another name"),
    "alias of the measuring host": (
        "services:\n  a: {image: x, networks: {default: {aliases: [client]}}}\n",
        "2:6",
        "a has the alias 'client'",
        "another name",
    ),
    "extends itself": (WEB + "    extends: web\n", "4:5", "the service 'web' extends itself", "take out one"),
    "extends nothing": (WEB + "    extends: wbe\n", "4:5", "no service 'wbe' in ", "'web'?"),
    "extends no file": (WEB + "    extends: {service: a, file: no.yaml}\n", "4:5", "no file ", "relative to its own"),
    "condition's field": (WEB + "    x-slownet: {rrt: 10ms}\n", "4:17", "a condition has no field 'rrt'", "'rtt'?"),
    "condition's unit": (WEB + "    x-slownet: {rtt: 10}\n", "4:17", "duration '10' has no unit", "10ms"),
    "condition's contradiction": (
        WEB + "    x-slownet: {jitter: 10ms, rtt: 2ms}\n",
        "4:5",
        "",
        "",
    ),
    "condition's name": (WEB + "    x-slownet: LTEE\n", "4:16", "no condition 'LTEE'", "'LTE'?"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_is_one_line_with_its_place(case, tmp_path):
    text, place, what, fix = WRONG[case]
    with pytest.raises(ComposeError) as error:
        project(tmp_path, text)
    line = str(error.value)
    assert "\n" not in line
    assert error.value.where == (f"{tmp_path}/compose.yaml:{place}" if place else f"{tmp_path}/compose.yaml")
    assert error.value.what.startswith(what)
    assert fix in error.value.fix


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ComposeError, match=r"cannot read .*no\.yaml: No such file or directory"):
        reader.read([tmp_path / "no.yaml"], machine={})


def test_an_unknown_profile_is_said(tmp_path):
    found = project(tmp_path, WEB + "  db: {image: x, profiles: [full]}\n", ["fulll"])
    assert [each.name for each in found.services] == ["web"]
    assert found.warnings == (f"{tmp_path}/compose.yaml: no service has the profile 'fulll': did you mean 'full'?",)


def test_files_that_do_not_merge(tmp_path):
    (tmp_path / "over.yaml").write_text("services:\n  web: {x-own: [a]}\n")
    (tmp_path / "compose.yaml").write_text(WEB + "    x-own: {a: b}\n")
    with pytest.raises(ComposeError, match=r"services\.web\.x-own is a mapping in the file below, .*over\.yaml:2:16: write it"):
        reader.read([tmp_path / "compose.yaml", tmp_path / "over.yaml"], machine={})


def test_aliases_that_explode(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join(10 * [f'*a{n - 1}'])}]" for n in range(1, 9)]
    with pytest.raises(ComposeError, match="more than 30000 values"):
        project(tmp_path, "\n".join(lines))


# ---- variables ----


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$A-${A}-$$A", "1-1-$A"), ("${E:-x}", "x"), ("${E-x}", ""), ("${N:-${A:-q}}z", "1z"), ("${A:+yes}", "yes"),
        ("${E:+yes}", ""), ("${E+yes}", "yes"), ("${N+yes}", ""), ("${A:?no}", "1"), ("${N:-a:-b}", "a:-b"), ("a}b", "a}b"),
        ("${N:-{}}", "{}"), ("$(date) $? $1 100$ $- a$", "$(date) $? $1 100$ $- a$"), ("$2y$05$A", "$2y$051"), ("$$$$A", "$$A"),
        ("${N:-$5}", "$5"),
    ],
)  # fmt: skip
def test_variables(text, value, tmp_path):
    assert web(tmp_path, f"user: '{text}'", machine={"A": "1", "E": ""}).container.get("user", "") == value


def test_a_variable_that_is_not_set_is_empty_with_a_warning(tmp_path):
    found = project(tmp_path, WEB + "    user: a$WHO\n")
    assert found["web"].container["user"] == "a"
    assert found.warnings == (f"{tmp_path}/compose.yaml:4:11: the variable WHO is not set and counts as empty",)


def test_the_machine_comes_before_the_file_of_variables(tmp_path):
    (tmp_path / ".env").write_text("A=file\nB=file\n")
    assert web(tmp_path, "user: $A-$B", machine={"A": "machine"}).container["user"] == "machine-file"


def test_lines_of_a_raw_file_are_taken_as_they_are(tmp_path):
    (tmp_path / "raw.env").write_text('# comment\nA="$B" # c\n\nB= x\n')
    assert web(tmp_path, "env_file: [{path: raw.env, format: raw}]").environment == {"A": '"$B" # c', "B": " x"}


@pytest.mark.parametrize(("text", "line"), [("A=1\n=2\n", 2), ("A='1\n\n", 1), ("A=1\n\nB$=2\n", 3)])
def test_a_wrong_file_of_variables(text, line, tmp_path):
    (tmp_path / "web.env").write_text(text)
    with pytest.raises(ComposeError) as error:
        web(tmp_path, "env_file: web.env")
    assert error.value.where == f"{tmp_path}/web.env:{line}"


# ---- the model ----


def test_healthchecks(tmp_path):
    assert web(tmp_path).health is None
    assert web(tmp_path, "healthcheck: {disable: true}").health == Health(("NONE",))
    assert web(tmp_path, "healthcheck: {test: NONE}").health == Health(("CMD-SHELL", "NONE"))
    assert web(tmp_path, "healthcheck: {test: [NONE]}").health == Health(("NONE",))
    assert web(tmp_path, "healthcheck: {interval: 1m30s}").health == Health(interval=90)


def test_services_are_in_the_order_of_their_start(tmp_path):
    found = project(
        tmp_path,
        "services:\n  a:\n    image: x\n"
        "    depends_on: {b: {condition: service_healthy}, c: {condition: service_completed_successfully}}\n"
        "  b: {image: x, depends_on: [c]}\n  c: {image: x}\n  d: {image: x}\n",
    )
    assert [each.name for each in found.services] == ["c", "d", "b", "a"]
    assert [(each.service, each.condition) for each in found["a"].depends_on] == [("b", HEALTHY), ("c", COMPLETED)]


def test_links_are_an_order_and_a_name(tmp_path):
    found = web(tmp_path, "links: ['db:database', 'cache']", rest="  db: {image: x}\n  cache: {image: x}\n")
    assert [each.service for each in found.depends_on] == ["db", "cache"]
    assert found.links == {"database": "db"}


def test_volumes_of_the_host(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "conf").write_text("a")
    text = WEB + "    volumes: ['./data:/a', './conf:/b:ro', './new:/c', '/d']\n"
    found = project(tmp_path, text)
    assert found["web"].volumes == (
        Volume("bind", "/a", f"{tmp_path}/data"), Volume("bind", "/b", f"{tmp_path}/conf", True), Volume("volume", "/c"),
        Volume("volume", "/d"),
    )  # fmt: skip
    written, new = found.warnings
    assert written == f"{tmp_path}/compose.yaml:4:15: what is written to /a stays in the lab; add :ro to say so"
    assert new == f"{tmp_path}/compose.yaml:4:44: there is no {tmp_path}/new; /c is empty at first"


@pytest.mark.parametrize("source", ["link", "far/../../link", "./link/", "../folder/link"])
def test_a_bind_through_links_is_of_what_they_lead_to(source, tmp_path):
    folder = tmp_path / "folder"
    (folder / "far").mkdir(parents=True)
    (folder / "link").symlink_to("/")
    (tmp_path / "link").symlink_to("folder/link")
    with pytest.raises(ComposeError, match=r"^/ is the whole machine, "):
        project(folder, WEB + f"    volumes: ['./{source}:/host:ro']\n")
    (folder / "link").unlink()
    (folder / "link").symlink_to("far")
    found = project(folder, WEB + f"    volumes: ['./{source}:/host:ro']\n")
    assert found["web"].volumes == (Volume("bind", "/host", f"{folder}/far", True),)


def test_the_owner_and_mode_of_a_secret(tmp_path):
    found = web(
        tmp_path, "secrets: [{source: s, uid: '100', gid: '101', mode: 0440}, {source: s, target: /t, mode: '0400'}]",
        rest="secrets: {s: {environment: S}}\n", machine={"S": "s"},
    )  # fmt: skip
    assert found.contents == (
        Content("/run/secrets/s", text="s", mode=0o440, uid=100, gid=101), Content("/t", text="s", mode=0o400),
    )  # fmt: skip


def test_configs_and_secrets(tmp_path):
    (tmp_path / "key").write_text("k")
    found = web(
        tmp_path, "configs: [text, {source: text, target: /etc/t, mode: 0440}]", "secrets: [key, {source: word, target: w}]",
        rest="configs: {text: {content: 'a $B'}}\nsecrets: {key: {file: key}, word: {environment: B}}\n", machine={"B": "b"},
    )  # fmt: skip
    assert found.contents == (
        Content("/text", text="a b"), Content("/etc/t", text="a b", mode=0o440),
        Content("/run/secrets/key", path=f"{tmp_path}/key"), Content("/run/secrets/w", text="b"),
    )  # fmt: skip


@pytest.mark.parametrize(("stated", "size"), [("256mb", "256m"), ("1g", "1g"), ("65536", "65536")])
def test_shared_memory_has_the_stated_size(tmp_path, stated, size):
    assert web(tmp_path, f"shm_size: {stated}").volumes == (Volume("tmpfs", "/dev/shm", options=("mode=1777", f"size={size}")),)
    assert web(tmp_path, f"shm_size: {stated}", "tmpfs: /dev/shm").volumes == (Volume("tmpfs", "/dev/shm"),)


def test_memory_with_options(tmp_path):
    found = web(
        tmp_path, "tmpfs: ['/run:size=64m,mode=1777,exec,ro', /tmp]",
        "volumes: [{type: tmpfs, target: /c, tmpfs: {size: 4096, mode: 01770}}, "
        "{type: tmpfs, target: /d, tmpfs: {size: 64mb}}]",
    )  # fmt: skip
    assert found.volumes == (
        Volume("tmpfs", "/c", options=("size=4096", "mode=1770")), Volume("tmpfs", "/d", options=("size=64m",)),
        Volume("tmpfs", "/run", read_only=True, options=("size=64m", "mode=1777", "exec")), Volume("tmpfs", "/tmp"),
    )  # fmt: skip


def test_volumes_that_are_folders_of_this_machine(tmp_path):
    (tmp_path / "data" / "inner").mkdir(parents=True)
    found = project(
        tmp_path,
        WEB + "    volumes: ['v1:/v:ro', {type: volume, source: v1, target: /i, read_only: true, volume: {subpath: inner}}, "
        "'tmp:/t', 'own:/own:nocopy', 'far:/far:ro']\n"
        "volumes: {v1: {driver: local, driver_opts: {type: none, o: bind, device: ./data}}, own: , "
        "tmp: {driver_opts: {type: tmpfs, device: tmpfs, o: 'size=5m'}}, far: {external: true}}\n",
    )
    assert found["web"].volumes == (
        Volume("bind", "/v", f"{tmp_path}/data", True), Volume("bind", "/i", f"{tmp_path}/data/inner", True),
        Volume("volume", "/t", "tmp"), Volume("volume", "/own", "own", copies=False), Volume("volume", "/far", "far", True),
    )  # fmt: skip
    assert [line.partition(": ")[2] for line in found.warnings] == [
        "ignored: size=5m of the volume 'tmp'", "the volume 'far' is external, and empty at first",
    ]  # fmt: skip


def test_commands_after_the_start_and_before_the_end(tmp_path):
    found = web(
        tmp_path, "post_start: [{command: a 'b c', user: '0', environment: [A=1]}, {command: [d], working_dir: /w}]",
        "pre_stop: [{command: e}]",
    )  # fmt: skip
    assert found.post_start == (Hook(("a", "b c"), "0", environment={"A": "1"}), Hook(("d",), working_dir="/w"))
    assert found.pre_stop == (Hook(("e",)),)


def test_limits(tmp_path):
    found = web(tmp_path, "ulimits: {nofile: {soft: 1024, hard: '4096'}, nproc: 65535, memlock: -1}")
    assert found.container["limits"] == {"nofile": [1024, 4096], "nproc": [65535, 65535], "memlock": [-1, -1]}


@pytest.mark.parametrize(
    ("stated", "more", "less"),
    [
        (["cap_add: [NET_ADMIN]"], {"CAP_NET_ADMIN"}, set()),
        (["cap_add: [cap_net_admin, CHOWN]", "cap_drop: [NET_RAW]"], {"CAP_NET_ADMIN"}, {"CAP_NET_RAW"}),
        (["cap_drop: [ALL]"], set(), set(CAPABILITIES)),
        (["cap_drop: [all]", "cap_add: [NET_RAW]"], set(), set(CAPABILITIES) - {"CAP_NET_RAW"}),
        (["cap_add: [ALL]", "cap_drop: [KILL]"], set(ADDED), {"CAP_KILL"}),
    ],
)
def test_capabilities(stated, more, less, tmp_path):
    found = web(tmp_path, *stated).container["capabilities"]
    assert (set(found) - set(CAPABILITIES), set(CAPABILITIES) - set(found), len(set(found))) == (more, less, len(found))


def test_capabilities_that_no_container_has_are_said(tmp_path):
    found = project(tmp_path, WEB + "    cap_add: [SYS_MODULE, NET_ADMIN, MKNOD]\n")
    assert set(found["web"].container["capabilities"]) - set(CAPABILITIES) == {"CAP_NET_ADMIN"}
    what = "SYS_MODULE, MKNOD of cap_add: no container gets at a lab's kernel and devices"
    assert found.warnings == (f"{tmp_path}/compose.yaml:4:5: ignored: {what}",)


def test_volumes_of_another_service(tmp_path):
    (tmp_path / "folder").mkdir()
    rest = (
        "  b: {image: x, volumes: ['/anon', './folder:/f:ro', 'data:/data'], tmpfs: /t}\n"
        "  c: {image: x, volumes_from: ['web:ro'], volumes: ['/own']}\nvolumes: {data: , other: }\n"
    )
    found = project(tmp_path, WEB + "    volumes: ['other:/data']\n    volumes_from: [b]\n" + rest)
    anon, folder = Volume("volume", "/anon", "b-anon"), Volume("bind", "/f", f"{tmp_path}/folder", True)
    assert found["b"].volumes[:2] == (anon, folder)
    assert found["web"].volumes == (Volume("volume", "/data", "other"), anon, folder)
    others = (Volume("volume", "/data", "other", True), Volume("volume", "/anon", "b-anon", True), folder)
    assert found["c"].volumes == (Volume("volume", "/own"), *others)
    assert [each.name for each in found.services] == ["b", "web", "c"]
    assert [each.service for each in found["c"].depends_on] == ["web"]


def test_groups_and_settings(tmp_path):
    found = web(tmp_path, "group_add: [video, 44]", "sysctls: [net.core.somaxconn=1024, kernel.msgmax=65536]")
    assert found.container["groups"] == ["video", "44"]
    assert found.container["sysctls"] == {"net.core.somaxconn": "1024", "kernel.msgmax": "65536"}
    assert web(tmp_path, "sysctls: {net.ipv4.tcp_syncookies: 0}").container["sysctls"] == {"net.ipv4.tcp_syncookies": "0"}


def test_a_socket_of_this_machine_is_left_out(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{tmp_path}/docker.sock")
        found = project(tmp_path, WEB + "    volumes: ['./docker.sock:/run/docker.sock:ro']\n")
    assert found["web"].volumes == (Volume("volume", "/run/docker.sock", "", True),)
    what = f"{tmp_path}/docker.sock is a socket of this machine, which a lab has not; /run/docker.sock is empty"
    assert found.warnings == (f"{tmp_path}/compose.yaml:4:15: {what}",)


def test_services_may_share_an_alias(tmp_path):
    text = "services:\n  a: {image: x, networks: {default: {aliases: [b]}}}\n  b: {image: x}\n"
    assert project(tmp_path, text).hosts == ("client", "a", "b")


def test_conditions_of_links(tmp_path):
    found = project(
        tmp_path, "x-slownet: LTE\n" + WEB + "    x-slownet: {condition: DSL, loss: 1%, offloads: true}\n  db: {image: x}\n"
    )
    assert found.conditions == {
        "client": {"condition": "LTE"}, "web": {"condition": "DSL", "loss": "1%", "offloads": "on"},
    }  # fmt: skip


@pytest.mark.parametrize("stated", ["{}", "null", ""])
def test_a_link_without_a_condition(tmp_path, stated):
    assert project(tmp_path, f"{WEB}    x-slownet: {stated}\n").conditions == {}


def test_what_builds_an_image(tmp_path):
    text = "name: shop\nservices:\n  web:\n    build: {context: ./web, dockerfile: Own, target: t, args: {A: 1, B: 'b c'}}\n"
    found = project(tmp_path, text)["web"]
    assert found.image == "shop-web"
    assert (
        found.build == f"build -t shop-web -f {tmp_path}/web/Own --target t --build-arg A=1 --build-arg 'B=b c' {tmp_path}/web"
    )


def test_all_options_of_a_build(tmp_path):
    found = web(
        tmp_path, "build:", "  additional_contexts: {shared: ../shared, web: 'docker-image://x', own: 'service:web'}",
        "  secrets: [token, {source: file, target: f}]", "  network: host", "  platforms: [linux/amd64]", "  no_cache: true",
        "  labels: [a=b]", "  tags: ['other:2']", "  extra_hosts: ['h:10.0.0.9']", "  ssh: [default]", "  shm_size: 64m",
        "  ulimits: {nofile: {soft: 1, hard: 2}}", "  cache_from: [c]", "  dockerfile_inline: 'FROM x'",
        rest="secrets: {token: {environment: HOME}, file: {file: key}}\n",
    )  # fmt: skip
    assert found.build == (
        f"build -t shop:1 -t other:2 -f - --no-cache --network host --shm-size 64m --cache-from c --label a=b "
        f"--add-host h:10.0.0.9 --ulimit nofile=1:2 --ssh default --build-context shared={tmp_path}/../shared "
        f"--build-context web=docker-image://x --build-context own=docker-image://web --platform linux/amd64 "
        f"--secret id=token,env=HOME --secret id=f,src={tmp_path}/key {tmp_path}"
    )
    assert found.dockerfile == "FROM x"


def test_what_is_ignored_is_said_in_one_line(tmp_path):
    found = project(
        tmp_path, "version: '3'\n" + WEB + "    restart: always\n    labels: {a: b}\n  db: {image: x, restart: always}\n"
    )
    assert found.warnings == (
        f"{tmp_path}/compose.yaml: ignored: version: it is obsolete; "
        "restart (web, db): a service that ends fails the run; labels (web): nothing reads labels",
    )


SILENT = (
    WEB
    + """\
    ports: ["80:80", "8080:81", {target: 82, host_ip: 127.0.0.1, mode: host}]
    deploy: {resources: {limits: {cpus: "1"}}, mode: replicated, labels: [a], restart_policy: {condition: any}}
    depends_on: {db: {condition: service_started, restart: true}}
    networks: {lan: {priority: 5, driver_opts: {a: b}, interface_name: eth7}}
    volumes:
      ["data:/data:Z", "./:/here:ro,z,rshared,cached", {type: volume, source: data, target: /d, volume: {labels: {a: b}}}]
  db: {image: x, build: {context: ., sbom: true, privileged: false}}
networks:
  lan: {attachable: true, enable_ipv4: false, driver: macvlan, driver_opts: {com.docker.network.bridge.name: br0}, labels: [a]}
  unused: {driver: overlay, labels: [a]}
volumes: {data: {driver: rclone, labels: [a], driver_opts: {size: 5}}}
"""
)


def test_sub_fields_and_resources_are_ignored_by_name(tmp_path):
    *_, line = project(tmp_path, SILENT).warnings
    groups = [each.partition(": ")[0] for each in line.removeprefix(f"{tmp_path}/compose.yaml: ignored: ").split("; ")]
    assert sorted(label for each in groups for label in each.split(", ")) == sorted([
        "ports.published (web)", "ports.host_ip (web)", "deploy.resources.limits (web)", "deploy.labels (web)",
        "deploy.restart_policy (web)", "depends_on.restart (web)", "networks.driver_opts (web)",
        "volumes.bind.propagation (web)", "volumes.bind.selinux (web)",
        "volumes.consistency (web)", "volumes.volume.labels (web)", "networks.enable_ipv4 (lan)", "networks.driver (lan)",
        "networks.driver_opts.com.docker.network.bridge.name (lan)", "networks.labels (lan)", "volumes.driver (data)",
        "volumes.labels (data)", "volumes.driver_opts.size (data)", "build.sbom (db)",
    ])  # fmt: skip
    assert (
        "deploy.labels (web), volumes.volume.labels (web), networks.labels (lan), volumes.labels (data): nothing reads" in line
    )


def test_all_that_is_wrong_at_once(tmp_path):
    (tmp_path / "compose.yaml").write_text(
        WEB + "    privileged: true\n    restart: always\n  db: {image: x, pid: host, env_file: no.env}\n"
    )
    found = reader.check([tmp_path / "compose.yaml"], machine={})
    assert [each.what.partition(" of ")[0] for each in found.refused[:2]] == ["privileged", "pid"]
    assert found.refused[2].what == f"no file {tmp_path}/no.env"
    assert [each.name for each in found.services] == ["web"]
    assert found.warnings == (f"{tmp_path}/compose.yaml: ignored: restart (web): a service that ends fails the run",)


def test_refused_fields_with_a_value_that_changes_nothing(tmp_path):
    assert web(tmp_path, "privileged: false", "network_mode: bridge", "scale: 1", "devices: []", "deploy: {replicas: 1}")


def test_profiles(tmp_path):
    text = WEB + "  debug: {image: x, profiles: [debug]}\n"
    assert [each.name for each in project(tmp_path, text).services] == ["web"]
    assert [each.name for each in project(tmp_path, text, ["debug"]).services] == ["web", "debug"]
    assert [each.name for each in project(tmp_path, text, machine={"COMPOSE_PROFILES": "debug"}).services] == ["web", "debug"]


def test_a_dependency_that_may_be_missing(tmp_path):
    text = WEB + "    depends_on: {db: {condition: service_started, required: false}}\n  db: {image: x, profiles: [full]}\n"
    assert project(tmp_path, text)["web"].depends_on == ()
    (found,) = project(tmp_path, text, ["full"])["web"].depends_on
    assert found == Dependency("db", at=f"{tmp_path}/compose.yaml:4:18", required=False)


@pytest.mark.parametrize(("given", "name"), [("name: My Shop\n", "myshop"), ("", "some-folder"), ("name: _a\n", "a")])
def test_the_name_of_a_project(given, name, tmp_path):
    folder = tmp_path / "Some-Folder"
    folder.mkdir()
    assert project(folder, given + WEB).name == name


def test_a_project_survives_json(tmp_path):
    (tmp_path / "key").write_text("k")
    text = (
        "x-slownet: LTE\n"
        + WEB
        + "    command: a b\n    entrypoint: [e]\n    secrets: [key]\n    ports: [80]\n    volumes: [/v]\n"
        "    healthcheck: {test: a}\n    depends_on: [db]\n    extra_hosts: {m: 10.0.0.9}\n    links: ['db:d']\n"
        "    networks: {default: {aliases: [www]}}\n    tmpfs: ['/t:size=5m']\n    post_start: [{command: a b}]\n    scale: 2\n"
        "    ulimits: {nofile: 5}\n    cap_add: [NET_ADMIN]\n"
        "    group_add: [5]\n    sysctls: [net.core.somaxconn=1]\n  db: {image: x}\nsecrets: {key: {file: key}}\n"
        "networks: {default: {enable_ipv6: true, ipam: {config: [{subnet: 10.2.0.0/16}]}}}\n"
    )
    found = project(tmp_path, text)
    assert of_json(json.loads(json.dumps(found.to_json()))) == found


# ---- the table: what it says of each field is tested in test_every_field.py ----


def levels(kind, path=""):
    """Yield the fields of each mapping of a compose file, with the mapping's path."""
    if kind.fields:
        yield path, set(kind.fields)
    dot = "." if path else ""
    for name, each in kind.fields.items():
        if level(path).get(name, fields.SERVICE["devices"]).status == fields.DONE:
            yield from levels(each, f"{path}{dot}{name}")
    for each in filter(None, (kind.named, kind.element)):
        yield from levels(each, f"{path}{dot}*")


def level(path):
    return fields.LEVELS[path].fields if path in fields.LEVELS else {}


FREE = {"networks.*.driver_opts", "volumes.*.driver_opts"}
"""Mappings in which the specification has no names."""
SAYS_NOTHING_MORE = {
    "services.*.ulimits.*",
    "services.*.build.ulimits.*",
    *(f"{kind}.*.external" for kind in ("networks", "volumes")),
}
"""Mappings of a field that is done as a whole."""


def test_the_tables_have_every_field_of_the_specification():
    stated = {}
    for path, names in levels(values.FILE):
        stated.setdefault(path, set()).update(names)
    assert set(stated) - SAYS_NOTHING_MORE == set(fields.LEVELS) - FREE
    for path in set(stated) - SAYS_NOTHING_MORE:
        assert set(level(path)) == stated[path], path


def test_the_table_says_why(tmp_path):
    everything = [field for each in fields.LEVELS.values() for field in each.fields.values()]
    assert {each.status for each in everything} == {fields.DONE, fields.IGNORED, fields.REFUSED}
    assert [each for each in everything if each.status != fields.DONE and not each.note] == []
    text = fields.markdown()
    assert "| `privileged` | refused | a container has the default capabilities |" in text
    assert text.count("\n| `") + text.count("\n| others |") == len(everything) + 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("services: {a: {image: i, volumes: ['./LONG:/x']}}", 1),
        ("services: {a: {image: i, env_file: LONG}}", 1),
        ("services: {a: {image: i, configs: [c]}}\nconfigs: {c: {file: LONG}}", 2),
        ("services: {a: {image: i, extends: {file: LONG, service: b}}}", 1),
        ("include: [LONG]", 1),
        ("services: {}\ninclude: [{path: other.yaml, env_file: LONG}]", 2),
        ("services: {}\ninclude: [{path: other.yaml, project_directory: LONG}]", 2),
        ("services: {a: {build: LONG}}", 1),
        (
            "services: {a: {image: i, volumes: ['vol:/x']}}\n"
            "volumes: {vol: {driver_opts: {type: none, o: bind, device: /LONG}}}",
            2,
        ),
    ],
)
def test_a_path_that_no_file_can_have_is_refused_with_its_line(tmp_path, text, line):
    (tmp_path / "other.yaml").write_text("services: {}")
    file = tmp_path / "compose.yaml"
    file.write_text(text.replace("LONG", "x" * 5000))
    with pytest.raises(ComposeError) as caught:
        reader.read([file], machine={})
    assert "is too long" in str(caught.value)
    assert f"compose.yaml:{line}" in caught.value.where
    assert len(str(caught.value)) < 400


def test_what_names_a_refused_service_is_not_refused_for_that(tmp_path):
    file = tmp_path / "compose.yaml"
    file.write_text(
        "services:\n"
        "  web: {image: w, depends_on: [db], links: ['db:store'], volumes_from: [db]}\n"
        "  proxy: {image: p, network_mode: 'service:db'}\n"
        "  db: {image: d, ports: ['999.1.1.1:80:80'], volumes: ['unknown:/v']}\n"
        "x-slownet: {faults: {5s: kill db}}\n"
    )
    with pytest.raises(ComposeError) as caught:
        reader.check([file], machine={})
    assert caught.value.where.endswith("compose.yaml:4:26")
    file.write_text(file.read_text().replace("ports: ['999.1.1.1:80:80'], ", ""))
    checked = reader.check([file], machine={})
    assert [str(each).partition(":")[0] for each in checked.refused] == [f"the volume 'unknown' is not declared, {file}"]
    assert {each.name for each in checked.services} == {"web", "proxy"}


@pytest.mark.parametrize("stated", ["yes", "on", "Y", "TRUE"])
def test_a_boolean_from_a_variable(tmp_path, stated):
    found = project(tmp_path, WEB + "    read_only: ${X}\n    init: ${X:-no}\n", machine={"X": stated})
    assert found["web"].container == {"read_only": True, "init": True}


@pytest.mark.parametrize("stated", ["1", "t", "maybe", ""])
def test_what_is_no_boolean_to_compose(tmp_path, stated):
    with pytest.raises(ComposeError, match=r"services\.web\.read_only is .*:4:5: write true or false"):
        project(tmp_path, WEB + "    read_only: ${X}\n", machine={"X": stated})
