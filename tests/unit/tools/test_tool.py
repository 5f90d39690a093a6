"""Running a program on a host: the host is this machine, the programs are real."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.net import tool
from slownet.net.tool import answering, run
from slownet.tools.ab import ab
from slownet.tools.ping import ping

DATA = Path(__file__).parent / "data"


class Here:
    """This machine as a Mininet host: each program gets a session of its own, as with mnexec."""

    name = "here"

    def __init__(self) -> None:
        self.argv: list[list[str]] = []

    def IP(self) -> str:  # noqa: N802
        return "127.0.0.1"

    def popen(self, argv, **options):
        self.argv.append(argv)
        return subprocess.Popen(argv, start_new_session=True, **options)


class Wrapped(Here):
    """A host that starts programs through a launcher, which reports missing ones."""

    def popen(self, argv, **options):
        return super().popen(["env", *argv], **options)


class Canned(Here):
    """A host where every program prints captured output."""

    def __init__(self, out: str, err: str = "", status: int = 0) -> None:
        super().__init__()
        self.script = [
            "sh",
            "-c",
            'cat "$1"; cat "$2" >&2; exit "$3"',
            "sh",
            str(DATA / out),
            str(DATA / err),
            str(status),
        ]
        if not err:
            self.script[5] = "/dev/null"

    def popen(self, argv, **options):
        self.argv.append(argv)
        return super().popen(self.script, **options)


def test_output_status_and_seconds_come_back():
    done = run(Here(), ["sh", "-c", "echo out; echo err >&2; exit 3"], check=False)
    assert (done.stdout, done.stderr, done.status) == ("out\n", "err\n", 3)
    assert done.raw == "out\nerr\n"
    assert 0 < done.seconds < 5


def test_a_host_in_place_of_its_address_is_one_line():
    with pytest.raises(ToolError, match=r"^ping was given a Here instead of a text: .*, host 'here': give a host's address"):
        ping(Here(), Here())


def test_arguments_are_not_for_a_shell_and_the_locale_is_c(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LC_ALL", "pl_PL.UTF-8")
    done = run(Here(), ["sh", "-c", 'echo "$1 $LC_ALL"', "sh", "$HOME;*"])
    assert done.stdout == "$HOME;* C\n"


def test_the_systems_programs_are_found_with_any_path(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert "/usr/sbin" in run(Here(), ["sh", "-c", "echo $PATH"]).stdout.strip().split(":")


def test_a_failing_program_is_an_error_with_its_last_line():
    with pytest.raises(ToolError, match=r"^sh ended with status 4: second, host 'here'$") as caught:
        run(Here(), ["sh", "-c", "echo first >&2; echo second >&2; exit 4"])
    assert caught.value.raw == "first\nsecond\n"


@pytest.mark.parametrize("host", [Here(), Wrapped()])
def test_a_missing_program_is_named_with_its_package(host: Here, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(tool.PACKAGES, "no-such-ab", "apache2-utils")
    with pytest.raises(ToolError, match=r"^no-such-ab is not installed, host 'here': apt-get install apache2-utils$"):
        run(host, ["no-such-ab", "-n"])


def test_a_program_that_a_lab_lacks_is_named_with_what_brings_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tool.native, "inside_lab", lambda: True)
    build = "under [tool.slownet] in pyproject.toml, then run: slownet lab build"
    assert str(tool.missing("ab", "host 'here'")) == (
        f"ab is not installed, host 'here': write packages = [\"apache2-utils\"], if that is its Debian package, {build}"
    )
    brought = "put it on this machine's PATH, or its path in SLOWNET_OHA"
    assert str(tool.missing("oha", "host 'here'")) == f"oha is not installed, host 'here': {brought}"


def test_a_missing_file_is_not_a_missing_program():
    with pytest.raises(ToolError, match=r"^cat ended with status 1: cat: /nowhere/at-all: No such file or directory"):
        run(Here(), ["cat", "/nowhere/at-all", "/nowhere/else"])
    with pytest.raises(ToolError, match=r"^cat ended with status 1"):
        run(Here(), ["cat", "/nowhere/at-all"])


def test_a_program_that_takes_too_long_is_interrupted_and_its_output_kept():
    script = "trap 'echo interrupted; exit 0' INT; echo begun; while :; do sleep 0.02; done"
    with pytest.raises(ToolError, match=r"^sh did not end within 0\.3 s, host 'here'") as caught:
        run(Here(), ["sh", "-c", script], timeout=0.3)
    assert caught.value.raw == "begun\ninterrupted\n"


def test_a_program_that_ignores_signals_is_killed_with_its_children(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(tool, "ENDING", ((signal.SIGINT, 0.1), (signal.SIGTERM, 0.1), (signal.SIGKILL, 5.0)))
    pids = tmp_path / "pids"
    script = f"trap '' INT TERM; sleep 60 & echo $$ $! >{pids}; while :; do sleep 0.02; done"
    begun = time.monotonic()
    with pytest.raises(ToolError, match="did not end"):
        run(Here(), ["sh", "-c", script], timeout=0.3)
    assert time.monotonic() - begun < 5
    for pid in map(int, pids.read_text().split()):
        state = Path(f"/proc/{pid}/stat")
        assert not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_an_interrupted_caller_leaves_no_program_behind(monkeypatch: pytest.MonkeyPatch):
    host = Here()
    started: list[subprocess.Popen[bytes]] = []
    original = subprocess.Popen.communicate

    def interrupted(self, *args, **options):
        if not started:
            started.append(self)
            raise KeyboardInterrupt
        return original(self, *args, **options)

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(host, ["sleep", "60"])
    process = started[0]
    assert process.returncode == -signal.SIGINT
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stderr.close()


def test_a_background_program_is_waited_for_or_ended():
    host = Here()
    with tool.running(host, ["sh", "-c", "echo slow; sleep 0.05; echo done"]) as wait:
        assert run(host, ["echo", "meanwhile"]).stdout == "meanwhile\n"
        assert wait(10, True).stdout == "slow\ndone\n"
    begun = time.monotonic()
    with tool.running(host, ["sleep", "60"]):
        pass
    with pytest.raises(ToolError, match="cat ended with status 1"), tool.running(host, ["sleep", "60"]):
        run(host, ["cat", "/nowhere/at-all", "/nowhere/else"])
    assert time.monotonic() - begun < 30


# ---- ab and ping on a host that prints captured output ----


def test_ab_requests_the_page_on_new_connections():
    host = Canned("ab-100.txt")
    record = ab(host, "http://10.0.0.2/", requests=100)
    argv = host.argv[0]
    assert argv[:5] == ["ab", "-q", "-n", "100", "-c"]
    assert "-k" not in argv
    assert argv[-1] == "http://10.0.0.2/"
    assert record.command[0] == "ab"
    assert record.command[-1] == "http://10.0.0.2/"
    assert record.time_per_request_ms == 0.173


@pytest.mark.parametrize(
    ("text", "requests", "message"),
    [
        (
            "ab-length.txt",
            20,
            "4 of 20 requests failed (connect 0, receive 0, length 4, exceptions 0); for responses whose length varies: "
            "varying=True, host 'here', http://x/",
        ),
        ("ab-404.txt", 10, "10 of 10 responses are errors (Non-2xx responses: 10), host 'here', http://x/"),
        ("ab-20.txt", 100, "ab completed 20 of 100 requests, host 'here'"),
    ],
)
def test_ab_that_measured_something_else_is_an_error(text: str, requests: int, message: str):
    with pytest.raises(ToolError, match=f"^{re.escape(message)}$") as caught:
        ab(Canned(text), "http://x/", requests=requests)
    assert caught.value.raw == (DATA / text).read_text()


def test_ab_returns_a_record_with_a_problem_if_unchecked():
    assert ab(Canned("ab-404.txt"), "http://x/", requests=10, check=False).problem


@pytest.mark.parametrize(
    ("out", "err", "status", "message"),
    [
        (
            "ab-refused.txt",
            "ab-refused.err",
            111,
            "ab ended with status 111: apr_socket_recv: Connection refused (111)",
        ),
        (
            "ab-timeout.txt",
            "ab-timeout.err",
            119,
            "ab ended with status 119: apr_pollset_poll: The timeout specified",
        ),
        ("ab-refused.txt", "ab-bad-url.err", 22, "ab ended with status 22: ab: invalid URL, host 'here'"),
    ],
)
def test_ab_that_ends_early_says_why(out: str, err: str, status: int, message: str):
    with pytest.raises(ToolError, match=f"^{re.escape(message)}"):
        ab(Canned(out, err, status), "http://x/")


def test_ping_is_numeric_and_counts():
    host = Canned("ping-5.txt")
    record = ping(host, "10.98.0.2")
    assert host.argv[0] == ["ping", "-n", "-c", "5", "-i", "0.2", "10.98.0.2"]
    assert record.rtt_ms is not None
    assert record.rtt_ms.avg == 0.102


def test_ping_without_a_reply_is_an_error_unless_unchecked():
    host = Canned("ping-silent.txt", status=1)
    with pytest.raises(ToolError, match=r"^none of 3 pings was answered, from host 'here' to 10.98.0.2$"):
        ping(host, "10.98.0.2", count=3)
    assert ping(host, "10.98.0.2", count=3, check=False).loss == 1.0


def test_ping_with_losses_is_not_an_error():
    assert ping(Canned("ping-loss.txt"), "10.98.0.2", count=10).received == 7


def test_ping_to_nowhere_says_why():
    with pytest.raises(ToolError, match=r"^ping: connect: Network is unreachable, host 'here'$"):
        ping(Canned("ping-no-route.err", "ping-no-route.err", 2), "192.0.2.1")


ECHO = 'n=0; while read line; do n=$((n + 1)); echo "answer $n$line"; done'


def test_a_program_answers_line_by_line_and_ends_with_the_block():
    host = Here()
    with answering(host, ["sh", "-c", ECHO]) as ask:
        assert [ask(), ask()] == ["answer 1\n", "answer 2\n"]
    with answering(host, ["sh", "-c", "trap '' INT; " + ECHO]) as ask:
        assert ask() == "answer 1\n"


def test_a_program_that_ends_instead_of_answering_says_why():
    with answering(Here(), ["sh", "-c", "read line; echo yes; read line; echo 'no more' >&2; exit 3"]) as ask:
        assert ask() == "yes\n"
        with pytest.raises(ToolError, match=r"^sh ended with status 3: no more, host 'here'$"):
            ask()
    with (
        answering(Here(), ["sh", "-c", "exec >&-; sleep 0.1"]) as ask,
        pytest.raises(ToolError, match=r"^sh ended without an answer, host 'here'$"),
    ):
        ask()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("raise LookupError('no table\\nLINE 1: SELECT 1\\n        ^')", "LookupError: no table"),
        ("try: 1 / 0\nexcept Exception as e: raise ValueError('bad') from e", "ValueError: bad"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("x = (", "SyntaxError: '(' was never closed"),
        ("import sys; sys.exit('no luck')", "no luck"),
    ],
)
def test_a_python_program_that_fails_is_told_by_its_exception(program: str, said: str):
    with pytest.raises(ToolError, match=rf"^\S+ ended with status -?\d+: {re.escape(said)}, host 'here'$"):
        run(Here(), [sys.executable, "-c", program])


def test_a_program_that_does_not_answer_is_ended():
    with (
        answering(Here(), ["sh", "-c", "echo words >&2; exec sleep 60"], timeout=0.2) as ask,
        pytest.raises(ToolError, match=r"^sh did not answer within 0.2 s") as caught,
    ):
        ask()
    assert caught.value.raw == "words\n"


def test_a_program_to_talk_to_that_is_missing_is_one_line():
    with pytest.raises(ToolError, match=r"^nobody-has-this is not installed"), answering(Here(), ["nobody-has-this"]):
        pass
