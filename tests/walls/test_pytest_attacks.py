"""Tests that are hostile, with root in their lab: nothing of the host changes but what a session keeps, and nothing hangs.

One session of pytest for each kind of thing that is planted, in all the places that are carried out of the lab, as the host's
root and as an ordinary user, with Landlock and without it.
"""

import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from everybody import lab_of_all, starts_python  # noqa: F401  # a fixture
from no_landlock import without_landlock

from slownet.lab.host import native
from slownet.lab.run import confinement

NOBODY = 65534
PATIENCE_S = 300
USERS = ["root", "ordinary"] if os.geteuid() == 0 else ["ordinary"]
KEPT = (".pytest_cache", ".coverage", ".hypothesis", "junit.xml", "reports", "base", "out", "log.txt")

pytestmark = pytest.mark.skipif(not native.lacks(), reason="this machine runs them in place, without a wall")

HELPERS = """
import ctypes
import json
import os
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

OUT = Path("/run/slownet-out")
HERE = Path.cwd()
SECRET = HERE.parent / "sibling/secret"
WALLS = json.loads(os.environ.get("SLOWNET_SESSION", "{}")).get("walls")  # none on the host, which collects


def places():
    '''Every place that is carried out, as tests see it and as the host does.'''
    cached = ".pytest_cache/v/cache/lastfailed"
    for name in (cached, ".coverage", ".coverage.evil", "junit.xml", "base/evil", "out/evil", "out/deep/evil"):
        yield HERE / name
    for name in ("run.json", "samples.jsonl", "samples-9.jsonl", "report.html", "raw/evil", "samples.parquet"):
        yield OUT / "records/20260101-000000-evil" / name
    for name in ("records/evil", "logs/0", "logs/9", "left/evil.json", "gone/evil.json", "evil", "seed/evil"):
        yield OUT / name
    for number, (base, pattern, _) in enumerate(WALLS["keep"]):
        name = pattern[0].replace("*", "evil") if pattern else "evil"
        yield OUT / "kept" / str(number) / name
        yield OUT / "kept" / str(number) / name / "deep/evil"
        yield OUT / "kept" / str(number) / "../../../evil"


def plant(make, opened=True):
    '''opened: also where the lab's own pytest opens files, and would wait for ever for a FIFO's other end.'''
    done = 0
    for place in places() if opened else (each for each in places() if each.is_relative_to(OUT) or "out" in each.parts):
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                place.unlink()
            make(place)
            done += 1
    assert done > 5, done
"""

KINDS = {
    "an absolute link": "plant(lambda place: place.symlink_to(SECRET))",
    "a relative link": "plant(lambda place: place.symlink_to(os.path.relpath(SECRET, place.parent)))",
    "a link of the host's to the secret": "plant(lambda place: place.symlink_to(os.path.join(*['..'] * 12, str(SECRET)[1:])))",
    "a link to a folder": "plant(lambda place: place.symlink_to(SECRET.parent))",
    "an endless device by a link": "plant(lambda place: place.symlink_to('/dev/zero'))",
    "a FIFO": "plant(os.mkfifo, opened=False)",
    "a device": "plant(lambda place: os.mknod(place, stat.S_IFCHR | 0o666, os.makedev(1, 5)))",
    "a socket": "import socket; plant(lambda place: socket.socket(socket.AF_UNIX).bind(str(place)))",
    "a folder in place of a file": "plant(lambda place: (place.mkdir(), (place / 'in').write_text('x')))",
    "a huge sparse file": "plant(lambda place: os.truncate(os.open(place, os.O_CREAT | os.O_WRONLY), 5 * 2**30))",
    "deep JSON": "plant(lambda place: place.write_text('[' * 500_000))",
    "no JSON": "plant(lambda place: place.write_bytes(bytes(range(256)) * 9))",
    "names with escape codes": "plant(lambda place: place.with_name('\\x1b[2J\\x1b]0;evil\\x07\\n').write_text('x'))",
    "set-user-ID": "plant(lambda place: (place.write_text('#!/bin/sh'), os.chmod(place, 0o6777)))",
    "deep folders": """
for number, keep in enumerate(WALLS["keep"]):
    fd = os.open(OUT, os.O_RDONLY)
    for name in ["kept", str(number), (keep[1] or ["evil"])[0], *["d"] * 1500]:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=fd)
        inner = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
""",
    "names that lead out": """
for number in range(len(WALLS["keep"])):
    (OUT / "gone").mkdir(exist_ok=True)
    names = ("../sibling/secret", str(SECRET), "pyproject.toml", ".git/hooks/pre-commit", "a/../../x")
    (OUT / f"gone/{number}.json").write_text(json.dumps([[number, name] for name in names]))
""",
    "a file that turns into a link": '''
swap = """
import os, sys
while True:
    for path in sys.argv[2:]:
        try:
            os.symlink(sys.argv[1], path + ".swap"); os.replace(path + ".swap", path)
            open(path + ".swap", "w").close(); os.replace(path + ".swap", path)
        except OSError:
            pass
"""
plant(lambda place: place.write_text("x"))
subprocess.Popen([sys.executable, "-c", swap, str(SECRET), *map(str, places())], start_new_session=True)
''',
}

ESCAPES = """
def tried(what, *arguments):
    with suppress(OSError):
        what(*arguments)


def harm(folder):
    for name in (".git/hooks/post-checkout", "conftest.py", "pyproject.toml", "../sibling/secret", "../sibling/new", "../new"):
        path = folder / name
        tried(lambda path=path: path.write_text("evil"))
        tried(path.unlink)
        tried(os.chmod, path, 0o777)
        tried(os.utime, path, (1, 1))
        tried(lambda path=path: os.link(SECRET, path))
    tried(os.rename, folder / ".git", folder / "gone")


libc = ctypes.CDLL(None)
harm(HERE)
harm(Path("/run/slownet-walls/0/lower"))
tried(os.listdir, "/proc/1/root")
for flags in (32, 32 | 4096):  # MS_REMOUNT, a bind mount's, too
    libc.mount(b"none", os.fsencode("/run/slownet-walls/0/lower"), b"", flags, b"")
    libc.mount(b"none", os.fsencode(HERE), b"", flags, b"")
harm(Path("/run/slownet-walls/0/lower"))
while libc.umount2(os.fsencode(HERE), 2) == 0:  # MNT_DETACH
    os.chdir("/")
    harm(HERE)
Path("/tmp/host").mkdir()
libc.mount(b"none", b"/tmp/host", b"hostfs", 0, os.fsencode(HERE.parent))
harm(Path("/tmp/host") / HERE.name)
"""


def hashed(top):
    """Return what there is below a folder: type, mode, content and date of each, but for what the session keeps."""
    found = {}
    for path in sorted(top.rglob("*")):
        name = path.relative_to(top)
        if name.parts[0] == "cache" or (name.parts[0] == "project" and len(name.parts) > 1 and name.parts[1].startswith(KEPT)):
            continue
        about = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
        date = about.st_mtime_ns if path.is_file() else 0
        found[str(name)] = (about.st_mode, about.st_uid, date, content)
    return found


@pytest.fixture(params=itertools.product(USERS, ["Landlock", "none"]), ids="-".join)
def attack(request, lab_of_all):  # noqa: F811
    """Run a session whose test does this: attack(code, *options) -> the completed process, after looking at the host."""
    user, landlock = request.param
    if landlock == "Landlock" and confinement.landlock() < 1:
        pytest.skip(confinement.describe(confinement.landlock()))
    top = Path("/var/tmp", f"slownet-walls-{os.getpid()}")
    project = top / "project"
    for each in (project / ".git/hooks", top / "sibling", top / "cache"):
        each.mkdir(parents=True)
    (top / "sibling/secret").write_text("the host's own\n")
    (project / ".git/hooks/pre-commit").write_text("#!/bin/sh\n")
    (project / "conftest.py").write_text("")
    (project / "pyproject.toml").write_text('[tool.slownet]\nwrite = ["out"]\n')
    cache_of = lab_of_all
    ordinary = user == "ordinary" and os.geteuid() == 0
    if ordinary:
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", top], check=True)
    words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if ordinary else []
    environment = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        "HOME": str(top / "cache"), "XDG_CACHE_HOME": str(top / "cache"), "SLOWNET_SYSTEM_CACHE": str(cache_of / "slownet"),
        "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(top / "cache"),
    }  # fmt: skip
    usual = [
        "-q", "-p", "slownet.pytest_plugin", "--slownet-tdf=inf", "--slownet-report=reports", "--junitxml=junit.xml",
        "--log-file=log.txt", "--basetemp=base", "--cov=test_evil", "--cov-report=",
    ]  # fmt: skip

    def run(code, *options):
        if ordinary and "-n1" in options and not starts_python(words):
            pytest.skip("this Python is in a folder that an ordinary user cannot enter")
        test = HELPERS + "\n\ndef test_evil(net, tmp_path):\n" + "".join(f"    {line}\n" for line in code.splitlines())
        (project / "test_evil.py").write_text(test)
        before = hashed(top)
        done = subprocess.run(
            [*words, sys.executable, "-m", "pytest", *usual, *options], cwd=project, env=environment, capture_output=True,
            text=True, check=False, timeout=PATIENCE_S, stdin=subprocess.DEVNULL, errors="replace",
            preexec_fn=None if landlock == "Landlock" else without_landlock,
        )  # fmt: skip
        assert hashed(top) == before
        kept = [each for each in project.rglob("*") if each.relative_to(project).parts[0].startswith(KEPT)]
        assert [each for each in kept if each.is_symlink() or not (each.is_file() or each.is_dir())] == []
        assert [each for each in kept if each.stat().st_mode & 0o7000] == []
        assert [each for each in kept if not each.name.isprintable() or each.name.startswith(".slownet")] == []
        assert [each for each in [*project.iterdir(), *(top / "cache").iterdir()] if "slownet-session" in each.name] == []
        assert f'File "{sys.prefix}' not in done.stdout + done.stderr, done.stdout + done.stderr  # in a traceback of the host's
        assert not re.search(r"[\x00-\x08\x0b-\x1f]", done.stderr), ascii(done.stderr)
        return done

    yield run
    shutil.rmtree(top)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_planted_in_what_is_carried_out(attack, kind):
    done = attack(KINDS[kind])
    lines = [line for line in done.stderr.splitlines() if line.startswith("slownet: left in the lab: ")]
    # The confinement has refused devices and names that lead out before the host looks for them.
    assert len(lines) == 1 or (kind in ("a device", "names that lead out") and not lines), done.stdout + done.stderr


def test_what_is_shared_to_be_read_cannot_be_written(attack):
    done = attack(ESCAPES)
    assert "1 passed" in done.stdout, done.stdout


def test_too_many_files_are_refused_and_do_not_hang(attack):
    done = attack('(OUT / "junk").mkdir()\nfor number in range(100_000):\n    os.mknod(OUT / f"junk/{number}")')
    assert "too many files" in done.stderr or "belongs nowhere" in done.stderr


@pytest.mark.parametrize("kind", ["an absolute link", "a FIFO", "a huge sparse file", "a file that turns into a link"])
def test_workers(attack, kind):
    attack(KINDS[kind], "-n1")


def test_a_worker_cannot_have_the_controller_run_anything(attack):
    code = """
import xdist.remote
real = xdist.remote.serialize_warning_message
bad = {"message_module": "os", "message_class_name": "system", "message_args": (f"touch {SECRET.parent}/new",)}
xdist.remote.serialize_warning_message = lambda message: real(message) | bad
import warnings
warnings.warn("careful")
"""
    attack(code, "-n1")


def test_a_worker_cannot_have_the_controller_run_sql(attack):
    """Coverage data that a worker sends is a script of SQL, which pytest-cov runs."""
    code = """
import zlib, xdist.remote
from xdist.remote import WorkerInteractor
real = WorkerInteractor.sendevent
script = f"attach '{SECRET}' as a; create table a.b (c);"
evil = b"z" + zlib.compress(script.encode())
def send(self, name, **more):
    if name == "workerfinished":
        more["workeroutput"]["cov_worker_data"] = evil
    return real(self, name, **more)
WorkerInteractor.sendevent = send
"""
    attack(code, "-n1")


FORGED = {
    "no JSON": b".{",
    "deep JSON": b"." + b"[" * 100_000,
    "no end": b"+" + b"x" * 10_000,
    "a test of another lab": b'.{"event": "start", "test": "test_other.py::test_it"}',
    "no report": b'.{"event": "report", "report": {"nodeid": "test_evil.py::test_evil", "outcome": "passed"}}',
    "a method": b'.{"event": "report", "report": {"nodeid": "test_evil.py::test_evil", "outcome": "passed", "when": "call", '
    b'"keywords": {}, "location": [], "sections": [], "longrepr": null, "toterminal": "x", "$report_type": "TestReport"}}',
}


@pytest.mark.parametrize("kind", FORGED)
def test_forged_events_end_the_session_with_one_line(attack, kind):
    done = attack(f"os.write(int(os.environ['SLOWNET_EVENTS']), b'\\x1eslownet-pytest' + {FORGED[kind]!r} + b'\\n')")
    lines = [line for line in done.stderr.splitlines() if line.startswith("slownet: the lab sent an invalid event: ")]
    assert len(lines) == 1, done.stdout + done.stderr
    assert done.returncode == 3


def test_an_honest_session_is_whole(attack):
    """The same session without an attack: what it keeps is there, and nothing is refused."""
    done = attack("(HERE / 'out').mkdir()\n(HERE / 'out/a').write_text('a')\n(tmp_path / 'b').write_text('b')")
    assert "1 passed" in done.stdout, done.stdout
    lines = [line for line in done.stderr.splitlines() if "slownet: " in line]
    assert [line for line in lines if not line.startswith("slownet: labs are not confined: ")] == []
    assert len(lines) <= 1
    project = Path("/var/tmp", f"slownet-walls-{os.getpid()}", "project")
    assert (project / "out/a").read_text() == "a"
    assert (project / "base/test_evil0/b").read_text() == "b"
    assert json.loads((project / ".pytest_cache/v/cache/nodeids").read_text()) == ["test_evil.py::test_evil"]
    assert (project / "junit.xml").read_text().startswith("<?xml")
    assert (project / ".coverage").exists()
