"""`make soak`: the same tests again and again beside programs that want every processor, for those that depend on luck.

A round is all unit tests and the smoke set of the lab; a whole round is what `make test` runs. One line a round; what a
round that fails printed is kept in a folder. Exit status 1 if any failed.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
PATIENCE_S = 3600.0
GRACE_S = 30.0
# It ends with its standard input: nobody else holds the other end, so it outlives us by no way of ending.
HOG = "import os, sys, threading; threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0))).start()\nwhile True: pass"

PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
UNIT = (sys.executable, *PYTEST, "-n", "2", "tests/unit")


def in_lab(tdf: str, *files: str) -> tuple[str, ...]:
    """Tests inside one lab, as `make lab-tests` runs them."""
    lab = (sys.executable, "-m", "slownet.cli", "lab", "exec", "--tdf", tdf, "--", "python", *PYTEST)
    return (*lab, *(f"tests/lab/{each}" for each in files))


SMOKE = {
    "unit": UNIT,
    "lab": in_lab("inf", "test_network.py", "test_services.py", "test_seeds.py", "test_capture.py", "test_teardown.py"),
    # where the CPU's time counts, what else this machine does may tell
    "lab, CPU charged": in_lab("auto", "test_network.py", "test_nagle.py", "test_counters.py"),
    "clocks": (sys.executable, *PYTEST, "tests/e2e/test_lab_clock.py"),
}
WHOLE = {"unit": UNIT, "lab": in_lab("inf", ""), "commands": (sys.executable, *PYTEST, "tests/e2e")}

Steps = Mapping[str, Sequence[str]]


@dataclass
class Tally:
    """What the rounds came to: ``failures`` counts a test's failures, by its name."""

    rounds: int = 0
    failed: int = 0
    failures: Counter[str] = field(default_factory=Counter)


def main() -> int:
    options = arguments()
    folder = options.keep or ROOT / "runs" / time.strftime("soak-%Y%m%d-%H%M%S")
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's job in the background ignores the first
        signal.signal(number, signal.default_int_handler)
    tallies = {"rounds": Tally(), "whole rounds": Tally()}
    try:
        with hogs(options.hogs, options.nice):
            print(f"beside {options.hogs} hogs at nice {options.nice}", flush=True)
            soak("round", options.rounds, SMOKE, folder, tallies["rounds"])
            soak("whole round", options.whole, WHOLE, folder, tallies["whole rounds"])
    except KeyboardInterrupt:
        print("interrupted")
        tell(tallies, folder)
        return 130
    return tell(tallies, folder)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    processors = len(os.sched_getaffinity(0))
    parser.add_argument("--rounds", type=int, default=50, help="rounds of unit tests and smoke set (%(default)s)")
    parser.add_argument("--whole", type=int, default=3, help="rounds of the whole suite after them (%(default)s)")
    parser.add_argument("--hogs", type=int, default=processors, help="busy programs beside the tests (one a processor)")
    parser.add_argument("--nice", type=int, default=0, help="their niceness (%(default)s)")
    parser.add_argument("--keep", type=Path, help="where to keep what failed rounds print (runs/soak-...)")
    return parser.parse_args()


@contextmanager
def hogs(count: int, nice: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many busy programs while the block runs."""
    with ExitStack() as stack:
        yield [stack.enter_context(hog(nice)) for _ in range(count)]


@contextmanager
def hog(nice: int) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["nice", "-n", str(nice), sys.executable, "-c", HOG], stdin=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def soak(name: str, rounds: int, steps: Steps, folder: Path, tally: Tally) -> None:
    """Rounds of the same steps, each to its end whatever fails."""
    for number in range(1, rounds + 1):
        took, failed = [], []
        for step, command in steps.items():
            began = time.monotonic()
            output = run(command)
            took.append(f"{step} {time.monotonic() - began:.0f} s")
            if output is not None:
                failed.append(keep(folder / f"{name}-{number}-{step}.txt".replace(" ", "-"), output))
                tally.failures.update(named(output) or [f"{step}: no test by name"])
        tally.rounds += 1
        tally.failed += bool(failed)
        said = f"FAILED, see {', '.join(map(str, failed))}" if failed else "passed"
        print(f"{name} {number} of {rounds} ({', '.join(took)}): {said}", flush=True)


def run(command: Sequence[str]) -> str | None:
    """What a command that failed or took too long printed; None of one that succeeded. It ends before this does."""
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        output = end(process) + f"\nended after {PATIENCE_S:g} s\n".encode()
    except BaseException:
        end(process)
        raise
    return output.decode(errors="replace") if process.returncode else None


def end(process: subprocess.Popen[bytes]) -> bytes:
    """Interrupts a command, then kills what is left of it; what it printed."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    try:
        return process.communicate(timeout=GRACE_S)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0]


def keep(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def named(output: str) -> list[str]:
    """The tests that pytest's summary says failed."""
    return re.findall(r"^(?:FAILED|ERROR) (\S+?::.+?)(?: - .*)?$", output, re.MULTILINE)


def tell(tallies: Mapping[str, Tally], folder: Path) -> int:
    """The summary; the exit status."""
    for name, tally in tallies.items():
        print(f"{name}: {tally.rounds - tally.failed} of {tally.rounds} passed")
        for test, times in tally.failures.most_common():
            print(f"    {times} times {test}")
    if not any(tally.failed for tally in tallies.values()):
        return 0
    print(f"what failed rounds printed is in {folder}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
