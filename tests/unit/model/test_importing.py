"""Whatever a user's file does is told by file and line."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from slownet.cli import endings
from slownet.hypotheses import catalogue, specs
from slownet.judge.claim.family import judge_all
from slownet.judge.records.result import gather
from slownet.model import importing
from slownet.model.errors import ExperimentError, SlownetError, ToolError

ENDS = "the file ends the program"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(text, name="mine.py"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    return write


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\n1 / 0", "ZeroDivisionError: division by zero, mine.py:2: correct the file"),
        ("a = 1\nb = = 2", "SyntaxError: invalid syntax, mine.py:2: correct the file"),
        ("raise BaseException('out')", "BaseException: out, mine.py:1: correct the file"),
        ("import sys\nsys.exit()", "the file ends the program: SystemExit(None), mine.py:2: leave that out: "),
        ("raise SystemExit(0)", "the file ends the program: SystemExit(0), mine.py:1: leave that out: a file only defines"),
        ("import os\nos._exit(0)", "the file ends the program: os._exit(0), mine.py:2: leave that out: a file only defines"),
        (
            "import argparse\nargparse.ArgumentParser(exit_on_error=True).parse_args(['--no'])",
            "the file reads its own arguments: unrecognized arguments: --no, mine.py:2: give them after --",
        ),
        ("raise ValueError('one\\ntwo')", "ValueError: one two, mine.py:1: correct the file"),
        ("raise ValueError('x' * 10**6)", f"ValueError: {'x' * 300}..., mine.py:1: correct the file"),
        (
            "class Odd(Exception):\n    def __str__(self):\n        1 / 0\nraise Odd",
            "Odd, mine.py:4: correct the file",
        ),
        ("def f():\n    f()\nf()", "RecursionError: maximum recursion depth exceeded, mine.py:2: correct the file"),
        ("x = 1\0", "SyntaxError: source code string cannot contain null bytes, mine.py: correct the file"),
        (b"x = '\xff'", "SyntaxError: (unicode error) 'utf-8' codec can't decode byte 0xff in "),
        (
            "from slownet import ratio\nratio('x')",
            "TypeError: ",
        ),
    ],
)  # fmt: skip
def test_what_an_experiment_file_raises_is_one_line(file, text, line):
    with pytest.raises(ExperimentError) as caught:
        catalogue.find(file(text))
    assert str(caught.value).startswith(line)
    assert "mine.py" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_module_beside_the_file_is_the_users_too(file):
    file("\n\n1 / 0", "helper.py")
    with pytest.raises(ExperimentError, match=r"^ZeroDivisionError: division by zero, helper\.py:3: "):
        catalogue.find(file("import helper"))


def test_an_error_of_slownet_passes(file):
    with pytest.raises(ToolError, match=r"^mine$"):
        catalogue.find(file("from slownet import ToolError\nraise ToolError('mine')"))


def test_a_child_process_of_a_file_may_exit(file):
    text = (
        "import os\npid = os.fork()\nif not pid:\n    os._exit(7)\nstatus = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\n"
    )
    module = importing.file(importing.Path(file(text)), "")
    assert module.status == 7
    assert os._exit.__module__ == "posix"


def test_a_signal_is_not_the_files_doing(file):
    with pytest.raises(importing.Terminated):
        importing.file(importing.Path(file("from slownet.model import importing\nraise importing.Terminated(143)")), "")


def test_a_huge_file_is_not_read(file, tmp_path):
    name = file("")
    with open(tmp_path / name, "r+b") as sparse:
        sparse.truncate(1 << 30)
    with pytest.raises(ExperimentError, match=r"^mine\.py is larger than 4 MiB: name a Python file$"):
        catalogue.find(name)


@pytest.mark.parametrize("build", ["1 / 0", "raise SystemExit(0)", "__import__('os')._exit(0)"])
def test_a_topology_that_fails_when_it_is_made_is_one_line(file, build):
    name = file(f"from mininet.topo import Topo\nclass Lan(Topo):\n    def build(self):\n        {build}\n")
    with pytest.raises(SlownetError, match=r", mine\.py:4: "):
        specs.topology(name)


@pytest.mark.parametrize(
    ("action", "line"),
    [
        ("1 / 0", "slownet: ZeroDivisionError: division by zero, mine.py:3: correct the file"),
        ("raise SystemExit(0)", f"slownet: {ENDS}: SystemExit(0), mine.py:3: leave that out: a file only defines"),
        ("__import__('os')._exit(0)", f"slownet: {ENDS}: os._exit(0), mine.py:3: leave that out: a file only defines"),
        ("raise OSError(28, 'full')", "slownet: OSError: [Errno 28] full, mine.py:3: correct the file"),
    ],
)  # fmt: skip
def test_a_function_of_a_file_that_is_called_later_is_told_as_well(file, capsys, action, line):
    module = importing.file(importing.Path(file(f"\ndef later():\n    {action}\n")), "")
    with pytest.raises(SystemExit) as caught, endings.one_line():
        module.later()
    assert caught.value.code == 2
    assert capsys.readouterr() == ("", f"{line}\n")


def test_what_is_no_users_file_may_end_the_process(file):
    """Also in such a block, and a child process of a user's function."""
    importing.file(importing.Path(file("")), "")
    with importing.going_on():
        pid = os.fork()
        if not pid:
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    script = "import os\nfrom slownet.model import importing\nwith importing.going_on():\n    os._exit(9)\n"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9


def test_blocks_in_threads_end_in_any_order(file):
    module = importing.file(importing.Path(file("import os\ndef later():\n    os._exit(0)\n")), "")
    one, other = importing.going_on(), importing.going_on()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    with pytest.raises(SystemExit):
        module.later()
    other.__exit__(None, None, None)
    assert os._exit.__module__ == "posix"


@pytest.mark.parametrize("action", ["__import__('sys').exit(0)", "__import__('os')._exit(0)"])
def test_a_claim_that_ends_the_program_is_one_line(file, action):
    """So `slownet.run` in a script raises, too; the script would have ended well."""
    claim = importing.file(
        importing.Path(file(f"class Mine:\n    def judge(self, run, siblings):\n        {action}\n")), ""
    ).Mine()
    with pytest.raises(ExperimentError, match=rf"^{ENDS}: .*\(0\), mine\.py:3: leave that out"):
        judge_all([claim], gather([], {}), cannot=lambda claim, error: pytest.fail("judged"))


@pytest.mark.parametrize("action", ["__import__('sys').exit(0)", "__import__('os')._exit(0)"])
def test_a_claim_of_a_package_that_ends_the_program_is_one_line(action):
    class Theirs:
        def judge(self, run, siblings):
            exec(action)

    with pytest.raises(ExperimentError, match=rf"^{ENDS}: .*\(0\), .*:1: leave that out"):
        judge_all([Theirs()], gather([], {}))


def test_a_signal_while_a_claim_is_judged_is_not_its_doing():
    class Long:
        def judge(self, run, siblings):
            raise importing.Terminated(143)

    with pytest.raises(importing.Terminated):
        judge_all([Long()], gather([], {}))


ARGPARSE = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--bw', type=int, required=True)\n"
OPTPARSE = "import optparse\nparser = optparse.OptionParser()\nparser.add_option('--bw', type=int)\n"


@pytest.mark.parametrize(
    ("text", "words", "why"),
    [
        (f"{ARGPARSE}parser.parse_args()", [], "the following arguments are required: --bw, mine.py:4"),
        (f"{ARGPARSE}parser.parse_args()", ["--bw", "x"], "argument --bw: invalid int value: 'x', mine.py:4"),
        (f"{OPTPARSE}parser.parse_args()", ["--wb", "1"], "no such option: --wb, mine.py:4"),
    ],
)
def test_what_a_parser_of_the_files_own_arguments_says_is_one_line(tmp_path, monkeypatch, capsys, text, words, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(text)
    before = sys.argv
    with pytest.raises(ExperimentError) as caught:
        importing.file(Path("mine.py"), "", words)
    assert str(caught.value).startswith(f"the file reads its own arguments: {why}: give them after --, as in")
    assert capsys.readouterr() == ("", "")
    assert sys.argv is before
    with pytest.raises(SystemExit):  # parsers of others are as before
        argparse.ArgumentParser().error("mine")


def test_a_file_that_takes_its_arguments_by_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("import sys\nNAME, SIZE = sys.argv[0], int(sys.argv[1])\n")
    module = importing.file(Path("mine.py"), "", ["7"])
    assert (module.NAME, module.SIZE) == ("mine.py", 7)
    with pytest.raises(
        ExperimentError, match=r"the file reads its own arguments, and finds too few, mine\.py:2: give them after"
    ):
        importing.file(Path("mine.py"), "")
