"""Forms of every kind of field of a compose file: each is one small project, read by compose's own library and by ours.

Its answers are in data/forms.json, which tests/compose_go makes and compares.
"""
# ruff: noqa: E501  # lists of values, which lose by being wrapped
# fmt: off

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

FILE = Path(__file__).with_name("data") / "forms.json"
MACHINE = {
    "OUTER": "outer", "YES": "yes", "EMPTY": "", "NUMBER": "3", "PORT": "8080", "SIZE": "64m", "TIME": "1m30s", "HOME": "/root",
    "DOLLAR": "$OUTER",
}  # fmt: skip
"""The caller's environment."""


@dataclass(frozen=True)
class Form:
    """One project: the text of compose.yaml, and of further files (over.yaml is merged over it)."""

    text: str
    files: dict[str, str] = field(default_factory=dict)

    def lay_out(self, parent: Path, name: str) -> list[Path]:
        """Write it into a folder of its own; return the files that are named to the reader."""
        folder = parent / name
        folder.mkdir()
        for path, text in {"compose.yaml": self.text, **self.files}.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        return [folder / each for each in ("compose.yaml", "over.yaml") if each in ("compose.yaml", *self.files)]


FORMS: dict[str, Form] = {}


def _add(kind: str, text: str, **files: str) -> None:
    number = sum(each.startswith(f"{kind}-") for each in FORMS)
    FORMS[f"{kind}-{number:03}"] = Form(text, {name.replace("__", "."): each for name, each in files.items()})


def _service(fields: str, more: str = "") -> str:
    return f"services: {{a: {{image: 'a:1', {fields}}}, b: {{image: 'b:1'}}}}\n{more}"


_TRUTHS = (
    "true", "false", "True", "'true'", "'FALSE'", "'yes'", "'on'", "'y'", "'Y'", "'1'", "'t'", "'no'", "'off'", "'N'", "'maybe'",
    "'${YES}'", "'${EMPTY}'", "'${UNSET:-on}'", "'${UNSET-}'", "1", "yes", "' true'",
)  # fmt: skip
_BOOLEANS = (
    "read_only: {}", "init: {}", "tty: {}", "stdin_open: {}", "oom_kill_disable: {}", "attach: {}",
    "healthcheck: {{test: x, disable: {}}}", "volumes: [{{type: tmpfs, target: /t, read_only: {}}}]",
    "volumes: [{{type: volume, target: /t, volume: {{nocopy: {}}}}}]", "depends_on: {{b: {{condition: service_started, required: {}}}}}",
    "depends_on: {{b: {{condition: service_started, restart: {}}}}}", "env_file: [{{path: none.env, required: {}}}]",
    "volumes: [{{type: bind, source: /nowhere, target: /t, bind: {{create_host_path: {}}}}}]", "build: {{context: ., no_cache: {}}}",
    "build: {{context: ., pull: {}}}", "networks: {{default: {{use_service_name_alias: {}}}}}",
    "post_start: [{{command: x, privileged: {}}}]", "privileged: {}",
)  # fmt: skip
for _value in _TRUTHS:
    for _each in _BOOLEANS:
        _add("boolean", _service(_each.format(_value)))
    for _each in (
        "networks: {{default: {{internal: {}}}}}", "networks: {{default: {{attachable: {}}}}}",
        "networks: {{default: {{enable_ipv6: {}}}}}", "volumes: {{v: {{external: {}}}}}",
    ):  # fmt: skip
        _add(
            "boolean",
            _service("volumes: ['vol:/v']" if "v:" in _each else "tty: true", _each.replace("{v:", "{vol:").format(_value)),
        )

_WHOLES = (
    "3",
    "'3'",
    "'${NUMBER}'",
    "'+3'",
    "'03'",
    "' 3'",
    "3.0",
    "'3.0'",
    "'three'",
    "''",
    "'${EMPTY}'",
    "-1",
    "'-1'",
    "1_0",
    "'1_0'",
    "0x3",
    "'0x3'",
)
for _value in _WHOLES:
    for _each in (
        "scale: {}", "deploy: {{replicas: {}}}", "healthcheck: {{test: x, retries: {}}}", "ulimits: {{nofile: {}}}",
        "ulimits: {{nofile: {{soft: {}, hard: 10}}}}", "ports: [{{target: {}}}]", "pids_limit: {}", "cpu_shares: {}",
        "oom_score_adj: {}", "cpu_count: {}", "deploy: {{restart_policy: {{max_attempts: {}}}}}",
    ):  # fmt: skip
        _add("whole", _service(_each.format(_value)))
for _value in ("1.5", "'1.5'", "'1e2'", "'.5'", "'x'", "''", "2", "'${NUMBER}'", "'1,5'"):
    for _each in ("cpus: {}", "cpu_percent: {}", "deploy: {{resources: {{limits: {{cpus: {}}}}}}}"):
        _add("real", _service(_each.format(_value)))
for _value in (
    "64", "'64'", "64m", "64M", "64mb", "64MB", "64MiB", "'64 m'", "'${SIZE}'", "1.5g", "64x", "m", "''", "-1", "'-64m'", "64mib", "64mbb", "1e3", "'1e3k'",
    "64b", "64kib", "1t", "'64  m'",
):  # fmt: skip
    for _each in (
        "shm_size: {}",
        "mem_limit: {}",
        "volumes: [{{type: tmpfs, target: /t, tmpfs: {{size: {}}}}}]",
        "build: {{context: ., shm_size: {}}}",
    ):
        _add("size", _service(_each.format(_value)))
for _value in (
    "1m30s", "'${TIME}'", "5", "'5'", "0", "'0'", "1.5s", "1h", "1d", "1w", "500ms", "5us", "10ns", "-5s", "s", "''", "1m 30s", "5S", "'+5s'", ".5s", "5.s", "1m30",
):  # fmt: skip
    for _each in (
        "stop_grace_period: {}",
        "healthcheck: {{test: x, interval: {}}}",
        "healthcheck: {{test: x, start_period: {}}}",
        "deploy: {{update_config: {{delay: {}}}}}",
    ):
        _add("duration", _service(_each.format(_value)))

for _value in (
    ":2283:2283", "::80", "80/UDP", "80/udp", "80/Tcp", "80/sctp", "80/", "80/foo", "80/udp/tcp", "999.1.1.1:80:80", "127.0.0.1:80:80",
    "127.0.0.1::80", "[::1]:80:80", "[::1]::80", "::1:80:80", "[fe80::1%eth0]:80:80", "[127.0.0.1]:80:80", "localhost:80:80", "8000-8003", "8000-8003:9000-9003",
    "8000-8003:80", "80:8000-8003", "8000-8001:9000-9003", "9000-8000", "0", "65535", "65536", "80:65536", "70000:80", "", ":", ":80", "80:", "abc", "80a", "80:80:80",
    "1.2.3.4:5:80:80", "-80", "80-", "1-2-3", " 80", "80 ", "+80", "${PORT}:80", "${PORT}", "${UNSET-:2283:2283}", "${UNSET:-80}", "${EMPTY}:80", "0080", "0.0.0.0:80:80",
    "[::]:80:80/udp", "127.0.0.1:8000-8001:9000-9001", "80:80/tcp,udp", "01.2.3.4:80:80", "2001:db8::1:80:80", "[2001:db8::1]:8080:80",
):  # fmt: skip
    _add("port", _service(f"ports: ['{_value}']"))
for _value in ("80", "80.5", "0x50", "080", "1e2", "-80", "80:90", "true", "null", "22:22"):
    _add("port", _service(f"ports: [{_value}]"))
for _value in (
    "{target: 80}", "{target: '80', protocol: udp}", "{target: 80, published: 8080}", "{target: 80, published: '8080-8090'}",
    "{target: 80, host_ip: 127.0.0.1}", "{target: 80, host_ip: 999.1.1.1}", "{target: 80, host_ip: '::1'}", "{published: 80}", "{target: '${PORT}'}",
    "{target: 80, mode: host}", "{target: 80, protocol: UDP}", "{target: 80, name: web, app_protocol: http}", "{target: 80, extra: 1}", "{target: 80-81}",
):  # fmt: skip
    _add("port", _service(f"ports: [{_value}]"))
_add("port", _service("ports: ['80:80', '80:80']"))
_add("port", _service("ports: ['80:80', '81:80/udp', '82:80']"))
for _value in ("80", "'80'", "'80/udp'", "'80-82'", "'80-82/tcp'", "'${PORT}'", "80.5", "x", "'80/foo'", "'80:80'", "''"):
    _add("expose", _service(f"expose: [{_value}]"))

_LONG = (
    "OUTER\nUNKNOWN\nA=1\nC=\"q\"\nS='s'\nE=x y # z\n# comment\n  B=2\nexport D=3\nF=${OUTER}-$A\nG=\n\nH = 4\nI: 5\nJ=a=b\nK=\"x\\ny\"\nL='${OUTER}'\nM=x#y\nN=\"$A\"'z'\n",
    "A=1\r\nB=2 \r\n", "\ufeffA=1\n", "A=1\nA=2\nB=$A\n", "A=\"un\n", "A B=1\n", "=1\n", "A=${OUTER:-x}${NO:-y}${OUTER:+z}\n", "A=$$B\nC=\\$B\nD=\"\\$B\"\n", "1A=1\nB-C=2\nD.E=3\n",
    "A=\"multi\nline\"\nB=2\n", "A= spaced \nB='  kept  '\n", "A=x\\\nB=y\n", "A='it''s'\n", "A=\"a\\tb\\\\c\\\"d\"\n", "A=1 #c\nB=\"1\" #c\nC='1' # c\n", "A\tB=1\n", "export A\nexport B=1\n",
    "A=${B\n", "A={\"k\": \"v\"}\n", "A=`ls`\n", "  \n\t\n", "ÄÖ=1\n", "A[0]=1\n", "A@=1\n", "A=x ## y\n", "A=\"x\" y\n", "A=\\n\nB=\"\\\\n\"\nC='\\n'\n",
)  # fmt: skip
for _text in _LONG:
    _add("env_file", _service("env_file: v.env"), v__env=_text)
    _add("env_file", _service("env_file: [{path: v.env, format: raw}]"), v__env=_text)
    _add("env_file", _service("environment: {A: '${A-none}', B: '${B-none}', OUTER: '${OUTER}'}"), __env=_text)
for _value in (
    "[v.env, w.env]", "[{path: v.env}, {path: w.env, required: false}]", "[{path: none.env, required: false}]", "none.env", "[{path: v.env, format: other}]", "[{required: true}]",
    "[{path: none.env, required: 'no'}]", "[]", "''", "[v.env, v.env]", "{path: v.env}", "['${UNSET:-v}.env']",
):  # fmt: skip
    _add("env_file", _service(f"env_file: {_value}"), v__env="A=1\nB=$OUTER\n", w__env="A=2\nC=$A\n")

for _value in (
    "/v", "vol:/v", "vol:/v:ro", "vol:/v:rw", "vol:/v:ro,rw", "vol:/v:nocopy", "vol:/v:ro,nocopy", "vol:/v:z", "./d:/v", "./d:/v:ro", "/d:/v", "~/d:/v", ".:/v", "..:/v", "vol:/v/", "vol:/v/../w",
    "vol://v//w", "vol:/v:cached", "vol:/v:foo", "vol:/v:ro:x", "vol:", ":/v", "", "/", "v", "v:/x", "vol:relative", "${UNSET:-vol}:/v", "unknown:/v", "./d:/v:rshared,ro", "d:\\\\x:/v",
    "vol:/v:", "/a:/b:/c", "vol:/v,w", "vol:/v:RO",
):  # fmt: skip
    _add("volume", _service(f"volumes: ['{_value}']", "volumes: {vol: {}}"), **{"d/x": "x"})
for _value in (
    "{type: volume, source: vol, target: /v}", "{type: bind, source: ./d, target: /v}", "{type: bind, source: ./d, target: /v, read_only: 'on'}", "{type: tmpfs, target: /v, tmpfs: {size: '64m', mode: 0o700}}",
    "{type: tmpfs, target: /v, tmpfs: {mode: '1777'}}", "{type: tmpfs, target: /v, tmpfs: {mode: 01777}}", "{source: vol, target: /v}", "{type: volume, source: vol}", "{type: other, target: /v}",
    "{type: volume, source: vol, target: /v, volume: {subpath: x, nocopy: 'yes'}}", "{type: volume, target: /v}", "{type: npipe, source: x, target: /v}", "{type: cluster, source: vol, target: /v}",
    "{type: bind, source: ./d, target: /v, bind: {propagation: rshared}}", "{type: tmpfs, target: /v, tmpfs: {size: x}}", "{type: volume, source: none, target: /v}",
):  # fmt: skip
    _add("volume", _service(f"volumes: [{_value}]", "volumes: {vol: {}}"), **{"d/x": "x"})
_add("volume", _service("volumes: ['vol:/v', './d:/v']", "volumes: {vol: {}}"), **{"d/x": "x"})
_add("volume", _service("volumes: ['vol:/v'], tmpfs: /v", "volumes: {vol: {}}"))
for _value in ("/t", "[/t, '/u:size=1m']", "['/t:ro']", "''", "[]", "['/t', '/t']"):
    _add("tmpfs", _service(f"tmpfs: {_value}"))

for _value in (
    "${OUTER}", "$OUTER", "${UNSET}", "${UNSET:-b}", "${UNSET-b}", "${EMPTY:-b}", "${EMPTY-b}", "${OUTER:?e}", "${UNSET:?e}", "${EMPTY:?e}", "${EMPTY?e}", "${UNSET?}", "${OUTER:+b}", "${OUTER+b}",
    "${EMPTY:+b}", "${EMPTY+b}", "${UNSET:+b}", "${UNSET+b}", "$$OUTER", "$${OUTER}", "$$$OUTER", "$", "5$", "$1", "$(date)", "${}", "${", "${OUTER", "${OUT ER}", "${1A}", "${UNSET:-${OUTER}}",
    "${UNSET:-${NO:-deep}}", "${UNSET:-a${OUTER}b}", "${UNSET:-${NO-${EMPTY:+x}y}}", "${UNSET:-{}}", "${UNSET:-a}b}", "${UNSET:-$$x}", "${outer}", "${OUTER}${OUTER}", "a${OUTER}b$OUTER.c",
    "${UNSET:-a:-b}", "${UNSET-a:-b}", "${OUTER:-a?b}", "${UNSET:?${OUTER}}", "${OUTER:+${UNSET:-x}}", "${DOLLAR}", "${UNSET:-$OUTER}", "$OUTER_X", "${OUTER}_X", "${OUTER-}", "${UNSET:-a b}",
    "${UNSET:-'q'}".replace("'", "''"), "${UNSET:-\"q\"}", "${OUTER:x}", "${OUTER/x/y}", "${#OUTER}", "${OUTER:-{{x}}}", "$_", "${_}", "{{.Name}}", "${UNSET:-}", "${UNSET:+}", "$-", "$$", "$$$$",
    "${UNSET:-x$}", "${UNSET:-${OUTER}-${OUTER}}", "${OUTER} ${UNSET:-a} ${EMPTY:-b}", "${UNSET:-{\"a\": \"b\"}}",
):  # fmt: skip
    _add("variable", _service(f"environment: {{X: '{_value}'}}"))
_add("variable", _service('environment: {X: "${UNSET:-a\\nb}"}'))
_add("variable", _service("environment: {'${OUTER}': x}"))
_add("variable", _service("environment: ['${OUTER}=x', 'Y=${UNSET:-2}']"))
_add("variable", "services: {'${OUTER}': {image: x}}\n")

for _value in (
    "echo a b", "echo 'a b'", 'echo "a b"', "echo a\\ b", "echo a; b", "echo a && b", "a | b", "a > b", "a 2>b", "a <b", "echo 'a", "echo `date`", "echo $$(date +%s)", "echo (a)", "a # b", "''", "echo ''",
    "a  b\tc", "sh -c 'a && b'", "a'b'c", 'a"b;c"d', "a\\;b", "a&b", "echo $${X}", "a \"$$(b c)\" d", "echo '`x`'", "a \\", "--flag='x y'", "ä ö", "a\\\\b", "'a\\b'", "a `b c` d", "x $$( y", "a ) b",
):  # fmt: skip
    for _name in ("command", "entrypoint"):
        _add(
            "command",
            f"services:\n  a:\n    image: a\n    {_name}: |-\n      {_value}\n" if _value else _service(f"{_name}: ''"),
        )
for _value in ("[a, b]", "[a, 1]", "[]", "null", "'${UNSET:-x y}'", "['${UNSET:-x y}']", "5", "true", "{a: b}"):
    _add("command", _service(f"command: {_value}"))

for _value in (
    "[A=1, B]", "{A: 1, B: }", "{A: true, B: 1.50, C: '1.50', D: 0x10, E: 1e3}", "[OUTER]", "{OUTER: }", "{OUTER: null}", "['A = 1']", "['A =1']", "[A=b=c]", "{A: [x]}", "[]", "{}", "null", "[A=1, A=2]", "['']", "['=x']", "[1]", "[A=]", "{A: ''}",
    "{A: 2024-01-01}", "{A: 12345678901234567890}", "{A: .5}", "{A: 1000000.0}", "{A: 1e-7}", "[true]",
):  # fmt: skip
    _add("environment", _service(f"environment: {_value}"))
for _value in ("[A=1, B]", "{A: 1, B: }", "{A: true}", "['a.b=c']", "[]", "{A: [x]}"):
    _add("labels", _service(f"labels: {_value}"))
    _add("labels", _service("tty: true", f"networks: {{default: {{labels: {_value}}}}}"))
    _add("labels", _service(f"build: {{context: ., args: {_value}}}"))

for _value in (
    "[b]", "{b: {condition: service_started}}", "{b: {condition: service_healthy}}", "{b: {condition: service_completed_successfully}}", "{b: {condition: other}}", "{b: {}}", "{b: }", "[c]", "{c: {condition: service_started, required: false}}",
    "b", "[b, b]", "[a]", "{b: {condition: service_started, extra: 1}}", "[]", "{}", "{b: {required: false}}",
):  # fmt: skip
    _add("depends_on", _service(f"depends_on: {_value}"))
for _value in (
    "{test: curl x}", "{test: [CMD, curl, x]}", "{test: [CMD-SHELL, curl x]}", "{test: [NONE]}", "{test: [curl, x]}", "{disable: true}", "{test: []}", "{test: ''}", "{interval: 5s}", "{test: x, retries: 0}", "{test: x, retries: -1}", "{test: [CMD, 1]}",
    "{test: x, interval: 5s, timeout: 1m, start_period: 2s, start_interval: 500ms, retries: 4}", "{}", "null", "{test: NONE}", "{test: x, other: 1}", "{test: x, retries: 1.5}",
):  # fmt: skip
    _add("healthcheck", _service(f"healthcheck: {_value}"))
for _value in (
    "[nofile]", "{nofile: 10}", "{nofile: {soft: 1, hard: 2}}", "{nofile: {soft: 1}}", "{nofile: {soft: 3, hard: 2}}", "{nproc: -1}", "{nofile: {soft: '1', hard: '${NUMBER}'}}", "{nofile: 1.5}", "{unknown: 1}", "{}", "{nofile: }",
):  # fmt: skip
    _add("ulimits", _service(f"ulimits: {_value}"))
for _value in (
    "[net.core.somaxconn=1024]",
    "{net.core.somaxconn: 1024}",
    "{net.core.somaxconn: '1024'}",
    "[net.core.somaxconn]",
    "{net.core.somaxconn: }",
    "{kernel.panic: 1}",
    "[net.ipv4.tcp_fin_timeout=30, net.core.somaxconn=5]",
    "{}",
):
    _add("sysctls", _service(f"sysctls: {_value}"))
for _value in (
    "['mail:10.0.0.9']", "['mail=10.0.0.9']", "{mail: 10.0.0.9}", "{mail: [10.0.0.9, 10.0.0.10]}", "['mail:::1']", "['mail=[::1]']", "['mail:10.0.0.9', 'mail:10.0.0.10']", "['mail']", "['mail:host-gateway']", "{mail: }", "['mail=10.0.0.9,10.0.0.10']", "[]",
    "['=10.0.0.9']", "{'ma:il': 10.0.0.9}", "['mail: 10.0.0.9']", "{mail: '[::1]'}",
):  # fmt: skip
    _add("extra_hosts", _service(f"extra_hosts: {_value}"))
for _value in (
    "[n]", "{n: }", "{n: {}}", "{n: {aliases: [x, y]}}", "[n, m]", "[none]", "{n: {ipv4_address: 10.9.0.5}}", "{n: {priority: 5}}", "{n: {priority: '5'}}", "n", "[]", "{n: {aliases: x}}", "{n: {other: 1}}", "[n, n]", "{n: {mac_address: '02:42:ac:11:00:0a'}}",
    "{n: {gw_priority: 'x'}}", "{n: {driver_opts: {a: 1}}}",
):  # fmt: skip
    _add("networks", _service(f"networks: {_value}", "networks: {n: {ipam: {config: [{subnet: 10.9.0.0/16}]}}, m: }"))
for _value in ("host", "none", "bridge", "'service:b'", "'service:c'", "'container:x'", "''", "other"):
    _add("network_mode", _service(f"network_mode: {_value}"))
for _value in (
    "[s]", "[{source: s}]", "[{source: s, target: t}]", "[{source: s, target: /t}]", "[{source: s, mode: 0440}]", "[{source: s, mode: '0440'}]", "[{source: s, mode: '440'}]", "[{source: s, mode: '0o440'}]", "[{source: s, mode: 288}]", "[{source: s, mode: x}]",
    "[{source: s, uid: '5', gid: '6'}]", "[{source: s, uid: 5}]", "[none]", "[s, s]", "[{target: t}]", "{s: }", "s", "[{source: s, mode: '9'}]", "[{source: s, mode: 0o440}]",
):  # fmt: skip
    for _kind in ("secrets", "configs"):
        _add(_kind, _service(f"{_kind}: {_value}", f"{_kind}: {{s: {{file: ./word}}}}"), word="word")
for _value in (
    "{environment: OUTER}",
    "{environment: UNSET}",
    "{content: 'x ${OUTER}'}",
    "{file: word, content: x}",
    "{}",
    "null",
    "{file: none}",
    "{external: 'yes'}",
    "{external: {name: x}}",
    "{file: '${UNSET:-word}'}",
):
    for _kind in ("secrets", "configs"):
        _add(_kind, _service(f"{_kind}: [s]", f"{_kind}: {{s: {_value}}}"), word="word")
for _value in ("{context: .}", ".", "{dockerfile_inline: 'FROM x'}", "{context: ., dockerfile: D}", "{dockerfile: D, dockerfile_inline: x}", "{context: ., args: [A=1, OUTER]}", "{context: ., target: t, tags: [x, y]}", "{context: ., ulimits: {nofile: 5}}",
    "{context: ., additional_contexts: [x=./d]}", "{context: ., additional_contexts: {x: ./d}}", "{context: ., additional_contexts: [x]}", "{context: ., ssh: [default]}", "{context: ., ssh: [x]}", "{context: ., cache_from: [x]}", "{context: ., platforms: [linux/amd64]}", "{}", "null", "5",
    "{context: ., extra_hosts: ['x=1.2.3.4']}", "{context: ., secrets: [s]}", "{context: ., network: none}", "{other: 1}",
):  # fmt: skip
    _add("build", f"services: {{a: {{build: {_value}}}}}\nsecrets: {{s: {{file: word}}}}\n", word="x")
for _value in ("[/dev/x]", "['/dev/x:/dev/y:r']", "[{source: /dev/x}]", "['a:b:c:d']"):
    _add("devices", _service(f"devices: {_value}"))
for _value in ("all", "[{count: 1}]", "[{count: all}]", "[{count: x}]", "[{count: 1, device_ids: ['0']}]", "some"):
    _add("gpus", _service(f"gpus: {_value}"))
for _value in (
    "{limits: {cpus: '0.5', memory: 64m, pids: 5}}", "{limits: {cpus: 0.5}}", "{limits: {memory: 64}}", "{limits: {memory: x}}", "{limits: {pids: '5'}}", "{limits: {pids: x}}", "{limits: {cpus: x}}", "{reservations: {memory: 20M}}",
    "{reservations: {devices: [{capabilities: [gpu]}]}}", "{limits: {other: 1}}", "{}",
):  # fmt: skip
    _add("resources", _service(f"deploy: {{resources: {_value}}}"))
for _value in (
    "replicas: 0",
    "replicas: 2, mode: global",
    "mode: other",
    "replicas: '2'",
    "replicas: -1",
    "endpoint_mode: vip",
    "placement: {constraints: [x]}",
    "placement: {max_replicas_per_node: '2'}",
    "labels: [a=b]",
    "restart_policy: {condition: any, delay: 5s, window: 1m}",
):
    _add("deploy", _service(f"deploy: {{{_value}}}"))
for _value in (
    "scale: 2, deploy: {replicas: 2}",
    "scale: 2, deploy: {replicas: 3}",
    "scale: 2, container_name: x",
    "scale: 0",
    "scale: '2'",
    "container_name: x",
    "cpus: 1, deploy: {resources: {limits: {cpus: '2'}}}",
    "mem_limit: 1m, deploy: {resources: {limits: {memory: 2m}}}",
):
    _add("scale", _service(_value))
for _value in (
    "user: root", "user: 5", "user: '5:6'", "hostname: h", "hostname: 5", "working_dir: /w", "stop_signal: SIGINT", "stop_signal: 9", "cap_add: [NET_ADMIN, NET_ADMIN]", "cap_add: NET_ADMIN", "cap_drop: [ALL]", "dns: 1.1.1.1", "dns: [1.1.1.1]", "group_add: [5, x]",
    "mac_address: x", "mac_address: '02:42:ac:11:00:0a'", "platform: linux/amd64", "restart: always", "restart: 'no'", "restart: no", "restart: other", "links: ['b:c']", "links: [b]", "links: [c]", "volumes_from: [b]", "volumes_from: ['b:ro']", "profiles: [x]", "profiles: x",
    "logging: {driver: none}", "logging: {options: {a: 1}}", "x-any: {a: b}", "unknown: 1", "image: ''", "image: 5", "image: null", "annotations: [a=b]", "security_opt: [x]", "userns_mode: host", "ipc: host", "pid: host", "isolation: x", "storage_opt: {size: 1G}",
    "pull_policy: always", "pull_policy: sometimes", "pull_policy: every_12h", "runtime: x", "cgroup: host", "blkio_config: {weight: 300}", "umask: '077'", "post_start: [{command: a b}]", "post_start: [{}]", "pre_stop: [{command: [a], user: x, environment: [A=1]}]",
    "attach: 'false'", "domainname: x", "external_links: [x]", "label_file: x", "expose: []", "tmpfs: 5", "develop: {watch: [{path: ., action: sync, target: /x}]}", "develop: {watch: [{path: ., action: sync}]}", "credential_spec: {file: x}", "provider: {type: x}", "models: [m]",
):  # fmt: skip
    _add("other", _service(_value).replace("image: 'a:1', image", "image"), x="A=1")

_EXTENDS = "services: {base: {image: 'b:1', environment: {A: 1, B: 1}, command: [x], ports: ['80:80'], volumes: ['vol:/v'], cap_add: [KILL], labels: [a=1], networks: [n], extra_hosts: ['h=1.1.1.1'], tmpfs: /t, dns: 1.1.1.1, read_only: 'yes', healthcheck: {test: x, interval: 5s}}, a: {extends: EXTENDS, FIELDS}}\nvolumes: {vol: }\nnetworks: {n: , m: }\n"
for _value in (
    "environment: {B: 2}", "environment: [B=2, C]", "command: [y]", "command: null", "ports: ['81:81']", "ports: ['80:80']", "volumes: ['other:/v']", "volumes: ['./d:/w']", "cap_add: [KILL, CHOWN]", "labels: {a: 2}", "networks: {n: {aliases: [x]}}", "networks: [m]",
    "extra_hosts: {h: 2.2.2.2}", "tmpfs: [/u]", "dns: [2.2.2.2]", "read_only: 'no'", "healthcheck: {interval: 6s}", "healthcheck: {test: [CMD, y]}", "image: 'a:1'", "environment: !reset {}", "environment: !override {Z: 1}", "ports: !reset []", "ports: !override ['82:82']",
    "command: !reset null", "volumes: !reset null", "tty: true", "build: .", "entrypoint: a b", "user: x", "networks: !override [m]", "environment: {A: !reset null}", "healthcheck: !reset null", "tmpfs: !override /u",
):  # fmt: skip
    _add(
        "extends",
        _EXTENDS.replace("EXTENDS", "{service: base}").replace("FIELDS", _value).replace("{vol: }", "{vol: , other: }"),
        **{"d/x": "x"},
    )
    _base = _EXTENDS.split(", a: {extends")[0].replace("base:", "a:") + "}\nvolumes: {vol: , other: }\nnetworks: {n: , m: }\n"
    _add("merge", _base, over__yaml=f"services: {{a: {{{_value}}}}}\n", **{"d/x": "x"})
for _value in (
    "base",
    "{service: none}",
    "{service: a}",
    "{file: other.yaml, service: z}",
    "{file: none.yaml, service: z}",
    "{file: other.yaml}",
    "{service: base, other: 1}",
    "none",
):
    _add(
        "extends",
        _EXTENDS.replace("EXTENDS", _value).replace("FIELDS", "tty: true"),
        other__yaml="services: {z: {image: z, env_file: z.env, volumes: ['./d:/v']}}",
        z__env="Z=1\n",
    )
for _value in (
    "[inc.yaml]",
    "[{path: inc.yaml}]",
    "inc.yaml",
    "[none.yaml]",
    "[inc.yaml, inc.yaml]",
    "[{path: [inc.yaml, two.yaml]}]",
    "[{path: inc.yaml, env_file: i.env}]",
    "[{path: sub/inc.yaml}]",
    "[{path: sub/inc.yaml, project_directory: .}]",
    "[inc.yaml, two.yaml]",
    "[compose.yaml]",
    "[{}]",
):
    _add(
        "include", f"include: {_value}\nservices: {{b: {{image: b}}}}\n", **{"inc.yaml": "services: {i: {image: 'i:${V:-0}', environment: ['X=${OUTER}'], command: a}}", "two.yaml": "services: {i: {image: 'i:${V:-0}', environment: ['X=${OUTER}'], command: b}}",
        "i.env": "V=7\n", "sub/inc.yaml": "services: {s: {image: 's:${V:-0}', volumes: ['./d:/v'], env_file: v.env}}", "sub/.env": "V=8\n", "sub/v.env": "A=sub\n", "v.env": "A=top\n", ".env": "V=9\n"},
    )  # fmt: skip
for _text in (
    "name: x\n", "name: X_y-Z\n", "name: ''\n", "name: '${OUTER}'\n", "version: '3'\n", "version: 3\n", "x-a: 1\n", "unknown: 1\n", "services:\n", "networks: {n: {name: x}}\n", "networks: {n: {driver_opts: {a: 1}}}\n", "networks: {default: {driver: other}}\n", "volumes: {v: {name: x, driver: local}}\n",
    "volumes: {v: {external: true, driver: x}}\n", "networks: {n: {external: true}}\n", "networks: {default: {ipam: {config: [{subnet: x}]}}}\n", "networks: {default: {ipam: {config: [{subnet: 10.9.0.0/16, gateway: 10.9.0.9}]}}}\n",
    "x-base: &b {tty: true}\nservices: {a: {<<: *b, image: a}}\n", "x-l: &l [A=1]\nservices: {a: {image: a, environment: *l}}\n", "services: {a: {image: a}}\n---\nservices: {a: {image: b}}\n", "services: {a: {image: a, image: b}}\n", "services: {A_b.c-1: {image: a}}\n", "services: {'a b': {image: a}}\n", "services: []\n", "services: {a: }\n",
    "services: {1: {image: a}}\n", "services: {a: {image: a, environment: {1: 2}}}\n", "services: {a: {image: a, environment: {yes: no}}}\n", "services: {a: {image: a, environment: {A: !!str 1, B: !!int '2'}}}\n", "services: {a: {image: a, command: !!str 5}}\n",
):  # fmt: skip
    _add("top", _text if "services" in _text else _service("tty: true", _text))
