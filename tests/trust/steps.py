"""Measurement steps, each taken once: records are written to disk immediately, so that an interrupted `make trust` can go
on."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from hogs import hogs
from soak import ROOT, end

from trust.figures import Figure

SLOWNET = Path(sys.executable).with_name("slownet")
PATIENCE_S = 3600.0
POLL_S = 0.05
ALONE, BESIDE_HOGS, TWO_LABS = "alone", "beside hogs", "two labs"
MEMORY_HOGS = 1

Record = Mapping[str, Any]
"""A step's result as JSON. Each has ``section``, ``name``, ``number``, ``seconds``, ``others`` (how many processors other
programs used meanwhile), and, without a result, a line in ``failed`` or ``refused``."""


class CommandError(Exception):
    """A command failed, or took too long."""


class RefusedError(Exception):
    """A command was refused (exit status 2): the machine, or this version, cannot do it."""


@dataclass(frozen=True)
class Options:
    """The caller's options. ``folder`` holds the records and the runs."""

    folder: Path
    rounds: int = 10
    experiments: tuple[str, ...] = ()
    """The experiments to run; empty for all."""
    processors: int = 2
    """Number of busy loops among the hogs."""
    simulated: int = 1000
    """Number of simulated runs of each kind."""

    @property
    def runs(self) -> Path:
        """The folder of the run directories."""
        return self.folder / "runs"


@dataclass(frozen=True)
class Step:
    """One measurement, recorded under a name and a number. Its return value is added to its record; ``said`` in it is printed
    at the end of the step's line."""

    section: str
    name: str
    number: int
    measure: Callable[[], dict[str, Any]]

    @property
    def key(self) -> tuple[str, str, int]:
        return self.section, self.name, self.number

    def take(self) -> dict[str, Any]:
        """Take the measurement and return its record."""
        record: dict[str, Any] = {"section": self.section, "name": self.name, "number": self.number}
        began, others = time.monotonic(), others_cpu_s()
        try:
            found = self.measure()
        except CommandError as error:
            found = {"failed": str(error)}
        except RefusedError as error:
            found = {"refused": str(error)}
        seconds = time.monotonic() - began
        record |= {"seconds": round(seconds, 3), "others": round((others_cpu_s() - others) / seconds, 3)}
        return record | found


def others_cpu_s(stat: Path = Path("/proc/stat")) -> float:
    """Return the CPU seconds of this machine that were used by neither this process nor its ended children."""
    fields = stat.read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, *more = map(int, fields[:8])  # without idle and I/O wait
    ours = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return (user + nice + system + sum(more)) / os.sysconf("SC_CLK_TCK") - sum(each.ru_utime + each.ru_stime for each in ours)


@dataclass
class Log:
    """The records of all steps so far, in a file with one JSON object per line."""

    path: Path
    records: list[Record] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Log:
        """Read the records of an interrupted session, if any; a line truncated by a kill is dropped."""
        log = cls(path)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
        whole = [line for line in lines if line.endswith("\n")]
        if whole != lines:
            path.write_text("".join(whole), encoding="utf-8")
        log.records = [json.loads(line) for line in whole]
        return log

    def append(self, record: Record) -> None:
        """Add a record; it is on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.records.append(record)

    def has(self, step: Step) -> bool:
        return any((each["section"], each["name"], each["number"]) == step.key for each in self.records)

    def of(self, section: str) -> list[Record]:
        """Return the records of a section with a result."""
        return [each for each in self.records if each["section"] == section and not {"failed", "refused"} & each.keys()]

    def failed(self, section: str) -> list[Record]:
        return [each for each in self.records if each["section"] == section and "failed" in each]

    def refused(self, section: str, start: str) -> bool:
        """Return whether a step of the section with a name that starts like this was refused."""
        return any(each["section"] == section and "refused" in each and each["name"].startswith(start) for each in self.records)


@contextmanager
def surroundings(name: str, processors: int) -> Iterator[None]:
    """Run the hogs next to a measurement, if its name says so."""
    with hogs(processors, memory=MEMORY_HOGS) if name == BESIDE_HOGS else ExitStack():
        yield


def slownet(*commands: Sequence[object]) -> list[tuple[float, dict[str, Any]]]:
    """Run `slownet` commands in parallel until all have ended; return the seconds and the printed JSON of each.

    Raises CommandError or RefusedError with the last line of standard error; commands that still run are ended.
    """
    with ExitStack() as stack:
        running = [stack.enter_context(_started([SLOWNET, *map(str, words)])) for words in commands]
        began, took = time.monotonic(), dict[int, float]()
        while len(took) < len(running):
            for number, (process, _, _) in enumerate(running):
                if number not in took and process.poll() is not None:
                    took[number] = time.monotonic() - began
            if time.monotonic() - began > PATIENCE_S:
                raise CommandError(f"slownet {commands[0][0]} did not end within {PATIENCE_S:g} s")
            time.sleep(POLL_S)
        return [(took[number], _read(*each)) for number, each in enumerate(running)]


@contextmanager
def _started(command: Sequence[str | Path]) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        # Not in ROOT: a lab on the exact clock sees its working directory, and the records that grow in runs/ would be in it.
        process = subprocess.Popen(
            command, cwd=ROOT / "tests", stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True
        )
        try:
            yield process, out, errors
        finally:
            if process.poll() is None:
                end(process)


def _read(process: subprocess.Popen[bytes], out: IO[bytes], errors: IO[bytes]) -> dict[str, Any]:
    out.seek(0)
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    line = re.sub(r"^slownet: ", "", lines[-1]) if lines else "it printed nothing"
    if process.returncode == 2:
        raise RefusedError(line)
    try:
        if process.returncode not in (0, 1):
            raise ValueError
        found: dict[str, Any] = json.loads(out.read())
    except ValueError:
        raise CommandError(f"exit status {process.returncode}: {line}") from None
    return found


def others(records: Iterable[Record]) -> list[Figure]:
    """Return how much other programs used the processors during the steps measured alone."""
    used = [each["others"] for each in records if each["beside"] == ALONE]
    what = f"processors used by other programs, maximum of {len(used)} steps {ALONE}"
    return [Figure(what, f"{max(used):.2f}", "none, or they were not alone")] if used else []
