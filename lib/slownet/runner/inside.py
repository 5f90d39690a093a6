"""Measures cells where the network is, in a lab or natively: `python -m slownet.runner.inside JOB`.

Raw output goes to the run directory's folders `raw`, `services` and `captures`, which are all that a lab can write. Everything
else goes to standard output as it comes (see `slownet.lab.run.events`): the events "facts", "warming", "cell", "sample", "end"
and "error".
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from slownet.hypotheses.catalogue import find
from slownet.hypotheses.experiment import Cell, Experiment, condition
from slownet.judge.records.samples import RAW, Raw, cell_key, of_lab
from slownet.lab.exact.later import told
from slownet.lab.host import native, owner
from slownet.lab.run import crowd, import_path
from slownet.lab.run.events import tell
from slownet.model.errors import ExperimentError, LabError, NetworkError, ServiceError, SlownetError, ToolError
from slownet.model.importing import OF_FILES, Terminated, with_its_line
from slownet.model.options import COLD, MEMORY
from slownet.model.sample import Sample, cell_in_words
from slownet.net import interface_captures as captures
from slownet.net import openvswitch, sleeping_calls
from slownet.net.layout import layout
from slownet.net.log import latest, longest
from slownet.net.network import Network
from slownet.net.seeds import FREE, Seeds
from slownet.net.tool import noted
from slownet.runner.job import CAPTURES, SERVICES, Job
from slownet.runner.measurement import Measurements, new_sample
from slownet.services import snapshot
from slownet.services.snapshot import DISK, Data
from slownet.tools.user_metrics import as_record

# Changes of a boot to the lab's disk, as a part of a snapshot: the upper layer of the lab's overlay.

REMOVED = "removed.json"
OPAQUE = "trusted.overlay.opaque"


def save(folder: Path) -> None:
    """Write what was added, changed and removed since the boot into a snapshot's folder. Raises SlownetError."""
    upper = _upper()
    mounted = set(_mounts())
    above = {parent for each in mounted for parent in each.parents}
    removed, kept = [], []
    of_this_boot = PurePosixPath(import_path.file()).relative_to("/")
    for path, is_removed in _changes(upper, mounted):
        if path == of_this_boot:
            continue
        if is_removed:
            removed.append(str(path))
        if path not in above and not _is_mark(upper / path):  # a folder above a mount may be of the host in another boot
            kept.append(str(path))
    (folder / REMOVED).write_text(json.dumps(removed))
    Data(folder / f"{DISK}.tar", saves=True).save(upper, kept, "--no-recursion", f"--xattrs-exclude={OPAQUE}")


def restore(folder: Path, root: Path = Path("/")) -> None:
    """Make the disk what it was when it was saved. Raises SlownetError."""
    for name in json.loads((folder / REMOVED).read_text()):
        path = root / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    Data(folder / f"{DISK}.tar", saves=False).restore(root)


def _upper() -> Path:
    """Return the upper layer, whose parent the lab's first process keeps open (see init.c)."""
    for each in Path("/proc/1/fd").iterdir():
        if (each / "upper").is_dir() and (each / "work").is_dir():
            return each / "upper"
    raise LabError("the changes of this lab's disk cannot be read", fix=f"measure with {COLD}")


def _mounts() -> Iterator[PurePosixPath]:
    """Yield where other file systems are mounted, relative to the root."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        place = line.split()[1].encode().decode("unicode_escape")  # a space is \040 there
        if place != "/":
            yield PurePosixPath(place[1:])


def _changes(upper: Path, mounted: set[PurePosixPath]) -> Iterator[tuple[PurePosixPath, bool]]:
    """Yield the paths that the upper layer has, and whether it hides what is at that path below it; folders come first."""
    for parent, folders, files in os.walk(upper):
        here = PurePosixPath(parent).relative_to(upper)
        folders[:] = sorted(each for each in folders if here / each not in mounted)
        for name in (*folders, *sorted(files)):
            whole = Path(parent, name)
            yield here / name, _is_mark(whole) or _is_opaque(whole)


def _is_mark(path: Path) -> bool:
    """Return whether a path is overlayfs's mark of a removed one: a character device with the number 0."""
    found = os.lstat(path)
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == 0


def _is_opaque(path: Path) -> bool:
    """Return whether a folder has replaced one of the image."""
    try:
        return os.getxattr(path, OPAQUE, follow_symlinks=False) == b"y"
    except OSError:
        return False


ALIGNED_S = 65.536
"""16384 ticks at 250 Hz. The kernel rounds a timer up to 8 ticks from 0.26 s on, to 64 from 2 s on and so on, counted from the
boot (timer wheel, kernel/time/timer.c). With a free CPU, a retransmission would otherwise depend on what the boot measured
before: the same cell of 5 % loss took 186.97 and 187.33 ms a page in two boots, 100.6 and 101.4 ms at another delay."""


def main(argv: list[str]) -> int:
    """Run the job (JSON: experiment, directory, path, and the fields of `Job`); return the exit status, 2 after an error."""
    end_with_parent()
    asked = json.loads(argv[0])
    import_path.extend(asked.get("path", ()))
    try:
        rest = told if asked.get("later") else None
        run(find(asked["experiment"]), Path(asked["directory"]), Job.read(asked), rest)
    except SlownetError as error:
        tell("error", line=error.line, log=getattr(error, "log", ""))
        return 2
    return 0


def end_with_parent() -> None:
    """End on SIGTERM, and when the parent process is killed, so that everything that was started is stopped."""
    signal.signal(signal.SIGTERM, _terminate)
    owner.end_with_parent(signal.SIGTERM)


def _terminate(number: int, frame: object) -> None:
    raise Terminated(128 + number)


def run(experiment: Experiment, directory: Path, job: Job, rest: Callable[[], str] | None = None) -> None:
    """Measure the cells of a boot. A failed cell is recorded and not retried; the others continue.

    rest: returns the whole job once the services are ready; other boots of an exact lab begin there.
    """
    began, failed, known = time.monotonic(), set[str](), set[str]()
    (directory / of_lab(RAW, job.lab)).mkdir(parents=True, exist_ok=True)
    owner.note(str(directory))
    if job.snapshot and not job.saves:
        restore(Path(job.snapshot))
    with Network(experiment.topology) as net:
        interfaces = captures.find(net, job.capture)
        with serving(experiment, net, directory / of_lab(SERVICES, job.lab), job) as service:
            job = Job.read(json.loads(rest())) if rest else job
            facts = dict(service.facts()) if service is not None and hasattr(service, "facts") else {}
            tell(
                "facts",
                settings=net.kernel_settings(),
                openvswitch=openvswitch.version(),
                service=facts,
                topology=layout(net.hosts, net.switches, net.mininet.links),
            )
            warm_up(experiment, net, service, job, directory / of_lab(RAW, job.lab))
            for index, block, cell in job.steps:
                if cell_key(cell) in failed:
                    continue
                tell("cell", index=index, cell=cell)
                if job.aligned and native.cpu_is_free():
                    align()
                net.seeds = Seeds(job.turn(block), FREE if native.cpu_is_free() else None)
                with alone(experiment, cell):
                    sample = measure(
                        experiment, net, service, cell, directory, index, interfaces, job, twice=cell_key(cell) not in known
                    )
                (failed if sample["status"] == "failed" else known).add(cell_key(cell))
                tell("sample", index=index, sample=sample)
    if job.saves:
        save(Path(job.snapshot))
    tell("end", virtual_s=round(time.monotonic() - began, 6))


def warm_up(experiment: Experiment, net: Network, service: Any, job: Job, folder: Path) -> None:
    """Do what the programs do before the first cell, with links like those of the boot's first block; nothing is recorded."""
    net.seeds = Seeds(job.turn(1), FREE if native.cpu_is_free() else None)
    arguments = [service] if experiment.service else []
    numbers = itertools.count()

    def say(cell: Cell, done: int, note: str) -> None:
        tell("warming", index=next(numbers), cell=cell, done=done, of=job.warm_up.operations, note=note)

    job.warm_up.run(lambda cell: _measured(experiment, net, *arguments, **cell), native.RealTime(folder), say)


@contextmanager
def serving(experiment: Experiment, net: Network, folder: Path, job: Job) -> Iterator[Any]:
    """Start the services of an experiment, prepare them unless the boot begins with a snapshot, and yield its own service."""
    with ExitStack() as started:
        with snapshot.setting_up(Path(job.snapshot) if job.snapshot else None, job.saves):
            if hasattr(experiment.topology, "serve"):  # a compose project brings them
                started.enter_context(experiment.topology.serve(net, folder))
            service = started.enter_context(experiment.service(net, folder) if experiment.service else nullcontext())
        if experiment.prepare and (job.saves or not job.snapshot):
            experiment.prepare(net, *([service] if experiment.service else []))
        yield service


@contextmanager
def alone(experiment: Experiment, cell: Cell) -> Iterator[None]:
    """End what a measuring function leaves behind that cannot go on: copies of this process, and a lab full of processes."""
    own = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != own:  # a child that the function forked, and that came back from it
            os._exit(1)
        if native.inside_lab() and crowd.is_crowded():
            what = f"{experiment.name} left no room for processes {_where(cell)}, as a fork bomb does"
            error = ExperimentError(what, fix=f"start fewer processes, or end them; {MEMORY} makes room")
            tell("error", line=error.line, log="")
            os._exit(0)  # nothing can be taken down, the lab ends now; with another status it would say itself that it is full


def align() -> None:
    """Wait until the virtual clock is at a multiple of `ALIGNED_S`."""
    time.sleep(ALIGNED_S - time.monotonic() % ALIGNED_S)


def measure(
    experiment: Experiment, net: Network, service: Any, cell: Cell, directory: Path, index: int,
    interfaces: Sequence[tuple[Any, str]], job: Job, *, twice: bool = True,
) -> Sample:  # fmt: skip
    """Measure one block: call the experiment's function, which sets a link, and return the sample.

    interfaces: nodes and their interfaces whose packets are captured; job: says into whose folders, and whether the queues of
    links are watched; twice: whether what a host sends is captured as it enters its queue, too. An account needs that of one
    sample of each cell, and it costs as much as the other captures.
    """
    sample = new_sample(experiment.name, cell, condition(cell), index)
    for past in (net.verified, net.settings, net.played):
        past.clear()
    arguments = [service] if experiment.service else []
    packets: list[captures.Capture] = []
    raw, began = Raw(directory, job.lab), time.time_ns()
    folder = directory / of_lab(CAPTURES, job.lab)
    capturing = captures.capturing(interfaces, folder, f"{index:03}", packets, before=twice)
    programs: list[tuple[int, int]] = []
    with suppress(ToolError, ServiceError, NetworkError), noted(programs):  # recorded in the sample
        Measurements(net, raw.keep, job.queues).take(sample, lambda: _measured(experiment, net, *arguments, **cell), capturing)
    if sleeping_calls.are_wanted():
        calls = sleeping_calls.taken(began, time.time_ns())
        sample["raw"].append(raw.keep(f"{index:03}-{sleeping_calls.FILE}", sleeping_calls.written(calls)))
    if packets:
        sample["captures"] = [each.to_json(directory) for each in packets]
        sample["programs"] = [list(each) for each in programs]
    sample["verified_rtt_ms"], sample["late"] = longest(net.settings), latest(net.settings)
    sample["unverified"] = [f"{each.link}: {why}" for each in net.settings if (why := each.verification.unverified)]
    return sample


def _measured(experiment: Experiment, *arguments: Any, **cell: str) -> Any:
    try:
        with alone(experiment, cell):
            returned = experiment.measure(*arguments, **cell)
    except Terminated:
        raise
    except OF_FILES as error:
        raise with_its_line(error) from error
    except SystemExit as error:  # nothing was measured, whatever its status says
        what = f"the measuring function of {experiment.name} ended its process (sys.exit, status {error.code or 0})"
        raise ExperimentError(what, _where(cell), "return what was measured, or raise an error") from error
    return as_record(returned, experiment.name, experiment.unit)


def _where(cell: Mapping[str, str]) -> str:
    return f"in cell {cell_in_words(cell) or 'without conditions'}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
