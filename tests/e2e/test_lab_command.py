"""`slownet lab exec` from the command line: status, output, input, folders."""

import os
import subprocess
import tempfile

import pytest
from command_line import SLOWNET, ran
from conftest import one_line

RANDOM = os.urandom(1_000_000)


@pytest.mark.parametrize("status", [0, 3, 255])
def test_the_exit_status_comes_through(execute, status):
    assert execute("sh", "-c", f"exit {status}").returncode == status


def test_a_command_that_a_signal_ended(execute):
    assert execute("sh", "-c", "kill -TERM $$").returncode == 128 + 15


@pytest.mark.parametrize(
    ("program", "status", "line"),
    [
        ("nosuchprogram", 127, "slownet: nosuchprogram: No such file or directory\n"),
        ("/etc/passwd", 126, "slownet: /etc/passwd: Permission denied\n"),
        ("/etc", 126, "slownet: /etc: Permission denied\n"),
    ],
)
def test_a_command_that_cannot_be_run(execute, program, status, line):
    done = execute(program)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (status, b"", line)


def test_output_and_errors_are_kept_apart(execute):
    done = execute("sh", "-c", "echo out; echo err >&2; echo out again; exit 4")
    assert (done.returncode, done.stdout, done.stderr) == (4, b"out\nout again\n", b"err\n")


def test_it_is_a_lab(execute):
    done = execute("sh", "-c", "id -u; hostname; uname -m; pwd; cat /proc/1/comm; wc -l < /proc/net/route")
    user, host, machine, folder, init, routes = done.stdout.decode().split()
    assert (user, host, init, routes) == ("0", "lab", "init", "1")
    assert machine == os.uname().machine
    assert folder == str(execute.folder)


NETWORK = """
from slownet.net.network import Network
from slownet.topologies import ClientWebDb
for _ in range(2):
    with Network(ClientWebDb()) as net:
        net.link("client", "switch").set(rtt="10ms")
"""


def test_a_script_that_builds_networks_has_no_warnings(execute):
    done = execute("python", "-X", "dev", "-W", "error", "-c", NETWORK, options=["--tdf", "inf"])
    assert (done.returncode, done.stderr.decode()) == (0, "")


def test_many_bytes_come_out_exactly(execute):
    (execute.folder / "random").write_bytes(RANDOM)
    done = execute("cat", "random")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == RANDOM


def test_many_bytes_come_out_of_both_streams(execute):
    (execute.folder / "random").write_bytes(RANDOM)
    done = execute("sh", "-c", "cat random & cat random >&2; wait")
    assert done.stdout == RANDOM
    assert done.stderr == RANDOM


def test_many_bytes_go_through_a_pipe(execute):
    done = execute("cat", input=RANDOM)
    assert (done.returncode, done.stdout, done.stderr) == (0, RANDOM, b"")


def test_many_bytes_go_through_from_a_file(execute, tmp_path):
    (tmp_path / "random").write_bytes(RANDOM)
    with (tmp_path / "random").open("rb") as file:
        assert execute("cat", stdin=file).stdout == RANDOM


def test_a_command_may_write_more_than_it_reads(execute):
    done = execute("od", "-An", "-v", "-tx1", input=RANDOM[:300_000])
    assert bytes.fromhex(done.stdout.decode()) == RANDOM[:300_000]


@pytest.mark.parametrize("from_file", [False, True])
def test_a_command_that_does_not_read_its_input_is_not_kept_waiting(execute, tmp_path, from_file):
    (tmp_path / "random").write_bytes(RANDOM)
    with (tmp_path / "random").open("rb") as file:
        done = execute("sh", "-c", "echo 1; sleep 1; echo 2", **({"stdin": file} if from_file else {"input": RANDOM}))
    assert (done.returncode, done.stdout) == (0, b"1\n2\n")


def test_a_command_that_closes_its_input_goes_on(execute):
    done = execute("sh", "-c", "head -c 3; exec <&-; sleep 1; echo; echo on", input=b"abc" + RANDOM)
    assert (done.returncode, done.stdout) == (0, b"abc\non\n")


def test_input_that_comes_slowly_is_passed_on_as_it_comes(execute):
    with execute.start("cat", stdin=subprocess.PIPE) as process:
        for line in (b"one\n", b"two\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == line
        process.stdin.close()
        assert process.wait() == 0
        assert process.stderr.read() == b""


def test_no_input_is_an_end_of_input(execute):
    assert execute("cat").stdout == b""


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed(execute, closed):
    script = f'exec "$@" {closed}'
    words = execute.words("sh", "-c", "cat; echo out; echo err >&2; exit 6")
    done = subprocess.run(["sh", "-c", script, "sh", *words], cwd=execute.folder, capture_output=True, check=False)
    assert done.returncode == 6
    assert done.stdout == (b"" if ">&-" in closed.split() else b"out\n")
    assert done.stderr == (b"" if "2>&-" in closed.split() else b"err\n")


def test_nobody_reads_on(execute):
    with execute.start("yes") as process:
        assert process.stdout.readline() == b"y\n"
        process.stdout.close()
        assert process.wait(60) == 128 + 13
        assert process.stderr.read() == b""


def test_a_pipe_that_breaks_inside_is_silent_as_ever(execute):
    done = execute("sh", "-c", "yes | head -n 1")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"y\n", b"")


def test_output_that_cannot_be_written_is_one_line(execute):
    with open("/dev/full", "wb") as full:
        done = execute("echo", "x", stdout=full)
    assert one_line(done) == "cannot write the command's output (No space left on device)"


def test_many_lines_come_quickly_and_in_order(execute):
    done = execute("seq", "5000")
    assert done.stdout == b"".join(b"%d\n" % i for i in range(1, 5001))


def test_a_long_command_line(execute):
    words = ["x" * 100_000, *map(str, range(5000)), "", "a b", "ü", "\n"]
    done = execute("sh", "-c", 'for i in "$@"; do printf "%s\\0" "$i"; done', "sh", *words)
    assert done.stdout.decode().split("\0")[:-1] == words


def test_what_the_command_leaves_behind_is_not_waited_for(execute):
    done = execute("sh", "-c", "sleep 1000 & yes >&2 & echo hi", options=["--clock", "real"])
    assert (done.returncode, done.stdout) == (0, b"hi\n")


def test_a_command_that_closes_its_output_runs_on(execute):
    done = execute("sh", "-c", "exec >&- 2>&-; sleep 2; exit 5")
    assert (done.returncode, done.stdout, done.stderr) == (5, b"", b"")


def test_a_flood_of_orphans_is_cleaned_up(execute):
    script = "i=0; while [ $i -lt 300 ]; do (sleep 0 &); i=$((i+1)); done; sleep 1; ps -eo stat= | grep -c Z"
    done = execute("sh", "-c", script)
    assert done.stdout == b"0\n"


def test_the_environment_is_the_labs_own(execute):
    done = execute("env", env={**os.environ, "SECRET": "1", "LC_ALL": "de_DE"})
    names = {line.split("=")[0] for line in done.stdout.decode().splitlines()}
    assert "SECRET" not in names
    assert "LC_ALL" not in names
    assert {"PATH", "HOME", "LANG", "SLOWNET_LAB"} <= names


def test_the_package_and_its_programs_are_there(execute):
    done = execute("python", "-c", "import slownet, mininet, numpy, sys; print(sys.version_info[:2], slownet.__file__)")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"(3, 13) ")


@pytest.mark.parametrize("name", ["with space", "with:colon", "with,comma", "ü日本", "a'b\"c", os.fsdecode(b"\xff")])
def test_it_runs_from_a_folder_with_any_name(execute, name):
    folder = execute.folder / name
    folder.mkdir()
    (folder / "file").write_text("x")
    done = execute("sh", "-c", "pwd; cat file", cwd=folder)
    assert done.stdout == os.fsencode(folder) + b"\nx"


@pytest.mark.parametrize("folder", ["/", "/tmp", "/etc"])
def test_a_folder_that_the_lab_has_itself_stays_the_labs_own(execute, folder):
    with tempfile.NamedTemporaryFile(dir="/tmp") as ours:
        done = execute("sh", "-c", f"pwd; ls {ours.name}; touch /tmp/x /etc/x && hostname", cwd=folder)
    assert done.stdout == b"/\nlab\n"


def test_from_a_folder_that_is_gone(execute, tmp_path):
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    words = execute.words("pwd")
    done = subprocess.run(["sh", "-c", script, "sh", *words], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"/\n")


def test_the_cache_may_have_any_name(execute, built, tmp_path, monkeypatch):
    cache = tmp_path / "ca che:,ü"
    for folder in (built.kernel.path.parent, built.image.path.parent, built.tools):
        copy = cache / "slownet" / folder.parent.name / folder.name
        copy.parent.mkdir(parents=True)
        copy.symlink_to(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert execute("echo", "hi", options=["--clock", "real"]).stdout == b"hi\n"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--clock", "fast"], "unknown clock 'fast', --clock: choose from exact, real, virtual"),
        (["--clock", ""], "unknown clock '', --clock: choose from exact, real, virtual"),
        (["--tdf", "0"], "invalid time dilation factor '0', --tdf: write a whole number from 1 to 999999, inf or auto"),
        (["--tdf", ""], "invalid time dilation factor '', --tdf: write a whole number from 1 to 999999, inf or auto"),
        (
            ["--clock", "real", "--tdf", "2"],
            "a time dilation factor (2) has no meaning on the real clock, --tdf: leave out one of them",
        ),
        (["--memory", "10"], "10 MB of memory is too little for a lab, --memory: give it 160 MB or more"),
        (["--share", "/nowhere"], "/nowhere is not a folder, --share: name a folder of this machine"),
        (["--share", "/etc"], "/etc would hide the lab's own folder, --share: share another folder"),
    ],
)
def test_a_mistake_is_one_line(execute, options, line):
    assert one_line(execute("true", options=options)) == line


def test_memory_that_nobody_has_is_one_line(execute):
    line = one_line(execute("true", options=["--memory", "99999999"]))
    assert line.startswith("no folder has room for the lab's 99999999 MB of memory: ")


def test_a_lab_that_is_not_built_is_one_line(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = ran([*SLOWNET, "lab", "exec", "--", "true"], env=environment)
    assert one_line(done) == "the lab is not built on this machine, or not for this version: slownet lab build"


def test_info_says_what_there_is(built):
    done = ran([*SLOWNET, "lab", "info"], text=True)
    for each in ("cache ", "kernel ", "image ", "tdf ", "confined  ", "native "):
        assert any(line.startswith(each) for line in done.stdout.splitlines())
    assert built.kernel.release in done.stdout
