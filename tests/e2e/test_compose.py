"""Compose projects: brought up for a person, measured from the command line, as a topology, and in pytest."""

import json
import sys
from pathlib import Path

import pytest
from command_line import SLOWNET, ran
from conftest import LIGHT

SHOP = Path(__file__).parents[1] / "shop"
sys.path.insert(0, str(SHOP))
import kept_images  # noqa: E402  # stands beside the project

WEB = "localhost/slownet-test/web:1"
SERVER = """
import os, sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
if len(sys.argv) > 1:
    open("/mine/written", "w").write("w")
    open("/shared/written", "w").write("w")
os.chdir("/etc")
ThreadingHTTPServer(("", 8000), SimpleHTTPRequestHandler).serve_forever()
"""
PROJECT = f"""
name: tiny
x-slownet: {{rtt: 4ms}}
x-common: &common
  image: {WEB}
services:
  web:
    <<: *common
    command: python3 /code/server.py write
    volumes: ["./server.py:/code/server.py:ro", "./mine:/mine", "shared:/shared"]
    configs: [{{source: text, target: /etc/shop.conf}}]
    ports: ["80:8000"]
    networks: {{front: {{aliases: [www]}}, back: }}
    user: "33"
    hostname: shop-host
    extra_hosts: [mail=10.0.0.99]
    depends_on: {{prepared: {{condition: service_completed_successfully}}}}
  prepared:
    <<: *common
    command: [python3, -c, "import os; os.chmod('/shared', 0o777); print('prepared')"]
    volumes: ["shared:/shared"]
    networks: [back]
  a-rather-long-name:
    <<: *common
    command: [python3, -m, http.server, "9000", --directory, /etc]
    expose: ["1", "9000"]
    x-slownet: {{rtt: 10ms}}
    networks: [back]
    environment: {{WHO: "${{WHO:-nobody}}"}}
networks: {{front: , back: }}
volumes: {{shared: }}
configs: {{text: {{content: "for ${{WHO:-nobody}}"}}}}
"""


def run(*words, cwd, stdin=""):
    return ran([*SLOWNET, *words], input=stdin, text=True, cwd=cwd)


@pytest.fixture(scope="module")
def images(built):
    kept_images.keep()


@pytest.fixture
def project(images, tmp_path):
    """A folder with a project of two servers and a program that prepares something."""
    (tmp_path / "compose.yaml").write_text(PROJECT)
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "mine").mkdir(mode=0o777)
    (tmp_path / "mine").chmod(0o777)
    (tmp_path / "mine" / "file").write_text("of the host")
    return tmp_path


def test_a_project_comes_up_and_is_reached_by_names(project):
    lines = [
        "client wget -qO- http://www:8000/shop.conf", "client echo", "client wget -qO- http://web:8000/hosts",
        "client wget -qO- http://a-rather-long-name:9000/hosts", "client ping -c 1 a-rather-long-name", "show",
    ]  # fmt: skip
    done = run("shell", "compose", "--tdf", "inf", cwd=project, stdin="\n".join(lines))
    assert done.returncode == 0, done.stderr
    written, ignored = done.stderr.splitlines()
    assert written.endswith("what is written to /mine stays in the lab; add :ro to say so")
    why = "nothing is published: the client reaches the service's own host"
    assert ignored.endswith(f"compose.yaml: ignored: ports.published (web): {why}")
    table, _, rest = done.stdout.partition("try: ")
    assert [line.split()[:2] for line in table.splitlines()[1:]] == [
        ["client", "10.0.0.1"], ["prepared", "172.18.0.2"], ["a-rather-long-name", "172.18.0.3"], ["web", "172.18.0.4"],
    ]  # fmt: skip
    assert rest.startswith("client wget -qO- http://web:8000/; ")
    assert "for nobody" in rest
    seen = [line.split() for line in rest.splitlines()]
    assert ["172.18.0.4", "web", "www"] in seen  # on the client and on itself; the other one is not in the network front
    assert ["172.18.0.4", "web"] in seen
    assert ["172.18.0.4", "shop-host"] in seen
    assert ["10.0.0.99", "mail"] in seen
    assert "time=14." in rest  # what the client's and the service's links state
    assert [each.name for each in (project / "mine").iterdir()] == ["file"]  # written to in the lab only


SEEN = """
import json, os, socket
def text(path): return open(path).read().split()
sees = {name: text(f"/sys/class/net/{name}/address")[0] for _, name in socket.if_nameindex() if name != "sit0"}
mtus = {name: int(text(f"/sys/class/net/{name}/mtu")[0]) for name in sees}
off = {name: text(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6")[0] for name in sees}
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).fileno() > 0
first = open("/etc/hosts").read().splitlines()[:2]
settings = text("/proc/sys/net/ipv4/ip_unprivileged_port_start") + text("/proc/sys/net/ipv4/ping_group_range")
print(json.dumps([sees, mtus, off, raw, first, settings, socket.gethostname()]))
"""


def test_what_a_container_sees_of_its_network(images, tmp_path):
    (tmp_path / "compose.yaml").write_text(
        f"services:\n  web: {{image: {WEB}, command: [python3, -m, http.server, '8000'], expose: [8000],"
        ' volumes: ["./seen.py:/seen.py:ro"]}\n'
    )
    (tmp_path / "seen.py").write_text(SEEN)
    capture = "host web sh -c 'timeout 3 tcpdump -n -i eth0 -c 2 icmp 2>/dev/null & sleep 1; ping -c 1 client; wait'"
    lines = ["web python3 /seen.py", "set web switch rtt=20ms", capture, "host web tc qdisc show dev eth0"]
    done = run("shell", "compose", "--tdf", "inf", cwd=tmp_path, stdin="\n".join(lines))
    assert done.returncode == 0, done.stderr
    seen = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("[{")))
    assert seen == [
        {"lo": "00:00:00:00:00:00", "eth0": "02:42:0a:00:00:02"}, {"lo": 65536, "eth0": 1500}, {"lo": "0", "eth0": "1"}, True,
        ["127.0.0.1\tlocalhost", "::1\tlocalhost ip6-localhost ip6-loopback"], ["0", "0", "2147483647"], "web",
    ]  # fmt: skip
    assert "IP 10.0.0.2 > 10.0.0.1: ICMP echo request" in done.stdout
    assert "IP 10.0.0.1 > 10.0.0.2: ICMP echo reply" in done.stdout
    assert "time=20.0" in done.stdout
    assert "qdisc netem 51: root refcnt" in done.stdout


IN_TWO = f"""
name: two
services:
  web:
    image: {WEB}
    command: [python3, -m, http.server, "8000", --directory, /etc]
    expose: [8000]
    volumes: ["./seen.py:/seen.py:ro"]
    networks: {{front: , back: {{mac_address: "02:00:00:00:00:0b"}}, third: {{interface_name: lan7, gw_priority: 1}}}}
  db:
    image: {WEB}
    command: [python3, -m, http.server, "9000", --directory, /etc]
    expose: [9000]
    networks: [front]
    x-slownet: {{rtt: 6ms}}
networks: {{front: , back: , third: {{ipam: {{config: [{{subnet: 10.7.0.0/24}}]}}}}}}
"""


def test_a_container_in_several_networks(images, tmp_path):
    (tmp_path / "compose.yaml").write_text(IN_TWO)
    (tmp_path / "seen.py").write_text(SEEN)
    capture = "host web sh -c 'timeout 3 tcpdump -n -i eth1 -c 2 icmp 2>/dev/null & sleep 1; ping -c 1 -I 172.18.0.2 db; wait'"
    lines = [
        "web python3 /seen.py", "host web ip -br address", capture, "set web switch rtt=20ms",
        "host web tc qdisc show dev lan7", "client ping -c 2 172.18.0.2",
    ]  # fmt: skip
    done = run("shell", "compose", "--tdf", "inf", cwd=tmp_path, stdin="\n".join(lines))
    assert done.returncode == 0, done.stderr
    *_, rest = done.stdout.partition("try: ")
    seen = json.loads(next(line for line in rest.splitlines() if line.startswith("[{")))
    assert seen == [
        {"lo": "00:00:00:00:00:00", "lan7": "02:42:0a:07:00:02", "eth0": "02:00:00:00:00:0b", "eth1": "02:42:ac:12:00:02"},
        {"lo": 65536, "lan7": 1500, "eth0": 1500, "eth1": 1500}, {"lo": "0", "lan7": "1", "eth0": "1", "eth1": "1"}, True,
        ["127.0.0.1\tlocalhost", "::1\tlocalhost ip6-localhost ip6-loopback"], ["0", "0", "2147483647"], "web",
    ]  # fmt: skip
    shown = [line.split() for line in rest.splitlines()]
    addresses = {
        line[0].partition("@")[0]: line[2:] for line in shown if line[1:2] in (["UP"], ["UNKNOWN"]) and line[0] != "lo"
    }
    assert addresses == {"lan7": ["10.7.0.2/24"], "eth0": ["172.19.0.2/16"], "eth1": ["172.18.0.2/16"]}
    assert rest.count("IP 172.18.0.2 > 172.18.0.3: ICMP echo request") == 1  # to a network's host, over its own interface
    assert rest.count("IP 172.18.0.3 > 172.18.0.2: ICMP echo reply") == 1
    assert "qdisc netem 51: root refcnt" in rest  # tc reads an interface by the name that it has in a container
    assert "time=20.0" in rest  # the condition of the cable holds for each interface


STATED = f"""
services:
  web:
    image: {WEB}
    command: "python3 -m http.server 8000 --bind :: --directory /etc"
    expose: [8000]
    networks: {{lan: {{ipv4_address: 172.28.0.10, ipv6_address: "fd28::10"}}}}
    user: "100:101"
    secrets: [{{source: word, uid: "100", gid: "101", mode: 0440}}]
    volumes: [{{type: tmpfs, target: /cache, tmpfs: {{size: 65536, mode: 01770}}}}, "files:/files:ro", "kept:/kept"]
    ulimits: {{nofile: {{soft: 77, hard: 99}}}}
    post_start: [{{command: "sh -c 'id -u > /kept/hook'", user: "0"}}]
  asker:
    image: {WEB}
    command: [python3, -c, "import urllib.request as r; r.urlopen('http://172.28.0.10:8000/hostname')"]
    depends_on: [web]
    networks: {{lan: {{ipv4_address: 172.28.0.11}}}}
  pair:
    image: {WEB}
    command: sleep 100000
    scale: 2
    networks: [lan]
    volumes_from: ["web:ro"]
    cap_add: [NET_ADMIN]
    cap_drop: [KILL]
    group_add: [777]
    sysctls: [net.core.somaxconn=777, kernel.msgmax=9000]
    extra_hosts: [machine:host-gateway]
networks:
  lan:
    enable_ipv6: true
    driver_opts: {{com.docker.network.driver.mtu: 1400}}
    ipam: {{config: [{{subnet: 172.28.0.0/16}}, {{subnet: "fd28::/64"}}]}}
secrets: {{word: {{environment: WORD}}}}
volumes: {{kept: , files: {{driver_opts: {{type: none, o: bind, device: ./files}}}}}}
"""


def test_what_networks_volumes_and_secrets_state_is_done(images, tmp_path, monkeypatch):
    monkeypatch.setenv("WORD", "secret")
    (tmp_path / "compose.yaml").write_text(STATED)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "f.txt").write_text("of the host")
    lines = [
        "client wget -qO- http://172.28.0.10:8000/hostname", "client wget -qO- http://[fd28::10]:8000/hostname",
        "client ping -c 1 -M do -s 1372 web", "client ping -c 1 -M do -s 1373 web", "pair-1 getent hosts web",
        "web cat /run/secrets/word /files/f.txt /kept/hook", "web stat -c '%u %g %a' /run/secrets/word", "web ls -ld /cache",
        "pair-1 cat /proc/sys/net/core/somaxconn /proc/sys/kernel/msgmax", "pair-1 grep CapEff /proc/self/status",
        "pair-1 id -G", "pair-1 getent hosts machine", "pair-1 cat /files/f.txt /kept/hook", "pair-1 touch /kept/x",
        "web sh -c 'ulimit -n'", "pair-2 getent ahostsv4 pair", "web id -u",
    ]  # fmt: skip
    done = run("shell", "compose", "--tdf", "inf", cwd=tmp_path, stdin="\n".join(lines))
    assert (done.returncode, done.stderr) == (0, "touch: cannot touch '/kept/x': Read-only file system\n")
    rest = done.stdout.partition("try: ")[2]
    assert rest.partition("\n")[2].startswith("web\nweb\n")  # its hostname over both versions of IP
    assert ("1372(1400)" in rest, "1 received" in rest, "0 received" in rest) == (True, True, True)
    assert ["fd28::10", "web"] in [line.split() for line in rest.splitlines()]
    assert "secretof the host0\n100 101 440\ndrwxrwx--T" in rest
    assert "777\n9000\nCapEff:\t00000000a00435db\n0 777\n10.0.0.1 " in rest
    assert "machine\nof the host0\n77\n" in rest
    assert {"172.28.0.2", "172.28.0.3"} <= {line.split()[0] for line in rest.splitlines() if "STREAM" in line}


SHARED = f"""
services:
  web: {{image: {WEB}, command: "python3 -m http.server 8000 --directory /etc", expose: [8000], extra_hosts: [up:host-gateway]}}
  side: {{image: {WEB}, command: sleep 100000, network_mode: "service:web"}}
  machine: {{image: {WEB}, command: "python3 -m http.server 9000 --directory /etc", expose: [9000], network_mode: host}}
"""


def test_services_on_the_network_of_another_host(images, tmp_path):
    (tmp_path / "compose.yaml").write_text(SHARED)
    ask = "python3 -c 'import urllib.request as r, sys; print(r.urlopen(sys.argv[1]).read().decode().split())'"
    pages = {"side": "http://localhost:8000/hostname", "web": "http://up:9000/hostname", "client": "http://web:8000/hostname"}
    lines = [f"{host} {ask} {page}" for host, page in pages.items()]
    done = run("shell", "compose", "--tdf", "inf", cwd=tmp_path, stdin="\n".join(lines))
    assert (done.returncode, len(done.stderr.splitlines())) == (0, 1), done.stderr
    table, _, rest = done.stdout.partition("try: ")
    assert [line.split()[:2] for line in table.splitlines()[1:]] == [
        ["client", "10.0.0.1"], ["web", "10.0.0.2"], ["machine", "10.0.0.1"], ["side", "10.0.0.2"],
    ]  # fmt: skip
    assert rest.splitlines()[1:] == ["['web']", "['client']", "['web']"]


def test_one_command_in_a_container(images, tmp_path):
    (tmp_path / "compose.yaml").write_text(f"services: {{web: {{image: '{WEB}', command: sleep 100000, working_dir: /etc}}}}\n")
    done = run("shell", "compose", "exec", "--tdf", "inf", "web", "sh", "-c", "cat; pwd; exit 7", cwd=tmp_path, stdin="read")
    assert (done.returncode, done.stdout, done.stderr) == (7, "read/etc\n", "")
    unknown = run("shell", "compose", "exec", "wbe", "ls", cwd=tmp_path)
    assert (unknown.returncode, unknown.stderr.partition(": did")[2]) == (2, " you mean 'web'?\n")


def test_a_check_needs_no_image(tmp_path):
    (tmp_path / "compose.yaml").write_text(
        "services:\n  a: {image: none:1, restart: always}\n  b: {image: none:2, pid: host}\n"
    )
    done = run("shell", "compose", "--check", cwd=tmp_path)
    assert done.returncode == 2
    kinds = [line.split()[0] for line in done.stdout.splitlines()]
    assert kinds == ["refused", "image", "image", "ignored", "1"]
    why = f"restart of a, {tmp_path}/compose.yaml:2:22: a service that ends fails the run"
    assert done.stdout.endswith(f"\nignored  {why}\n1 refused, 2 images missing\n")


def test_a_project_is_measured_without_any_python(images, tmp_path):
    words = ["--vary", "db:rtt=0ms,10ms,40ms", "--vary", "cache:rtt=0ms,5ms", "--tool", "ab"]
    words += [
        "--option",
        "url=http://web:8000/checkout",
        "--option",
        "requests=10",
        "--tdf",
        "inf",
        "--repeat",
        "1",
        "--out",
        "json=-",
    ]
    done = run("run", str(SHOP / "compose.yaml"), *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["runs"]
    times = {
        (cell["condition"]["db:rtt_ms"], cell["condition"]["cache:rtt_ms"]): cell["metrics"]["time_per_request_ms"]["mean"]
        for cell in found["cells"]
    }
    assert len(times) == 6
    for (db, cache), time in times.items():  # five questions to the database, one to the cache
        assert time == pytest.approx(5 * db + cache, abs=0.5)
    facts = json.loads(Path(found["directory"], "run.json").read_text())["compose"]
    assert (facts["project"], facts["files"]) == ("shop", [str(SHOP / "compose.yaml")])
    assert sorted(facts["images"]) == ["cache", "db", "prepared", "web"]
    assert facts["images"]["db"] == facts["images"]["prepared"]
    assert facts["images"]["db"].startswith("sha256:")
    assert not Path(found["directory"], "compose").exists()
    logs = sorted(path.name for path in Path(found["directory"]).glob("services*/*.log"))
    assert logs == ["cache.log", "db.log", "prepared.log", "web.log"]


@pytest.mark.parametrize(
    ("words", "metric", "values"),
    [
        (["--tool", "ping -c 3 -i 0.1 web", "--value", "time=([0-9.]+) ms"], "time_ms", (4, 14)),
        (["--tool", "cat /etc/shop.conf | wc -c", "--value", "^([0-9]+)", "--option", "from=web"], "value", (10, 10)),
        (["--tool", "curl", "--option", "url=http://web:8000/shop.conf", "--option", "requests=2"], "time_ms", (8, 28)),
        (
            ["--tool=wrk", "--option=url=http://web:8000/shop.conf", "--option=seconds=3"],
            "uncorrected_p50_s",
            (0.004, 0.014),
        ),
    ],
)
def test_a_command_of_ones_own_and_every_tool(words, metric, values, project):
    given = ["compose.yaml", "--vary", "web:rtt=0ms,10ms", "--repeat", "1", "--tdf", "inf", "--out", "json=-"]
    done = run("run", *given, *words, cwd=project)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["runs"]
    means = [each["metrics"][metric]["mean"] for each in found["cells"]]
    assert means == pytest.approx(values, rel=0.05)


def test_a_number_whose_unit_changes_with_the_delay(project):
    """wrk prints 14.01ms and 1.20s: both were called ms."""
    command = "wrk -t1 -c1 -d8 http://web:8000/shop.conf"
    given = ["compose.yaml", "--vary", "web:rtt=10ms,1200ms", "--repeat", "1", "--tdf", "inf", "--out=json=-"]
    done = run("run", *given, "--tool", command, "--value", "Latency +(?P<latency_ms>[0-9.]+)", cwd=project)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["runs"]
    means = [each["metrics"]["latency_ms"]["mean"] for each in found["cells"]]
    assert means == pytest.approx([4 + 10, 4 + 1200], rel=0.01)  # beside the 4 ms of the file


def test_where_the_time_of_a_command_beside_the_services_went(project):
    """4 ms to each service and to the client; the link to one has another condition."""
    words = "why --compose compose.yaml --link web-switch=rtt=40ms --json -- curl -s http://www:8000/"
    done = run(*words.split(), cwd=project)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    trips = [each for each in found["steps"] if each["trip"]]
    assert {frozenset((each["from"], each["to"])) for each in trips} == {frozenset(("client", "web"))}
    assert found["elapsed_ms"] == pytest.approx(len(trips) / 2 * (40 + 4), abs=0.5)
    assert (Path(found["run"]) / "report.html").is_file()
    assert not (Path(found["run"]) / "compose").exists()
    none = run("why", "--compose", "compose.yaml", "--from", "web", "--", "curl", "http://web:8000/", cwd=project)
    assert none.returncode == 2
    line = "curl is not in the container of web, --from: without --from web the client runs the lab's own"
    assert none.stderr == f"slownet: {line}\n"


def test_a_command_that_prints_no_such_number(project):
    words = ["--tool", "sh -c 'echo tps: 5'", "--value", "tps = ([0-9.]+)", "--tdf", "inf", "--repeat", "1"]
    done = run("run", "compose.yaml", *words, cwd=project)
    line = "nothing in the output matches the pattern 'tps = ([0-9.]+)'; its last line: 'tps: 5', host 'client': command: sh -c"
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"slownet: tiny: {line}")


EXPERIMENT = """
from slownet import Compose, ab, experiment, law


@experiment(topology=Compose("compose.yaml"), vary={"rtt": ["4ms", "44ms"]}, tdf="inf")
def page(net, rtt):
    "How many round trips does a page take?"
    with net.link("client", "switch").set(rtt=rtt):
        return ab(net["client"], "http://web:8000/shop.conf", requests=20)


page.claims(law("time_per_request_ms", round_trips=2, within=0.05))
"""
TEST = """
import pytest
from slownet import ab


def test_a_page(compose, net, measure):
    assert compose["web"].url == "http://172.18.0.4:8000/"
    near = measure(ab, net["client"], "http://www:8000/shop.conf", requests=5)
    with net.link("client", "switch").set(rtt="14ms"):
        far = measure(ab, net["client"], "http://www:8000/shop.conf", requests=5)
    assert far.time_per_request_ms - near.time_per_request_ms == pytest.approx(20, rel=0.05)


def test_again(compose, net):
    assert str(net.link("client", "switch").condition) == "+4 ms RTT"
    assert compose["web"].execute(["cat", "/etc/shop.conf"]).communicate()[0] == b"for nobody"


@pytest.mark.compose("wrong.yaml")
def test_wrong(compose):
    pass


@pytest.mark.topology("star")
def test_elsewhere(compose):
    pass


def test_nothing():
    pass
"""


def test_a_project_is_the_topology_of_an_experiment(project):
    (project / "mine.py").write_text(EXPERIMENT)
    done = run("run", "mine.py", "--out", "json=-", cwd=project)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["runs"]
    assert [each["verdict"] for each in found["claims"]] == ["supported"]


def test_a_project_in_pytest(project):
    (project / "test_it.py").write_text(TEST)
    text = (project / "compose.yaml").read_text()
    (project / "compose.yaml").write_text(text.replace('    user: "33"\n', '    user: "33"\n    mem_limit: 64m\n'))
    (project / "wrong.yaml").write_text("services:\n  web: {image: x, prots: [80]}\n")
    words = [sys.executable, "-m", "pytest", *LIGHT, "-q", "-p", "no:cacheprovider", "--slownet-tdf", "inf", "-rE"]
    done = ran(words, text=True, cwd=project)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "3 passed, 2 errors" in done.stdout
    where = f"{project}/wrong.yaml:2:19"
    assert f"slownet: unknown field 'prots' in services.web, {where}: did you mean 'ports'?" in done.stdout
    assert "the fixture compose needs its project's network: leave out the marker topology" in done.stdout
    assert "mem_limit (web): a lab has no cgroup controllers" in done.stderr


def test_workers_have_labs_with_the_project(project):
    (project / "test_it.py").write_text("def test_a(compose):\n    assert compose['web'].running\n")
    words = [sys.executable, "-m", "pytest", *LIGHT, "-q", "-p", "no:cacheprovider", "--slownet-tdf", "inf", "-n", "1"]
    done = ran(words, text=True, cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


BAD = {
    "image": ("image: none:1", "there is no image 'none:1', which web runs, ", "slownet lab image add none:1"),
    "build": ("build: ./web", "there is no image 'bad-web', which web is built as, ", "/web && slownet lab image add "),
    "field": (f"image: {WEB}\n    privileged: true", "privileged of web is not possible in a lab, ", "capabilities"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_one_line_before_a_lab_boots(case, images, tmp_path):
    text, what, fix = BAD[case]
    (tmp_path / "compose.yaml").write_text(f"name: bad\nservices:\n  web:\n    {text}\n")
    for words in (["shell", "compose"], ["run", "compose.yaml", "--tool", "ab", "--option", "url=http://web/"]):
        done = run(*words, cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert done.stderr.startswith(f"slownet: {what}")
        assert fix in done.stderr
    assert not (tmp_path / "runs").exists()


ENDS = {
    "exits": (
        'command: [python3, -c, "print(5); exit(3)"]', "web ended with status 3 before it answered, host 'web'", "    5\n",
    ),
    "unhealthy": (
        "command: sleep 1000\n    healthcheck: {test: 'echo sick; exit 1', interval: 10s, retries: 3}",
        "web is unhealthy: 3 health checks in 30 s have failed, the last ended with status 1, host 'web'", "    sick\n",
    ),
    "never listens": ("command: sleep 1000\n    expose: [8000]", "web does not answer on port 8000, after 60 s", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", ENDS)
def test_a_service_that_does_not_come_up(case, images, tmp_path):
    text, what, log = ENDS[case]
    (tmp_path / "compose.yaml").write_text(f"services:\n  web:\n    image: {WEB}\n    {text}\n")
    done = run("shell", "compose", "--tdf", "inf", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"slownet: {what}")
    assert log in done.stderr
    assert "Traceback" not in done.stderr


def test_others_wait_for_a_success_that_does_not_come(images, tmp_path):
    text = f"services:\n  web: {{image: '{WEB}', depends_on: {{first: {{condition: service_completed_successfully}}}}}}\n"
    (tmp_path / "compose.yaml").write_text(text + f"  first: {{image: '{WEB}', command: [python3, -c, 'exit(4)']}}\n")
    done = run("shell", "compose", "--tdf", "inf", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("slownet: first ended with status 4, and others wait for its success, host 'first'")


def test_the_table_of_fields(tmp_path):
    done = run("shell", "compose", "--fields", cwd=tmp_path)
    assert done.returncode == 0
    assert "| `privileged` | refused | " in done.stdout
    assert "| `healthcheck` | done | " in done.stdout
    assert "| `restart` | ignored | " in done.stdout


def test_no_file(tmp_path):
    done = run("shell", "compose", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"slownet: no compose file in {tmp_path}: name one, such as compose.yaml\n")


@pytest.mark.parametrize(
    ("word", "instead"), [("up", "slownet shell compose, which brings"), ("config", "slownet shell compose --check")]
)
def test_a_command_of_docker_compose_is_named_as_it_is_here(word, instead, tmp_path):
    (tmp_path / "compose.yaml").write_text("services: {a: {image: none:1}}\n")
    done = run("shell", "compose", word, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"slownet: there is no 'slownet shell compose {word}': write {instead}")
    (tmp_path / word).write_text("services: {a: {image: none:1, pid: host}}\n")
    assert "pid of a" in run("shell", "compose", word, cwd=tmp_path).stderr


def test_a_run_is_continued_with_the_project_as_it_was(project):
    words = ["run", "compose.yaml", "--tool", "ping", "--option", "to=web", "--option", "count=2", "--tdf", "inf"]
    done = run(*words, "--vary", "web:rtt=0ms,8ms", "--repeat", "1", "--out", "json=-", cwd=project)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["runs"]
    directory = Path(found["directory"])
    assert not (directory / "compose").exists()
    samples = (directory / "samples.jsonl").read_text().splitlines(keepends=True)
    (directory / "samples.jsonl").write_text(samples[0])
    text = (project / "compose.yaml").read_text()
    (project / "compose.yaml").write_text(f"{text}# another comment\n")
    again = run("run", "--resume", str(directory), "--out", "json=-", cwd=project)
    assert again.returncode == 0, again.stderr
    (resumed,) = json.loads(again.stdout)["runs"]
    for run_of in (found, resumed):  # over the client's 4 ms, too
        assert [each["metrics"]["rtt_ms"]["mean"] for each in run_of["cells"]] == pytest.approx([4, 12], abs=0.1)


FAULTS = f"""
name: broken
x-slownet: {{faults: {{1500ms: kill db, 3500ms: start db}}}}
services:
  db: {{image: {WEB}, command: "python3 -m http.server 8000 --directory /etc", expose: [8000]}}
"""
CLOCK = "for i in 1 2 3 4 5 6 7 8; do wget -qO- -T 1 -t 1 http://db:8000/hostname 2>/dev/null || echo down; sleep 1; done"
HUNTED = """
from slownet import Compose, Recorder, experiment, faults, recovers_within

PROJECT = Compose("compose.yaml")


@experiment(topology=PROJECT, vary={"faults": ["none"]}, tdf="inf")
def served(net, faults):
    with PROJECT.running.faults(faults) as broken:
        recorder = Recorder(broken)
        recorder.client(net["client"], asks, net["db"].IP())
        recorder.wait()
    return recorder


def asks(client, address):
    import http.client

    def ask():
        connection = http.client.HTTPConnection(address, 8000, timeout=1)
        connection.request("GET", "/hostname")
        return connection.getresponse().read().decode().strip()

    for _ in client.every("500ms", "8s"):
        client.do("get", None, ask, unknown=(http.client.HTTPException,))


served.hunt(faults(["db", "client"], ["kill", "cut"], within="5s"), recovers_within("100ms"))
"""


def test_what_a_file_states_breaks_at_its_time_at_the_prompt_in_runs_and_not_in_checks(images, tmp_path):
    (tmp_path / "compose.yaml").write_text(FAULTS)
    done = run("shell", "compose", "--tdf", "inf", cwd=tmp_path, stdin=f"client {CLOCK}\n")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == ["slownet: kill db at 1.5 s", "slownet: start db at 3.5 s"]
    assert "from now on: kill db at 1.5 s; start db at 3.5 s\n" in done.stdout
    answers = done.stdout.splitlines()[-8:]
    assert answers == ["db"] * 2 + ["down"] * 2 + ["db"] * 4

    within = run("shell", "compose", "exec", "--tdf", "inf", "db", "sleep", "30", cwd=tmp_path)
    assert within.returncode != 0  # killed with its container
    assert "kill db at 1.5 s" in within.stderr

    words = ["compose.yaml", "--tool", f"sh -c '{CLOCK} | grep -c down'"]
    words += ["--value", "([0-9]+)", "--tdf", "inf", "--repeat", "1", "--out", "json=-"]
    twice = ["--vary", "db:rtt=0ms,10ms"]
    for given, down in ((twice, [2, 2]), (["--vary", "faults=kill db at 6500 ms"], [1]), (["--vary", "faults=none"], None)):
        measured = run("run", *words, *given, cwd=tmp_path)
        if down is None:  # grep finds nothing, and says so by its status
            assert "status 1" in measured.stderr
            continue
        assert measured.returncode == 0, measured.stderr
        (found,) = json.loads(measured.stdout)["runs"]
        assert [each["metrics"]["value"]["mean"] for each in found["cells"]] == down  # each finds db as the first did
    listed = run("shell", "compose", "--check", cwd=tmp_path)
    assert f"fault  kill db at 1.5 s, {tmp_path}/compose.yaml:3:22\n" in listed.stdout


def test_a_schedule_is_replayed_on_a_project(images, tmp_path):
    (tmp_path / "compose.yaml").write_text(FAULTS)
    (tmp_path / "served.py").write_text(HUNTED)
    (tmp_path / "cut.toml").write_text('[faults]\n"1s" = "cut db from client"\n"2s" = "heal"\n')
    done = run("hunt", "replay", "cut.toml", "served.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "cut db from client at 1 s; heal at 2 s" in done.stdout
    assert "clients are served within 100 ms after the faults" in done.stdout
