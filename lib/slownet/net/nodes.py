"""Mininet's nodes without a shell of their own until the first `cmd`; everything else uses system calls."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from random import SystemRandom
from typing import Any
from zlib import crc32

from mininet.node import Node, OVSSwitch

from slownet.lab.host import native, owner
from slownet.model.errors import NetworkError
from slownet.net import ipv4_only, missing_commands, openvswitch, sleeping_calls
from slownet.net.namespace import Namespace, apart, inside
from slownet.net.netlink import Route
from slownet.net.places import Place, here, located

NORMAL, CONTROLLER = "NORMAL", "CONTROLLER"
"""Open vSwitch's actions for packets that no flow matches."""
ARGUMENTS = 100_000  # characters per ovs-vsctl command line; the kernel allows more


class Renamed:
    """Mixin for nodes: in a command, a node appears under its name on the machine (see `slownet.net.unique_names`)."""

    name: str
    inNamespace: bool  # noqa: N815  # Mininet's names
    machine_name = ""  # if it differs from its name

    def __str__(self) -> str:
        return self.machine_name or self.name


class QuickNode(Renamed, Node):  # type: ignore[misc]  # Mininet has no types
    """Mixin for a node class of Mininet or of a user (`slownet.net.conversion`): starts the shell only when it is needed."""

    namespace: Namespace | None
    stated_at = Place()
    """The line of the program that states it, for errors while it is configured."""
    unconfigured = configuring = False
    """True if its network will still configure it, so that a route that is stated before waits for its addresses; and whether
    it does so now."""
    _of_the_shell = ("shell", "stdin", "stdout", "pollOut", "pid")
    _opening = False

    def __init__(self, name: str, *args: Any, sysctls: Mapping[str, str] | None = None, **params: Any) -> None:
        """sysctls: set in its network namespace before it has an interface."""
        self._sysctls = sysctls or {}
        super().__init__(name, *args, **params)

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: N802
        """Called by Mininet's constructor, and again when the shell is first needed."""
        if "_born" not in self.__dict__:
            self._born = True
            self.namespace = Namespace(self._sysctls) if self.inNamespace else None
            for name in self._of_the_shell:
                self.__dict__.pop(name, None)
        elif "shell" not in self.__dict__:
            self._open_shell()

    def __getattr__(self, name: str) -> Any:
        if name in QuickNode._of_the_shell and "_born" in self.__dict__:
            self._open_shell()
            return self.__dict__[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _open_shell(self) -> None:
        inside_one, self.inNamespace = self.inNamespace, False  # the namespace exists already, and _popen enters it
        self.shell = None
        self._opening = True
        try:
            super().startShell("-cd")
        except BaseException:
            del self.shell
            raise
        finally:
            self.inNamespace, self._opening = inside_one, False

    def _popen(self, cmd: Sequence[str], **params: Any) -> subprocess.Popen[Any]:
        start: Callable[..., subprocess.Popen[Any]] = self.namespace.popen if self.namespace else subprocess.Popen
        mounted = "mounts" in params  # so the program may not be there yet
        if "mounts" in params and not self.namespace:
            start = partial(apart, params.pop("mounts"))
        # The shell's output is a terminal, where ip writes colours; programs read what `cmd` returns.
        plain = {"NO_COLOR": "1"} if self._opening else {}
        params["env"] = {**(params.get("env") or os.environ), **plain, owner.VARIABLE: owner.this().mark}
        words = sleeping_calls.under_strace(self.name, cmd, params["env"].get("PATH"), mounted)
        try:
            return start(words, **params)
        except FileNotFoundError:
            if cmd[0] == "mnexec":
                raise
            missing_commands.note(cmd[0])
            return start(["mnexec", *cmd], **params)  # as in Mininet: mnexec prints the error and exits with 1

    def popen(self, *args: Any, **kwargs: Any) -> subprocess.Popen[Any]:
        """Start a program in the node's namespaces and a new session; takes a list, a string or several words.

        mounts: a function that gives the program a mount namespace of its own, see `Namespace.popen`.
        """
        if "mncmd" in kwargs:
            process: subprocess.Popen[Any] = super().popen(*args, **kwargs)
            return process
        shell = kwargs.pop("shell", False)
        words = args[0] if len(args) == 1 else list(args)
        if isinstance(words, str):
            words = [words] if shell else words.split()
        if shell:
            words = [os.environ.get("SHELL", "/bin/sh"), "-c", " ".join(words)]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True, **kwargs}
        return self._popen(words, **options)

    def cmd(self, *args: Any, **kwargs: Any) -> Any:
        if " ".join(map(str, args)) == "ifconfig lo up":  # part of every node's configuration: needs no shell
            with inside(self), Route() as route:
                route.up("lo")
            return ""
        if self._opening:
            args = (*args, ";", missing_commands.function())
        return super().cmd(*args, **kwargs)

    def config(self, **params: Any) -> Any:
        """Configure it like Mininet. An error shows where the program states the node."""
        self.unconfigured, self.configuring = False, True
        try:
            with located(f"node {self.name}", self.stated_at):
                return super().config(**params)
        finally:
            self.configuring = False

    def setDefaultRoute(self, intf: Any = None) -> None:  # noqa: N802
        """Set the default route. intf: an interface, "via ADDRESS", or "dev INTERFACE via ADDRESS"."""
        words = intf.split() if isinstance(intf, str) and " " in intf else ["dev", str(intf)]
        route_to = dict(zip(words[::2], words[1::2], strict=False))
        ipv4_only.check({"defaultRoute": intf}, self.name, "", f"node {self.name}", Place() if self.configuring else here())
        if len(words) % 2 or set(route_to) - {"dev", "via"}:
            super().setDefaultRoute(intf)
            return
        if self.unconfigured and "via" in route_to and not any(each.IP() for each in self.intfList()):
            self.params["defaultRoute"] = intf  # as from addNAT; stock Mininet loses it
            return
        place = Place() if self.configuring else here()
        with located(f"node {self.name}", place), inside(self), Route() as route:
            route.add_route(via=route_to.get("via", ""), device=route_to.get("dev", ""))

    @property
    def terminated(self) -> bool:
        """True if this node was terminated."""
        return "_born" in self.__dict__ and self.__dict__.get("pid", 0) is None

    def close_shell(self) -> None:
        """End the shell, whatever its state; it starts again when it is next needed."""
        shell: subprocess.Popen[Any] | None = self.__dict__.get("shell")
        if shell:
            shell.kill()
            shell.wait()
            super().cleanup()
            for name in self._of_the_shell:
                self.__dict__.pop(name, None)

    def terminate(self) -> None:
        """End the shell and release the namespace."""
        if self.privateDirs or "shell" in self.__dict__:
            super().terminate()
        self.__dict__.update(dict.fromkeys(self._of_the_shell))  # no shell can start from now on
        if self.namespace:
            self.namespace.close()


class QuickSwitch(QuickNode, OVSSwitch):  # type: ignore[misc]
    """An Open vSwitch switch; one ovs-vsctl creates all switches with their ports."""

    made = False
    learns_by = ""
    """The action for packets that no flow matches, if it learns: by itself in place of a controller, or by Mininet's default
    controllers. These add a flow for it, which `del-flows` deletes; with OpenFlow 1.0 there was none that could be deleted."""

    def __init__(self, name: str, *args: Any, rstp: bool = False, **params: Any) -> None:
        """rstp: whether it runs the Rapid Spanning Tree Protocol, which Mininet's switch does not offer."""
        super().__init__(name, *args, **params)
        self.rstp = rstp
        self.failMode: str
        self.stp: bool
        if (self.stp or rstp) and self.failMode != "standalone":
            word = "rstp" if rstp else "stp"
            what = f"{word}=True has no effect on {name}, whose failMode is '{self.failMode}'"
            raise NetworkError(what, f"switch {name}", "give it failMode='standalone'")

    @classmethod
    def setup(cls) -> None:
        """Ensure that Open vSwitch runs. Raises NetworkError."""
        openvswitch.ensure(may_start=native.inside_lab())

    @classmethod
    def isOldOVS(cls) -> bool:  # noqa: N802  # before 1.10, of 2013
        return False

    @staticmethod
    def TCReapply(intf: Any) -> None:  # noqa: N802
        """Set a port's condition again: Open vSwitch removes it when it adds the port."""
        if hasattr(intf, "set_again"):
            intf.set_again()
        else:
            OVSSwitch.TCReapply(intf)

    def defaultDpid(self, dpid: str | None = None) -> str:  # noqa: N802
        """Return Mininet's datapath ID, or one derived from a name without a number, such as "office"."""
        number: str = super().defaultDpid(dpid or (None if re.search(r"\d", self.name) else f"{crc32(self.name.encode()):x}"))
        return number

    def start(self, controllers: Sequence[Any]) -> None:
        self.dpid: str
        controllers = [each for each in controllers if not getattr(each, "stands_in", False)]
        self.learns_by = "" if controllers else self.learns_by
        if not controllers and len(self.dpid.lstrip("0")) <= 8:  # nobody refers to it by number: make it unique
            self.dpid = f"{SystemRandom().getrandbits(32):08x}{int(self.dpid, 16):08x}"
        with _remembered([self]):
            super().start(controllers)
            self.made = not self.batch

    def bridgeOpts(self) -> str:  # noqa: N802
        rapid = " rstp_enable=true" if self.rstp else ""
        return f"{super().bridgeOpts()}{rapid} external_ids:slownet={owner.this().mark}"

    def cmd(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command like Mininet; a switch that learns goes on learning after `del-flows`."""
        answer = super().cmd(*args, **kwargs)
        if self.learns_by and "del-flows" in " ".join(map(str, args)):
            shown = super().cmd(f"ovs-ofctl dump-flows {self}")
            if self.learns_by not in shown:
                super().cmd(f"ovs-ofctl add-flow {self} priority=0,actions={self.learns_by}")
            if self.learns_by == NORMAL:  # hosts may have moved: let it, and then the kernel, forget them
                super().cmd(f"ovs-appctl fdb/flush {self}; ovs-appctl revalidator/wait")
        return answer

    def vsctl(self, *args: Any, **kwargs: Any) -> Any:
        words = " ".join(str(each).strip() for each in args)
        if not self.made:  # an existing bridge of that name belongs to somebody else
            words = words.replace(f"-- --if-exists del-br {self} -- add-br {self}", f"-- add-br {self}")
        if words.startswith("add-port "):  # as in Mininet, a port may be attached whose interface comes again
            words = f"--may-exist {words}"
        if self.batch:
            return super().vsctl(words)
        return ovs_vsctl(shlex.split(words))

    @classmethod
    def batchStartup(cls, switches: Sequence[Any], run: Any = None) -> Sequence[Any]:  # noqa: N802
        words: list[str] = []
        with _remembered(switches):
            for switch in switches:
                for command in switch.commands:
                    more = shlex.split(command)
                    if sum(map(len, words)) + len(command) > ARGUMENTS:
                        ovs_vsctl(words)
                        words = []
                    words += more if more[:1] == ["--"] or not words else ["--", *more]
            if words:
                ovs_vsctl(words)
        for switch in switches:
            switch.commands, switch.batch, switch.made = [], False, True
            for interface in switch.intfList():  # Open vSwitch removed the conditions of its ports
                switch.TCReapply(interface)
        return switches

    @classmethod
    def batchShutdown(cls, switches: Sequence[Any], run: Any = None) -> Sequence[Any]:  # noqa: N802
        """Delete the bridges created here, but no other bridge of the same name."""
        words: list[str] = []
        for switch in switches:
            if getattr(switch, "made", False):
                words += ["--", "--if-exists", "del-br", str(switch)]
        try:
            if words:
                ovs_vsctl(words)
        finally:
            for switch in switches:
                switch.made = False
                switch.terminate()
        return switches


@contextmanager
def _remembered(switches: Sequence[Any]) -> Iterator[None]:
    """After an error, mark those bridges as made that exist."""
    try:
        yield
    except NetworkError:
        mark = f"external_ids:slownet={owner.this().mark}"
        made = ovs_vsctl(["--bare", "--columns=name", "find", "bridge", mark]).split()
        for switch in switches:
            switch.made = str(switch) in made
        raise


def ovs_vsctl(words: Sequence[str]) -> str:
    """Run ovs-vsctl and return its output. Raises NetworkError with its last line."""
    done = subprocess.run(["ovs-vsctl", *words], capture_output=True, text=True, check=False)
    problem = (done.stderr.strip().splitlines() or [""])[-1]
    if done.returncode or "error" in problem.lower():
        raise NetworkError(problem or f"ovs-vsctl ended with status {done.returncode}", where="Open vSwitch")
    return done.stdout
