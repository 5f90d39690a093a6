"""The part of a run that happens where the network is: `python -m slownet.sweep.inside JOB`, in the lab or in place.

Samples and raw output go to the run directory as they come. Progress goes to standard output, a JSON object a line:
{"event": "facts"|"cell"|"sample"|"error", ...}.
"""

from __future__ import annotations

import ctypes
import json
import shlex
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from slownet import counters, owner
from slownet.errors import NetworkError, ServiceError, SlownetError, ToolError
from slownet.experiment import Cell, Experiment, condition, find
from slownet.net import Network
from slownet.net import capture as captures
from slownet.net.network import SYSCTLS, ovs_version
from slownet.records.samples import Sample, SampleLog, of_lab

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main(argv: list[str]) -> int:
    """Runs the job (JSON: experiment, directory, cells by number, lab, capture). Returns the exit status: 2 after an error."""
    end_with_parent()
    job = json.loads(argv[0])
    cells = {int(index): cell for index, cell in job["cells"].items()}
    try:
        run(find(job["experiment"]), Path(job["directory"]), cells, job["lab"], job.get("capture") or [])
    except SlownetError as error:
        tell("error", line=error.line, log=getattr(error, "log", ""))
        return 2
    return 0


def end_with_parent() -> None:
    """Ends politely when asked to, or when the command that started this one is killed: what was started is stopped."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def tell(event: str, **values: Any) -> None:
    """One line of progress."""
    print(json.dumps({"event": event, **values}), flush=True)


def run(experiment: Experiment, directory: Path, cells: Mapping[int, Cell], lab: int = 1, capture: Sequence[str] = ()) -> None:
    """Measures the cells, by their numbers in the plan. A cell that fails is marked so, and the others go on.

    lab: which of several that share the run directory; capture: the interfaces whose packets are kept, a file each a sample.
    """
    began = time.monotonic()
    with SampleLog(directory, lab) as log:
        owner.note(str(directory))
        with Network(experiment.topology) as net:
            interfaces = captures.find(net, capture)
            start = experiment.service(net, directory / of_lab("services", lab)) if experiment.service else nullcontext()
            with start as service:
                facts = dict(service.facts()) if service is not None and hasattr(service, "facts") else {}
                tell("facts", settings={**SYSCTLS, "offloads": "off"}, openvswitch=ovs_version(), service=facts)
                for index, cell in cells.items():
                    tell("cell", index=index, cell=cell)
                    sample = measure(experiment, net, service, cell, log, index, interfaces)
                    log.append({**sample, "lab": lab})
                    tell("sample", index=index, status=sample["status"], error=sample["error"])
    tell("end", virtual_s=round(time.monotonic() - began, 6))


def measure(
    experiment: Experiment, net: Network, service: Any, cell: Cell, log: SampleLog, index: int,
    interfaces: Sequence[tuple[Any, str]] = (),
) -> Sample:  # fmt: skip
    """One sample: the link set, verified by a ping as the articles' authors did, then the experiment's function.

    interfaces: nodes and their interfaces whose packets are kept.
    """
    sample: Sample = {
        "experiment": experiment.name, "cell": cell, "condition": condition(cell), "index": index, "tool": None,
        "status": "ok", "error": None, "metrics": {}, "verified_rtt_ms": None, "raw": [], "captures": [], "wall_s": None,
    }  # fmt: skip
    began = time.monotonic()
    net.verified.clear()
    net.played.clear()
    before = net.counters()
    net.told.begin()
    try:
        with captures.capturing(interfaces, log.directory / "captures", f"{index:03}") as captured:
            sample["captures"] = captured
            record = experiment.measure(net, *([service] if experiment.service else []), **cell)
        sample["tool"] = type(record).__name__.lower()
        sample["metrics"] = dict(record.metrics())
        sample["facts"] = dict(getattr(record, "facts", dict)())
        sample["raw"].append(log.raw(f"{index:03}-{sample['tool']}.txt", _transcript(record)))
        for name, content in getattr(record, "files", {}).items():
            sample["raw"].append(log.raw(f"{index:03}-{sample['tool']}.{name}", content))
    except (ToolError, ServiceError, NetworkError) as error:
        sample |= {"status": "failed", "error": str(error)}
        raw = getattr(error, "raw", "")
        if raw:
            sample["raw"].append(log.raw(f"{index:03}-failed.txt", raw))
    sample["captures"] = [each.to_json(log.directory) for each in sample["captures"]]
    sample["counters"] = counters.record(before, net.counters())
    for pinged in net.verified:
        sample["raw"].append(log.raw(f"{index:03}-ping.txt", _transcript(pinged)))
        sample["verified_rtt_ms"] = pinged.rtt_ms.min if pinged.rtt_ms else None
    for played in net.played:
        sample["raw"].append(log.raw(f"{index:03}-schedule.json", json.dumps(played.to_json())))
    sample["rate_bit_s"] = net.told.highest_rate
    sample["virtual_s"] = time.monotonic() - began
    return sample


def _transcript(record: Any) -> str:
    return f"$ {shlex.join(record.command)}\n{record.raw}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
