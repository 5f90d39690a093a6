"""CPU and memory of this version beside an earlier one's, for `make bench AGAINST=REV`: the same commands of both, in turn.

CPU time is compared, as it depends less on other load than wall time, and ratios within one call of this: the same work
takes 10 to 19 % more or less of it from one moment to another. The earlier version gets a checkout and an environment of its
own in a temporary folder, and shares the caches; parts of its lab that are not in these are built, which takes minutes.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import bench_growth
import bench_memory

ROUNDS = 5
HOME = Path(__file__).parents[1]
Say = Callable[[str, str, str], None]
PING = """
import pytest
from slownet import TwoHosts, ping

@pytest.mark.topology(TwoHosts)
def test_ping(net):
    assert ping(net["client"], net["server"].IP(), count=3).received == 3
"""
COMMANDS: Mapping[str, str] = {
    "import slownet": "python -c 'import slownet'",
    "slownet list": "slownet list",
    "true in a lab": "slownet lab exec --tdf inf true",
    "pytest with one net test": "python -m pytest -q -p no:cacheprovider test_ping.py",
    "slownet run client_delay": "slownet run client_delay",
}
"""Shell commands by what people call them; programs come from an environment's folder, which is the first in PATH."""


def against(revision: str, say: Say, rounds: int = ROUNDS) -> None:
    """Measure each command with this version and with that revision, in turn, and print the ratios of their CPU times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_ping.py").write_text(PING)
        ways = [Path(sys.executable).parent, environment_of(revision, folder / "earlier")]
        bench_growth.count_all()
        for what, command in COMMANDS.items():
            for programs in ways:
                seconds(command, programs, folder)  # what a first call compiles and caches
            pairs = [[seconds(command, programs, folder) for programs in ways] for _ in range(rounds)]
            now, then = (statistics.median(each) for each in zip(*pairs, strict=True))
            ratios = sorted(one / other for one, other in pairs)
            spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
            say(f"CPU of {what}", f"{now / then:.2f}", f"times {revision}'s ({spread}): {now:.2f} s, {then:.2f} s")
        for what, words in bench_memory.LOADS.items():
            peaks = [[bench_memory.resident(words, folder, each / "slownet")[1] for each in ways] for _ in range(3)]
            now, then = (statistics.median(each) for each in zip(*peaks, strict=True))
            say(f"memory of a lab: {what}", f"{now / then:.2f}", f"times {revision}'s: {now:.0f} MB, {then:.0f} MB")


def environment_of(revision: str, folder: Path) -> Path:
    """Return the folder of programs of an environment with a revision, and its lab built. Exits with git's or pip's message."""
    run("git", "clone", "-q", "--shared", "--no-checkout", HOME, folder)
    run("git", "-C", folder, "checkout", "-q", "--detach", revision)
    run(sys.executable, "-m", "venv", folder / ".venv")
    programs = folder / ".venv/bin"
    run(programs / "python", "-m", "pip", "install", "-q", "-e", f"{folder}[dev]")
    run(programs / "slownet", "lab", "build")
    return programs


def run(*words: str | Path) -> None:
    """Run a command that has to succeed."""
    if subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode:
        sys.exit(f"bench: {' '.join(map(str, words))} failed")


def seconds(command: str, programs: Path, folder: Path) -> float:
    """Return the CPU seconds of a command and of all that it starts, with the programs of one environment."""
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    return bench_growth.cpu_of(["sh", "-ec", command], str(folder), environment)
