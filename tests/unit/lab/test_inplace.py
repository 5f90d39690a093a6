import os
import signal
import sys
import threading
import time

import pytest

from slownet.lab.run.clock import Clock
from slownet.lab.run.place import Place


@pytest.fixture
def native():
    return Place(Clock("real"), {})


def run(place, *argv, **options):
    out, err = bytearray(), bytearray()
    status = place.run(argv, stdout=out.extend, stderr=err.extend, **options)
    return status, bytes(out), bytes(err)


def test_output_errors_and_status_are_kept_apart(native):
    assert run(native, "sh", "-c", "echo out; echo err >&2; exit 7") == (7, b"out\n", b"err\n")


def test_environment_folder_and_input(native, tmp_path):
    (tmp_path / "input").write_bytes(b"\0\xff")
    with (tmp_path / "input").open("rb") as file:
        status, out, _ = run(native, "sh", "-c", "echo $X; pwd; cat", env={"X": "1 2"}, cwd=tmp_path, stdin=file.fileno())
    assert (status, out) == (0, f"1 2\n{tmp_path}\n".encode() + b"\0\xff")
    assert run(native, "cat") == (0, b"", b"")


def test_much_output_comes_whole(native):
    printing = "import sys; sys.stdout.write(''.join(f'{i}\\n' for i in range(200_000)))"
    data = b"".join(b"%d\n" % i for i in range(200_000))
    assert run(native, sys.executable, "-c", printing) == (0, data, b"")


@pytest.mark.parametrize(("program", "status"), [("nosuchprogram", 127), ("/etc/passwd", 126), ("/", 126)])
def test_a_command_that_cannot_be_run(native, program, status, capfd, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert run(native, program)[0] == status
    assert capfd.readouterr().err.startswith(f"slownet: {program}: ")


def test_a_signal_ends_it(native):
    timer = threading.Timer(0.2, native.signal, (signal.SIGTERM,))
    timer.start()
    assert run(native, "sleep", "1000")[0] == -signal.SIGTERM
    timer.join()


def test_a_second_signal_kills_it(native, tmp_path):
    def end():
        while not (tmp_path / "ready").exists():
            time.sleep(0.01)
        native.signal(signal.SIGINT)
        native.signal(signal.SIGINT)  # immediately: counts as the same signal
        time.sleep(0.7)
        native.signal(signal.SIGINT)

    ender = threading.Thread(target=end)
    ender.start()
    status, out, _ = run(native, "sh", "-c", f"trap 'echo heard' INT; touch {tmp_path}/ready; while :; do sleep 0.1; done")
    ender.join()
    assert (status, out) == (-signal.SIGKILL, b"heard\n")


def test_what_a_command_left_behind_ends_with_it(native):
    status, out, _ = run(native, "sh", "-c", "sleep 1000 & echo $!")
    assert status == 0
    deadline = time.monotonic() + 10
    while _runs(int(out)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_sink_that_breaks_ends_the_command(native):
    def refuse(data):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        native.run(["yes"], stdout=refuse)
    assert native._running == []


def test_a_place_at_rest_takes_signals_without_harm(native):
    native.signal(signal.SIGTERM)
    native.resize(24, 80)
    assert run(native, "true")[0] == 0
    assert os.getpid()
