"""`make soak`: repeats the tests next to programs that occupy every processor, to find tests that depend on luck.

A round is all unit tests and the smoke set of the lab; a whole round is what `make test` runs. It prints one line per round;
the output of failed rounds is kept in a folder with the tally: an interrupted soak continues with its next round when it is
started again on the same commit. Exit status 1 if any round failed, 2 if files changed during a round, which then does not
count.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from hogs import hogs

ROOT = Path(__file__).parent.parent
PATIENCE_S = 3600.0
GRACE_S = 30.0
POLL_S = 0.05
TALLY = "tally.json"

PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")


def make(target: str) -> tuple[str, ...]:
    """Return the command for a target of the Makefile."""
    return ("make", "--no-print-directory", target)


def in_lab(tdf: str, *files: str) -> tuple[str, ...]:
    """Return the command that runs these files of tests/lab inside one lab."""
    lab = (sys.executable, "-m", "slownet.cli", "lab", "exec", "--tdf", tdf, "--", "python", *PYTEST)
    return (*lab, *(f"tests/lab/{each}" for each in files))


Steps = Sequence[Mapping[str, Sequence[str]]]
"""Commands by name: those of one mapping run in parallel, the mappings one after the other."""

FEW = ("test_network.py", "test_services.py", "test_seeds.py", "test_capture.py", "test_teardown.py")
SMOKE: Steps = (
    {"unit": make("unit")},
    {
        "lab": in_lab("inf", *FEW),
        # with CPU charged, other load on this machine may affect results
        "lab, CPU charged": in_lab("auto", "test_network.py", "test_nagle.py", "test_counters.py"),
        "clocks": (sys.executable, *PYTEST, "tests/e2e/test_lab_clock.py"),
    },
)
WHOLE: Steps = ({"unit": make("unit")}, {"lab": make("lab-tests"), "commands": make("e2e")})


@dataclass
class Tally:
    """Results of the rounds: ``failures`` counts failures by test, ``row`` the rounds passed since the last failed one,
    ``longest`` the longest such row."""

    rounds: int = 0
    failed: int = 0
    row: int = 0
    longest: int = 0
    failures: Counter[str] = field(default_factory=Counter)

    def add(self, passed: bool) -> None:
        self.rounds += 1
        self.failed += not passed
        self.row = self.row + 1 if passed else 0
        self.longest = max(self.longest, self.row)


Tallies = Mapping[str, Tally]


class ChangedError(Exception):
    """The checkout has changed since the soak began."""


def main() -> int:
    options = arguments()
    folder = options.keep or ROOT / "runs" / f"soak-{commit()}"
    for number in (signal.SIGINT, signal.SIGTERM):  # a background job of a shell ignores SIGINT
        signal.signal(number, signal.default_int_handler)
    tallies = read(folder / TALLY)
    began = tree()

    def write() -> None:
        if tree() != began:
            raise ChangedError
        keep(folder / TALLY, json.dumps({name: vars(each) for name, each in tallies.items()}, indent=1) + "\n")

    try:
        with hogs(options.hogs, options.nice):
            print(f"beside {options.hogs} hogs at nice {options.nice}", flush=True)
            soak("round", options.rounds, SMOKE, folder, tallies["rounds"], write)
            soak("whole round", options.whole, WHOLE, folder, tallies["whole rounds"], write)
    except KeyboardInterrupt:
        print("interrupted")
        tell(tallies, folder)
        return 130
    except ChangedError:
        print(f"{ROOT}: files changed during a round, so it does not count; soak a clone that nobody works in", file=sys.stderr)
        return 2
    return tell(tallies, folder)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    processors = len(os.sched_getaffinity(0))
    parser.add_argument("--rounds", type=int, default=50, help="rounds of unit tests and smoke set (%(default)s)")
    parser.add_argument("--whole", type=int, default=3, help="rounds of the whole suite after them (%(default)s)")
    parser.add_argument("--hogs", type=int, default=processors, help="busy programs next to the tests (one per processor)")
    parser.add_argument("--nice", type=int, default=0, help="their niceness (%(default)s)")
    parser.add_argument("--keep", type=Path, help="folder for the tally and the output of failed rounds (runs/soak-COMMIT)")
    return parser.parse_args()


def commit() -> str:
    """Return the commit of the checkout; the time if there are changes, so that no earlier soak is continued."""
    found = git("describe", "--always", "--abbrev=12", "--dirty").strip()
    return found if found and not found.endswith("-dirty") else time.strftime("%Y%m%d-%H%M%S")


def tree() -> str:
    """Return the commit and the files that differ from it."""
    return git("status", "--porcelain=v2", "--branch")


def git(*words: str) -> str:
    """Return git's output for the checkout; empty without git."""
    with suppress(FileNotFoundError):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return ""


def read(path: Path) -> dict[str, Tally]:
    """Return the tallies of an interrupted soak, or new ones."""
    kept = json.loads(path.read_text()) if path.exists() else {"rounds": {}, "whole rounds": {}}
    return {name: Tally(**each | {"failures": Counter(each.get("failures"))}) for name, each in kept.items()}


def soak(name: str, rounds: int, steps: Steps, folder: Path, tally: Tally, done: Callable[[], None] = lambda: None) -> None:
    """Run the remaining rounds, each to its end even if steps fail."""
    for number in range(tally.rounds + 1, rounds + 1):
        took, failed = [], []
        for side_by_side in steps:
            for step, (seconds, output) in run(side_by_side).items():
                took.append(f"{step} {seconds:.0f} s")
                if output is not None:
                    failed.append(keep(folder / f"{name}-{number}-{step}.txt".replace(" ", "-"), output))
                    tally.failures.update(named(output) or [f"{step}: no test by name"])
        tally.add(passed=not failed)
        done()
        said = f"FAILED, see {', '.join(map(str, failed))}" if failed else "passed"
        print(f"{name} {number} of {rounds} ({', '.join(took)}): {said}", flush=True)


def run(commands: Mapping[str, Sequence[str]]) -> dict[str, tuple[float, str | None]]:
    """Run commands in parallel until all have ended; return the seconds of each, and its output if it failed or took too long,
    None if it succeeded."""
    with ExitStack() as stack:
        running = {name: stack.enter_context(started(command)) for name, command in commands.items()}
        began = time.monotonic()
        took: dict[str, tuple[float, str | None]] = {}
        while len(took) < len(running):
            time.sleep(POLL_S)
            for name, (process, output) in running.items():
                seconds = time.monotonic() - began
                if name not in took and (process.poll() is not None or seconds > PATIENCE_S):
                    took[name] = seconds, said(process, output)
    return {name: took[name] for name in commands}


@contextmanager
def started(command: Sequence[str]) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """Start a command; yield it and the file with its output. It is ended with the block."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            yield process, output
        finally:
            if process.poll() is None:
                end(process)


def said(process: subprocess.Popen[bytes], output: IO[bytes]) -> str | None:
    """Return the output of a command that failed or is ended now; None if it succeeded."""
    late = ""
    if process.poll() is None:
        end(process)
        late = f"\nended after {PATIENCE_S:g} s\n"
    output.seek(0)
    return output.read().decode(errors="replace") + late if late or process.returncode else None


def end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a command, then kill its remaining processes."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def keep(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def named(output: str) -> list[str]:
    """Return the tests that failed according to pytest's summary."""
    return re.findall(r"^(?:FAILED|ERROR) (\S+?::.+?)(?: - .*)?$", output, re.MULTILINE)


def tell(tallies: Tallies, folder: Path) -> int:
    """Print the summary; return the exit status."""
    for name, tally in tallies.items():
        print(f"{name}: {tally.rounds - tally.failed} of {tally.rounds} passed, {tally.longest} in a row")
        for test, times in tally.failures.most_common():
            print(f"    {times} times {test}")
    if not any(tally.failed for tally in tallies.values()):
        return 0
    print(f"output of failed rounds: {folder}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
