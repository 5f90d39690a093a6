"""Labs fetched from a real HTTP server on this machine, which breaks off, lies, or is not there."""

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from slownet.lab.build import parts
from slownet.model.errors import LabError
from slownet.transfer import export, lab_download
from slownet.transfer.lab_download import Source


class Handler(BaseHTTPRequestHandler):
    """Serves one file; the first answers end after ``breaks`` bytes each."""

    def do_GET(self):
        asked = self.headers.get("Range")
        self.server.asked.append(asked)
        if self.path != "/lab.tar":
            self.send_error(404)
            return
        first = int(asked.split("=")[1].rstrip("-")) if asked and self.server.ranges else 0
        if first >= len(self.server.content) > 0:
            self.send_error(416)
            return
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(self.server.content) - first))
        if first:
            self.send_header("Content-Range", f"bytes {first}-/{len(self.server.content)}")
        self.end_headers()
        until = self.server.breaks.pop(0) if self.server.breaks else len(self.server.content)
        self.wfile.write(self.server.content[first : first + until])

    def log_message(self, *words):
        pass


@pytest.fixture
def server():
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.content, made.breaks, made.asked, made.ranges = b"", [], [], True
    made.url = f"http://127.0.0.1:{made.server_port}/lab.tar"
    thread = threading.Thread(target=made.serve_forever, args=(0.05,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def lab(built, server, tmp_path, monkeypatch):
    """A served lab, and an empty cache."""
    export.write(tmp_path / "lab.tar", None, images=False)
    server.content = (tmp_path / "lab.tar").read_bytes()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    monkeypatch.setattr(lab_download, "PAUSE_S", 0.0)
    return Source(server.url, hashlib.sha256(server.content).hexdigest())


def is_there():
    return parts.find() is not None


def test_a_transfer_that_breaks_off_goes_on_where_it_was(lab, server):
    half = len(server.content) // 2
    server.breaks = [half, 0, half // 2]
    assert not is_there()
    assert [each.partition("/")[0] for each in lab_download.take(lab, is_there)] == ["kernel", "init", "image"]
    assert is_there()
    assert server.asked == [None, f"bytes={half}-", f"bytes={half}-", f"bytes={half + half // 2}-"]
    assert lab_download.take(lab, is_there) == []
    assert len(server.asked) == 4


def test_a_server_without_ranges_sends_it_again(lab, server):
    server.ranges, server.breaks = False, [len(server.content) // 2]
    assert lab_download.take(lab, is_there)
    assert is_there()


def test_what_a_killed_process_had_fetched_is_not_fetched_again(lab, server, monkeypatch):
    monkeypatch.setattr(lab_download, "TRIES", 1)
    server.breaks = [3000, 0]
    with pytest.raises(LabError, match=r"the connection ended early; 0\.0 MB came, which the next try keeps"):
        lab_download.take(lab, is_there)
    assert lab_download.take(lab, is_there)
    assert server.asked[-1] == "bytes=3000-"


def test_a_file_of_another_content_is_one_line_and_nothing_of_it_stays(lab, server, tmp_path):
    server.content = server.content[:-1] + b"x"
    with pytest.raises(LabError, match=r"http://\S+ is another file: its SHA-256 is \w{16}..., not \w{16}") as caught:
        lab_download.take(lab, is_there)
    assert "\n" not in caught.value.line
    assert not is_there()
    assert [each for each in (tmp_path / "other").rglob("*") if each.is_file() and each.name != ".lock"] == []


def test_a_whole_file_that_is_wrong_is_fetched_anew_the_next_time(lab, server, tmp_path):
    right, server.content = server.content, b"y" * len(server.content)
    with pytest.raises(LabError, match="is another file"):
        lab_download.take(lab, is_there)
    server.content = right
    assert lab_download.take(lab, is_there)


def test_many_processes_of_a_machine_fetch_it_once(lab, server):
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(partial(lab_download.take, is_there=is_there), [lab] * 6))
    assert server.asked == [None]


def test_a_shared_folder_needs_no_server(lab, server, tmp_path):
    shared = lab_download.source(str(tmp_path / "lab.tar"))
    assert (shared.sha256, shared.is_url) == (lab.sha256, False)
    with pytest.raises(LabError, match="is another file"):
        lab_download.take(Source(shared.place, "0" * 64), is_there)
    assert lab_download.take(lab_download.source(str(shared)), is_there)
    assert is_there()
    assert server.asked == []


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("http://127.0.0.1:1/lab.tar", "cannot be fetched: .*refused"),
        ("{url}.gz", "answers 404"),
        ("/nowhere/lab.tar", "cannot read /nowhere/lab.tar"),
    ],
)
def test_what_is_not_there_is_one_line(lab, server, place, said):
    with pytest.raises(LabError, match=said):
        lab_download.take(Source(place.format(url=server.url), lab.sha256), is_there)


def test_a_url_needs_a_hash():
    with pytest.raises(LabError, match=r"is not named by its content.*#sha256="):
        lab_download.source("http://host/lab.tar")
