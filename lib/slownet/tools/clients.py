"""Clients on hosts, functions whose operations are recorded as a history while something is broken."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slownet.judge.histories.history import FAIL, FAULTS, FILE, INFO, INVOKE, OK, Event, History
from slownet.judge.histories.log_lines import LOGS, LONGEST, MOST, LogLine, to_text
from slownet.model.errors import ExperimentError
from slownet.model.importing import described
from slownet.model.units import duration
from slownet.net.namespace import inside
from slownet.tools.numbers import Metric, single

if TYPE_CHECKING:
    from slownet.net.fault_injection import PlayingFaults


class Recorder:
    """Runs functions as clients on hosts, and records what they ask and what is answered, as a history.

    A measuring function returns it: it is a record with the metrics ``acknowledged_operations``, ``failed_operations`` and
    ``unknown_operations``, and ``recovery_ms`` if clients were served again after the last repair: until each has an
    acknowledged operation again. The history is kept with the run, and so are the lines that the services' logs get meanwhile,
    each with the time of the next event.

    Parameters
    ----------
    faults : PlayingFaults, optional
        What `Network.faults` gave its ``with`` block: its steps become lines of the history, whose times count from its start.

    Examples
    --------
    ::

        with net.faults({"4s": "kill db", "5s": "start db"}, db) as broken:
            recorder = Recorder(broken)
            recorder.client(net["client"], writes, db)
            recorder.wait()
        return recorder

        def writes(client, db):
            for number in client.every("50ms", "10s"):
                client.do("write", number, lambda: db.put(number))
    """

    def __init__(self, faults: PlayingFaults | None = None) -> None:
        self._faults = faults
        self._start = faults.start if faults else time.monotonic()
        self._logs = LogWatch(faults.logs if faults else {})
        if faults:
            faults.follow = lambda step: self._look()
        self._events: list[Event] = []
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._failed: list[BaseException] = []
        self._clients = 0

    def client(self, host: Any, function: Callable[..., object], *arguments: Any) -> None:
        """Start a client: a function that runs on a host, in a thread of its own, whose sockets are that host's.

        Parameters
        ----------
        host : Node
            The host.
        function : callable
            Takes a `Client`, then the arguments.
        *arguments : object
            Passed on.
        """
        client = Client(self, self._clients)
        self._clients += 1

        def run() -> None:
            try:
                with inside(host):
                    function(client, *arguments)
            except BaseException as error:
                self._failed.append(error)

        thread = threading.Thread(target=run, name=f"client {client.process}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait(self) -> None:
        """Wait until all clients have ended and all steps of the faults are done. Raises what the first client raised."""
        for each in self._threads:
            each.join()
        self._threads.clear()
        if self._faults:
            self._faults.wait()
        if self._failed:
            raise self._failed[0]

    def note(self, process: int, kind: str, op: str, value: Any, error: str = "") -> None:
        """Add a line to the history."""
        with self._lock:
            now = self._now()
            self._logs.look(now)
            self._events.append(Event(now, process, kind, op, value, error))

    def _look(self) -> None:
        with self._lock:
            self._logs.look(self._now())

    def _now(self) -> int:
        return round((time.monotonic() - self._start) * 1e9)

    @property
    def start(self) -> float:
        """The history's begin on the monotonic clock."""
        return self._start

    @property
    def history(self) -> History:
        """The operations recorded so far, with the steps of the faults."""
        broken = list(self._broken())
        with self._lock:
            events = [*broken, *self._events]
        return History(tuple(sorted(events, key=lambda each: each.time)))  # of the same time, faults first

    def _broken(self) -> Iterator[Event]:
        for step in self._faults.steps if self._faults else []:
            for action in step.what.split("; "):
                verb, _, rest = action.partition(" ")
                yield Event(round(step.actual * 1e9), FAULTS, INFO, verb, rest or None)

    # ---- a record ----

    @property
    def command(self) -> tuple[str, ...]:
        """Its name in records."""
        return ("clients", str(self._clients))

    @property
    def raw(self) -> str:
        """The number of operations, by name and result."""
        counts: dict[str, int] = {}
        for each in self.history.operations:
            name = f"{each.op} {each.type}"
            counts[name] = counts.get(name, 0) + 1
        return "".join(f"{name}: {count}\n" for name, count in sorted(counts.items()))

    @property
    def files(self) -> dict[str, str]:
        """The history, and the services' logs of that time, as files that are kept with the run."""
        self._look()
        lines = self._logs.lines()
        return {FILE: self.history.to_text()} | ({LOGS: to_text(lines)} if lines else {})

    def metrics(self) -> dict[str, Metric]:
        """Return how many operations were acknowledged, failed and unknown, and the time until clients were served again."""
        history = self.history
        kinds = [each.type for each in history.operations]
        named = (("acknowledged", OK), ("failed", FAIL), ("unknown", INFO))
        found = {f"{name}_operations": single(float(kinds.count(kind)), 1) for name, kind in named}
        if (took := history.recovery_ns) is not None:
            found["recovery_ms"] = single(took / 1e6, 1)
        return found


class Client:
    """A client of a `Recorder`, which makes it.

    Parameters
    ----------
    recorder : Recorder
        Where its operations are recorded.
    process : int
        Its number.

    Attributes
    ----------
    process : int
        Its number, from 0.
    random : random.Random
        Random numbers that are the same in each run.
    """

    def __init__(self, recorder: Recorder, process: int) -> None:
        self._recorder = recorder
        self.process = process
        self.random = random.Random(process)

    def every(self, period: str, until: str, jitter: float = 0.0) -> Iterator[int]:
        """Yield 0, 1, 2 and so on, one each period, until a time since the history's begin.

        Parameters
        ----------
        period : str
            Such as "50ms". After an operation that took longer, the next one begins at the next multiple.
        until : str
            Such as "30s".
        jitter : float
            The part of a period by which each is late at most, at random.

        Yields
        ------
        int
        """
        step, end, number = duration(period), duration(until), 0
        turn = max(0, int(self._since() // step))
        while turn * step < end:
            late = self.random.random() * jitter * step
            time.sleep(max(0.0, turn * step + late - self._since()))
            yield number
            number += 1
            turn = max(turn + 1, int(self._since() // step))

    def _since(self) -> float:
        return time.monotonic() - self._recorder.start

    def do(
        self, op: str, value: Any, call: Callable[[], Any], *,
        failed: tuple[type[Exception], ...] = (), unknown: tuple[type[Exception], ...] = (),
    ) -> Any:  # fmt: skip
        """Do an operation and record it.

        Parameters
        ----------
        op : str
            Its name, such as "write".
        value : object
            What is asked, as JSON.
        call : callable
            Does it; what it returns is recorded as its value, and if that is None, what was asked.
        failed : tuple of exception classes
            Exceptions after which it surely was not done, beside ConnectionRefusedError.
        unknown : tuple of exception classes
            Exceptions after which it is unknown, beside OSError: timeouts and connections that broke.

        Returns
        -------
        object
            What `call` returned; None if it was not acknowledged.

        Raises
        ------
        ExperimentError
            The value is no JSON, or `call` raised another exception.
        """
        surely: tuple[type[Exception], ...] = (ConnectionRefusedError, *failed)
        perhaps: tuple[type[Exception], ...] = (OSError, *unknown)
        _check(op, value)
        self._recorder.note(self.process, INVOKE, op, value)
        try:
            returned = call()
            _check(op, returned)
        except surely as error:
            self._recorder.note(self.process, FAIL, op, value, described(error))
            return None
        except perhaps as error:
            self._recorder.note(self.process, INFO, op, value, described(error))
            return None
        except ExperimentError:
            raise
        except Exception as error:
            fix = "name it in failed= or unknown= of do(), if it is an answer of the system"
            raise ExperimentError(f"the operation '{op}' raises {described(error)}", fix=fix) from error
        self._recorder.note(self.process, OK, op, value if returned is None else returned)
        return returned


def _check(op: str, value: Any) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        fix = "ask and return numbers, texts and lists of them"
        raise ExperimentError(f"a value of the operation '{op}' is not JSON: {described(error)}", fix=fix) from error


# When lines of logs were written, though they state no time: how long each log was at every event of a history.


class LogWatch:
    """Watches some logs, by the services' labels, from now on."""

    def __init__(self, logs: Mapping[str, Path]) -> None:
        self._logs = dict(logs)
        self._begun = self._last = self._sizes()
        self._seen: list[tuple[int, dict[str, int]]] = []

    def look(self, now: int) -> None:
        """Note how long the logs are at this time, in nanoseconds."""
        sizes = self._sizes()
        if sizes != self._last:
            self._last = sizes
            self._seen.append((now, sizes))

    def lines(self) -> list[LogLine]:
        """Return the lines that were written since the begin, in the order of their times; only the first ones of very many."""
        found = [line for label in self._logs for line in self._of(label)]
        return sorted(found, key=lambda each: each.time)[:MOST]

    def _of(self, label: str) -> Iterator[LogLine]:
        done = self._begun.get(label, 0)
        with suppress(OSError), self._logs[label].open("rb") as log:
            log.seek(done)
            for now, sizes in self._seen:
                size = sizes.get(label, 0)
                for line in log.read(max(0, size - done)).decode(errors="replace").splitlines():
                    yield LogLine(now, label, line[:LONGEST])
                done = max(done, size)

    def _sizes(self) -> dict[str, int]:
        found = {}
        for label, path in self._logs.items():
            with suppress(OSError):
                found[label] = os.stat(path).st_size
        return found
