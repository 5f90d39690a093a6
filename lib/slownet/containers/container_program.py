"""Programs in a container: a further one's description for crun and its start, and what they write."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slownet.containers import oci_bundle, users
from slownet.containers.oci_bundle import Description
from slownet.containers.root import read
from slownet.model.shapes import Json
from slownet.net.process import Host, environment

BATCH_S = 0.02
"""The time for which its output is collected before it is written: a wakeup for each line would disturb the measurement."""
CHUNK = 1 << 16


def words(text: Sequence[str] | str | None) -> tuple[str, ...] | None:
    """Return a command as words; a text is split like a shell's command line."""
    if text is None:
        return None
    return tuple(shlex.split(text)) if isinstance(text, str) else tuple(map(str, text))


def described(main: Description, words: Sequence[str], cwd: str, env: Mapping[str, str]) -> dict[str, Json]:
    """Return a program like a container's main one, with its own words, directory (if any) and further variables."""
    whole = {**_variables(main), **env}
    return {**main, "args": list(words), "cwd": cwd or main["cwd"], "env": _lines(whole)}


def as_user(program: Description, user: str, first: int | None, has_home: bool, where: str) -> dict[str, Json]:
    """Return a program as another user of a container, whose home is HOME. Raises ImageError.

    first: the container's first process. has_home: whether the image or the service states another HOME.
    """
    root = os.open(f"/proc/{first}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        found = users.resolve(user, read(root, users.PASSWD), read(root, users.GROUP), where)
    finally:
        os.close(root)
    own = oci_bundle.process((), {}, "/", found, capabilities=program["capabilities"]["bounding"])
    env = _variables(program) | ({} if has_home else {"HOME": found.home})
    return {**program, **{name: own[name] for name in ("user", "capabilities")}, "env": _lines(env)}


def start(host: Host, argv: Sequence[str], output: Path | None, attached: bool, reads: bool) -> subprocess.Popen[bytes]:
    """Start crun's command line. attached: with this program's output; reads: and its input. Else pipes, or a file."""
    # Not in the host's mount namespace: crun looks at the machine's cgroups, which are not in the host's own /sys.
    options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "env": environment(), "mounts": lambda: None}
    if attached:
        own = {"stdout": None, "stderr": None, "start_new_session": False} | ({"stdin": None} if reads else {})
        return host.popen(list(argv), **options | own)
    if output is None:
        return host.popen(list(argv), **options)
    with output.open("wb") as file:
        return host.popen(list(argv), stdout=file, stderr=file, **options)


def _variables(program: Description) -> dict[str, str]:
    return dict(each.split("=", 1) for each in program["env"])


def _lines(env: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in env.items()]


def copy(source: int, target: int) -> None:
    """Copy what the container writes to the log: a pipe, as Docker's, which programs of any user can open as /dev/stdout."""
    with open(source, "rb", buffering=0) as reading, open(target, "ab", buffering=0) as log:
        while data := reading.read(CHUNK):
            log.write(data)
            if len(data) < CHUNK:
                time.sleep(BATCH_S)
