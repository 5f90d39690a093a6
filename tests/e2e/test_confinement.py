"""What runs in a lab tries to reach the host. Its kernel refuses (tests/lab/test_reach.py), and Landlock does: most of these
tests take one of the two away and show what the other holds by itself."""

import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import SLOWNET, slownet
from conftest import LIGHT, PATIENCE_S, one_line
from no_landlock import without_landlock

from slownet.lab.build import init
from slownet.lab.host import counter
from slownet.lab.run import confinement
from slownet.lab.run.clock import Clock
from slownet.lab.run.lab import Share

LANDLOCK = confinement.landlock()
OLDER = [version for version in range(1, 7) if version < LANDLOCK]
needs_landlock = pytest.mark.skipif(LANDLOCK < 1, reason=confinement.describe(LANDLOCK))
SECRET = "the host's own\n"


def since(version):
    return pytest.mark.skipif(version > LANDLOCK, reason=f"needs Landlock ABI {version}")


@pytest.fixture
def outside(tmp_path):
    """A folder of the host with a secret, that no lab is given."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text(SECRET)
    return folder


def untouched(folder):
    return [path.name for path in folder.iterdir()] == ["secret"] and (folder / "secret").read_text() == SECRET


def version_name(version):
    return f"ABI {version or LANDLOCK}"


@pytest.fixture(scope="module", params=[None, *OLDER], ids=version_name)
def confine(request, built, tmp_path_factory):
    """What confines labs, with this machine's Landlock and as with that of older kernels."""
    if not request.param:
        return built.tools / "confine"
    folder = tmp_path_factory.mktemp("confine")
    source = (init.HERE / "confine.c").read_text()
    asked = "\treturn version > 0 ? version : 0;\n"
    assert source.count(asked) == 1
    (folder / "confine.c").write_text(source.replace(asked, f"\treturn version > 0 ? {request.param} : 0;\n"))
    subprocess.run(["gcc", "-O2", "-static", "-s", "-o", folder / "confine", folder / "confine.c"], check=True)
    return folder / "confine"


# ---- both, as a person's lab has them


def test_a_lab_says_whether_it_is_confined(built, tmp_path):
    said = slownet("lab", "info", cwd=tmp_path).stdout
    assert f"confined  {confinement.describe(LANDLOCK)}\n" in said


UNCONFINED = (
    b"slownet: labs are not confined: this machine's kernel has no Landlock (Linux 5.13 and newer have it); a program that "
    b"takes a lab's kernel over can do to files and processes what you can (--place confined refuses that)\n"
)
REFUSED = (
    "labs are not confined: this machine's kernel has no Landlock (Linux 5.13 and newer have it), {where}: use a machine that "
    "confines them, or leave out what requires confinement"
)
EXPERIMENT = """
from slownet.hypotheses.experiment import experiment
from slownet.topologies import TwoHosts


@experiment(topology=TwoHosts, vary={"rtt": ["0ms", "10ms"]}, tdf="inf", unit="ms")
def tiny(net, rtt):
    return [1.0, 2.0]
"""
TEST = """
def test_tiny(net):
    assert net
"""
MEASURING = {
    "run": ["run", "./tiny.py", "--repeat=1"],
    "sweep": ["sweep", "./tiny.py", "--out", "swept", "--labs", "2", "--fresh"],
    "exec": ["lab", "exec", "true"],
    "pytest": ["-q"],
}


@pytest.fixture(params=MEASURING)
def measuring(request, built, tmp_path):
    """measuring(*options, **how): run one of the commands that start labs."""
    (tmp_path / "tiny.py").write_text(EXPERIMENT)
    (tmp_path / "test_tiny.py").write_text(TEST)

    def run(*options, **how):
        words = MEASURING[request.param]
        if request.param == "pytest":
            words = [sys.executable, "-m", "pytest", "-p", "slownet.pytest_plugin", *LIGHT, "--slownet-tdf=inf", *words]
            words += ["--slownet-require-confinement"] * ("confined" in options)
        else:
            words = [*SLOWNET, *words[:-1], *(options or ("--place", "lab")), words[-1]]
        return subprocess.run(
            words, capture_output=True, check=False, cwd=tmp_path, timeout=PATIENCE_S, stdin=subprocess.DEVNULL, **how
        )

    run.is_pytest = request.param == "pytest"
    return run


def test_without_landlock_each_run_says_what_does_not_hold(measuring):
    done = measuring(preexec_fn=without_landlock)
    assert done.returncode == 0, done
    assert done.stderr.count(UNCONFINED) == 1, done.stderr
    assert done.stderr.count(b"not confined") == 1


@needs_landlock
def test_with_landlock_nothing_is_said_and_all_requirements_are_met(measuring):
    done = measuring("--place", "confined")
    assert done.returncode == 0, done
    assert b"confine" not in done.stdout + done.stderr


def refused_by(measuring, where, *options):
    """Whether nothing runs, and one line says why."""
    done = measuring(*options, preexec_fn=without_landlock)
    if measuring.is_pytest:
        assert done.returncode == pytest.ExitCode.USAGE_ERROR, done
        of_pytest = where.replace("--place confined", "--slownet-require-confinement")
        assert f"slownet: {REFUSED.format(where=of_pytest)}" in done.stderr.decode(), done.stderr
    else:
        assert one_line(done) == REFUSED.format(where=where)


def test_confinement_can_be_required_by_an_option(measuring):
    refused_by(measuring, "--place confined", "--place", "confined")


def test_confinement_can_be_required_by_a_project(measuring, tmp_path):
    file = tmp_path / "slownet.toml"
    file.write_text("require_confinement = true\n")
    refused_by(measuring, str(file))


ATTEMPTS = """
    cd /
    for what in / {outside} {share}/.. {share}/link; do
        mount -t hostfs -o hostfs=$what none /mnt && ls /mnt
    done
    cat {share}/link/secret {share}/up/outside/secret {share}/../outside/secret {share}/file /proc/1/root{outside}/secret
    mount -o remount,rw none {read} || touch {read}/new
    cat /proc/{pid}/environ
    kill -0 {pid}
    exec 3<>/dev/tcp/127.0.0.1/{port} && echo hello >&3
"""


def test_root_in_a_lab_reaches_nothing_of_the_host(execute, outside, tmp_path):
    share = tmp_path / "share"
    share.mkdir()
    (share / "link").symlink_to(outside)
    (share / "up").symlink_to("..")
    (share / "file").symlink_to(outside / "secret")
    (tmp_path / "folder" / "read").mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        script = ATTEMPTS.format(
            outside=outside, share=share, read=execute.folder, pid=os.getpid(), port=server.getsockname()[1]
        )
        done = execute("bash", "-c", script, options=["--share", f"{share}:rw"])
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert done.stdout == b"", done
    assert done.stderr.count(b"mount: ") >= 5, done
    assert untouched(outside)
    assert [path.name for path in execute.folder.iterdir()] == ["read"]


# ---- Landlock alone: a lab whose first process leaves the host's folders open


def lab_with(built, folder, *, shares=(), switch=True, landlock=True):
    """A lab that lacks one of the two."""
    lab = built.lab(Clock("real"), shares=shares)
    if not switch:
        source = (init.HERE / "init.c").read_text()
        assert source.count("\tkeep_to_shares();\n") == 1
        (folder / "init.c").write_text(source.replace("\tkeep_to_shares();\n", "\t(void)keep_to_shares;\n"))
        words = ["gcc", "-O2", "-static", "-s", f"-I{init.HERE}", "-o", folder / "init", folder / "init.c"]
        subprocess.run(words, check=True)
        lab.init = folder / "init.cpio"
        lab.init.write_bytes(init.initial_root((folder / "init").read_bytes()))
    if not landlock:
        lab.confine = folder / "unconfined"
        lab.confine.write_text('#!/bin/sh\nwhile test "$1" != --; do shift; done\nshift\nexec "$@"\n')
        lab.confine.chmod(0o755)
    return lab


def run_in(lab, script):
    """The output of a shell in it."""
    output = bytearray()
    status = lab.run(["sh", "-c", textwrap.dedent(script)], stdout=output.extend, stderr=output.extend)
    return status, output.decode()


@pytest.fixture
def folders(tmp_path):
    """A share to read and one to write, each with a file."""
    found = [Share(tmp_path / name, writable=name == "write", at=f"/{name}") for name in ("read", "write")]
    for each in found:
        each.path.mkdir()
        (each.path / "file").write_text("shared\n")
    return found


SEES = "mount -t hostfs -o hostfs=/ none /mnt && cat /mnt{outside}/secret; ls /mnt{outside}; echo x > /mnt{outside}/new"


def test_without_both_the_host_is_open(built, tmp_path, folders, outside):
    """Or the tests below would show nothing."""
    lab = lab_with(built, tmp_path, shares=folders, switch=False, landlock=False)
    _, said = run_in(lab, SEES.format(outside=outside))
    assert said == f"{SECRET}secret\n"
    assert (outside / "new").read_text() == "x\n"


@needs_landlock
def test_landlock_alone_keeps_files_of_the_host_out_of_reach(built, confine, tmp_path, folders, outside):
    lab = lab_with(built, tmp_path, shares=folders, switch=False)
    lab.confine = confine
    script = f"""
        exec 2>/dev/null
        mount -t hostfs -o hostfs=/ none /mnt && echo mounted
        cd /mnt{outside} && echo there
        cat secret; ls; echo x > secret; echo x > new; mkdir folder; ln -s x link; rm secret; mv secret moved; mkfifo fifo
        ln secret hard; mknod disk b 254 0; cat /mnt/etc/hostname /mnt/proc/self/environ /mnt{sys.executable}
        echo x > /mnt/dev/shm/left; echo x > /mnt/tmp/left
    """
    assert run_in(lab, script) == (2, "mounted\nthere\n")
    assert untouched(outside)
    assert not any(Path(each, "left").exists() for each in ("/dev/shm", "/tmp"))


@needs_landlock
def test_landlock_alone_keeps_a_share_read_only(built, confine, tmp_path, folders):
    lab = lab_with(built, tmp_path, shares=folders, switch=False)
    lab.confine = confine
    script = """
        exec 2>/dev/null
        mount -o remount,rw none /read && cat /read/file
        echo x > /read/file; echo x >> /read/file; echo x > /read/new; rm /read/file; mkdir /read/new
        mv /write/file /read/new; ln /read/file /read/new
        echo x > /write/new && mkdir /write/folder && mv /write/new /write/folder/ && ln /write/file /write/hard && echo written
        mknod /write/disk b 254 0 || mknod /write/tty c 5 0 || echo no device
    """
    assert run_in(lab, script) == (0, "shared\nwritten\nno device\n")
    read, write = (each.path for each in folders)
    assert {path.name: path.read_text() for path in read.iterdir()} == {"file": "shared\n"}
    assert sorted(path.name for path in write.iterdir()) == ["file", "folder", "hard"]


@needs_landlock
def test_a_folder_that_becomes_a_link_leads_nowhere(built, tmp_path, folders, outside):
    """hostfs finds names by their paths on the host, so a second mount of the same folder can change what they mean."""
    (folders[1].path / "folder").mkdir()
    lab = lab_with(built, tmp_path, shares=[*folders, Share(folders[1].path, at="/again")])
    script = f"""
        cd /again/folder || exit
        mv /write/folder /write/gone && ln -s {outside} /write/folder && echo changed
        cat secret 2>&1 | grep -o "Permission denied\\|No such file.*"
    """
    assert run_in(lab, script) == (0, "changed\nPermission denied\n")


# ---- the lab's kernel alone


def test_the_kernel_alone_keeps_to_the_shares(built, tmp_path, folders, outside):
    (folders[1].path / "link").symlink_to(outside)
    lab = lab_with(built, tmp_path, shares=folders, landlock=False)
    script = f"""
        exec 2>/dev/null
        for what in / /write/.. {folders[1].path}/.. {folders[1].path}/link; do mount -t hostfs -o hostfs=$what none /mnt && ls /mnt; done
        cat /write/link/secret /write/../{outside.name}/secret
        mount -o remount,rw none /read && echo x > /read/new
        echo 0 > /proc/sys/fs/hostfs_mount_disabled
        cat /read/file && echo x > /write/new && echo written
    """  # noqa: E501
    assert run_in(lab, script) == (0, "shared\nwritten\n")
    assert [path.name for path in folders[0].path.iterdir()] == ["file"]
    assert untouched(outside)


# ---- what confines it, around ordinary programs


PYTHON = Path("/usr/bin/python3").resolve()  # this one may be in root's home
OF_PYTHON = [
    f"run={PYTHON}", "run=/lib64/ld-linux-x86-64.so.2", f"read=/usr/lib/{PYTHON.name}", "read=/lib/x86_64-linux-gnu",
    "read=/etc/ld.so.cache", "device=/dev/null",
]  # fmt: skip
USERS = {"root": [], "a user": ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]}
SHOW = """
def tried(what):
    try:
        what()
    except OSError as error:
        return error.strerror
    return "done"
"""


def as_users(fixture):
    return pytest.fixture(params=[each for each in USERS if each == "root" or os.geteuid() == 0])(fixture)


@contextlib.contextmanager
def attempts(user, confine):
    """Runs Python confined: attempt(code, *rules) returns what it prints."""
    folder = Path("/var/tmp", f"slownet-test-{os.getpid()}")  # pytest's own folders are for nobody else
    folder.mkdir()
    folder.chmod(0o755)
    confine = shutil.copy(confine, folder)

    def attempt(code, *rules, **more):
        words = [*USERS[user], confine, *OF_PYTHON, *rules, "--", PYTHON, "-ISc", SHOW + textwrap.dedent(code)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_S, cwd="/", **more)
        return done.stdout + done.stderr

    attempt.folder = folder
    attempt.words = USERS[user]
    yield attempt
    shutil.rmtree(folder)


@as_users
def attempt(request, built):
    with attempts(request.param, built.tools / "confine") as attempt:
        yield attempt


@as_users
def any_attempt(request, confine):
    """With the Landlock of older kernels, too."""
    with attempts(request.param, confine) as attempt:
        yield attempt


def test_a_counter_counts(any_attempt):
    """The work clock's way in. Instructions are not counted everywhere; a process's own time is, by the same call."""
    code = """
        import ctypes, os, struct, sys
        attributes = struct.pack("=IIQQQQQ", int(sys.argv[1]), 64, 1, 0, 0, 0, 1 << 5 | 1 << 6).ljust(64, bytes(1))
        counter = ctypes.CDLL(None, use_errno=True).syscall(298, attributes, 0, -1, -1, 8)
        sum(range(10_000))
        print(os.strerror(ctypes.get_errno()) if counter < 0 else int.from_bytes(os.read(counter, 8), "little") > 0)
    """
    argv = [*any_attempt.words, PYTHON, "-IS", "-c", textwrap.dedent(code)]
    for kind in ("0", "1"):  # hardware, software: see linux/perf_event.h
        free = subprocess.run([*argv, kind], capture_output=True, text=True, check=True, cwd="/").stdout
        assert any_attempt(code.replace("sys.argv[1]", kind)) == free
        if kind == "1" and int(counter.PARANOID.read_text()) <= counter.OF_OWN_PROCESSES:
            assert free == "True\n"


@needs_landlock
def test_files_by_every_way(any_attempt):
    attempt = any_attempt
    for name in ("read", "write", "other"):
        (attempt.folder / name).mkdir()
        (attempt.folder / name / "file").write_text("x")
        for each in (attempt.folder / name, attempt.folder / name / "file"):
            each.chmod(0o777)
    (attempt.folder / "write" / "link").symlink_to("../other/file")
    code = f"""
        import os, stat
        os.chdir({str(attempt.folder)!r})
        for what in (
            "open('read/file').read()", "os.listdir('read')", "open('read/file', 'a')", "open('read/new', 'w')", "os.mkdir('read/new')",
            "os.rename('read/file', 'write/new')", "os.link('read/file', 'write/new')", "os.unlink('read/file')",
            "os.symlink('x', 'read/new')", "os.mkfifo('read/new')", "os.chdir('other')", "os.chdir('..')",
            "open('write/link').read()", "open('other/file').read()", "os.listdir('other')", "open('other/new', 'w')",
            "open('/etc/passwd').read()", "open('/proc/self/status').read()", "os.listdir('/proc')", "open('/dev/zero').read(1)",
            "open('/dev/null', 'w').write('x')", "os.mknod('write/disk', stat.S_IFBLK, os.makedev(254, 0))",
            "os.mknod('write/tty', stat.S_IFCHR, os.makedev(5, 0))", "os.execv('/bin/true', ['true'])",
            "open('write/new', 'w').write('x')", "os.mkdir('write/folder')", "os.unlink('write/new')", "os.mkfifo('write/fifo')",
        ):
            print(what, '->', tried(lambda: eval(what)))
    """  # noqa: E501
    no, done = "Permission denied", "done"
    said = attempt(code, f"read={attempt.folder}/read", f"write={attempt.folder}/write")
    answers = dict(line.split(" -> ") for line in said.splitlines())
    allowed = {what for what, answer in answers.items() if answer == done}
    assert allowed == {
        "open('read/file').read()", "os.listdir('read')", "os.chdir('other')", "os.chdir('..')",
        "open('/dev/null', 'w').write('x')", "open('write/new', 'w').write('x')",
        "os.mkdir('write/folder')", "os.unlink('write/new')", "os.mkfifo('write/fifo')",
    }, said  # fmt: skip
    refused = {answer for answer in answers.values() if answer != done}
    assert refused <= {no, "Operation not permitted", "Invalid cross-device link"}, said
    assert len(answers) == 28


@since(3)
def test_truncation(attempt):
    for name in ("read", "other"):
        (attempt.folder / name).write_text("xxx")
        (attempt.folder / name).chmod(0o666)
    code = f"""
        import os
        for name in ("read", "other"):
            print(tried(lambda: os.truncate(f"{attempt.folder}/{{name}}", 0)))
    """
    assert attempt(code, f"read={attempt.folder}/read") == "Permission denied\n" * 2
    assert {(attempt.folder / name).read_text() for name in ("read", "other")} == {"xxx"}


SET_USER_ID = """
    import ctypes, os, stat
    os.chdir({folder!r})
    os.umask(0)
    libc = ctypes.CDLL(None, use_errno=True)
    def call(*words):
        if libc.syscall(*[ctypes.c_long(each) if isinstance(each, int) else each for each in words]) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    for bits in (stat.S_ISUID, stat.S_ISGID, stat.S_ISUID | stat.S_ISGID):
        mode = bits | 0o777
        with open("file", "w") as file:
            for name, *words in (
                ("chmod", 90, b"file", mode), ("fchmod", 91, file.fileno(), mode), ("fchmodat", 268, -100, b"file", mode),
                ("fchmodat2", 452, -100, b"file", mode, 0), ("open", 2, b"a", os.O_CREAT, mode),
                ("openat", 257, -100, b"b", os.O_CREAT, mode), ("creat", 85, b"c", mode),
                ("openat2", 437, -100, b"d", (ctypes.c_uint64 * 3)(os.O_CREAT, mode, 0), 24),
                ("mknod", 133, b"e", stat.S_IFREG | mode, 0), ("mknodat", 259, -100, b"f", stat.S_IFREG | mode, 0),
                ("O_TMPFILE", 257, -100, b".", os.O_TMPFILE | os.O_RDWR, mode),
            ):
                print(name, tried(lambda: call(*words)))
    os.chmod("file", 0o1757)
    print(oct(os.stat("file").st_mode))
"""


def test_no_file_becomes_set_user_id(attempt):
    """Nor set-group-ID, whatever the system call; other modes can be set."""
    share = attempt.folder / "share"
    share.mkdir()
    share.chmod(0o777)
    lines = attempt(SET_USER_ID.format(folder=str(share)), f"write={share}").splitlines()
    assert lines.pop() == "0o101757"
    assert len(lines) == 33
    assert {line.partition(" ")[2] for line in lines} == {"Operation not permitted"}, lines
    assert [path.name for path in share.iterdir()] == ["file"]


@pytest.mark.parametrize("landlock", [pytest.param(True, marks=needs_landlock), False], ids=["Landlock", "none"])
def test_what_root_leaves_in_a_share_is_never_set_user_id(execute, tmp_path, landlock):
    """One that was there loses the bits when a lab changes it."""
    share = tmp_path / "share"
    share.mkdir()
    (share / "old").touch()
    (share / "old").chmod(0o6755)
    script = f"""
        cd {share} || exit
        cp -a /usr/bin/passwd /usr/bin/mount . ; install -m 6755 /bin/true true; mkdir -m 2777 folder
        echo x > old; echo x > file; chmod u+s file; chmod g+s file folder; mv passwd moved; ln mount hard
        chmod 1711 file && stat -c %a file
    """
    more = {} if landlock else {"preexec_fn": without_landlock}
    done = execute("sh", "-c", script, options=["--share", f"{share}:rw"], **more)
    assert done.stdout == b"1711\n", done
    assert done.stderr.count(b"Operation not permitted") >= 5, done
    assert sorted(path.name for path in share.iterdir()) == ["file", "folder", "hard", "mount", "moved", "old", "true"]
    assert [path for path in share.iterdir() if path.stat().st_mode & 0o6000] == []
    assert (share / "old").read_text() == "x\n"


NETWORK = """
    import os, socket
    kinds = {
        "tcp": (socket.AF_INET, socket.SOCK_STREAM), "tcp6": (socket.AF_INET6, socket.SOCK_STREAM),
        "udp": (socket.AF_INET, socket.SOCK_DGRAM), "unix": (socket.AF_UNIX, socket.SOCK_STREAM),
        "datagrams": (socket.AF_UNIX, socket.SOCK_DGRAM), "netlink": (socket.AF_NETLINK, socket.SOCK_RAW),
        "packets": (socket.AF_PACKET, socket.SOCK_RAW), "vsock": (socket.AF_VSOCK, socket.SOCK_STREAM),
    }
    for name, kind in kinds.items():
        print(name, tried(lambda: socket.socket(*kind)))
    print("pair", tried(lambda: socket.socketpair()))
    print("datagrams", tried(lambda: socket.socketpair(type=socket.SOCK_DGRAM)))
    print("packets", tried(lambda: socket.socketpair(type=socket.SOCK_SEQPACKET)))
"""


def test_there_are_no_sockets_but_connected_pairs(attempt):
    lines = attempt(NETWORK).splitlines()
    assert lines.pop(8) == "pair done"
    assert len(lines) == 10
    assert {line.split(maxsplit=1)[1] for line in lines} == {"Operation not permitted"}


@pytest.mark.parametrize("family", ["tcp", pytest.param("abstract", marks=since(6))])
def test_a_socket_that_is_open_connects_nowhere(attempt, family):
    """Not even one that a confined program was given by mistake."""
    if family == "tcp":
        server, client = socket.create_server(("127.0.0.1", 0)), socket.socket()
        address = server.getsockname()
    else:
        server, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        address = f"\0slownet-test-{os.getpid()}"
        server.bind(address)
        server.listen()
    with server, client:
        fd = client.fileno()
        code = f"""
            import socket
            print(tried(lambda: socket.socket(fileno={fd}).connect({address!r})))
        """
        assert attempt(code, pass_fds=[fd]) in ("Permission denied\n", "Operation not permitted\n")
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
        client.connect(address)  # or it would show nothing


@pytest.fixture
def victim(attempt):
    """A process of the same user."""
    with subprocess.Popen([*attempt.words, "sleep", "1000"]) as process:
        while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
            time.sleep(0.01)
        yield process
        process.kill()


@needs_landlock
def test_processes_of_the_host(attempt, victim):
    code = f"""
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        def call(*words):
            if libc.syscall(*[ctypes.c_long(each) if isinstance(each, int) else each for each in words]) < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        data = ctypes.create_string_buffer(16)
        class Piece(ctypes.Structure):
            _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
        piece = Piece(ctypes.addressof(data), 16)
        pid = {victim.pid}
        fd = libc.syscall(434, pid, 0)
        for what, words in dict(attach=(101, 16, pid, 0, 0), seize=(101, 0x4206, pid, 0, 0), getfd=(438, fd, 0, 0),
                read=(310, pid, ctypes.byref(piece), 1, ctypes.byref(piece), 1, 0),
                write=(311, pid, ctypes.byref(piece), 1, ctypes.byref(piece), 1, 0)).items():
            print(what, tried(lambda: call(*words)))
        for name in ("mem", "environ", "fd", "maps", "root", "cwd"):
            print(name, tried(lambda: open(f"/proc/{{pid}}/{{name}}")))
        print("shared memory", tried(lambda: call(29, 1, 4096, 0o1777)))
        print("key", tried(lambda: call(250, 0, -4, 1)))
    """
    lines = attempt(code).splitlines()
    assert len(lines) == 13
    said = {line.rpartition("Permission denied")[0] or line.rpartition("Operation not permitted")[0] for line in lines}
    assert "" not in said, lines
    assert victim.poll() is None


@since(6)
def test_signals(attempt, victim):
    code = f"""
        import os, signal
        for pid in ({victim.pid}, os.getppid()):
            for number in (0, signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
                print(tried(lambda: os.kill(pid, number)))
        child = os.fork() or signal.pause()
        print(tried(lambda: os.kill(child, signal.SIGKILL)), os.waitpid(child, 0)[1])
    """
    assert attempt(code) == "Operation not permitted\n" * 8 + "done 9\n"
    assert victim.poll() is None


def test_privileges_are_gone(attempt):
    code = """
        import ctypes, os, time
        libc = ctypes.CDLL(None, use_errno=True)
        def call(*words):
            if libc.syscall(*[ctypes.c_long(each) if isinstance(each, int) else each for each in words]) < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        print(libc.prctl(39, 0, 0, 0, 0))
        for name, *words in (("mount", 165, b"none", b"/mnt", b"tmpfs", 0, 0), ("reboot", 169, 0xfee1dead, 672274793, 0, 0),
                ("sethostname", 170, b"x", 1), ("chroot", 161, b"/"), ("settimeofday", 164, bytes(16), 0),
                ("syslog", 103, 5, 0, 0), ("umount", 166, b"/", 2), ("setuid", 105, 12)):
            print(name, tried(lambda: call(*words)))
    """
    names = ("mount", "reboot", "sethostname", "chroot", "settimeofday", "syslog", "umount", "setuid")
    assert attempt(code) == "1\n" + "".join(f"{name} Operation not permitted\n" for name in names)


def test_it_ends_with_who_started_it(attempt):
    starter = f"""
        import os, subprocess, time
        child = subprocess.Popen([{str(attempt.folder / "confine")!r}, *{OF_PYTHON!r}, "--", {str(PYTHON)!r}, "-ISc",
                                  "import time; print('up', flush=True); time.sleep(1000)"], stdout=subprocess.PIPE)
        child.stdout.readline()
        print(child.pid, flush=True)
        os.kill(os.getpid(), 9)
    """
    words = [*attempt.words, PYTHON, "-ISc", textwrap.dedent(starter)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == -signal.SIGKILL, done
    deadline = time.monotonic() + PATIENCE_S
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        while Path(f"/proc/{int(done.stdout)}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["read=/nowhere", "--", "/bin/true"], "confine: /bin/true: Permission denied\n"),
        (["look=/", "--", "/bin/true"], "confine: look=/: Invalid argument\n"),
        (["run=/bin/true", "--", "/nowhere"], "confine: /nowhere: No such file or directory\n"),
        (["run=/bin/true", "--"], "confine [run=PATH|read=PATH|write=PATH|device=PATH]... -- PROGRAM [ARGUMENT]...\n"),
        ([], "confine [run=PATH|read=PATH|write=PATH|device=PATH]... -- PROGRAM [ARGUMENT]...\n"),
    ],
)
@needs_landlock
def test_unclear_rules_run_nothing(built, words, said):
    done = subprocess.run([built.tools / "confine", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (125, "", said)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_an_ordinary_user_has_a_confined_lab(built, outside, monkeypatch):
    home = Path("/var/tmp", f"slownet-test-home-{os.getpid()}")
    outside.chmod(0o755)
    try:
        (home / "share").mkdir(parents=True)
        (home / "secret").write_text(SECRET)
        for path in (built.kernel.path, built.image.path, built.tools / "init.cpio", built.tools / "confine"):
            shutil.copy(path, home)
        for each in (home, home / "share"):
            os.chown(each, 65534, 65534)
        monkeypatch.setenv("XDG_CACHE_HOME", str(home))
        lab = built.lab(Clock("real"), shares=[Share(home / "share", writable=True)])
        lab.kernel = replace(lab.kernel, path=home / lab.kernel.path.name)
        lab.shares = [each for each in lab.shares if each.writable]  # that user cannot read the table of the kernel's modules
        lab.init, lab.image, lab.confine = (home / path.name for path in (lab.init, lab.image, lab.confine))
        said = as_nobody(lambda: run_in(lab, f"""
            exec 2>/dev/null
            id -u; mount -t hostfs -o hostfs=/ none /mnt; echo x > {home}/share/new && ls {home}/*; cat {home}/share/../secret
        """))  # fmt: skip
        assert said == "(1, '0\\nnew\\n')", said
        assert (home / "share" / "new").stat().st_uid == 65534
    finally:
        shutil.rmtree(home)


def as_nobody(what):
    """What that returns in a process of an ordinary user, as text."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            text = repr(what())
        except BaseException as error:
            text = repr(error)
        os.write(theirs, text.encode())
        os._exit(0)
    os.close(theirs)
    with open(ours) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text


def test_the_image_stays_what_it_was(built, execute):
    before = hashlib.sha256(built.image.path.read_bytes()).digest()
    done = execute(
        "sh", "-c", "blockdev --setrw /dev/ubda; dd if=/dev/zero of=/dev/ubda bs=4k count=4 oflag=direct conv=notrunc"
    )
    assert done.returncode
    assert hashlib.sha256(built.image.path.read_bytes()).digest() == before
