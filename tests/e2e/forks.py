"""Imports slownet, and forks for each command that comes over a socket: python forks.py DESCRIPTOR

A fork has what a start of `python -m slownet.cli` has: words, folder, environment, standard input and output, signals.
"""

import atexit
import gc
import importlib
import io
import json
import os
import runpy
import socket
import sys
import threading
import traceback

from slownet.cli import app

MOST = 1 << 20
"""Bytes of a request."""
WHEN_MEASURING = (
    "jinja2", "numpy", "pyarrow.parquet", "rich.progress", "scipy.special", "slownet.cli.running", "slownet.report.html_page",
)  # fmt: skip
"""What commands import late."""


def prepare():
    for top in app.COMMANDS.values():
        for each in (top, *top.others.values()):
            importlib.import_module(f"slownet.cli.{each.module}")
    for name in WHEN_MEASURING:
        importlib.import_module(name)
    if len(threads := os.listdir("/proc/self/task")) > 1:
        sys.exit(f"what is imported started threads, which a fork lacks: {len(threads) - 1}")
    gc.collect()
    gc.freeze()


def serve(asked):
    """Return in each fork, as what was asked for; end this process when nothing more is."""
    while True:
        request, descriptors, _, _ = socket.recv_fds(asked, MOST, 3)
        if not request:
            os._exit(0)
        if not (pid := os.fork()):
            asked.close()
            return become(*json.loads(request), descriptors)
        for each in descriptors:
            os.close(each)
        asked.send(str(pid).encode())
        asked.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


def become(words, folder, environment, descriptors):
    for number, (each, name) in enumerate(zip(descriptors, ("stdin", "stdout", "stderr"), strict=True)):
        os.dup2(each, number)
        os.close(each)
        old = getattr(sys, name)  # its buffer knows what it was when this process began: a terminal, a pipe
        new = io.TextIOWrapper(
            open(number, old.mode + "b", closefd=False), old.encoding, old.errors, line_buffering=old.line_buffering
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = words
    sys.path[0] = folder  # as `python -m` has it


def run():
    """Return the exit status of the command."""
    try:
        runpy.run_module("slownet.cli", run_name="__main__", alter_sys=True)
    except SystemExit as error:
        return error.code
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def end(status):
    """End as an interpreter does, except that it frees nothing: that would copy all of its parent's memory."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else status is not None)


if __name__ == "__main__":
    prepare()
    serve(socket.socket(fileno=int(sys.argv[1])))
    end(run())
