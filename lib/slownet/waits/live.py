"""Accounts of what happens now: of a command on a host of a running network, or of a block of Python."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import TYPE_CHECKING, Any, Self, overload

from slownet.lab.host import native
from slownet.lab.run.outbox import Outbox
from slownet.model.errors import ExperimentError
from slownet.net import interface_captures, sleeping_calls, tool
from slownet.net.layout import layout
from slownet.net.process import no_host
from slownet.waits import dissected, timers
from slownet.waits.account import Account
from slownet.waits.account_text import text
from slownet.waits.door import account
from slownet.waits.of_run import links_between, what_the_clock_hides
from slownet.waits.trace import HostCapture

if TYPE_CHECKING:
    from slownet.net.network import Network
    from slownet.net.process import Host

NO_TSHARK = 'sizes and times only: the lab has no tshark: state it in [tool.slownet], packages = ["tshark"]'
ALWAYS = HostCapture.between
"""The time of all packets."""


class Captured:
    """A ``with`` block that captures the packets of a network, for accounts that are made before its end.

    Parameters
    ----------
    net : Network
        A running network; all its hosts are captured.
    client : str, optional
        The host that began the operation; without it the first one that asked something.
    whole : bool
        Whether several connections to a server, one after the other, are one operation; otherwise the last of them is.
    snaplen : int, optional
        Bytes to keep of each packet; by default all.

    Raises
    ------
    ToolError
        At the begin of the block, if nothing can be captured.
    """

    def __init__(self, net: Any, client: str | None = None, *, whole: bool = True, snaplen: int | None = None) -> None:
        if not hasattr(net, "hosts"):
            fix = "write why(net), or why(net[HOST], COMMAND)"
            raise ExperimentError(f"a {type(net).__name__} is not a network", "why()", fix)
        self._net, self._client, self._whole, self._snaplen = net, client, whole, snaplen
        self._captures: list[interface_captures.Capture] = []
        self._calls: list[sleeping_calls.SleepingCall] = []
        self._captured, self._kept = ExitStack(), ExitStack()
        self._folder = Path()

    def __enter__(self) -> Self:
        self._captures = []
        interfaces = interface_captures.find(self._net, ["hosts"])
        with ExitStack() as kept:
            self._folder = Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="slownet-why-")))
            watching = interface_captures.capturing(interfaces, self._folder, "why", self._captures, self._snaplen)
            self._captured.enter_context(watching)
            self._kept = kept.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._kept:
            self.stop()

    def stop(self) -> None:
        """End the captures; `made` reads them until the end of the block. Raises ToolError."""
        self._captured.close()
        if sleeping_calls.are_wanted():
            self._calls += sleeping_calls.taken(*ALWAYS)

    def made(self, between: tuple[int, int] = ALWAYS) -> Account:
        """Return the account of what was captured, or of a part of it, before the end of the block and after `stop`.

        between: the first and the last ns since 1970. Raises SlownetError.
        """
        folder = Outbox(self._folder)
        entries = [each.to_json(self._folder) for each in self._captures if each.before is not None]
        captures = [HostCapture.of_entry(each, folder, between) for each in entries]
        asked = dissected.Messages(captures)
        made = account(
            captures, self._client, whole=self._whole, free=native.cpu_is_free(), asked=asked, is_of_request=asked.is_of_request
        )
        made = timers.named(made, self._calls)
        said = [NO_TSHARK if each == dissected.MISSING and native.inside_lab() else each for each in asked.notes]
        notes = [*made.notes, *said, what_the_clock_hides(native.clock_facts()["clock"], native.cpu_is_free())]
        return Account(
            made.operation, made.client, made.steps, made.beside, tuple(filter(None, notes)), made.clock_is_free
        )  # fmt: skip

    @property
    def links(self) -> Mapping[tuple[str, str], Sequence[str]]:
        """The links between each two hosts, by their names."""
        net = getattr(self._net, "mininet", self._net)
        return links_between(dict(layout(net.hosts, net.switches, net.links)))


class Watched(Captured):
    """A ``with`` block that captures the packets of a network, and after it the account of its time.

    Its parameters are those of `Captured`. ``print(found)`` prints the account as ``slownet why`` does.

    Raises
    ------
    ToolError
        At the begin of the block, if nothing can be captured; at its end, if the captures show no operation.
    """

    _account: Account | None = None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if error is None:
                self.stop()
                self._account = self.made()
        finally:
            super().__exit__(kind, error, trace)

    @property
    def account(self) -> Account:
        """The account of the block. Raises ExperimentError before its end."""
        if self._account is None:
            raise ExperimentError("the account is made at the end of the with block", "why(net)", "ask for it after the block")
        return self._account

    def __str__(self) -> str:
        return text(self.account, self.links)


@overload
def why(of: Host, command: Sequence[str], *, whole: bool = True, timeout: float = 600.0) -> Watched: ...


@overload
def why(of: Network, command: None = None, *, client: str | None = None, whole: bool = True) -> Watched: ...


def why(
    of: Any, command: Sequence[str] | None = None, *, client: str | None = None, whole: bool = True, timeout: float = 600.0
) -> Watched:
    """Account for the time of a command on a host, or of what happens in a ``with`` block.

    The packets of all hosts are captured. On a clock that charges for CPU, or on the real one, computing and timers look alike,
    which a note of the account states.

    Parameters
    ----------
    of : Host or Network
        The host that the command runs on; or the network, for a block.
    command : sequence of str, optional
        The program and its arguments.
    client : str, optional
        The host that began the operation of a block; without it the first one that asked something.
    whole : bool
        Whether several connections to a server, one after the other, are one operation; otherwise the last of them is.
    timeout : float
        Seconds for the command.

    Returns
    -------
    Watched
        ``found.account`` is the account, ``print(found)`` prints it as ``slownet why`` does.

    Raises
    ------
    ToolError
        The command is not installed, fails or takes too long; the captures show no operation.

    Examples
    --------
    ::

        found = why(net["client"], ["curl", "-s", "http://web/"])
        with why(net) as found:
            page = ab(net["client"], "http://web/", requests=1)
        assert found.account.remainder_ns == 0
        print(found)
    """
    if command is None:
        return Watched(of, client, whole=whole)
    if wrong := no_host(of):
        raise ExperimentError(wrong, "why()", 'give one, such as net["client"]')
    with Watched(_around(of), of.name, whole=whole) as found:
        tool.run(of, command, timeout)
    return found


def _around(host: Any) -> Any:
    """Return the network of a host, by its links: hosts, switches and links."""
    nodes, links, waiting = {host.name: host}, {}, [host]
    while waiting:
        for each in waiting.pop().intfList():
            if each.link is not None:
                links[id(each.link)] = each.link
                for node in (each.link.intf1.node, each.link.intf2.node):
                    if node.name not in nodes:
                        nodes[node.name] = node
                        waiting.append(node)
    switches = [each for each in nodes.values() if hasattr(each, "dpctl")]
    hosts = [each for each in nodes.values() if not hasattr(each, "dpctl")]
    return SimpleNamespace(hosts=hosts, switches=switches, links=list(links.values()))
