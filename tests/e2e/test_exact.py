"""`--clock exact`: what is refused, and a command; `make test-exact` has the other tests, a minute each.

In `make e2e` an emulated machine boots for `tests/exact/test_exact_run.py::test_a_hypothesis_is_checked_in_one_boot`: its
programs' files, output and status come the same way, on the same clock.
"""

import re
import shutil

import pytest
from command_line import slownet

from slownet.lab.exact.emulator import PACKAGE, PROGRAM

CLOCKED = """
import subprocess, time

began = time.monotonic_ns()
time.sleep(50)
print(time.monotonic_ns() - began)
print(subprocess.run(["ping", "-c", "2", "127.0.0.1"], check=True, capture_output=True, text=True).stdout)
"""


@pytest.mark.long
@pytest.mark.skipif(not shutil.which(PROGRAM), reason=f"there is no {PROGRAM} here: apt-get install {PACKAGE}")
def test_a_command_in_an_emulated_machine_has_input_output_and_a_clock_that_jumps(built, tmp_path):
    (tmp_path / "clocked.py").write_text(CLOCKED)
    done = slownet("lab", "exec", "--clock", "exact", "--", "sh", "-c", "python clocked.py; echo >&2 to errors; exit 7",
                   cwd=tmp_path, timeout=900)  # fmt: skip
    assert done.returncode == 7
    assert done.stderr.splitlines()[-1] == "to errors"
    slept = int(done.stdout.split()[0])
    assert 0 <= slept - 50e9 < 1e6
    assert "2 received" in done.stdout
    assert all(0 < float(each) < 1 for each in re.findall(r"time=([\d.]+) ms", done.stdout))


EXEC = "only `slownet run`, `check`, `sweep`, `hunt`, `reproduce`, `lab exec` and tests have the exact clock, --clock exact"
REFUSED = (
    ["lab", "shell", "--clock", "exact"],
    ["doctor", "calibrate", "--clock", "exact"],
    ["shell", "mininet", "--clock", "exact", "mine.py"],
)


def test_a_compose_project_is_refused_in_a_line(tmp_path):
    (tmp_path / "compose.yaml").write_text("services:\n  web:\n    image: web:1\n")
    done = slownet("run", "compose.yaml", "--tool", "ab", "--option", "url=http://web:80/", "--clock", "exact", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "slownet: a compose project's containers do not run on the exact clock, --clock exact: leave it out, or use --tdf inf\n"
    )


@pytest.mark.parametrize("words", REFUSED)
def test_a_command_that_cannot_do_with_it_is_one_line(built, tmp_path, words):
    (tmp_path / "mine.py").touch()
    done = slownet(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"slownet: {EXEC}: use the virtual clock, or leave it out\n"
