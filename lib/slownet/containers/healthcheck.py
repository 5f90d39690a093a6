"""Health checks as compose files and images state them: a program run in the container shows whether the service is healthy."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.containers.config import Healthcheck
from slownet.lab.run.excerpt import tail
from slownet.model.errors import ServiceError
from slownet.net.process import end

SHELL = ("/bin/sh", "-c")
_KILL = ((signal.SIGKILL, 1.0),)


@dataclass(frozen=True)
class Healthy:
    """A condition of a container, see `healthy`; a value of None is the image's own, or Docker's default."""

    test: Sequence[str] | None = None
    interval: float | None = None
    timeout: float | None = None
    retries: int | None = None
    start_period: float | None = None
    start_interval: float | None = None

    def of(self, image: Healthcheck | None, where: str) -> Healthcheck:
        """Return the check of a container with this condition. Raises ServiceError if neither it nor the image has a test."""
        test = self.test or (image.test if image else ())
        if not test:
            raise ServiceError("the image has no health check", where, 'name one: healthy(["CMD", "program", "argument"])')
        usual = image or Healthcheck(test)

        def chosen(own: float | None, default: float) -> float:
            return default if own is None else own

        return Healthcheck(
            test, chosen(self.interval, usual.interval_s), chosen(self.timeout, usual.timeout_s),
            chosen(self.start_period, usual.start_period_s), chosen(self.start_interval, usual.start_interval_s),
            usual.retries if self.retries is None else self.retries,
        )  # fmt: skip


def healthy(
    test: Sequence[str] | str | None = None, *, interval: float | None = None, timeout: float | None = None,
    retries: int | None = None, start_period: float | None = None, start_interval: float | None = None,
) -> Healthy:  # fmt: skip
    """Return a condition for `Container`: a program that is run in the container ends with status 0.

    The check runs at once, and again after each interval until it passes; then it ends, so that it disturbs no measurement.

    Parameters
    ----------
    test : sequence of str or str, optional
        ``["CMD", program, argument...]``, ``["CMD-SHELL", command]``, or a command for the container's shell. Without it, the
        image's own check, whose other values are then the defaults, too.
    interval : float, optional
        Seconds between two checks: 30 by default, as in Docker.
    timeout : float, optional
        Seconds after which a check is ended and counts as failed: 30 by default.
    retries : int, optional
        The container is unhealthy after so many failures in a row, not counting the first check of all: 3 by default.
    start_period, start_interval : float, optional
        Seconds from the start in which failures do not count, none by default, and in which a check runs each
        ``start_interval``, 5 by default.

    Returns
    -------
    Healthy
        For ``ready=``; the service's own ``timeout`` does not limit it.

    Raises
    ------
    ServiceError
        A value that no check can have.
    """
    if isinstance(test, str):
        test = ("CMD-SHELL", test)
    if test is not None and (len(test) < 2 or test[0] not in ("CMD", "CMD-SHELL")):
        fix = 'write ["CMD", "program", "argument"] or ["CMD-SHELL", "command"]'
        raise ServiceError(f"{list(test)} is not a test", "healthy()", fix)
    if retries is not None and retries < 1:
        raise ServiceError(f"{retries} retries are too few", "healthy()", "write 1 or more")
    return Healthy(tuple(test) if test else None, interval, timeout, retries, start_period, start_interval)


class Probe:
    """The checks of one start of a container."""

    def __init__(
        self, check: Healthcheck, begin: Callable[[Sequence[str], Path], subprocess.Popen[bytes]], folder: Path,
        failed: Callable[[str, str], ServiceError],
    ) -> None:  # fmt: skip
        """begin: starts words in the container with output to a file. failed: makes an error of a sentence and an output."""
        kind, *words = check.test
        self._words = [*SHELL, *words] if kind == "CMD-SHELL" else words
        self._check, self._begin, self._failed = check, begin, failed
        self._output = folder / "health.log"
        self._started = self._due = time.monotonic()
        self._late = 0.0
        self._failures, self._first = 0, True
        self._process: subprocess.Popen[bytes] | None = None

    def passes(self) -> bool:
        """Return whether a check has passed; does not wait. Raises ServiceError when the container is unhealthy."""
        now = time.monotonic()
        if self._process is None:
            if now >= self._due:
                self._output.unlink(missing_ok=True)
                self._process = self._begin(self._words, self._output)
                self._late = now + self._check.timeout_s
            return False
        status = self._process.poll()
        if status is None and now < self._late:
            return False
        self.close()
        if status != 0:
            self._fail("took too long" if status is None else f"ended with status {status}", now)
        return status == 0

    def _fail(self, how: str, now: float) -> None:
        starting = now - self._started < self._check.start_period_s
        if not starting and not self._first:
            self._failures += 1
        self._first = False
        self._due = now + (self._check.start_interval_s if starting else self._check.interval_s)
        if self._failures >= self._check.retries:
            some, have = ("checks", "have") if self._failures > 1 else ("check", "has")
            took = f"{self._failures} health {some} in {now - self._started:.0f} s {have} failed"
            raise self._failed(f"{took}, the last {how}", tail(self._output))

    def close(self) -> None:
        """End the check that runs, if one does."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            end(process, _KILL)
