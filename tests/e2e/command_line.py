"""`slownet` as a person types it, and the same sooner: as a fork of a process that has imported it.

An interpreter's start and its imports take 0.3 to 1 s of CPU time, more than what most of the tested commands do then.
"""

import atexit
import contextlib
import functools
import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SLOWNET = [sys.executable, "-m", "slownet.cli"]
WITHOUT_THREADS = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""numpy and pyarrow start threads otherwise, which a fork lacks, while it has the locks that they held."""
AT_THE_START = ("PYTHON", "LC_", "LANG")
"""How the names of variables begin that an interpreter reads once."""


def slownet(*words, cwd=None, timeout=600):
    """Run a command, in a folder; return the completed process."""
    return ran([*SLOWNET, *words], cwd=cwd, text=True, timeout=timeout)


def ran(argv, *, cwd=None, env=None, input=None, text=False, timeout=600):  # noqa: A002  # named as in subprocess.run
    """Run a command as `subprocess.run` does with capture_output: SLOWNET with more words in a fork, if a new interpreter would
    start as the forks' own did; every other program itself.

    A test of what may differ from process to process, such as the order of a set, starts SLOWNET itself.
    """
    argv = [os.fspath(each) for each in argv]
    env = {name: os.fspath(value) for name, value in (os.environ if env is None else env).items()}
    given = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
    if argv[:3] == SLOWNET and decided(env) == decided(os.environ):
        return forks().run(argv, os.fspath(cwd or os.getcwd()), env, input or ("" if text else b""), text, timeout)
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=text, timeout=timeout, check=False, **given)


def decided(environment):
    """Return the variables that an interpreter reads once."""
    return {name: value for name, value in environment.items() if name.startswith(AT_THE_START)}


@functools.cache
def forks():
    return Forks()


class Forks:
    """A process that has imported slownet, and forks for each command, until this process ends."""

    def __init__(self):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = {**os.environ, **WITHOUT_THREADS}
        with theirs:
            argv = [sys.executable, Path(__file__).with_name("forks.py"), str(theirs.fileno())]
            self.process = subprocess.Popen(argv, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=environment)
        atexit.register(self.end)

    def run(self, argv, folder, environment, said, text, timeout):
        (stdin, feed), (output, stdout), (errors, stderr) = (os.pipe() for _ in range(3))
        request = json.dumps([argv[3:], folder, environment]).encode()
        socket.send_fds(self.socket, [request], [stdin, stdout, stderr])
        for each in (stdin, stdout, stderr):
            os.close(each)
        with ThreadPoolExecutor(3) as pool:
            fed = pool.submit(_feed, feed, said.encode() if text else said)
            read = [pool.submit(_read, each) for each in (output, errors)]
            pid = int(self.socket.recv(100))
            try:
                captured = [each.result(timeout) for each in read]
            except TimeoutError as error:
                os.kill(pid, 9)
                raise subprocess.TimeoutExpired(argv, timeout) from error
            finally:
                status = int(self.socket.recv(100))
            fed.result()
        if text:
            captured = [each.decode().replace("\r\n", "\n") for each in captured]
        return subprocess.CompletedProcess(argv, status, *captured)

    def end(self):
        self.socket.close()
        self.process.wait()


def _feed(descriptor, data):
    with contextlib.suppress(BrokenPipeError), open(descriptor, "wb") as pipe:
        pipe.write(data)


def _read(descriptor):
    with open(descriptor, "rb") as pipe:
        return pipe.read()
