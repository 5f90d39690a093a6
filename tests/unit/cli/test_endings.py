"""How the command line ends."""

import os
import resource
import subprocess
import sys

import pytest

from slownet.cli import app as cli
from slownet.cli import endings
from slownet.lab.host import examination

SLOWNET = [sys.executable, "-c", "from slownet.cli.entry import main; main()"]


def test_an_interrupt_is_said_and_is_status_130(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(examination, "examine", interrupted)
    with pytest.raises(SystemExit) as caught:
        cli.main(["doctor"])
    assert caught.value.code == 130
    assert capsys.readouterr() == ("", "slownet: interrupted\n")


def test_an_option_that_does_not_exist_is_one_line(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["doctor", "--jsno"])
    assert caught.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--jsno" in line
    assert "--json" in line


def ended(monkeypatch, error):
    """Return the exit status of a command that raises an error."""

    def fail():
        raise error

    monkeypatch.setattr(examination, "examine", fail)
    with pytest.raises(SystemExit) as caught:
        cli.main(["doctor"])
    return caught.value.code


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            PermissionError(13, "Permission denied", "/x"),
            "Permission denied, /x: change its permissions, or name another",
        ),
        (OSError(24, "Too many open files"), "Too many open files: raise the limit on open files: ulimit -n 1024"),
        (OSError(71, "Protocol error"), "Protocol error: SLOWNET_TRACEBACK=1 shows where it happened"),
        (MemoryError(), "memory does not suffice: end other programs, or raise the limit on memory: ulimit -v unlimited"),
    ],
)
def test_what_the_system_refuses_is_one_line(monkeypatch, capsys, error, line):
    assert ended(monkeypatch, error) == 2
    assert capsys.readouterr() == ("", f"slownet: {line}\n")


def test_an_error_of_our_own_is_a_bug_with_a_file_to_send(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(endings.tempfile, "tempdir", str(tmp_path))
    assert ended(monkeypatch, KeyError("odd")) == 70
    (file,) = tmp_path.iterdir()
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == (
        f"slownet: KeyError: 'odd', a bug of slownet {cli.__version__}: please report it to slownet's repository with {file}\n"
    )
    assert "in fail\n    raise error\n" in file.read_text()


def test_a_bug_without_room_for_the_file_is_one_line_too(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(endings.tempfile, "tempdir", str(tmp_path / "missing"))
    assert ended(monkeypatch, KeyError("odd")) == 70
    assert capsys.readouterr().err.count("\n") == 1


def test_a_variable_shows_the_traceback(monkeypatch, capsys):
    monkeypatch.setenv("SLOWNET_TRACEBACK", "1")
    assert ended(monkeypatch, KeyError("odd")) == 70
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].endswith("please report it to slownet's repository with the lines above")


# ---- where a command is started ----


def run(*words, before=None, **options):
    """Run the program; `before` is called in its process first."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([*SLOWNET, *words], text=True, check=False, preexec_fn=before, **options)


def test_a_closed_standard_output_is_said_before_anything_is_done():
    done = run("list", before=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (2, "slownet: standard output is closed: redirect it, for example to /dev/null\n")


@pytest.mark.parametrize("number", [0, 2])
def test_the_other_streams_may_be_closed(number):
    done = run("doctor", "--json", before=lambda: os.close(number))
    assert done.returncode in (0, 1)
    assert done.stdout.startswith("{")
    assert done.stderr == ""


@pytest.mark.parametrize("words", [["list"], ["doctor", "--json"], ["run", "--help"]])
def test_a_full_disk_behind_standard_output_is_one_line(words):
    with open("/dev/full", "w") as full:
        done = run(*words, stdout=full)
    assert done.returncode == 2
    assert done.stderr.startswith("slownet: No space left on device")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [["list"], ["doctor", "--json"], ["run", "--help"]])
def test_a_reader_that_ends_is_no_failure_to_report(words):
    reader, writer = os.pipe()
    os.close(reader)
    done = run(*words, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("words", [["list"], ["run", "client_delay", "--vary", "rtt=x"], ["show", "nowhere"]])
def test_a_removed_working_directory_is_no_traceback(tmp_path, words):
    gone = tmp_path / "gone"
    gone.mkdir()

    def before():
        os.chdir(gone)
        gone.rmdir()

    done = run(*words, before=before)
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 1
    assert done.returncode in (0, 2)


@pytest.mark.parametrize(
    "variables",
    [
        {"HOME": None},
        {"HOME": "/nowhere/at/all"},
        {"HOME": "/proc"},
        {"TERM": None},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"XDG_CACHE_HOME": "~nosuch/x"},
        {"SLOWNET_SYSTEM_CACHE": "~nosuch"},
        {"TMPDIR": "/nowhere"},
    ],
    ids=str,
)
@pytest.mark.parametrize("words", [["lab", "info"], ["show", "nowhere\udcff"]], ids=" ".join)
def test_an_odd_environment_is_no_traceback(variables, words):
    env = {name: value for name, value in {**os.environ, **variables}.items() if value is not None}
    done = run(*words, env=env)
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 1
    assert done.returncode in (0, 1, 2)


@pytest.mark.parametrize("limit", [(resource.RLIMIT_NOFILE, 16), (resource.RLIMIT_NOFILE, 6)], ids=str)
@pytest.mark.parametrize(
    "words", [["list"], ["doctor"], ["lab", "info"], ["run", "client_delay", "--vary", "rtt=x"]], ids=" ".join
)
def test_few_open_files_are_no_traceback(limit, words):
    done = run(*words, before=lambda: resource.setrlimit(limit[0], (limit[1], limit[1])))
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 1
    assert done.returncode in (0, 1, 2)


@pytest.mark.parametrize("megabytes", [60, 120])
def test_little_memory_is_one_line(megabytes):
    limit = megabytes << 20
    done = run("doctor", "--json", before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1, 2)
    assert done.returncode < 2 or "memory" in done.stderr
