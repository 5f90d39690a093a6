"""Start and stop of a service, with small servers on this machine."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from slownet.lab.host import owner
from slownet.lab.run.excerpt import tail
from slownet.model.errors import ServiceError
from slownet.services.service import Service

GREETER = """
import os, signal, socket, subprocess, sys, time
server = socket.socket(socket.AF_UNIX)
time.sleep(float(sys.argv[2]))
server.bind(sys.argv[1])
server.listen()
print("ready", os.environ.get("LC_ALL"), os.environ.get("COLOUR"), flush=True)
if "child" in sys.argv:
    child = subprocess.Popen(["sleep", "60"])
    print("child", child.pid, flush=True)
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    server.accept()[0].sendall(b"hello")
"""


class Here:
    """This machine as a Mininet host: each program gets a session of its own, as with mnexec."""

    name = "here"

    def IP(self) -> str:  # noqa: N802
        return "127.0.0.1"

    def popen(self, argv, **options):
        return subprocess.Popen(argv, start_new_session=True, **options)


class Greeter(Service):
    name = "greeter"
    deadline_s = 5.0
    stop_s = 1.0

    def __init__(self, directory: Path, *words: str, delay_s: float = 0.0) -> None:
        super().__init__(Here(), directory)
        self.words = words
        self.delay_s = delay_s

    def command(self):
        return [sys.executable, "-c", GREETER, str(self.state / "sock"), str(self.delay_s), *self.words]

    def environment(self):
        return {"COLOUR": "blue"}

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            connection.connect(str(self.state / "sock"))
            return connection.recv(5) == b"hello"


class Script(Greeter):
    """A server that is a shell script and never answers."""

    def command(self):
        return ["sh", "-c", self.words[0]]


@pytest.fixture(autouse=True)
def state_root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as short:  # the path of a socket may have 107 characters at most
        monkeypatch.setattr(owner, "RUN", Path(short))
        yield owner.directory()


def lives(pid: int) -> bool:
    """Return whether the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def group_of(service: Service) -> int:
    assert service._process is not None
    return service._process.pid


def test_start_waits_until_it_answers_and_stop_leaves_only_the_log(tmp_path: Path, state_root: Path):
    service = Greeter(tmp_path / "run", delay_s=0.3)
    begun = time.monotonic()
    with service:
        assert time.monotonic() - begun >= 0.3
        assert service.running
        assert service.answers()
        assert service.log == tmp_path / "run" / "greeter-here.log"
        assert [path.name.startswith("greeter-here-") for path in state_root.iterdir()] == [True]
        pid = group_of(service)
    assert not service.running
    assert not lives(pid)
    assert list(state_root.iterdir()) == []
    assert service.log.read_text() == "ready C blue\n"


def test_it_can_start_again_and_the_log_goes_on(tmp_path: Path):
    service = Greeter(tmp_path)
    with service:
        pass
    with service:
        pass
    assert service.log.read_text() == "ready C blue\n" * 2


def test_several_come_up_together(tmp_path: Path):
    services = [Greeter(tmp_path / str(number), delay_s=0.5) for number in range(3)]
    try:
        for service in services:
            service.launch()
        assert all(service.running for service in services)  # the start did not wait
        for service in services:
            service.wait()
        assert all(service.running for service in services)
    finally:
        for service in services:
            service.stop()


def test_one_that_ends_is_noticed_at_once_and_its_last_lines_shown(tmp_path: Path, state_root: Path):
    service = Script(tmp_path, "for i in $(seq 30); do echo line $i; done; echo; echo no such table >&2; exit 3")
    begun = time.monotonic()
    with pytest.raises(ServiceError) as caught:
        service.start()
    assert time.monotonic() - begun < 2
    error = caught.value
    assert error.line == (
        f"greeter ended with status 3 before it answered, host 'here': its log is {tmp_path}/greeter-here.log"
    )
    assert error.log.splitlines()[-2:] == ["line 30", "no such table"]
    assert len(error.log.splitlines()) == 12
    assert str(error).endswith("    no such table")
    assert list(state_root.iterdir()) == []


def test_one_that_has_ended_when_it_answers_does_not_run(tmp_path: Path, state_root: Path):
    class Background(Script):
        def answers(self):
            (tmp_path / "go").touch()
            state = ""
            while state != "Z":  # until it has ended, and was not waited for
                with open(f"/proc/{group_of(self)}/stat") as stat:
                    state = stat.read().rpartition(")")[2].split()[0]
            (tmp_path / "go").unlink()
            return True

    until = f"until [ -e {tmp_path}/go ]; do sleep 0.01; done"
    with pytest.raises(
        ServiceError, match=r"^greeter ended with status 0 as soon as it answered, .*must stay in the foreground"
    ):
        Background(tmp_path, until).start()
    task = Background(tmp_path, until)
    task._may_end = True  # as a compose service that others wait for
    task.start().stop()
    failing = Background(tmp_path, f"{until}; exit 3")
    failing._may_end = True
    with pytest.raises(ServiceError, match="greeter ended with status 3"):
        failing.start()


def test_a_killed_service_names_the_signal(tmp_path: Path):
    with pytest.raises(ServiceError, match=r"^greeter ended by SIGKILL before it answered"):
        Script(tmp_path, "kill -9 $$").start()


def test_one_that_never_answers_is_ended_at_the_deadline(tmp_path: Path, state_root: Path):
    service = Script(tmp_path, "echo $$; echo waiting for nothing; sleep 60 & wait")
    service.deadline_s = 0.4
    with pytest.raises(ServiceError, match=r"^greeter does not answer after 0\.4 s, host 'here'") as caught:
        service.start()
    assert "waiting for nothing" in caught.value.log
    assert not lives(int(caught.value.log.splitlines()[0]))
    assert list(state_root.iterdir()) == []


def test_a_minute_without_an_answer_is_not_asked_for_every_5_ms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """On the virtual clock that minute passes at once, but for the questions."""
    now, asked = [0.0], []

    class Clock:
        monotonic = staticmethod(lambda: now[0])
        sleep = staticmethod(lambda seconds: now.__setitem__(0, now[0] + seconds))

    service = Script(tmp_path, "sleep 60 & wait")
    service.deadline_s = 60.0
    service.launch()
    monkeypatch.setattr("slownet.services.service.time", Clock)
    monkeypatch.setattr(service, "answers", lambda: asked.append(now[0]))
    with pytest.raises(ServiceError, match="greeter does not answer after 60 s"):
        service.wait()
    assert 100 < len(asked) < 700  # 100 in the first half second, then about a hundred for each factor of e
    assert all(later - one <= 0.005 + 0.01 * one + 1e-9 for one, later in itertools.pairwise(asked))


def test_an_error_quotes_the_log_of_its_own_start(tmp_path: Path, state_root: Path):
    with pytest.raises(ServiceError) as first:
        Script(tmp_path, "echo the first is wrong; exit 1").start()
    with pytest.raises(ServiceError) as second:
        Script(tmp_path, "echo the second is wrong; exit 1").start()
    assert (first.value.log, second.value.log) == ("the first is wrong", "the second is wrong")
    assert (tmp_path / "greeter-here.log").read_text() == "the first is wrong\nthe second is wrong\n"


def test_a_missing_program_is_one_line(tmp_path: Path, state_root: Path):
    class Missing(Greeter):
        def command(self):
            return ["no-such-server"]

    with pytest.raises(
        ServiceError, match=r"^greeter cannot be started: no-such-server: No such file or directory, host 'here'$"
    ):
        Missing(tmp_path).start()
    assert list(state_root.iterdir()) == []


def test_a_failure_while_preparing_leaves_nothing(tmp_path: Path, state_root: Path):
    class Unprepared(Greeter):
        def prepare(self):
            (self.state / "half").write_text("made")
            raise ServiceError("no database")

    with pytest.raises(ServiceError, match=r"^no database$"):
        Unprepared(tmp_path).start()
    assert list(state_root.iterdir()) == []


def child_of(service: Service) -> int:
    """Return the process id of the child that a Greeter with the word "child" writes to its log."""
    deadline = time.monotonic() + 5
    while "child " not in (text := service.log.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return int(text.split("child ")[1])


def test_children_end_with_it(tmp_path: Path):
    with Greeter(tmp_path, "child") as service:
        child = child_of(service)
        assert lives(child)
    assert not lives(child)


def test_children_that_outlive_it_end_with_stop(tmp_path: Path):
    service = Greeter(tmp_path, "child").start()
    child = child_of(service)
    os.kill(group_of(service), signal.SIGKILL)
    service._process.wait()
    assert lives(child)
    service.stop()
    assert not lives(child)


def test_one_that_ignores_sigterm_is_killed(tmp_path: Path):
    service = Greeter(tmp_path, "stubborn").start()
    pid = group_of(service)
    service.stop_s = 0.2
    service.stop()
    assert not lives(pid)


def test_stop_is_harmless_when_nothing_runs(tmp_path: Path):
    service = Greeter(tmp_path)
    service.stop()
    service.start()
    service.stop()
    service.stop()


def test_an_error_in_the_block_stops_it_too(tmp_path: Path):
    service = Greeter(tmp_path)
    pids: list[int] = []

    def fail() -> None:
        with service:
            pids.append(group_of(service))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [lives(pid) for pid in pids] == [False]


def test_starting_twice_and_waiting_for_nothing_are_mistakes(tmp_path: Path):
    service = Greeter(tmp_path)
    with pytest.raises(ServiceError, match=r"not started, host 'here': call start\(\) first"):
        service.wait()
    with pytest.raises(ServiceError, match="not started"):
        _ = service.state
    with service, pytest.raises(ServiceError, match=r"already started, host 'here': stop\(\) it first"):
        service.start()


def test_the_tail_of_a_log_leaves_blank_lines_out(tmp_path: Path):
    log = tmp_path / "log"
    assert tail(log) == ""
    log.write_bytes(b"\n".join([b"one", b"", b"two \xff", b"   ", b"three", b""]))
    assert tail(log, lines=2) == "two \N{REPLACEMENT CHARACTER}\nthree"


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def eventually(condition) -> bool:
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_a_stalled_server_pauses_and_continues(tmp_path: Path):
    with Greeter(tmp_path) as service:
        pid = service._process.pid
        with service.stalls(after=0.0, seconds=60):
            assert eventually(lambda: state_of(pid) == "T")
        assert eventually(lambda: state_of(pid) != "T")  # the end of the block ends the stall
        with service.stalls(after=60, seconds=60):
            assert state_of(pid) != "T"
        assert service.answers()


def test_only_a_running_server_can_be_stalled(tmp_path: Path):
    for after, seconds in (("1s", 1), (0, -1)):  # in its thread, an error would be no stall
        with pytest.raises(ServiceError, match=r"stalls\(\): give seconds"), Greeter(tmp_path).stalls(after, seconds):
            pass
    with pytest.raises(ServiceError, match="greeter is not started"), Greeter(tmp_path).stalls(0, 1):
        pass


def test_a_killed_server_starts_again_with_its_files(tmp_path: Path):
    with Greeter(tmp_path, "child") as service:
        (service.state / "kept").write_text("data")
        child = int(service.log.read_text().split("child")[1].split()[0])
        service.kill()
        assert not service.running
        assert eventually(lambda: not Path(f"/proc/{child}").exists() or state_of(child) == "Z")
        (service.state / "sock").unlink()
        service.revive()
        service.wait()
        assert service.answers()
        assert (service.state / "kept").read_text() == "data"
        assert service.log.read_text().count("ready") == 2
        with pytest.raises(ServiceError, match=r"^greeter runs, host 'here': kill\(\) it first"):
            service.revive()
    assert not service.running


def test_a_paused_server_goes_on(tmp_path: Path):
    with Greeter(tmp_path) as service:
        pid = service._process.pid
        service.pause()
        assert eventually(lambda: state_of(pid) == "T")
        service.resume()
        assert eventually(lambda: state_of(pid) != "T")
        service.pause()
        service.kill()  # also while it is paused
        assert not service.running


def test_what_does_not_run_cannot_be_killed_paused_or_started_again(tmp_path: Path):
    service = Greeter(tmp_path)
    for deed in (service.kill, service.pause, service.resume, service.revive):
        with pytest.raises(ServiceError, match="greeter is not started"):
            deed()
    with service:
        service.kill()
        for deed in (service.kill, service.pause, service.resume):
            with pytest.raises(ServiceError, match="greeter has ended by SIGKILL"):
                deed()
