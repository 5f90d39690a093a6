"""Containers as servers: what they run and see, when they are ready, how they end, and that nothing of them is left."""

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import images
import pytest
from mininet.node import CPULimitedHost

from slownet import Command, Container, Mount, NameServer, Network, ServiceError, SlownetError, healthy, http
from slownet.containers import store
from slownet.lab.build import cache
from slownet.lab.host import owner
from slownet.lab.run import container_shares
from slownet.net import sleeping_calls
from slownet.net.process import wait_until
from slownet.topologies import ClientWebDb, Star

USERS = "root:x:0:0:root:/root:/bin/sh\nme:x:33:34:Me:/home/me:/bin/sh\n"
GROUPS = "root:x:0:\nmine:x:34:\nothers:x:50:me,root\n"
PYTHON = {
    **{f"/{name}": images.link(f"usr/{name}") for name in ("bin", "lib", "lib64")},
    "/usr": images.folder(),
    "/etc/passwd": images.file(USERS),
    "/etc/group": images.file(GROUPS),
    "/etc/resolv.conf": images.link("../run/resolved/stub.conf"),
    "/marker": images.file("of the image\n"),
    "/data": images.folder(0o750, 33, 34),
    "/data/seed": images.file("seeded\n", 0o640, 33, 34),
    "/data/deep/link": images.link("../seed"),
    "/tmp": images.folder(0o1777),
}
USR = Mount("/usr", "/usr", read_only=True)


@pytest.fixture(scope="module", autouse=True)
def kept(tmp_path_factory):
    """A store with images of a static program and of the lab's Python."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("images")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setattr(container_shares, "root", lambda: cache.root() / container_shares.KIND)
        program = images.file(images.compiled(images.PROGRAM, folder / "program"), 0o755)
        static = {"/server": program, "/text": images.file("no program"), "/broken": images.file("no program", 0o755)}
        users = {"/etc/passwd": images.file(USERS), "/etc/group": images.file(GROUPS)}
        images.keep("server:1", static, Entrypoint=["/server"], Cmd=["serve", "80"])
        images.keep(
            "whole:1", static | users, Entrypoint=["/server"], Cmd=["serve", "80"], User="me", WorkingDir="/work/here",
            StopSignal="SIGQUIT", Env=["HOME=/elsewhere"],
        )  # fmt: skip
        images.keep("bare:1", static)
        images.keep("python:1", PYTHON, Cmd=["python3", "-c", "import time; time.sleep(1e6)"], Volumes={"/data": {}})
        yield


@pytest.fixture(autouse=True)
def nothing_left():
    """Whatever a test does, no process, mount, loop device or file of a container is left."""
    before = left()
    yield
    deadline = time.monotonic() + 5
    while (found := left()) != before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found == before


def left():
    commands = subprocess.run(["ps", "-eo", "args="], capture_output=True, text=True, check=True).stdout.splitlines()
    own = sorted(path.name for path in owner.directory().iterdir() if not path.name.startswith(("names-", "tc", "logs")))
    return {
        "processes": sorted(each for each in commands if "crun" in each or each.startswith(("/server", "python3 -c"))),
        "mounts": Path("/proc/self/mounts").read_text(),
        "devices": [path.read_text() for path in sorted(Path("/sys/block").glob("loop*/loop/backing_file"))],
        "files": own,
    }


def run(host, script, directory, image="python:1", **options):
    """Return what a Python program prints in a container."""
    words = ["python3", "-c", f"{script}\nprint('end', flush=True); import time; time.sleep(1e6)"]
    mounts = [USR, *options.pop("mounts", ())]
    logs = tempfile.mkdtemp(dir=directory)
    with Container(host, image, command=words, mounts=mounts, directory=logs, ready="end\n", **options) as running:
        return running.log.read_text().removesuffix("end\n")


# ---- what it runs ----


def test_the_image_says_what_runs(net, tmp_path):
    with Container(net["web"], "whole:1", port=80, directory=tmp_path) as server:
        assert server.running
        assert server.url == "http://10.0.0.2:80/"
        assert net["client"].cmd("wget -qO- http://web/").strip() == "hello"
    assert not server.running
    assert server.log == tmp_path / "whole-web.log"
    assert server.log.read_text() == "pid 1 uid 33 gid 34 on web in /work/here, home /elsewhere\ngot signal 3\n"


def test_what_replaces_it(net, tmp_path):
    with Container(
        net["web"], "whole:1", command=["wait"], env={"HOME": "/its"}, user="50:others", cwd="/new/one", hostname="shop",
        directory=tmp_path, name="own", ready="home",
    ) as server:  # fmt: skip
        pass
    assert server.log == tmp_path / "own-web.log"
    assert server.log.read_text() == "pid 1 uid 50 gid 50 on shop in /new/one, home /its\n"


def test_a_replaced_entrypoint_drops_the_command(net, tmp_path):
    with Container(net["web"], "whole:1", entrypoint="/server wait", stop_signal="int", directory=tmp_path, ready="uid 33"):
        pass


def test_another_stop_signal(net, tmp_path):
    with Container(net["web"], "whole:1", port=80, stop_signal="int", directory=tmp_path) as server:
        pass
    assert server.log.read_text().endswith("got signal 2\n")


@pytest.mark.parametrize("ready", [http("/"), "home /", lambda server: server.connect(80).close() is None, None])
def test_it_is_ready_as_a_command_is(net, tmp_path, ready):
    with Container(net["web"], "server:1", port=80, ready=ready, directory=tmp_path) as server:
        assert server.running


def test_a_program_that_does_not_heed_the_signal_is_not_waited_for(net, tmp_path):
    with Container(net["web"], "server:1", command="wait", directory=tmp_path, ready="pid 1", stop_s=1000):
        begun = time.monotonic()
    assert time.monotonic() - begun < 100


def test_a_program_that_goes_on_is_killed(net, tmp_path):
    script = "import signal, time; signal.signal(15, lambda *all: print('heard', flush=True)); print('up', flush=True)"
    words = ["python3", "-c", f"{script}\nwhile True: time.sleep(1)"]
    with Container(net["web"], "python:1", command=words, mounts=[USR], ready="up", stop_s=3, directory=tmp_path) as server:
        begun = time.monotonic()
    assert 3 <= time.monotonic() - begun < 6
    assert server.log.read_text() == "up\nheard\n"


def test_it_ends_before_it_has_begun(net, tmp_path):
    begun = time.monotonic()
    for _ in range(5):
        server = Container(net["web"], "server:1", port=80, directory=tmp_path, stop_s=1000)
        server.launch()
        server.stop()
        assert not server.running
    assert time.monotonic() - begun < 100


def test_a_digest_is_a_name_too(net, tmp_path):
    digest = store.need("server:1").digest
    with Container(net["web"], digest, port=80, directory=tmp_path) as server:
        assert server.log.name == f"{digest.removeprefix('sha256:')}-web.log"


def test_it_ends_although_its_runtime_was_killed(net, tmp_path):
    with Container(net["web"], "server:1", port=80, directory=tmp_path) as server:
        server._process.kill()
        server._process.wait()
        assert not server.running


def test_it_has_its_host_s_share_of_the_processor(tmp_path):
    class Limited(ClientWebDb):
        def addHost(self, name, **params):  # noqa: N802
            return super().addHost(name, **({"cls": CPULimitedHost, "cpu": 0.5} if name == "web" else {}), **params)

    with Network(Limited) as net, Container(net["web"], "server:1", port=80, directory=tmp_path) as server:
        pid = (server.state / "pid").read_text()
        assert Path(f"/proc/{pid}/cgroup").read_text().strip().endswith(".web")
        with server.execute("/server") as process:
            assert b"pid 2" in process.communicate(timeout=60)[0]


def test_it_starts_again(net, tmp_path):
    server = Container(net["web"], "server:1", port=80, ready="pid 1", directory=tmp_path)
    for _ in range(2):
        with server:
            assert server.running
    assert server.log.read_text().count("pid 1") == 2


def test_ten_at_once(tmp_path):
    with Network(Star(n=10)) as net, ExitStack() as stack:
        hosts = net.hosts[:10]
        servers = [Container(host, "server:1", port=80, directory=tmp_path) for host in hosts]
        for each in servers:
            stack.callback(each.stop)
            each.launch()
        for each in servers:
            each.wait()
        for host in hosts[1:]:
            assert hosts[0].cmd(f"wget -qO- http://{host.name}/").strip() == "hello"
        devices = list(Path("/sys/block").glob("loop*/loop/backing_file"))
        assert len(devices) == 1  # containers of one image share it


def test_another_program_in_it(net, tmp_path):
    with Container(net["web"], "whole:1", port=80, directory=tmp_path) as server:
        process = server.execute(["/server"])
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b"")
        assert out.decode().startswith("pid 2 uid 33 gid 34 on web in /work/here")
        with server.execute("/server end 5") as process:
            assert process.communicate(timeout=60)[0] == b"last words\n"
        assert process.returncode == 5


def test_its_processes_pause(net, tmp_path):
    with Container(net["web"], "server:1", port=80, directory=tmp_path) as server:
        with server.stalls(after=0, seconds=60):
            time.sleep(0.2)
            pid = int((server.state / "pid").read_text())
            assert " (server) T " in Path(f"/proc/{pid}/stat").read_text()
        net["client"].cmd("wget -qO- http://web/")


# ---- what it sees ----


def test_hosts_find_each_other_by_name(net, tmp_path):
    script = """
import socket
found = [socket.gethostbyname(each) for each in ("web", "db", "client")]
print(socket.gethostname(), open("/etc/hostname").read().strip(), *found)
print(open("/etc/resolv.conf").read().strip())
"""
    answer = run(net["web"], script, tmp_path).splitlines()
    client, web, db = (net[name].IP() for name in ("client", "web", "db"))
    assert answer[0] == f"web web {web} {db} {client}"
    script = "import socket; print(socket.gethostbyname('shop'), socket.gethostbyname('db'))"
    assert run(net["web"], script, tmp_path, hostname="shop").split() == [web, db]


def test_a_name_server_answers_a_container_that_runs(net, tmp_path):
    script = """
import socket, time
def asked():
    return "nameserver 10." in open("/etc/resolv.conf").read()
print(asked(), flush=True)
while not asked(): time.sleep(0.1)
print(asked(), socket.gethostbyname("shop.example"), flush=True)
time.sleep(1e6)
"""
    options = {"command": ["python3", "-c", script], "mounts": [USR], "directory": tmp_path}
    with Container(net["web"], "python:1", ready="False", **options) as running:
        with NameServer(net["db"], tmp_path, aliases={"shop.example": "client"}):
            assert wait_until(lambda: "True" in running.log.read_text(), 60)
        assert running.log.read_text().split() == ["False", "True", net["client"].IP()]


def test_users_and_groups_are_the_image_s(net, tmp_path):
    script = "import os; print(os.getuid(), os.getgid(), sorted(os.getgroups()), os.environ['HOME'])"
    assert run(net["web"], script, tmp_path, user="me") == "33 34 [34, 50] /home/me\n"
    assert run(net["web"], script, tmp_path) == "0 0 [0, 50] /root\n"
    assert run(net["web"], script, tmp_path, user="me:root") == "33 0 [0] /home/me\n"


def test_any_user_can_open_its_standard_output(net, tmp_path):
    assert run(net["web"], "open('/dev/stdout', 'w').write('by name\\n')", tmp_path, user="me") == "by name\n"


def test_a_volume_begins_with_what_the_image_has(net, tmp_path):
    script = """
import os
for path in ("/data", "/data/seed", "/data/deep/link"):
    found = os.lstat(path)
    print(path, oct(found.st_mode), found.st_uid, found.st_gid, open(path).read().strip() if path != "/data" else "")
print(os.path.ismount("/data"))
open("/data/more", "w").write("more")
"""
    first = run(net["web"], script, tmp_path)
    assert first.splitlines() == [
        f"/data {oct(stat.S_IFDIR | 0o750)} 33 34 ", f"/data/seed {oct(stat.S_IFREG | 0o640)} 33 34 seeded",
        f"/data/deep/link {oct(stat.S_IFLNK | 0o777)} 0 0 seeded", "True",
    ]  # fmt: skip
    assert run(net["web"], script, tmp_path) == first
    assert run(net["web"], "import os; print(sorted(os.listdir('/data')))", tmp_path) == "['deep', 'seed']\n"


def test_a_volume_with_a_name_is_shared_and_stays(tmp_path):
    data = Mount("data", "/data", "volume")
    with Network(ClientWebDb) as net:
        run(net["web"], "open('/data/more', 'w').write('kept')", tmp_path, mounts=[data])
        assert run(net["db"], "print(open('/data/more').read())", tmp_path, mounts=[data]) == "kept\n"
        reading = Mount("data", "/data", "volume", read_only=True)
        script = "import os\ntry: open('/data/x', 'w')\nexcept OSError as error: print(error.strerror)"
        assert run(net["db"], script, tmp_path, mounts=[reading]) == "Read-only file system\n"
    with Network(ClientWebDb) as net:
        assert run(net["web"], "import os; print(os.path.exists('/data/more'))", tmp_path, mounts=[data]) == "False\n"


def test_folders_and_files_of_the_lab(net, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "one").write_text("of the lab")
    mounts = [
        Mount(shared, "/srv/shared"), Mount(shared / "one", "/srv/config/one", read_only=True), Mount("", "/scratch", "tmpfs"),
    ]  # fmt: skip
    script = """
import os
print(open("/srv/shared/one").read(), open("/srv/config/one").read(), os.listdir("/scratch"))
open("/srv/shared/two", "w").write("of the container"); open("/scratch/x", "w")
try: open("/srv/config/one", "w")
except OSError as error: print(error.strerror)
"""
    assert run(net["web"], script, tmp_path, mounts=mounts) == "of the lab of the lab []\nRead-only file system\n"
    assert (shared / "two").read_text() == "of the container"
    assert (shared / "one").read_text() == "of the lab"


def test_a_mount_may_be_relative_to_the_working_directory(net, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "one").write_text("of the lab")
    monkeypatch.chdir(tmp_path)
    assert run(net["web"], "print(open('/data/one').read())", tmp_path, mounts=[Mount("data", "/data")]) == "of the lab\n"


def test_a_read_only_container_writes_to_its_mounts_alone(net, tmp_path):
    script = """
for path in ("/etc/new", "/data/new", "/scratch/new"):
    try: open(path, "w"); print(path)
    except OSError as error: print(error.strerror)
"""
    said = run(net["web"], script, tmp_path, read_only=True, mounts=[Mount("", "/scratch", "tmpfs")])
    assert said == "Read-only file system\n/data/new\n/scratch/new\n"
    assert run(net["web"], script, tmp_path, mounts=[Mount("", "/scratch", "tmpfs")]).startswith("/etc/new\n")


ORPHAN = """
import os, signal, time
if os.fork() == 0:
    if os.fork() == 0:
        time.sleep(0.1)
    os._exit(0)
os.wait()
time.sleep(0.3)
states = [open(f"/proc/{each}/stat").read().rpartition(")")[2].split()[0] for each in os.listdir("/proc") if each.isdigit()]
print("first" if os.getpid() == 1 else "second", states.count("Z"), flush=True)
"""


def test_an_init_reaps_what_a_program_leaves(net, tmp_path):
    assert run(net["web"], ORPHAN, tmp_path) == "first 1\n"
    assert run(net["web"], ORPHAN, tmp_path, init=True, read_only=True) == "second 0\n"


def test_an_init_passes_signals(net, tmp_path):
    script = "import signal; signal.signal(15, lambda *_: print('asked to end')); print('up', flush=True); signal.pause()"
    words = ["python3", "-c", script]
    with Container(net["web"], "python:1", command=words, mounts=[USR], directory=tmp_path, ready="up", init=True) as server:
        pass
    assert server.log.read_text() == "up\nasked to end\n"


# ---- health checks ----


def test_a_health_check(net, tmp_path):
    script = "import time; time.sleep(7); open('/healthy', 'w'); time.sleep(1e6)"
    check = healthy(["CMD", "python3", "-c", "open('/healthy')"], interval=2, retries=9)
    begun = time.monotonic()
    with Container(
        net["web"], "python:1", command=["python3", "-c", script], mounts=[USR], ready=check, directory=tmp_path, timeout=1
    ):
        assert 7 < time.monotonic() - begun < 60


@pytest.mark.parametrize(
    ("test", "options", "said"),
    [
        (["CMD", "python3", "-c", "print('why'); exit(3)"], {"interval": 1, "retries": 2}, r"2 health checks in \d+ s have "
         r"failed, the last ended with status 3, host 'web'(.|\n)*why"),
        ("echo why; exit 3", {"interval": 1, "retries": 1}, r"1 health check in \d+ s .* status 3(.|\n)*why"),
        ("sleep 1000", {"interval": 1, "retries": 1, "timeout": 5}, r"1 health check in \d+ s .* the last took too long"),
        ("exit 1", {"interval": 1, "retries": 1, "start_period": 20, "start_interval": 4}, r"1 health check in [2-9]\d s"),
        (["CMD", "/no/such"], {"interval": 1, "retries": 1}, r"failed, the last ended with status(.|\n)*no/such"),
        (None, {}, "the image has no health check"),
    ],
)  # fmt: skip
def test_an_unhealthy_container(net, tmp_path, test, options, said):
    with pytest.raises(ServiceError, match=said):
        Container(net["web"], "python:1", mounts=[USR], ready=healthy(test, **options), directory=tmp_path).start()


# ---- mistakes ----


@pytest.mark.parametrize(
    ("image", "options", "said"),
    [
        ("absent:1", {}, r"there is no image 'absent:1': .*slownet lab image add absent:1"),
        ("bare:1", {}, "the image has no entrypoint and no command, image bare:1"),
        ("bare:1", {"command": "nosuch"}, "there is no program 'nosuch', image bare:1"),
        ("bare:1", {"command": "/text"}, "there is no program '/text', image bare:1"),
        ("bare:1", {"command": "/broken"}, r"bare ended with status 1 before it answered(.|\n)*/broken.*: Exec format error"),
        ("server:1", {"command": "end 3"}, r"server ended with status 3 before it answered, host 'web'(.|\n)*last words"),
        ("server:1", {"command": "end 0", "port": 80}, r"server ended with status 0 before it answered(.|\n)*last words"),
        ("whole:1", {"user": "nobody"}, "the user 'nobody' is not in the image's /etc/passwd, image whole:1"),
        ("whole:1", {"user": "me:no"}, "the group 'no' is not in the image's /etc/group, image whole:1"),
        ("whole:1", {"stop_signal": "SIGTREM"}, "unknown signal 'SIGTREM', image whole:1: did you mean 'SIGTERM'"),
        ("whole:1", {"mounts": [Mount("/no/such", "/a")]}, "/no/such, the mount at /a"),
        ("whole:1", {"mounts": [Mount("", "/a", "tmpfs"), Mount("/usr", "/a/")]}, "two mounts are at /a, image whole:1"),
        ("whole:1", {"port": 81, "timeout": 1}, "whole does not answer on port 81 after 1 s"),
    ],
)
def test_mistakes(net, tmp_path, image, options, said):
    with pytest.raises(SlownetError, match=said) as error:
        Container(net["web"], image, directory=tmp_path, **options).start()
    assert "Traceback" not in str(error.value)
    assert "\n" not in error.value.line


@pytest.mark.skipif("SLOWNET_LAB" not in os.environ, reason="natively there is nothing to share")
def test_a_mount_that_the_lab_does_not_see(net, tmp_path):
    with pytest.raises(SlownetError, match="the lab does not see /no/such, the mount at /a: share it: --share /no/such"):
        Container(net["web"], "server:1", mounts=[Mount("/no/such", "/a")], directory=tmp_path).start()


def test_a_program_in_a_container_that_has_ended(net, tmp_path):
    with Container(net["web"], "server:1", port=80, directory=tmp_path) as server:
        server.kill()
        with pytest.raises(ServiceError, match=r"^server has ended (by|with) .*, host 'web': its log is "):
            server.execute("/server")
    with pytest.raises(ServiceError, match=r"^server is not started, host 'web': call start\(\) first$"):
        server.execute("/server")


def test_a_name_twice(net, tmp_path):
    with Container(net["web"], "server:1", port=80, directory=tmp_path):
        with pytest.raises(ServiceError, match="another container is named server and writes"):
            Container(net["web"], "server:1", command="serve 81", port=81, directory=tmp_path).start()
        with Container(net["web"], "server:1", command="serve 81", port=81, directory=tmp_path, name="second") as second:
            assert second.running
    with Container(net["web"], "server:1", port=80, directory=tmp_path):
        pass


def test_a_port_that_is_taken(net, tmp_path):
    with Command(net["web"], [sys.executable, "-m", "http.server", "80"], tmp_path, port=80):
        for second in (Container(net["web"], "server:1", port=80, directory=tmp_path), Command(net["web"], "sleep 9", port=80)):
            with pytest.raises(ServiceError, match=r"port 80 is taken, so .* cannot have it, host 'web'"):
                second.start()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_while_it_starts(net, tmp_path, error):
    def ready(server):
        raise error

    with pytest.raises(error):
        Container(net["web"], "server:1", port=80, ready=ready, directory=tmp_path).start()


def test_a_killed_run_s_container_is_cleaned_up(tmp_path):
    script = f"""
import sys, time
sys.path[:0] = {sys.path!r}
from slownet import Container, Network
from slownet.lab.build import cache
from slownet.lab.run import container_shares
from slownet.net import sleeping_calls
from slownet.topologies import ClientWebDb
container_shares.root = lambda: cache.root() / container_shares.KIND
with Network(ClientWebDb) as net, Container(net["web"], "server:1", port=80, directory={str(tmp_path)!r}):
    print("up", flush=True)
    time.sleep(1000)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "up\n"
        assert any("/server serve 80" in each for each in left()["processes"])
        process.send_signal(signal.SIGKILL)
    done = subprocess.run([sys.executable, "-m", "slownet.cli", "doctor", "clean"], capture_output=True, text=True, check=True)
    assert "(server)" in done.stdout, done.stdout


# ---- what it cannot do ----

ATTEMPTS = """
import ctypes, json, os, signal, socket
libc = ctypes.CDLL(None, use_errno=True)
found = {}
def attempt(name, call, *words):
    ctypes.set_errno(0)
    result = call(*words)
    found[name] = os.strerror(ctypes.get_errno()) if result < 0 else "done"
def opened(name, path, mode):
    try:
        with open(path, mode) as file:
            found[name] = file.read() if mode == "r" else file.write("1") and "done"
    except OSError as error:
        found[name] = error.strerror
os.makedirs("/tmp/at", exist_ok=True)
for kind in (b"tmpfs", b"hostfs", b"proc", b"overlay"):
    attempt(f"mount {kind.decode()}", libc.mount, b"none", b"/tmp/at", kind, 0, None)
attempt("remount", libc.mount, b"none", b"/usr", None, 0x20 | 0x1000, None)
attempt("umount", libc.umount2, b"/usr", 2)
for name, flag in (("user", 0x10000000), ("mount", 0x20000), ("net", 0x40000000)):
    attempt(f"unshare {name}", libc.unshare, flag)
    attempt(f"clone {name}", libc.syscall, 56, flag | 17, 0, 0, 0, 0)
attempt("clone3", libc.syscall, 435, 0, 0)
attempt("mknod", libc.mknod, b"/tmp/disk", 0o60600, 98 << 8)
attempt("setns", libc.setns, os.open("/proc/self/ns/net", os.O_RDONLY), 0)
attempt("reboot", libc.reboot, 0x1234567)
attempt("ptrace", libc.ptrace, 16, 2, 0, 0)
attempt("swapon", libc.swapon, b"/tmp/x", 0)
attempt("hostname", libc.sethostname, b"other", 5)
attempt("clock", libc.clock_settime, 0, b"\\0" * 16)
opened("sysctl", "/proc/sys/net/ipv4/ip_forward", "w")
opened("sysrq", "/proc/sysrq-trigger", "w")
opened("sys", "/sys/kernel/uevent_seqnum", "w")
opened("usr", "/usr/x", "w")
opened("image", "/marker", "w")
opened("charge", "/proc/skip_idle", "r")
found["processes"] = sorted(int(each) for each in os.listdir("/proc") if each.isdigit())
found["devices"] = sorted(os.listdir("/dev"))
try:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()
    found["raw"] = "done"
except OSError as error:
    found["raw"] = error.strerror
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
found["status"] = {name: status[name].strip() for name in ("NoNewPrivs", "Seccomp", "CapEff", "CapBnd", "CapInh", "CapAmb")}
inner = "/tmp/inner"
os.makedirs(inner, exist_ok=True)
here = os.open("/", os.O_RDONLY)
try:
    os.chroot(inner)
    os.fchdir(here)
    for _ in range(20): os.chdir("..")
    os.chroot(".")
except OSError:
    pass
found["root"] = sorted(os.listdir("/"))
print(json.dumps(found))
"""
REFUSED = "Operation not permitted"


@pytest.mark.parametrize("user", ["root", "me"])
def test_it_cannot_get_out(net, tmp_path, user):
    machine = {path.name for path in Path("/").iterdir()}
    with Command(net["web"], "sleep 1000", tmp_path), Command(net["db"], "sleep 1000", tmp_path):
        found = json.loads(run(net["web"], ATTEMPTS, tmp_path, user=user))
    kinds = ("user", "mount", "net")
    refused = [
        *(f"mount {kind}" for kind in ("tmpfs", "hostfs", "proc", "overlay")), "remount", "umount",
        *(f"unshare {kind}" for kind in kinds), *(f"clone {kind}" for kind in kinds),
        "mknod", "setns", "reboot", "swapon", "hostname", "clock",
    ]  # fmt: skip
    assert {name: found[name] for name in refused} == dict.fromkeys(refused, REFUSED)
    assert found["clone3"] == "Function not implemented"
    assert found["ptrace"] == "No such process"
    assert [found[name] for name in ("sysctl", "usr")] == ["Read-only file system"] * 2
    assert "done" not in (found["sysrq"], found["sys"])
    assert found["image"] == ("done" if user == "root" else "Permission denied")
    assert found["charge"] in ("", "No such file or directory")  # masked, or not in a lab
    assert found["processes"] == [1]
    assert found["devices"] == [
        "core", "fd", "full", "mqueue", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom",
        "zero",
    ]  # fmt: skip
    capabilities = 0xA00425FB & ~(1 << 27)  # Docker's without CAP_MKNOD
    none = "0" * 16
    assert found["status"] == {
        "NoNewPrivs": "1", "Seccomp": "2", "CapInh": none, "CapAmb": none, "CapBnd": f"{capabilities:016x}",
        "CapEff": f"{capabilities:016x}" if user == "root" else none,
    }  # fmt: skip
    assert found["raw"] == ("done" if user == "root" else REFUSED)
    assert "marker" in found["root"]
    assert not {"disk", "work", "home", "boot", "opt"} & set(found["root"])
    assert {path.name for path in Path("/").iterdir()} == machine
    assert Path("/usr/x").exists() is False


def test_a_killed_container_starts_again_with_a_new_root_and_its_volumes(net, tmp_path):
    script = (
        "import os, time; open('/tmp/own', 'a').write('x');"
        "open('/data/kept', 'a').write('x');"
        "print('own', os.path.getsize('/tmp/own'), 'kept', os.path.getsize('/data/kept'), flush=True); time.sleep(1e6)"
    )
    command = ["python3", "-c", script]
    with Container(
        net["db"],
        "python:1",
        command=command,
        user="root",
        mounts=[USR, Mount("data", "/data", "volume")],
        ready="kept",
        directory=tmp_path,
    ) as server:
        with net.faults({"0.2s": "kill db", "1s": "start db", "3s": "pause db", "4s": "resume db"}, server):
            time.sleep(0.6)
            assert not server.running
            time.sleep(1)
            server.wait()
            assert server.running
        assert server.log.read_text().splitlines() == ["own 1 kept 1", "own 1 kept 2"]
    assert not server.running


def test_its_sleeping_calls_have_names(net, monkeypatch):
    monkeypatch.setenv(sleeping_calls.VARIABLE, "1")
    sleeping_calls.taken(0, 0)
    found = []

    def slept():
        found.extend(each for each in sleeping_calls.taken(0, sys.maxsize) if each.limit_ms and each.host == "web")
        return any(round(each.limit_ms) == 35 and each.ended == "limit" for each in found)

    program = ["python3", "-c", "import time; time.sleep(0.035); time.sleep(1e6)"]
    with Container(net["web"], "python:1", command=program, mounts=[USR]):
        assert wait_until(slept, 10.0), found
    (owner.directory() / "sleeping-calls-web").unlink()
    assert {(each.call, each.program.partition("3")[0]) for each in found if round(each.limit_ms) == 35} == {
        ("sleep", "python")
    }
