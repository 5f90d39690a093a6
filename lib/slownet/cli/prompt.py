"""Runs Mininet's command line in a running network: `python -m slownet.cli.prompt JOB`, in a lab or natively."""

from __future__ import annotations

import json
import logging
import os
import shlex
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mininet.log import lg, setLogLevel
from rich.table import Table

from slownet.cli.terminal import console
from slownet.hypotheses import specs
from slownet.lab.run.counters import Flow
from slownet.links.faults import shown
from slownet.model.errors import ExperimentError, SlownetError, nearest
from slownet.model.shapes import Json
from slownet.net import blocked_writers, machine, missing_commands
from slownet.net.network import Network
from slownet.net.piped_cli import PipedCLI
from slownet.runner.inside import end_with_parent

if TYPE_CHECKING:
    from slownet.compose.hosting import Hosted, Running

_OF_A_SHELL = set("|&;<>()$`*?~")
"""Characters that only the container's shell understands."""


class _Output(logging.Handler):
    """Writes the answers of Mininet's commands to standard output, and their errors in slownet's format."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        super().__init__()
        self._complain = complain

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR:
            self._complain(" ".join(record.getMessage().split()).removeprefix("*** "))
        else:
            sys.stdout.write(record.getMessage())
            sys.stdout.flush()


class Prompt(PipedCLI):
    """Mininet's CLI with conditions and counters; an error is one line. No prompt is printed without a terminal.

    services: those of a compose project, in whose containers a service's commands run.
    """

    identchars = PipedCLI.identchars + "-."  # of names of hosts, too

    def __init__(self, network: Network, services: Running | None = None) -> None:
        self.network = network
        self._services = {each.name: each for each in services or ()}
        self.mistakes = 0
        setLogLevel("output")
        lg.handlers[:] = [_Output(self._complain)]
        super().__init__(network.mininet)

    def run(self) -> None:
        if self.isatty():
            super().run()
            return
        for line in self.stdin:
            if self.onecmd(self.precmd(line)):
                break

    def onecmd(self, line: str) -> Any:
        try:
            return super().onecmd(line)
        except KeyboardInterrupt:
            raise
        except SlownetError as error:
            self._complain(error.line)
        except Exception as error:  # Mininet's commands raise what Python does
            self._complain(f"{type(error).__name__}: {error}")
        return None

    def default(self, line: str) -> None:
        first = line.split()[0]
        if first not in self.mn and first not in self._services and first != "EOF":
            commands = [name.removeprefix("do_") for name in self.get_names() if name.startswith("do_")]
            raise ExperimentError(f"no command or node '{first}'", fix=nearest(first, [*commands, *self.mn]))
        command = line.strip()[len(first) :].strip()
        if first in self._services and first not in self.mn and not command:
            raise ExperimentError(f"no command for {first}", fix=f"write one: {first} ls")
        if first in self._services and command:
            self._in_container(self._services[first], command)
        else:
            super().default(line)

    def _in_container(self, service: Hosted, command: str) -> None:
        if not service.running:
            raise ExperimentError(f"the container of {service.name} has ended", fix=f"host {service.name} ls runs on its host")
        words = ["sh", "-c", command] if _OF_A_SHELL & set(command) else shlex.split(command)
        execute(service, words, reads=self.isatty())

    def do_host(self, line: str) -> None:
        """Run a command of the lab on a service's host, whose container may lack it.
        Usage: host SERVICE COMMAND
        Example: host web ss -tn"""
        first, _, command = line.strip().partition(" ")
        if first not in self.mn or not command.strip():
            raise ExperimentError("name a host and a command", fix="host web ss -tn")
        super().default(line)

    def getLocals(self) -> dict[str, Any]:  # noqa: N802
        return {**super().getLocals(), "network": self.network}

    def do_set(self, line: str) -> None:
        """Set the condition of a link. What is not named is as the topology states it; after a NAME, or none, nothing is.
        Usage: set node1 node2 [NAME] [rtt=10ms] [loss=1%] [rate=2Mbit] ...
        Examples: set client server rtt=10ms, set client server LTE, set client server none"""
        given = specs.words(line)
        if len(given) < 3:
            raise ExperimentError("name a link and a condition", fix="set node1 node2 rtt=10ms")
        first, second, *words = given
        set_link(self.network, first, second, words)
        link = self.network.link(first, second)
        verification = self.network.settings[-1].verification
        pinged = verification.ping.rtt_ms if verification.ping else None
        outcome = f"; a ping takes {pinged.min:g} ms" if pinged else f"; {verification}"
        print(f"{link.name}: {link.condition}{outcome}")

    def do_show(self, line: str) -> None:
        """Show the conditions and counters of all links or of one.
        Usage: show [node1 node2]"""
        given = specs.words(line)
        if len(given) not in (0, 2):
            raise ExperimentError("name both ends of a link, or none", fix="show, or show node1 node2")
        ends = [tuple(given)] if given else [(link.intf1.node.name, link.intf2.node.name) for link in self.mn.links]
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in ("link", "condition", "direction", "sent", "bytes", "dropped", "queued"):
            table.add_column(column)
        for first, second in ends:
            link = self.network.link(first, second)
            counted = link.counters()
            table.add_row(link.name, str(link.condition), "up", *_row(counted.up))
            table.add_row("", "", "down", *_row(counted.down))
        console().print(table)

    def _complain(self, line: str) -> None:
        self.mistakes += 1
        print(f"slownet: {line}", file=sys.stderr, flush=True)


def execute(service: Hosted, words: Sequence[str], reads: bool) -> int:
    """Run a command in a service's container, with this program's output; return its exit status. reads: its input, too."""
    sys.stdout.flush()
    process = service.execute(words, attached=True, reads=reads)
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise


def _row(flow: Flow) -> list[str]:
    return [str(number) for number in (flow.sent_packets, flow.sent_bytes, flow.dropped, flow.backlog_packets)]


def set_link(network: Network, first: str, second: str, words: list[str]) -> None:
    """Set a link to a condition given as words (see `specs.condition`). Raises SlownetError.

    A name replaces the whole condition; fields alone keep what the topology states besides.
    """
    network.settings.clear()
    specs.condition(words)  # so that only fields are given to `set`
    base, fields = specs.fields(words)
    network.link(first, second).set(base, **fields)  # type: ignore[arg-type]


def main(argv: list[str]) -> int:
    """Build the job's network (JSON: topology or compose, links) and open the prompt; return 2 after an error without a
    terminal. With exec in the job, run that command in a service's container, and return its status."""
    end_with_parent()
    job = json.loads(argv[0])
    machine.prepare()
    try:
        topology = _project(job) if "compose" in job else specs.topology(job["topology"], job.get("arguments", []))
        network = Network(topology, job.get("stp", False))
        with network, topology.serve(network) if "compose" in job else nullcontext() as services:
            for first, second, words in job["links"]:
                set_link(network, first, second, words)
            if services and job.get("exec"):
                name, *words = job["exec"]
                with breaking(services):
                    return execute(services[name], words, reads=True)
            if services:
                print_services(services, network)
            if len(network.parts) > 1:
                groups = " | ".join(", ".join(host.name for host in part) for part in network.parts)
                print(f"slownet: these do not reach each other: {groups}", file=sys.stderr, flush=True)
            with breaking(services), blocked_writers.watched(network.mininet.values):
                prompt = Prompt(network, services)
            blocked_writers.report(network.mininet.values())
    except SlownetError as error:
        print(f"slownet: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        if missing := missing_commands.line():
            print(f"slownet: {missing}", file=sys.stderr)
    return 2 if prompt.mistakes and not os.isatty(0) else 0


def _project(job: Mapping[str, Json]) -> Any:
    from slownet.compose import handover
    from slownet.compose.project_topology import Compose

    handover.use(Path(job["handed"]))
    files, profiles = job["compose"]
    return Compose(*files, profiles=profiles)


def breaking(services: Running | None) -> AbstractContextManager[object]:
    """Return a context that injects the faults of a compose project; each is printed, on standard error."""
    if not services or not services.project.steps:
        return nullcontext()
    broken = services.faults()
    broken.follow = lambda step: print(f"slownet: {step.what} at {shown(step.planned)}", file=sys.stderr, flush=True)
    return broken


def print_services(services: Any, network: Network) -> None:
    """Print how the hosts of a compose project are reached, and what can be done in the prompt."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("host", "address", "ports", "image", "link"):
        table.add_column(column)
    links = {link.name.partition("-switch")[0]: str(link.condition) for link in network.links}
    table.add_row("client", network["client"].IP(), "", "", links["client"])
    for each in services:
        ports = " ".join(map(str, each.ports))
        table.add_row(each.name, each.host.IP(), ports, each.image, links[each.host.name])
    console().print(table)
    pages = [f"http://{each.name}:{each.port}/" for each in services if each.port]
    example = f"client wget -qO- {pages[-1]}" if pages else f"client ping -c 3 {services.project.services[0].name}"
    if services.project.steps:
        print(f"from now on: {services.project.faults}")
    print(f"try: {example}; set {services.project.services[0].name} switch rtt=40ms; show", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
