"""Boots a place once, measures the steps of a job there, and passes its progress on.

The place's events are checked against the job: a boot is over when its event "end" has come and every planned measurement has
arrived, never because a process ended with status 0. A lab can lie about what it measured, and about nothing else.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterable, Mapping

from slownet.judge.records.samples import cell_key, of_lab
from slownet.lab.run import events
from slownet.lab.run.events import Event, Grammar, Handle
from slownet.lab.run.excerpt import Excerpt
from slownet.lab.run.place import Place
from slownet.model import sample, shapes
from slownet.model.errors import ExperimentError, ServiceError, SlownetError
from slownet.model.facts import Reported
from slownet.model.options import RESUME
from slownet.model.sample import Capture, Sample
from slownet.model.shapes import mapping, member, number, record, text
from slownet.model.whole_file import place as write_whole
from slownet.runner import lab_environment
from slownet.runner.job import Job
from slownet.runner.lab_environment import ExperimentFolder


def grammar(indices: Iterable[int]) -> Grammar:
    """Return the events of a boot that measures these places of the plan, each of which has one "cell" and one "sample".

    The host takes these from `slownet.runner.inside`, and nothing else: a field that is not named here ends the boot, so a new
    one is added here, too, or to `slownet.model.sample`.
    """
    index = member(frozenset(indices), "a place in the plan of this boot")
    return {
        "facts": shapes.of(Reported),
        "warming": record({"index": number(0), "cell": mapping(text()), "done": number(0), "of": number(0), "note": text()}),
        "cell": record({"index": index, "cell": mapping(text())}),
        "sample": record({"index": index, "sample": sample.SENT}),
        "end": record({"virtual_s": number(0)}),
        "error": record({"line": text(), "log": text()}),
    }


def reported(event: Event) -> Event:
    """Return the facts of an event "facts"."""
    return {name: value for name, value in event.items() if name != "event"}


def boot(
    own: ExperimentFolder, place: Place, job: Job, handle: Handle, pinned: Callable[[int], None] = lambda processor: None
) -> None:
    """Measure the steps of a job in one boot.

    handle: gets the events of `slownet.runner.inside` as they come, "sample" with the whole sample; pinned: the number of the
    processor. Raises SlownetError, and KeyboardInterrupt if the user ended the boot.
    """
    complaints = Excerpt()
    around = lab_environment.of(own, job, place.clock.is_exact)
    inner = lab_environment.inside(job, place.clock.is_exact)
    progress = BootCheck(own, job, handle, around.directory, dict(zip(inner.folders(), job.folders(), strict=True)))
    asked: dict[str, object] = {
        "experiment": own.source, "directory": around.directory, "path": list(around.path),
        "later": place.clock.is_exact,
    }  # fmt: skip
    begins = inner.common() if place.clock.is_exact else inner
    with events.Reader(progress.take, grammar(index for index, _, _ in job.steps)) as stdout:
        code = place.run(
            [place.python, "-m", "slownet.runner.inside", json.dumps(asked | begins.to_json())],
            shares=around.shares,
            env=around.env,
            cwd=around.cwd if place.kind == "lab" else None,
            stdout=stdout,
            stderr=complaints.add,
            turn=job.boot - 1,
            later=json.dumps(inner.to_json()) if place.clock.is_exact else "",
            pinned=pinned,
        )
    log = own.directory / of_lab("stderr.txt", job.lab)
    if complaints:
        write_whole(log, complaints.data())
    if place.received and code < 0:
        raise KeyboardInterrupt
    progress.check(code, complaints, f"see {log}" if complaints else "")


class BootCheck:
    """The events of a boot so far, checked against its job.

    ``directory``: the run directory's path in the place; ``folders``: names of folders in it there, and on this machine.
    """

    def __init__(self, own: ExperimentFolder, job: Job, handle: Handle, directory: str, folders: Mapping[str, str]) -> None:
        self._own, self._job, self._handle = own, job, handle
        self._directory, self._folders = directory, folders
        self._left = {index: (block, cell) for index, block, cell in job.steps}
        self._failed = set[str]()
        self._error: SlownetError | None = None
        self._cell: Mapping[str, str] | None = None
        self._has_ended = False

    def take(self, event: Event) -> None:
        """Record an event, and pass it on; `grammar` has checked its shape, and that it comes once."""
        kind = event["event"]
        if kind == "error":
            self._error = ServiceError(self._here(event["line"]), log=self._here(event["log"]))
        elif kind == "cell":
            self._cell = self._step(event)[1]
        elif kind == "sample":
            sample = self._sample(event)
            event = {"event": kind, "index": sample["index"], "sample": sample}
        elif kind == "end":
            self._has_ended = True
        self._handle(event)

    def _step(self, event: Event) -> tuple[int, Mapping[str, str]]:
        return self._left[event["index"]]

    def _sample(self, event: Event) -> Sample:
        block, cell = self._step(event)
        sample: Sample = event["sample"]
        del self._left[event["index"]]
        if sample["status"] == "failed":
            self._failed.add(cell_key(cell))
        if error := sample.get("error"):
            sample = {**sample, "error": self._here(error)}
        if raw := sample.get("raw"):
            sample = {**sample, "raw": [self._file(each) for each in raw]}
        if captures := sample.get("captures"):
            sample = {**sample, "captures": [self._capture(each) for each in captures]}
        return {
            **sample, "experiment": self._own.experiment.name, "cell": dict(cell), "index": event["index"],
            "lab": self._job.lab, "boot": self._job.boot, "block": block,
        }  # fmt: skip

    def _here(self, text: str) -> str:
        """Return a text of the place with the run directory's path on this machine."""
        return text.replace(f"{self._directory}/", f"{self._own.directory}/")

    def _capture(self, found: Capture) -> Capture:
        """Return a capture's entry with the paths of its files on this machine."""
        here: Capture = {**found, "file": self._file(str(found.get("file", "")))}
        for name in ("before", "kernel"):
            if name in found:
                here[name] = self._file(str(found[name]))
        return here

    def _file(self, name: str) -> str:
        """Return the path of a file in the run directory on this machine."""
        folder, slash, rest = name.partition("/")
        return f"{self._folders.get(folder, folder)}{slash}{rest}"

    def check(self, code: int, complaints: Excerpt, log: str) -> None:
        """Raise SlownetError unless the boot ended as it should, with all its measurements. code: its exit status."""
        name = self._own.experiment.name
        if self._error:
            raise self._error
        if code < 0:
            reason = f"was killed by signal {-code} ({signal.strsignal(-code) or 'unknown'})"
            raise SlownetError(f"{name} {reason}{self._at}", log, f"its samples so far are kept: {RESUME} goes on")
        if code:
            raise SlownetError(f"{name} failed: {complaints.reason(f'status {code}')}", where=log)
        missing = [cell for _, cell in self._left.values() if cell_key(cell) not in self._failed]
        if missing or not self._has_ended:
            planned = len(self._job.steps)
            done = f"with {planned - len(missing)} of {planned} measurements" if planned else "before it was done"
            fix = "a measuring function returns what it measured; it must not end its process (sys.exit, os._exit)"
            raise ExperimentError(f"{name} ended {done}{self._at}", self._own.source, fix)

    @property
    def _at(self) -> str:
        """The cell that was measured last, as text."""
        return f" in cell {sample.cell_in_words(self._cell)}" if self._cell else ""
