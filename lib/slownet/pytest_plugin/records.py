"""Records the measurements and judgements of tests for JUnit XML, failure texts and run directories."""

from __future__ import annotations

import datetime
import platform
import re
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slownet.judge.records import judgement as verdicts
from slownet.judge.records.samples import RUN, SampleLog, cell_key, new_run_directory, write_run_json
from slownet.lab.host import busy, native
from slownet.lab.run import pytest_inside as inside
from slownet.lab.run.charge import charged_s, charged_since
from slownet.lab.run.clock import in_words
from slownet.model.errors import SlownetError
from slownet.model.version import __version__
from slownet.pytest_plugin.forwarding import is_forwarded
from slownet.pytest_plugin.messages import say
from slownet.pytest_plugin.wishes import BUDGET, REPORT, SEED, TDF, needs_network, option_names_here

if TYPE_CHECKING:
    from slownet.judge.measured import Setting
    from slownet.judge.records.charging import Charging
    from slownet.lab.run.clock import Clock
    from slownet.model.facts import Facts
    from slownet.model.sample import Sample
    from slownet.net.log import Setting as NetSetting
    from slownet.pytest_plugin.networks import Net
    from slownet.runner.measurement import Measurements

NETWORK = pytest.StashKey["Net"]()
RECORD = pytest.StashKey["Record"]()
FAILED = pytest.StashKey[bool]()
AGAIN = pytest.StashKey[bool]()
"""True if the test is run in another boot after this one."""
SINCE = pytest.StashKey["Since"]()

_here: Facts = {}


def remember(facts: Facts, clock: Clock) -> None:
    """Store the facts of this process's place, as found by the session."""
    _here.update({**facts, **clock.facts})


def is_known() -> bool:
    """Return whether the session found that its place can emulate links."""
    return bool(inside.handed_over().get("facts") or _here)


def facts() -> Facts:
    """Return kernel, image, place, clock and TDF of this process's networks, as in run.json."""
    handed: Facts | None = inside.handed_over().get("facts")
    if found := handed or _here:
        return found.copy()
    place = "lab" if native.inside_lab() else "native"
    known: Facts = {"kernel": platform.release(), "place": place}
    return {**known, **native.clock_facts()}


def place() -> str:
    """Return the clock and the kernel as a short text for failures."""
    here = facts()
    return f"{clock()}, Linux {here['kernel'].split(' (')[0]}, {'in a lab' if here['place'] == 'lab' else 'in place'}"


def clock() -> str:
    """Return the clock as a short text."""
    here = facts()
    return in_words(here["clock"], here["tdf"], here.get("cpu"))


def of(item: pytest.Item) -> Record:
    """Return the record of a test, a new one if it has none yet."""
    return item.stash.setdefault(RECORD, Record(item))


class Record:
    """The record of one test; the run directory is created with the first measurement."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._log: SampleLog | None = None
        self._directory: Path | None = None
        self._measurements: Measurements | None = None
        self._index = 0
        self._blocks: Counter[str] = Counter()
        self._boot = 1
        self._warm: list[Callable[..., Any]] = []
        self.judged: list[dict[str, object]] = []
        self.lines: list[str] = []

    def begin(self, boot: int) -> None:
        """Begin a boot of the test; what was claimed in earlier ones is judged again."""
        self._boot, self._measurements = boot, None
        self._blocks.clear()
        self._warm.clear()
        self.judged.clear()

    def warm_up(self, operations: int, tool: Callable[..., Any], *args: Any, **options: Any) -> None:
        """Do so many operations with a tool that the test has not used in this boot; nothing of them is recorded."""
        from slownet.runner.warming import WarmUp
        from slownet.tools.user_metrics import as_record

        if operations and tool not in self._warm:
            self._warm.append(tool)
            WarmUp(operations, cells=[{}]).run(lambda _: as_record(tool(*args, **options), getattr(tool, "__name__", "tool")))

    def measure(self, net: Net, tool: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call the tool, record its result with the conditions, and return it."""
        from slownet.runner.measurement import Measurements
        from slownet.tools.user_metrics import as_record

        if self._measurements is None:
            self._measurements = Measurements(net, self._raw if self._item.config.getoption(REPORT) else None)
        sample = _sample(self._item.name, self._index, net)
        self._index += 1
        self._blocks[key := cell_key(sample["cell"])] += 1
        sample |= {"boot": self._boot, "block": self._blocks[key]}
        returned: list[Any] = []

        def call() -> Any:
            returned.append(tool(*args, **options))
            return as_record(returned[0], getattr(tool, "__name__", "tool"))

        try:
            self._measurements.take(sample, call)
            return returned[0]
        finally:
            if self._item.config.getoption(REPORT):
                self._opened().append(sample)
            self.lines.append(_line(sample))

    def add_judgement(self, verdict: Any) -> None:
        """Add the judgement of a claim."""
        self.judged.append(verdict.to_json())
        self._item.user_properties.append(("slownet_verdict", f"{verdict.verdict}: {verdict.name}: {verdict.text}"))

    def end(self) -> None:
        """Write the properties and the run directory."""
        for line in self.lines:
            self._item.user_properties.append(("slownet_measured", line))
        if self._log and self._directory:
            self._log.close()
            write_run_json(self._directory, {**self._facts(), "claims": self.judged})

    def _raw(self, name: str, content: str | bytes) -> str:
        return self._opened().raw(name, content)

    def _opened(self) -> SampleLog:
        """Return the sample log of the run directory, which is created if it does not exist."""
        if self._log is None:
            name = re.sub(r"[^\w.-]+", "-", self._item.name).strip("-")
            self._directory = new_run_directory(_folder(self._item.config), name)
            write_run_json(self._directory, self._facts())
            self._log = SampleLog(self._directory)
        return self._log

    def _facts(self) -> Facts:
        config = self._item.config
        doc = getattr(getattr(self._item, "obj", None), "__doc__", None) or ""
        return {
            **facts(), "experiment": self._item.name, "source": self._item.nodeid, "slownet": __version__,
            "question": " ".join(doc.split("\n\n")[0].split()), "seed": config.getoption(SEED),
            "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        }  # fmt: skip


def _folder(config: pytest.Config) -> Path:
    """Return the folder for run directories; in a lab the one that the host reads."""
    folder = config.invocation_params.dir / str(config.getoption(REPORT))
    walls = inside.handed_over().get("walls") or {}
    return Path(inside.OUT, inside.RECORDS) if walls.get("records") == str(folder) else folder


class Records:
    """Collects the judgements of each test, and completes its record."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        with ExitStack() as stack:
            if needs_network(item):
                from slownet.judge.measured import measured_under

                stack.enter_context(option_names_here())
                from slownet.net.tool import accompanied

                item.stash[SINCE] = since = Since()
                stack.enter_context(accompanied(since.meter.running))
                stack.enter_context(measured_under(lambda: _setting(item)))
            stack.enter_context(verdicts.observed_by(lambda verdict: of(item).add_judgement(verdict)))
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        if SINCE in item.stash:
            item.stash[SINCE].passed()  # the time of its fixtures belongs to no measurement
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        try:
            return (yield)
        finally:
            if needs_network(item):
                here = facts()
                item.user_properties += [(f"slownet_{name}", str(here[name])) for name in ("clock", "tdf", "kernel")]
            if RECORD in item.stash and not item.stash.get(AGAIN, False):
                item.stash[RECORD].end()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        if not inside.handed_over() and not hasattr(self._config, "workerinput"):
            draw(self._config)


class Outgoing:
    """Copies what is kept of a session in a lab to where the host reads it."""

    def __init__(self, config: pytest.Config) -> None:
        self._worker = hasattr(config, "workerinput") and not is_forwarded(config)
        self._walls = inside.Walls.of(inside.handed_over())

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        self._walls.copy(final=False)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        if self._worker:  # otherwise `pytest_inside` does it, when pytest has ended
            self._walls.finish()


class Since:
    """Measures the time since a test's last measurement, and the CPU time that the clock charged.

    On the real clock, which charges nothing: how long programs ran on hosts since then, and how busy the machine was meanwhile.
    """

    def __init__(self) -> None:
        self._at, self._charged = time.monotonic(), charged_s()
        self.meter = busy.Meter()

    def passed(self) -> tuple[float, float | None]:
        """Return both in seconds, the charge None if unknown, and start again."""
        took, charged = time.monotonic() - self._at, charged_since(self._charged)
        self._at, self._charged = time.monotonic(), charged_s()
        ran, was_busy = self.meter.take()
        return (took, charged) if charged is not None or was_busy is None else (ran, was_busy)


def _setting(item: pytest.Item) -> Setting:
    """Return the setting of a measurement: the ping of the link as set now, the clock, and what it charged."""
    from slownet.judge.measured import Setting
    from slownet.judge.records.charging import Charging
    from slownet.net.log import longest

    net = item.stash.get(NETWORK, None)
    held = [each for each in net.settings if _holds(net, each)] if net else []
    rtt = longest(held)
    took, charged = item.stash[SINCE].passed()
    charging = Charging.of(facts())
    return Setting(rtt, clock(), charging, charged, took, _draws(net), _late(net, held), _advice(charging))


def _advice(charging: Charging | None) -> str:
    """Say how to get an interval that the variation between boots does not widen; empty where it does not."""
    from slownet.judge.records.charging import Charging

    if charging not in (Charging.REAL, Charging.TIME):
        return ""
    differs = f"differs by about {100 * charging.cpu_variation:g} % between boots"
    if charging is Charging.REAL:
        return (
            f"on the real clock what the machine adds to a time {differs}: measure more requests, in more boots ({BUDGET} 30), "
            f"while nothing else runs, or widen the margin; in a lab (slownet lab build) the CPU can be free: {TDF} inf"
        )
    return (
        f"if CPU time is charged it {differs}: use {TDF} inf if only the network matters, instruction counters "
        f"(sysctl kernel.perf_event_paranoid=2), more boots ({BUDGET} 30), or a wider margin"
    )


def _late(net: Net | None, held: Sequence[NetSetting]) -> float | None:
    """Return by how much links are later than configured, as in `Setting`: of the latest one; None if one was not pinged."""
    delayed = {frozenset(link.split("-")) for link, condition in net.conditions.items() if condition.rtt > 0} if net else set()
    late = {frozenset(each.ends): each.late for each in held if each.late is not None}
    return max(late.values()) if late and delayed <= late.keys() else None


def _draws(net: Net | None) -> bool | None:
    """Return whether a link is random now; None without a network."""
    return None if net is None else any(condition.random for condition in net.condition_log.values())


def _holds(net: Net, setting: NetSetting) -> bool:
    """Return whether the link still has the condition of that setting."""
    first, second = setting.ends
    return net.link(first, second).condition == setting.condition


def draw(config: pytest.Config) -> None:
    """Write tables and reports of the run directories that lack them.

    A lab wrote what is in them: whatever is wrong with one is a line, and the others have their reports.
    """
    folder = config.getoption(REPORT)
    root = config.invocation_params.dir / folder if folder else None
    runs = [each.parent for each in sorted(root.glob(f"*/{RUN}"))] if root else []
    for directory in runs:
        if not (directory / "report.html").exists():
            try:
                _draw(directory)
            except SlownetError as error:
                say(config, [str(error)])
            except Exception as error:
                say(config, [f"no report: {type(error).__name__}: {ascii(str(error))[:200]}, in {directory}"])


def _draw(directory: Path) -> None:
    from slownet.judge.records import result
    from slownet.report.html_page import write_report

    run = result.load(directory)
    run.save()
    if run.cells:
        run.write_parquet()
    write_report(run)


def _sample(name: str, index: int, net: Net) -> Sample:
    from slownet.net.log import longest
    from slownet.runner.measurement import new_sample

    changed = {setting.link: setting for setting in net.settings}
    now = net.conditions
    cell = {link: str(condition) for link, condition in now.items() if str(condition) != "no condition"}
    condition = {"rtt_ms": round(1000 * sum(each.rtt for each in now.values()), 6)}
    return new_sample(name, cell, condition, index) | {
        "verified_rtt_ms": longest(changed.values()) if cell else None,
        "unverified": [_why(each) for each in changed.values() if each.verification.unverified and _is_in(cell, each)],
    }


def _why(setting: NetSetting) -> str:
    return f"{setting.link}: {setting.verification.unverified}"


def _is_in(cell: Mapping[str, str], setting: NetSetting) -> bool:
    """Return whether a link still has a condition; either end may be named first."""
    return any("-".join(ends) in cell for ends in (setting.ends, setting.ends[::-1]))


def _line(sample: Sample) -> str:
    where = ", ".join(f"{link} {condition}" for link, condition in sample["cell"].items()) or "no condition"
    from slownet.judge.measured import in_short

    if sample["status"] != "ok":
        return f"{where}: {sample['error']}"
    return f"{where}: {sample['tool']} {in_short(sample['metrics'])}"
