"""Services that a sweep prepares once: its boots begin with a snapshot, and measure what fresh ones do."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from command_line import slownet
from conftest import lend_lab
from test_sweep import means

from slownet.lab.build.cache_cleanup import WARM

sys.path.insert(0, str(Path(__file__).parents[1] / "shop"))
import kept_images  # stands beside the project of the shop

FILE = '''
import re
import time
from pathlib import Path

from slownet import OltpDatabase, TwoHosts, experiment
from slownet.net.tool import run

MARK, REPLACED = Path("/var/tmp/prepared"), Path("/etc/issue")


def fill(net, database):
    values = ", ".join(f"({n}, repeat('x', {n % 200}))" for n in range(3000))
    database.query(f"CREATE TABLE sbtest.rows (n INT PRIMARY KEY, text TEXT); INSERT INTO sbtest.rows VALUES {values}")
    MARK.touch()
    REPLACED.unlink()


@experiment(topology=TwoHosts, service=OltpDatabase, prepare=fill, vary={"rtt": ["0ms", "10ms"]}, tdf="inf")
def query(net, database, rtt):
    """How long does a query of prepared rows take?"""
    one = database.account
    words = ["mariadb", "--no-defaults", "--skip-ssl", f"-h{one.address}", f"-u{one.user}", f"-p{one.password}", "-N"]
    words += ["-e", "SELECT SUM(LENGTH(text)) FROM sbtest.rows"]
    run(net["client"], words)  # opens the table
    with net.link("client", "server").set(rtt=rtt):
        began = time.monotonic()
        found = run(net["client"], words).stdout
        took = time.monotonic() - began
    assert not REPLACED.exists()
    age = time.time() - MARK.stat().st_mtime  # a snapshot was made half a day before
    return {"query_ms": 1000 * took, "sum_n": float(found), "snapshots_n": float(age > 3600)}
'''
COMPOSE = """
name: counted
services:
  web:
    image: localhost/slownet-test/web:1
    command: [python3, /code/server.py]
    volumes: ["./server.py:/code/server.py:ro", "shared:/shared", /nameless]
    ports: ["8000:8000"]
  other:
    image: localhost/slownet-test/web:1
    command: [python3, -c, "import time; time.sleep(100000)"]
    volumes: ["shared:/shared"]
volumes: {shared: }
"""
SERVER = """
import os
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
text = ""
for path in ("/own", "/shared/one", "/nameless/one"):
    open(path, "a").write("x")
    text += open(path).read() + " "
text += "removed before" if not os.path.exists("/etc/profile") else "removed now"
if os.path.exists("/etc/profile"):
    os.unlink("/etc/profile")
os.makedirs("/www", exist_ok=True)
open("/www/index.html", "w").write(text)
os.chdir("/www")
ThreadingHTTPServer(("", 8000), SimpleHTTPRequestHandler).serve_forever()
"""
PAGES = '''
from slownet import Compose, experiment
from slownet.net.tool import run

GET = "import urllib.request; print(urllib.request.urlopen('http://web:8000/').read().decode())"


def ready(net):
    run(net["client"], ["python3", "-c", GET])


@experiment(topology=Compose("compose.yaml"), prepare=ready, vary={"rtt": ["0ms", "10ms"]}, tdf="inf")
def page(net, rtt):
    """How often has the service been started with these files?"""
    *starts, _, when = run(net["client"], ["python3", "-c", GET]).stdout.split()
    return {"starts_n": [float(len(each)) for each in starts], "removed_before_n": float(when == "before")}
'''

ACKS_MS = 2 * 10 * 256e-6


@pytest.fixture
def snapshots(built, tmp_path, monkeypatch):
    """The folder of snapshots of a cache of the test's own, which shares the lab."""
    home = tmp_path / "cache"
    lend_lab(built, home, WARM, "import", "layer", "projects")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    yield home / "slownet" / WARM
    shutil.rmtree(home)


def whole(folder):
    return [each for each in folder.glob("[!.]*") if each.is_dir()]


def sweep(folder, name, *words):
    done = slownet("sweep", *words, "--out", name, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return {key: {**values} for key, values in means(folder / name).items()}


# `test_a_compose_project_goes_on_with_the_files_and_volumes_that_it_had` would lack its snapshot, too.
@pytest.mark.long
def test_boots_with_a_snapshot_measure_what_those_that_prepare_do(snapshots, tmp_path):
    """One snapshot for the boots of two labs.

    A cell does not start at the same nanosecond, and which program has its turn first depends on what ran before. So one or two
    ACKs may be carried by an answer in one boot, and be sent by themselves in another: about ten reads of the clock, of 256 ns,
    for each. Of 38 packets, 19 and 19 were up and down in one boot, 21 and 17 in another, and the query took 1.8 us more.
    """
    (tmp_path / "query.py").write_text(FILE)
    grid = ["query.py", "--vary", "rtt=0,20ms"]
    warm = sweep(tmp_path, "warm", *grid, "--labs", "2", "--fresh")
    (folder,) = whole(snapshots)
    made = (folder / "mariadb-server.tar").stat()
    cold = sweep(tmp_path, "cold", *grid, "--cold")
    assert len(warm) == 2
    for key, values in cold.items():
        assert (values.pop("snapshots_n"), warm[key].pop("snapshots_n")) == (0.0, 1.0)
        assert values == {**warm[key], "query_ms": pytest.approx(warm[key]["query_ms"], abs=ACKS_MS)}, key

    again = sweep(tmp_path, "again", *grid)
    assert {key: values["sum_n"] for key, values in again.items()} == {key: values["sum_n"] for key, values in warm.items()}
    assert (folder / "mariadb-server.tar").stat().st_mtime_ns == made.st_mtime_ns
    os.truncate(folder / "mariadb-server.tar", 1000)
    done = slownet("sweep", *grid, "--out", "mended", "--json", cwd=tmp_path)
    what = f"the snapshot of prepared services is damaged: mariadb-server.tar has 1000 bytes, and {made.st_size} were written"
    assert f"slownet: {what}, {folder / 'mariadb-server.tar'}: making it anew\n" in done.stderr
    assert {key: values["sum_n"] for key, values in means(tmp_path / "mended").items()} == {
        key: values["sum_n"] for key, values in warm.items()
    }
    (tmp_path / "query.py").write_text(FILE.replace("3000", "30"))
    less = sweep(tmp_path, "less", *grid)
    assert max(values["sum_n"] for values in less.values()) < min(values["sum_n"] for values in warm.values())
    assert len(whole(snapshots)) == 2

    cleaned = slownet("lab", "clean", cwd=tmp_path)
    assert cleaned.stdout.count("removing warm ") == 2, cleaned
    assert not whole(snapshots)


def test_what_fails_to_prepare_is_said_and_nothing_half_made_stays(snapshots, tmp_path):
    (tmp_path / "query.py").write_text(FILE.replace("CREATE TABLE", "CREATE TABEL"))
    done = slownet("sweep", "query.py", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "query cannot be prepared: " in done.stderr
    assert "You have an error in your SQL syntax" in done.stderr
    assert [each.name for each in snapshots.iterdir() if each.suffix != ".lock"] == []
    assert not (tmp_path / "out").exists()


def test_a_compose_project_goes_on_with_the_files_and_volumes_that_it_had(snapshots, tmp_path):
    kept_images.keep()
    for name, text in {"compose.yaml": COMPOSE, "server.py": SERVER, "page.py": PAGES}.items():
        (tmp_path / name).write_text(text)
    found = sweep(tmp_path, "warm", "page.py")
    assert {json.dumps(values) for values in found.values()} == {json.dumps({"starts_n": 2.0, "removed_before_n": 1.0})}
    found = sweep(tmp_path, "cold", "page.py", "--cold")
    assert {json.dumps(values) for values in found.values()} == {json.dumps({"starts_n": 1.0, "removed_before_n": 0.0})}
