"""Runs an unchanged Mininet program with slownet's classes: `python -m slownet.net.standin PROGRAM ARGUMENT...`.

Imports from mininet.cli, mininet.net, mininet.link and mininet.node give the program slownet's class of that name, if there is
one. Mininet's own modules keep their classes, which slownet's are built on.
"""

from __future__ import annotations

import importlib
import re
import runpy
import shlex
import shutil
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from mininet.log import warn
from mininet.node import UserSwitch

from slownet.model.errors import ExperimentError, SlownetError
from slownet.model.options import Option
from slownet.net import blocked_writers, machine, missing_commands
from slownet.net.nodes import QuickSwitch

# Mininet's `UserSwitch`, whose programs, of OpenFlow's reference implementation, no distribution has any more.

PROGRAM = "ofdatapath"


class InPlace(QuickSwitch):
    """Open vSwitch's switch in place of a `UserSwitch`: it forwards the same packets, in the kernel instead of a process."""

    said = False

    def __init__(self, name: str, dpopts: str = "", **params: Any) -> None:
        """dpopts: options of the program that is missing, without effect here. The first one names the replacement."""
        super().__init__(name, **params)
        if not InPlace.said:
            warn(f"*** UserSwitch needs {PROGRAM}, which Debian does not have: made an OVSSwitch\n")
            InPlace.said = True


InPlace.__name__ = "UserSwitch"  # in messages


def switch() -> type:
    """Return the class that a program gets as `UserSwitch`."""
    return UserSwitch if shutil.which(PROGRAM) else InPlace


class _StandIn(ModuleType):
    """A module with some names of its own and the rest from another module."""

    def __init__(self, real: ModuleType, names: Mapping[str, object]) -> None:
        super().__init__(real.__name__, real.__doc__)
        self.__dict__.update({**vars(real), **names})


STP = Option("stp").typed
MN = "mn"
"""Mininet's own command."""
_KEYS = re.compile(r"dict_keys\(\[(.*)\]\)")
WINDOWS = "tkinter"
CLUSTER = re.compile(
    r"^\s*(?:from|import)\s.*\b(?:mininet\.examples\.cluster|MininetCluster)\b|^class MininetCluster\b", re.MULTILINE
)
"""The line in which a program uses Mininet's cluster edition: an import of it, or a copy."""


OWN_STP = re.compile(r"\br?stp[_-]enable\s*=\s*true\b", re.IGNORECASE)
"""The line in which a program starts the spanning tree itself, by ovs-vsctl, once its loops are there."""


def install(stp: bool = False) -> None:
    """Make imports from Mininet give slownet's classes, for the rest of this process.

    stp: whether all switches run STP.
    """
    from mininet import cli, link, net, node

    pass
    from slownet.net.conversion import fast_class
    from slownet.net.fast_mininet import QuickNet
    from slownet.net.loops import Reference
    from slownet.net.mininet_links import quick_interface, quick_link
    from slownet.net.piped_cli import PipedCLI

    QuickNet.stp, QuickNet.forgives = stp, True
    links = {name: quick_link(getattr(link, name)) for name in ("Link", "TCLink", "TCULink")}
    interfaces = {name: quick_interface(getattr(link, name)) for name in ("Intf", "TCIntf")}
    nodes: dict[str, object] = {
        name: fast_class(getattr(node, name)) for name in ("Node", "Host", "CPULimitedHost", "OVSSwitch", "OVSBridge")
    }
    nodes["OVSKernelSwitch"] = nodes["OVSSwitch"]
    nodes["UserSwitch"] = switch()
    nodes["Controller"] = Reference
    nodes["findController"] = lambda *controllers: node.DefaultController  # for mn, which would name another one
    for real, names in (
        (cli, {"CLI": PipedCLI}),
        (net, {"Mininet": QuickNet}),
        (link, links | interfaces),
        (node, nodes),
    ):
        standin = _StandIn(real, names)
        sys.modules[real.__name__] = standin
        setattr(importlib.import_module("mininet"), real.__name__.rpartition(".")[2], standin)


def _failed(error: SlownetError) -> int:
    """Print a user's mistake, remove the networks that the program made, and return the exit status."""
    from slownet.net.fast_mininet import QuickNet

    print(f"slownet: {error}", file=sys.stderr)
    for network in list(QuickNet.running):
        with suppress(Exception):  # whatever a half-built network lacks
            network.stop()
    return 2


def _ended(error: Exception, path: str) -> int:
    """Print the exception that ended the program, and return the exit status.

    A module that a lab lacks is one line; all else is what Python prints, from the program's own first line on.
    """
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    missing = _missing(error) if isinstance(error, ModuleNotFoundError) else None
    if missing:
        place = f"{path}:{trace.tb_lineno}" if trace else path
        return _failed(ExperimentError(missing[0], place, missing[1]))
    sys.excepthook(type(error), error.with_traceback(trace), trace)
    return 1


def _run_mn(path: str, words: Sequence[str]) -> int:
    """Run mn, whose own handler of exceptions ends with status 0; return the exit status. Raises SlownetError."""
    made = runpy.run_path(path, run_name=MN)
    runner: Any = made["MininetRunner"]

    class Runner(runner):  # type: ignore[misc]
        def setup(self) -> None:
            """Look for the files of commands before there is a network: Mininet would end without status in the middle."""
            for option in ("pre", "post"):
                script = getattr(self.options, option, None)
                if script and not Path(script).is_file():
                    fix = "give one of commands for Mininet's prompt (a lab has a /tmp of its own)"
                    raise ExperimentError(f"there is no file '{script}'", f"--{option}", fix)
            super().setup()

    try:
        Runner()
    except SlownetError:
        raise
    except KeyboardInterrupt:
        made["info"]("\n\nKeyboard Interrupt. Shutting down and cleaning up...\n\n")
        made["cleanup"]()
    except Exception as error:
        made["debug"](traceback.format_exc())
        kind = "" if type(error) is Exception else f"{type(error).__name__}: "
        listed = _KEYS.sub(lambda found: found[1].replace("'", ""), str(error).removeprefix("error: ").strip())
        raise ExperimentError(f"{kind}{listed}", shlex.join([MN, *words])) from error
    return 0


def _missing(error: ModuleNotFoundError) -> tuple[str, str] | None:
    """Return which module this lab lacks, and what to do about it; None outside a lab."""
    from slownet.lab.run.missing_programs import module

    found = module(f"ModuleNotFoundError: {error}")
    if found and (error.name or "").partition(".")[0].lower() == WINDOWS:
        return f"{found[0]}: it has no screen for windows", "run the network alone, or try slownet shell"
    return found


def _check_reach(path: str, text: str, words: Sequence[str]) -> None:
    """Raise ExperimentError if a program, or mn by its arguments, places nodes on other machines."""
    place = ""
    if Path(path).name == MN:
        place = next((word for word in words if word.startswith("--cluster")), "")
    elif found := CLUSTER.search(text):
        place = f"{path}:{text.count(chr(10), 0, found.end()) + 1}"
    if place:
        what = "Mininet's cluster edition places nodes on other machines by ssh, which a network of slownet cannot reach"
        raise ExperimentError(what, place, "use Mininet in its place")


def find(program: str) -> str:
    """Return the path of a Python program: a file, or the name of one on PATH, such as mn. Raises ExperimentError."""
    path = program if Path(program).is_file() else shutil.which(program)
    if not path:
        raise ExperimentError(f"there is no program '{program}'", fix="give a Python file, or a program on PATH such as mn")
    with open(path, "rb") as file:
        first = file.readline()
    if not str(path).endswith(".py") and b"python" not in first:
        raise ExperimentError(f"'{path}' is not a Python program", fix="give a program that uses Mininet")
    return str(path)


def _nodes() -> list[Any]:
    """Return the nodes of all networks that run."""
    from slownet.net.fast_mininet import QuickNet

    return [node for network in list(QuickNet.running) for node in network.values()]


def _report() -> None:
    """Print notes on networks that the program did not stop."""
    if fast := sys.modules.get("slownet.net.fast_mininet"):
        for network in list(fast.QuickNet.unstopped):
            with suppress(SlownetError, OSError):  # a network that is half-built
                network.report()


def main(argv: list[str]) -> int:
    """Run the program as `python PROGRAM` would; a user's mistake gives one line and exit status 2, and leaves no network.

    `--stp` before the program makes all switches run STP.
    """
    given = argv[:1]
    try:
        if not argv:
            raise ExperimentError("no program is given", fix="python -m slownet.net.standin PROGRAM ARGUMENT...")
        if argv[0] == STP:
            argv = argv[1:]
        path = find(argv[0] if argv else "")
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        _check_reach(path, text, argv[1:])
        machine.prepare(text)
        # Until it did so, its broadcasts would circle without end: so all switches run STP from the start.
        install(stp=STP in given or bool(OWN_STP.search(text)))
        sys.argv = [path, *argv[1:]]
        sys.path[0] = str(Path(path).resolve().parent)
        if Path(path).name == MN:
            return _run_mn(path, argv[1:])
        try:
            with blocked_writers.watched(_nodes):
                runpy.run_path(path, run_name="__main__")
        except SlownetError:
            raise
        except Exception as error:
            return _ended(error, path)
    except SlownetError as error:
        return _failed(error)
    finally:
        _report()
        if missing := missing_commands.line():
            print(f"slownet: {missing}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
