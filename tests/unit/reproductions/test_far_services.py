"""Servers of the experiments on windows and mirrors: what they write, and which programs ask them."""

import hashlib
import subprocess
import zipfile

import pytest

from slownet.model.errors import NetworkError
from slownet.reproductions import mirror
from slownet.reproductions import queried_page as php_page
from slownet.reproductions.copies import PROGRAMS
from slownet.reproductions.mirror import PACKAGES, Mirror
from slownet.reproductions.own_server import initial_window, quick_route
from slownet.reproductions.queried_page import PROGRAM, QueriedPage
from slownet.reproductions.uploads import BUFFERED, UNBUFFERED, Backend, Front
from slownet.services.sshd import Sshd


class Box:
    name = "server"

    def IP(self):  # noqa: N802
        return "10.0.0.2"


@pytest.mark.parametrize(("body", "word"), [(BUFFERED, "on"), (UNBUFFERED, "off")])
def test_uploads_are_passed_on(tmp_path, body, word):
    front = Front(Box(), tmp_path, behind=tmp_path / "sock", body=body, window="2m")
    front._state = tmp_path
    assert {"http2_body_preread_size 2m", f"proxy_request_buffering {word}", "http2 on"} <= set(front.site())
    assert f"proxy_pass http://unix:{tmp_path}/sock:;" in front.locations()


def test_the_backend_takes_files_and_has_no_port(tmp_path):
    backend = Backend(Box(), tmp_path, root="")
    backend._state = tmp_path
    backend.prepare()
    text = backend.config.read_text()
    assert "dav_methods PUT;" in text
    assert "listen 80" not in text


def test_the_archive_has_the_sums_of_its_packages(tmp_path):
    mirror.archive(tmp_path)
    lists = (tmp_path / "Packages").read_bytes()
    assert hashlib.sha256(lists).hexdigest() in (tmp_path / "Release").read_text()
    for path in tmp_path.glob("*.deb"):
        assert hashlib.sha256(path.read_bytes()).hexdigest().encode() in lists
    assert lists.count(b"Package: ") == len(PACKAGES)


def test_a_wheel_has_its_page(tmp_path):
    for each in ("simple", "wheels"):
        (tmp_path / each).mkdir()
    mirror.wheel(tmp_path, "sample01")
    (path,) = (tmp_path / "wheels").iterdir()
    assert "sample01-1.0.dist-info/METADATA" in zipfile.ZipFile(path).namelist()
    page = (tmp_path / "simple/sample01/index.html").read_text()
    assert f"/wheels/{path.name}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}" in page


def test_pip_is_named_if_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(mirror, "WHEELS", tmp_path)
    server = Mirror({"server": Box()}, tmp_path)
    with pytest.raises(mirror.ServiceError, match=r"pip is not installed, .*: apt-get install python3-pip-whl"):
        server.fetch(Box(), "pip", 1)


def test_programs_copy_with_the_servers_keys_alone(tmp_path):
    sshd = Sshd(Box(), tmp_path)
    sshd._state = tmp_path
    for name, line in PROGRAMS.items():
        words = " ".join(line(sshd.options, "root@10.0.0.2:/file", "/target"))
        assert words.startswith(("sh -c ssh", name.split(",")[0]))
        assert f"-F none -i {tmp_path}/key" in words
        assert words.endswith("/target")


class Routes(Box):
    """A host whose `ip` prints these texts, one after the other."""

    def __init__(self, *texts):
        self.texts, self.argv = list(texts), []

    def popen(self, argv, **options):
        self.argv.append(argv)
        return subprocess.Popen(["printf", "%s", self.texts.pop(0)], start_new_session=True, **options)


ROUTE = '[{"dst": "10.0.0.0/24", "dev": "server-eth0", "protocol": "kernel", "prefsrc": "10.0.0.2"}]'


def test_an_option_of_a_route_is_set_and_taken_back():
    host = Routes(ROUTE, "", "10.0.0.0/24 dev server-eth0 initcwnd 3 ", "")
    with initial_window(host, 3):
        pass
    change = [
        "ip",
        "route",
        "change",
        "10.0.0.0/24",
        "dev",
        "server-eth0",
        "proto",
        "kernel",
        "src",
        "10.0.0.2",
    ]
    assert [host.argv[1], host.argv[3]] == [[*change, "initcwnd", "3"], change]


def test_an_option_that_was_not_set_is_an_error():
    with (
        pytest.raises(NetworkError, match="ip did not set quickack on the route, host 'server'"),
        quick_route(Routes(ROUTE, "", "", "")),
    ):
        pass
    with pytest.raises(NetworkError, match="0 routes to its own networks"), quick_route(Routes("[]")):
        pass


def test_a_page_of_queries_is_served_by_php_and_says_how_each_is_sent(tmp_path, monkeypatch):
    page = QueriedPage({"web": Box(), "db": Box()}, tmp_path)
    page.nginx._state = tmp_path
    page.nginx.php = tmp_path / "php"
    page.nginx.prepare()
    assert (tmp_path / "site" / PROGRAM).stat().st_mode & 0o777 == 0o644
    assert "fastcgi_pass" in page.nginx.config.read_text()
    asked = []

    def answer(host, command, timeout):
        asked.append(command[-1])
        return subprocess.CompletedProcess(command, 0, '{"connect_ns": 1, "times_ns": [2, 3]}', "")

    monkeypatch.setattr(php_page, "run", answer)
    assert page.load(Box(), queries=2, way="prepared").times_ms == (2e-6, 3e-6)
    assert asked == ["http://10.0.0.2/page.php?10.0.0.2+3306+2+163+prepared"]
