"""The launcher of programs that get no random bytes."""

import subprocess
import sys
from pathlib import Path

import pytest

import slownet.lab.build

LAUNCHER = Path(slownet.lab.build.__file__).with_name("same-random")
SHOW = """
import os, struct, sys
vector = dict(struct.iter_unpack("@LL", open("/proc/self/auxv", "rb").read()))
memory = open("/proc/self/mem", "rb")
memory.seek(vector[25])
try:
    os.getrandom(1)
    denied = False
except OSError:
    denied = True
print(os.getpid(), memory.read(16).hex(), denied)
sys.exit(3)
"""


def shown(*launcher):
    """Run a program that prints its number, its AT_RANDOM and whether getrandom fails; return its process, and these."""
    argv = [*launcher, sys.executable, "-c", SHOW]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        out, said = process.communicate(timeout=60)
    if "cannot be traced" in said:
        pytest.skip("this machine does not let a process trace another one")
    assert process.returncode == 3, said
    number, random, denied = out.split()
    return process, int(number), random, denied == "True"


def test_a_program_gets_no_random_bytes_and_keeps_its_number():
    for _ in range(10):  # its start races with the end of a child
        process, number, random, denied = shown(sys.executable, LAUNCHER)
        assert random == "00" * 16
        assert denied
        assert number == process.pid


def test_without_it_they_differ():
    assert shown()[2:] != shown()[2:]
    assert not shown()[3]


def test_a_program_that_is_missing_is_an_error():
    done = subprocess.run([sys.executable, LAUNCHER, "/no/such/program"], capture_output=True, timeout=60, check=False)
    assert done.returncode != 0
