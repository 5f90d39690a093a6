import os
import subprocess

from slownet.lab.host import process_stat


def test_a_process_is_read_as_the_kernel_says():
    own = process_stat.of(os.getpid())
    assert (own.parent, own.group, own.session) == (os.getppid(), os.getpgid(0), os.getsid(0))
    assert own.lives


def test_a_name_may_hold_spaces_and_brackets(tmp_path):
    (tmp_path / "7").mkdir()
    (tmp_path / "7/stat").write_text("7 (a) b (c) S 3 4 5 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 987 0 0\n")
    assert process_stat.of(7, tmp_path) == process_stat.Stat("a) b (c", "S", 3, 4, 5, 987)


def test_one_that_has_ended_does_not_live():
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not process_stat.of(child.pid).lives
    child.wait()
    assert process_stat.of(child.pid) is None
