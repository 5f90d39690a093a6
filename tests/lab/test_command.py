"""Any program as a service: when it is ready, what is said when it is not, and what is left of it."""

import sys
import urllib.request

import pytest

from slownet import Command, ServiceError, http
from slownet.lab.host import native
from slownet.net.namespace import inside

SERVER = """
import http.server, os, sys, time
print("begun", os.environ.get("WORD", ""), os.getcwd(), flush=True)
time.sleep(float(sys.argv[2]))
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response({"/": 200, "/missing": 404}.get(self.path, 503))
        self.end_headers()
        self.wfile.write(b"a page")
http.server.ThreadingHTTPServer((sys.argv[1], 8000), Page).serve_forever()
"""


@pytest.fixture
def argv(tmp_path):
    """The command of a server that listens on an address after some seconds."""
    (tmp_path / "server.py").write_text(SERVER)

    def made(address="", seconds=0.5):
        return [sys.executable, tmp_path / "server.py", address, seconds]

    return made


def get(host, url):
    with inside(host), urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read()


@pytest.mark.parametrize("address", ["", "127.0.0.1", "10.0.0.2"], ids=["everywhere", "itself", "its address"])
def test_it_is_ready_when_its_port_is(net, argv, tmp_path, address):
    assert net["web"].IP() == "10.0.0.2"
    with Command(net["web"], argv(address), tmp_path, port=8000) as server:
        assert server.running
        if address != "127.0.0.1":
            assert get(net["client"], server.url) == b"a page"
    assert not server.running
    assert "begun" in server.log.read_text()
    assert net["web"].cmd("ss -Htln").strip() == ""


def test_a_port_that_is_taken(net, argv, tmp_path):
    with Command(net["web"], argv(seconds=0), tmp_path, port=8000) as first:
        with pytest.raises(ServiceError, match="port 8000 is taken, so second cannot have it, host 'web'"):
            Command(net["web"], argv(seconds=0), tmp_path, port=8000, name="second").start()
        assert get(net["client"], first.url) == b"a page"
        with Command(net["db"], argv(seconds=0), tmp_path, port=8000) as elsewhere:
            assert elsewhere.running


ANSWERED = [http("/"), http("/missing"), http("/missing", status=[404]), http("/missing", status=404)]


@pytest.mark.parametrize("ready", [*ANSWERED, "begun"])
def test_other_conditions(net, argv, tmp_path, ready):
    with Command(net["web"], argv(seconds=0.2), tmp_path, port=8000, ready=ready) as server:
        assert server.running


def test_a_text_in_the_log_is_of_this_start(net, argv, tmp_path):
    server = Command(net["web"], argv(), tmp_path, ready="begun")
    for _ in range(2):
        with server:
            assert server.running
    assert server.log.read_text().count("begun") == 2


def test_environment_directory_and_name(net, argv, tmp_path):
    words = " ".join(map(str, argv("0.0.0.0", 0)))
    with Command(net["web"], words, port=8000, env={"WORD": "given"}, cwd=tmp_path, name="shop") as server:
        assert server.log.name == "shop-web.log"
        assert server.log.read_text() == f"begun given {tmp_path}\n"


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        (["nosuchserver"], {}, "nosuchserver is not installed, host 'web'"),
        (["./serve.py"], {}, r"there is no program /.*/serve.py, host 'web': name an existing file"),
        (["sh", "-c", "echo why; exit 3"], {"port": 8000}, r"sh ended with status 3 before it answered(.|\n)*why"),
        (["sleep", "60"], {"port": 8000, "timeout": 0.5}, "sleep does not answer on port 8000 after 0.5 s"),
        (["sleep", "60"], {"ready": http("/")}, r"no port to ask, http\('/'\)"),
        ([], {}, "no program"),
    ],
)
def test_mistakes(net, tmp_path, words, options, said):
    with pytest.raises(ServiceError, match=said) as error:
        Command(net["web"], words, tmp_path, **{"port": None, **options}).start()
    assert "Traceback" not in str(error.value)
    assert net["web"].cmd("pgrep -fc 'sleep 6[0]'").strip() == "0"


def test_a_front_page_needs_a_port(net):
    with pytest.raises(ServiceError, match="true has no port"):
        _ = Command(net["web"], "true").url


def started(net, program, tmp_path):
    with pytest.raises(ServiceError) as error:
        Command(net["web"], [program], tmp_path, name="shop").start()
    return str(error.value)


def test_a_program_that_is_not_there_whole_is_named_with_what_brings_it(net, tmp_path):
    assert started(net, "nosuch", tmp_path).startswith(
        "nosuch is not installed, host 'web': install it; in a lab, write packages = "
    )
    python = tmp_path / "python"
    python.symlink_to("/opt/python3.99/bin/python")  # as in a virtual environment
    told = "which is not there, host 'web': share the folder of that too"
    assert started(net, python, tmp_path) == f"{python} is a link to /opt/python3.99/bin/python, {told}"
    script = tmp_path / "script"
    script.write_text("#!/opt/python3.99/bin/python -s\n")
    script.chmod(0o755)
    assert started(net, script, tmp_path) == f"{script} needs /opt/python3.99/bin/python, {told}"


def test_a_module_that_the_lab_lacks(net, tmp_path, monkeypatch):
    (tmp_path / "shop.py").write_text("import nowhere.inside\n")
    server = Command(net["web"], [sys.executable, tmp_path / "shop.py"], tmp_path, port=8000, name="shop")
    with pytest.raises(ServiceError) as error:
        server.start()
    assert str(error.value).startswith(
        "shop ended with status 1 before it answered: the lab has no module 'nowhere', host 'web': if it is a package, write "
        'dependencies = ["nowhere"] under [tool.slownet] in pyproject.toml, then run: slownet lab build'
        if native.inside_lab() else "shop ended with status 1 before it answered, host 'web': its log is "
    )  # fmt: skip
    assert "import nowhere.inside" in error.value.log
