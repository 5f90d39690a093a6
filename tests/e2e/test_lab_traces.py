"""A lab leaves nothing behind and can access nothing of the host but its shares."""

import hashlib
import os
import re
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from command_line import SLOWNET
from conftest import PATIENCE_S, alive, children_of, one_line, session_of

from slownet.model.importing import PACKAGE

# Folders of slownet's own go to TMPDIR, the test's: those elsewhere are of tests that run at the same time.
OURS = re.compile(r"vm_file|uml|linux|^slownet(?!-)")


@pytest.fixture
def places(tmp_path, monkeypatch):
    """List everything in the folders where User-Mode Linux is known to leave files."""
    home = tmp_path / "home"
    scratch = tmp_path / "scratch"
    for folder in (home, scratch):
        folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(scratch))

    def listing():
        shared = [Path(folder) / name for folder in ("/tmp", "/dev/shm", "/var/tmp") for name in os.listdir(folder)]
        return {each for each in shared if OURS.search(each.name)} | {*home.rglob("*"), *scratch.rglob("*")}

    return listing


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_command_leaves_nothing_behind(execute, places):
    before = places()
    done = execute("sh", "-c", "dd if=/dev/zero of=/file bs=1M count=50; sleep 1000 &")
    assert done.returncode == 0
    assert places() == before
    assert list(execute.folder.iterdir()) == []


@pytest.mark.parametrize("options", [["--clock", "real"], ["--tdf", "inf"]], ids=" ".join)
def test_nothing_is_left_after_kill_9(execute, places, options):
    before = places()
    with execute.start("sh", "-c", "sleep 1000 & echo ready; read line", options=options, stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        (kernel,) = children_of(process.pid)
        assert session_of(kernel)
        process.kill()
    wait_until(lambda: not session_of(kernel))
    assert places() == before


@pytest.mark.parametrize("delay_s", [0.01, 0.03, 0.1])
def test_nothing_is_left_after_kill_9_during_the_boot(execute, places, delay_s):
    before = places()
    with execute.start("sleep", "1000", options=["--clock", "real"]) as process:
        wait_until(lambda: children_of(process.pid))
        (kernel,) = children_of(process.pid)
        time.sleep(delay_s)
        process.kill()
    wait_until(lambda: not session_of(kernel))
    assert not alive(kernel)
    assert places() == before


def test_nothing_is_left_when_the_kernel_itself_is_killed(execute, places):
    before = places()
    with execute.start("sh", "-c", "echo ready; read line", stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        (kernel,) = children_of(process.pid)
        os.kill(kernel, signal.SIGKILL)
        process.stdin.close()
        error = process.stderr.read()
        assert process.wait(PATIENCE_S) == 2
    assert error == b"slownet: the lab was killed by signal 9: check whether this machine has enough memory\n"
    wait_until(lambda: not session_of(kernel))
    assert places() == before


def test_two_labs_side_by_side(execute):
    def start():
        return execute.start("sh", "-c", "hostname; touch /mine; ls / | grep -c mine; read line", stdin=subprocess.PIPE)

    with start() as one, start() as two:
        for process in (one, two):
            assert [process.stdout.readline() for _ in range(2)] == [b"lab\n", b"1\n"]
        assert {*session_of(children_of(one.pid)[0])}.isdisjoint(session_of(children_of(two.pid)[0]))
        for process in (one, two):
            process.stdin.close()
            assert process.wait(PATIENCE_S) == 1  # status of `read` at end of input


def digest(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def test_writes_stay_inside(execute, built):
    before = digest(built.image.path)
    script = """
        echo changed > /etc/hostname && rm /etc/os-release && touch /usr/bin/new && chmod 000 /usr/bin/env
        dd if=/dev/urandom of=/dev/ubda bs=4096 count=1 && exit 1
        cat /etc/hostname
    """
    done = execute("sh", "-c", script)
    assert done.stdout == b"changed\n"
    assert digest(built.image.path) == before
    again = execute("sh", "-c", "ls /usr/bin/new; env true && test -f /etc/os-release && hostname")
    assert again.stdout == b"lab\n"


def test_the_checkout_and_the_working_directory_are_read_only(execute):
    (execute.folder / "file").write_text("x")
    checkout = PACKAGE.parents[1]
    for folder in (checkout, execute.folder):
        done = execute("sh", "-c", f"cd '{folder}' && ls > /dev/null && echo x >> file; touch new; rm -f file; mkdir new")
        assert done.returncode != 0
        assert done.stderr.count(b"Read-only file system") >= 3
    assert [path.name for path in execute.folder.iterdir()] == ["file"]
    assert not (checkout / "new").exists()


def test_a_share_is_writable_and_nothing_else(execute, tmp_path):
    share = tmp_path / "sha re"
    share.mkdir()
    (share / "in").write_bytes(b"\0in")
    script = (
        f"cd '{share}' && cat in > out && mkdir folder && mv out folder/moved && touch ../outside && touch '{execute.folder}/x'"
    )
    done = execute("sh", "-c", script, options=["--share", f"{share}:rw"])
    assert done.returncode != 0
    assert sorted(str(path.relative_to(share)) for path in share.rglob("*")) == ["folder", "folder/moved", "in"]
    assert (share / "folder" / "moved").read_bytes() == b"\0in"
    assert (share / "folder" / "moved").stat().st_uid == os.geteuid()
    assert not (tmp_path / "outside").exists()
    assert not list(execute.folder.iterdir())


def test_shares_are_read_only_unless_they_say_rw(execute, tmp_path):
    for name in ("read", "write"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "in").write_text(name)
    script = f"cd {tmp_path}; cat read/in write/in; touch write/new; touch read/new; echo x > read/in"
    options = ["--share", str(tmp_path / "read"), "--share", f"{tmp_path / 'write'}:rw"]
    done = execute("sh", "-c", script, options=options)
    assert (done.stdout, done.stderr.count(b"Read-only file system")) == (b"readwrite", 2)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*/*")) == ["read/in", "write/in", "write/new"]
    assert (tmp_path / "read" / "in").read_text() == "read"


def test_a_share_may_be_the_working_directory(execute):
    done = execute("sh", "-c", "pwd; echo x > file", options=["--share", ".:rw"])
    assert done.stdout.decode() == f"{execute.folder}\n"
    assert (execute.folder / "file").read_text() == "x\n"


def test_the_host_is_out_of_reach(execute, tmp_path):
    (tmp_path / "secret").write_text("secret")
    done = execute("sh", "-c", f"cat {tmp_path}/secret; ls /proc/{os.getpid()}/cwd; ps -eo comm= | grep pytest; ip route")
    assert done.stdout == b""


# Runs "$@" with folders for a lab's memory that are too small, noexec, or both.
SMALL = "mount -t tmpfs -o size=64m small /dev/shm"
NOEXEC = "mount -t tmpfs -o noexec none /dev/shm"
NOWHERE = f"{SMALL}; mount -t tmpfs -o noexec none /var/tmp; mount -t tmpfs -o size=16m small /tmp; unset TMPDIR"


def confined(mounts, words, **others):
    # With process numbers of their own, which hide the labs of other tests, for whose memory a lab would leave room.
    own = ["--mount", "--pid", "--fork", "--mount-proc"]
    unshare = ["unshare", *own] if os.geteuid() == 0 else ["unshare", *own, "--user", "--map-root-user"]
    script = f'set -e; {mounts}; exec "$@"'
    return subprocess.run(
        [*unshare, "sh", "-c", script, "sh", *words], capture_output=True, timeout=PATIENCE_S, check=False, **others
    )


@pytest.mark.parametrize("mounts", [SMALL, NOEXEC], ids=["small", "noexec"])
def test_memory_need_not_lie_in_shm(execute, mounts):
    done = confined(mounts, execute.words("echo", "hi"), cwd=execute.folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"hi\n", b"")


def test_no_place_for_memory_is_one_line(execute):
    # The checkout and the cache may be in /tmp, so everything is loaded before /tmp is hidden.
    script = """
import subprocess, sys
from slownet.lab.run import boot
subprocess.run(["sh", "-ec", sys.argv[1]], check=True)
try:
    boot.memory_folder(1024)
except boot.LabError as error:
    print(error)
"""
    done = confined("true", [sys.executable, "-c", script, NOWHERE], env={**os.environ, "TMPDIR": "/nowhere"})
    assert done.stdout.startswith(b"no folder has room for the lab's 1024 MB of memory: "), done


def test_a_host_that_runs_out_of_memory_meanwhile_is_one_line(execute):
    eat = """
import os, time
open("ready", "w")
while not os.path.exists("full"): time.sleep(0.1)
bytearray(150 << 20)
"""
    fill = """
        "$@" & lab=$!
        while ! test -e ready; do sleep 0.05; done
        head -c 1G /dev/zero > /dev/shm/filler 2>/dev/null || touch full
        wait $lab
    """
    words = execute.words("python3", "-c", eat, options=["--memory", "200", "--clock", "real", "--share", ".:rw"])
    done = confined("mount -t tmpfs -o size=210m small /dev/shm", ["sh", "-c", fill, "sh", *words], cwd=execute.folder)
    assert one_line(done) == "the host has no space left for the lab's memory: free some, or lower --memory"


@pytest.fixture
def public(built):
    """A copy of the code and a view of the cache that any user can read: (folder, environment)."""
    with tempfile.TemporaryDirectory(prefix="slownet-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder, fill(folder, built)


def fill(folder, built):
    code = folder / "co de"
    shutil.copytree(PACKAGE, code / "slownet", ignore=shutil.ignore_patterns("__pycache__"))
    big = (
        "numpy*",
        "scipy*",
        "pyarrow*",
        "matplotlib*",
        "mypy*",
        "fontTools*",
        "PIL*",
        "pillow*",
        "*_editable_*",
        "__editable__*",
    )
    for each in filter(os.path.isdir, site.getsitepackages()):
        shutil.copytree(each, folder / "site", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", *big))
    for each in (built.kernel.path.parent, built.image.path.parent, built.tools):
        copy = folder / "cache" / "slownet" / each.parent.name / each.name
        shutil.copytree(each, copy, copy_function=link_or_copy)
    shutil.copytree(built.tools.parents[1] / "tdf", folder / "cache" / "slownet" / "tdf")
    for each in (folder / "own", folder / "own" / "work"):
        each.mkdir()
        if os.geteuid() == 0:
            os.chown(each, 65534, 65534)
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder / "own"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHONPATH": f"{code}:{folder / 'site'}:{os.environ.get('PYTHONPATH', '')}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def test_an_ordinary_user_needs_nothing_of_roots(public):
    folder, environment = public
    user = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}

    def run(words, cwd=folder / "own"):
        return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, timeout=PATIENCE_S, check=False, **user)

    def can_run(python):
        try:
            return run([python, "-c", "import typer"]).returncode == 0
        except PermissionError:
            return False

    python = next(filter(can_run, [os.path.realpath(sys.executable), "/usr/bin/python3"]))
    script = "id -u; ip link add v1 type veth peer v2 && tc qdisc add dev v1 root netem delay 1ms && touch /etc/x out && pwd"
    done = run([python, *SLOWNET[1:], "lab", "exec", "--share", ".:rw", "--", "sh", "-c", script], folder / "own" / "work")
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, f"0\n{folder}/own/work\n", b"")
    left = {path.relative_to(folder / "own").parts[0] for path in (folder / "own").rglob("*") if path.is_file()}
    assert left - {".local"} == {"work"}  # contains what was measured on this machine once
    assert (folder / "own" / "work" / "out").stat().st_uid == (65534 if user else os.geteuid())
