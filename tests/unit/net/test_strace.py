"""strace's parser on output of strace 6.13 from a lab."""

from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.net.strace import Call, parse, traced

DATA = Path(__file__).parents[1] / "tools" / "data"
TALK = (DATA / "strace-write-write-read.txt").read_text()


def test_both_writes_leave_the_program_at_once():
    writes = [call for call in parse(TALK) if call.name == "sendto"]
    assert [call.result for call in writes] == [128, 35] * 4
    assert {call.descriptor for call in writes} == {3}
    between = [second.ns - first.ns for first, second in zip(writes[::2], writes[1::2], strict=True)]
    assert max(between) < 20_000


def test_a_call_that_another_thread_interrupted_has_its_own_start_and_the_late_result():
    assert parse((DATA / "strace-threads.txt").read_text()) == [
        Call(31, 1795347736_013156096, "sendto", '4, "hello", 5, 0, NULL, 0', 5),
        Call(32, 1795347736_003100928, "recvfrom", '3, "hello", 5, 0, NULL, NULL', 5),
    ]


def test_errors_and_short_times_are_read():
    (call,) = parse("12.5 connect(3, {sa_family=AF_INET}, 16) = -1 EINPROGRESS (Operation now in progress)\n")
    assert (call.process, call.ns, call.result) == (0, 12_500_000_000, -1)


@pytest.mark.parametrize(
    "line",
    [
        "strace: exec: No such file or directory",
        "37    1795347740.367224064 sendto(3, ",
        "37    1795347740.367224064 <... recvfrom resumed>) = 5",
        "37    yesterday sendto(3) = 5",
    ],
)
def test_a_malformed_line_is_shown_and_the_text_kept(line: str):
    with pytest.raises(ToolError, match="not understood") as caught:
        parse(TALK + line + "\n")
    assert " ".join(line.split()) in str(caught.value)
    assert caught.value.raw.startswith(TALK)


def test_the_command_comes_after_straces_own_options():
    argv = traced(["php", "-r", "x"], Path("/run/trace"))
    assert argv[0] == "strace"
    assert argv[argv.index("--") + 1 :] == ["php", "-r", "x"]
    assert argv[argv.index("-o") + 1] == "/run/trace"
