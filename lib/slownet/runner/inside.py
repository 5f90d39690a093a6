"""Measures cells where the network is, in a lab or natively: `python -m slownet.runner.inside JOB`.

Samples and raw output go to the run directory as they come. Progress goes to standard output (see `slownet.lab.events`):
the events "facts", "cell", "sample", "end" and "error".
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from slownet import owner
from slownet.catalogue import find
from slownet.errors import NetworkError, ServiceError, SlownetError, ToolError
from slownet.experiment import Cell, Experiment, condition
from slownet.lab import native
from slownet.lab.events import tell
from slownet.net import Network, openvswitch
from slownet.net import capture as captures
from slownet.net.layout import layout
from slownet.net.network import SYSCTLS
from slownet.net.seeds import FREE, Seeds
from slownet.records.samples import Sample, SampleLog, cell_key, of_lab
from slownet.runner import disk
from slownet.runner.job import Job
from slownet.runner.measurement import Measurements, new_sample
from slownet.services import snapshot
from slownet.tools.returned import as_record

ALIGNED_S = 65.536
"""16384 ticks at 250 Hz. The kernel rounds a timer up to 8 ticks from 0.26 s on, to 64 from 2 s on and so on, counted from the
boot (timer wheel, kernel/time/timer.c). With a free CPU, a retransmission would otherwise depend on what the boot measured
before: the same cell of 5 % loss took 186.97 and 187.33 ms a page in two boots, 100.6 and 101.4 ms at another delay."""


def main(argv: list[str]) -> int:
    """Run the job (JSON: experiment, directory, path, and the fields of `Job`); return the exit status, 2 after an error."""
    end_with_parent()
    asked = json.loads(argv[0])
    sys.path.extend(each for each in asked.get("path", ()) if each not in sys.path)  # after this interpreter's own packages
    try:
        run(find(asked["experiment"]), Path(asked["directory"]), Job.read(asked))
    except SlownetError as error:
        tell("error", line=error.line, log=getattr(error, "log", ""))
        return 2
    return 0


def end_with_parent() -> None:
    """End on SIGTERM, and when the parent process is killed, so that everything that was started is stopped."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    owner.end_with_parent(signal.SIGTERM)


def run(experiment: Experiment, directory: Path, job: Job) -> None:
    """Measure the cells of a boot. A failed cell is recorded and not retried; the others continue."""
    began, failed = time.monotonic(), set[str]()
    with SampleLog(directory, job.lab) as log:
        owner.note(str(directory))
        if job.snapshot and not job.saves:
            disk.restore(Path(job.snapshot))
        with Network(experiment.topology) as net:
            interfaces = captures.find(net, job.capture)
            with serving(experiment, net, directory / of_lab("services", job.lab), job) as service:
                facts = dict(service.facts()) if service is not None and hasattr(service, "facts") else {}
                settings = {**SYSCTLS, "offloads": "off"}
                tell(
                    "facts",
                    settings=settings,
                    openvswitch=openvswitch.version(),
                    service=facts,
                    topology=layout(net.hosts, net.switches, net.mininet.links),
                )
                for index, block, cell in job.steps:
                    if cell_key(cell) in failed:
                        continue
                    tell("cell", index=index, cell=cell)
                    if job.aligned and native.cpu_is_free():
                        align()
                    net.seeds = Seeds(job.turn(block), FREE if native.cpu_is_free() else None)
                    sample = measure(experiment, net, service, cell, log, index, interfaces, job.queues)
                    log.append({**sample, "lab": job.lab, "boot": job.boot, "block": block})
                    if sample["status"] == "failed":
                        failed.add(cell_key(cell))
                    tell("sample", index=index, **_news(sample))
        if job.saves:
            disk.save(Path(job.snapshot))
    tell("end", virtual_s=round(time.monotonic() - began, 6))


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


def _news(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return what those who follow the run need of a sample; all of it is in the log."""
    numbers = {
        name: {key: each.get(key) for key in ("mean", "sd", "n")} for name, each in (sample.get("metrics") or {}).items()
    }
    return {**{name: sample.get(name) for name in ("status", "error", "virtual_s")}, "metrics": numbers}


def align() -> None:
    """Wait until the virtual clock is at a multiple of `ALIGNED_S`."""
    time.sleep(ALIGNED_S - time.monotonic() % ALIGNED_S)


def measure(
    experiment: Experiment, net: Network, service: Any, cell: Cell, log: SampleLog, index: int,
    interfaces: Sequence[tuple[Any, str]] = (), queues: bool = False,
) -> Sample:  # fmt: skip
    """Measure one block: call the experiment's function, which sets a link, and return the sample.

    interfaces: nodes and their interfaces whose packets are captured; queues: whether those of links are watched.
    """
    sample = new_sample(experiment.name, cell, condition(cell), index)
    for past in (net.verified, net.settings, net.played):
        past.clear()
    arguments = [service] if experiment.service else []
    packets: list[captures.Capture] = []
    capturing = captures.capturing(interfaces, log.directory / "captures", f"{index:03}", packets)
    with suppress(ToolError, ServiceError, NetworkError):  # recorded in the sample
        Measurements(net, log.raw, queues).take(sample, lambda: _measured(experiment, net, *arguments, **cell), capturing)
    sample["captures"] = [each.to_json(log.directory) for each in packets]
    for pinged in net.verified:
        sample["verified_rtt_ms"] = pinged.rtt_ms.min if pinged.rtt_ms else None
    sample["unverified"] = [f"{each.link}: {why}" for each in net.settings if (why := each.verification.unverified)]
    return sample


def _measured(experiment: Experiment, *arguments: Any, **cell: str) -> Any:
    return as_record(experiment.measure(*arguments, **cell), experiment.name, experiment.unit)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
