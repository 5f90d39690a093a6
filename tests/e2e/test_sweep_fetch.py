"""A cluster whose workers have no lab get it over HTTP, from a server that breaks off half way."""

import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from command_line import slownet
from test_sweep import FILE, means
from test_sweep_faults import Cluster

GRID = ["--vary", "rtt=10,20ms", "--vary", "loss=0%"]


class Half(BaseHTTPRequestHandler):
    """Serves a file; the first answer ends after half of it."""

    def do_GET(self):
        size = self.server.file.stat().st_size
        asked = self.headers.get("Range")
        first = int(asked.split("=")[1].rstrip("-")) if asked else 0
        self.server.asked.append(first)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(size - first))
        self.send_header("Content-Range", f"bytes {first}-{size - 1}/{size}")
        self.end_headers()
        with self.server.file.open("rb") as file:
            file.seek(first)
            self.wfile.write(file.read(size // 2 if not first else size))

    def log_message(self, *words):
        pass


@pytest.fixture
def folder():
    """A folder for a gigabyte, which goes at once."""
    with tempfile.TemporaryDirectory(prefix="slownet-fetch-") as name:
        yield Path(name)


@pytest.fixture
def server(built, folder):
    made = ThreadingHTTPServer(("127.0.0.1", 0), Half)
    made.file, made.asked = folder / "lab.tar", []
    thread = threading.Thread(target=made.serve_forever, args=(0.05,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


class Elsewhere(Cluster):
    """Workers whose user has an empty cache."""

    def _start(self, name, *words):
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "empty"), "SLOWNET_SYSTEM_CACHE": ""}
        with pytest.MonkeyPatch.context() as patch:
            for key in ("XDG_CACHE_HOME", "SLOWNET_SYSTEM_CACHE"):
                patch.setenv(key, environment[key])
            process: subprocess.Popen[bytes] = super()._start(name, *words)
        return process


# Clusters are in tests/unit/runner/test_cluster.py, and a lab that moves as a file in test_transfer.py.
@pytest.mark.long
def test_workers_without_a_lab_fetch_it_once_and_measure_the_same(server, folder):
    (folder / "echo.py").write_text(FILE)
    done = slownet("lab", "export", "lab.tar", cwd=folder)
    content = hashlib.sha256(server.file.read_bytes()).hexdigest()
    assert f"content   sha256={content}\n" in done.stdout
    here = slownet("sweep", "echo.py", *GRID, "--fresh", "--out", "here", cwd=folder)
    assert here.returncode == 0, here.stderr
    url = f"http://127.0.0.1:{server.server_port}/lab.tar#sha256="
    with Elsewhere(folder) as cluster:
        words = ["sweep", "echo.py", *GRID, "--fresh", "--scheduler-file", str(cluster.file)]
        done = slownet(*words, "--out", "refused", cwd=folder)
        assert (done.returncode, done.stdout) == (2, ""), done
        assert "the lab is not built on this machine" in done.stderr.splitlines()[-1]
        assert not (folder / "refused").exists()
        done = slownet(*words, "--out", "there", "--lab", url + content, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert server.asked == [0, server.file.stat().st_size // 2], "both workers of this machine wait for one transfer"
    assert means(folder / "there") == means(folder / "here")
    shutil.rmtree(folder / "empty")
