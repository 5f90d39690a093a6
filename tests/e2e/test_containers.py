"""A container image from `docker save` to a measurement: added, run, tested, and refused in one line."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from command_line import SLOWNET, ran
from conftest import LIGHT

from slownet.lab.build import cache

SOURCE = Path(__file__).parents[1] / "lab" / "server.c"
# No switch: Open vSwitch's own work, a few times a second, takes its part of a request at chance moments.
EXPERIMENT = """
from slownet import TwoHosts, Command, Container, Mount, ab, experiment, http, law


def serve(net, folder):
    return SERVICE


@experiment(topology=TwoHosts, service=serve, vary={"rtt": ["0ms", "40ms"]})
def mine(net, server, rtt):
    \"\"\"What does a page cost?\"\"\"
    with net.link("client", "server").set(rtt=rtt):
        return ab(net["client"], server.url, requests=10)


mine.claims(law("time_per_request_ms", round_trips=2, within=0.02))
"""
SERVICES = {
    "contained": 'Container(net["server"], "shop:1", directory=folder, port=8000, ready=http("/"))',
    "plain": 'Command(net["server"], "PROGRAM serve 8000", folder, port=8000, ready=http("/"))',
    "absent": 'Container(net["server"], "absent:2", directory=folder)',
    "unseen": 'Container(net["server"], "shop:1", mounts=[Mount("/srv/not/shared", "/data")], directory=folder)',
}
TESTS = """
import pytest
from slownet import Container, ServiceError, ab


@pytest.fixture
def shop(net, tmp_path):
    with Container(net["web"], "shop:1", port=8000, directory=tmp_path) as shop:
        yield shop


def test_a_page(net, shop):
    assert ab(net["client"], shop.url, requests=5).facts()["document_length"] == 6


def test_that_fails(net, shop):
    assert shop.url == "nowhere"


def test_another_one(net, shop):
    assert net["db"].cmd("wget -qO- http://web:8000/").strip() == "hello"


def test_one_that_ends_at_once(net):
    with pytest.raises(ServiceError, match="ended with status 4 before it answered"):
        Container(net["web"], "shop:1", command=["end", "4"], port=8000).start()


def test_nothing_is_left(net):
    assert net["web"].cmd("pgrep -c crun; ss -Htln").split() == ["0"]
"""


def saved(folder):
    """Write an archive as `docker save` does; return it and the program in it."""
    program = folder / "server"
    subprocess.run(["gcc", "-O1", "-static", "-s", "-o", program, SOURCE], check=True)
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.add(program, "server", filter=lambda each: each.replace(mode=0o755, uid=0, gid=0, deep=False))
    digest = hashlib.sha256(layer.getvalue()).hexdigest()
    settings = {"Entrypoint": ["/server"], "Cmd": ["serve", "8000"], "User": "33:33", "ExposedPorts": {"8000/tcp": {}}}
    rootfs = {"type": "layers", "diff_ids": [f"sha256:{digest}"]}
    config = json.dumps({"architecture": "amd64", "os": "linux", "config": settings, "rootfs": rootfs}).encode()
    manifest = [{"Config": "config.json", "RepoTags": ["shop:1"], "Layers": ["layer.tar"]}]
    archive = folder / "shop.tar"
    with tarfile.open(archive, "w") as tar:
        files = {"manifest.json": json.dumps(manifest).encode(), "config.json": config, "layer.tar": layer.getvalue()}
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return archive, program


@pytest.fixture(scope="module")
def project(built, tmp_path_factory):
    """A folder with experiments and tests of a container, whose image was added to a cache of its own."""
    folder = tmp_path_factory.mktemp("project")
    home = tmp_path_factory.mktemp("cache")
    (home / "slownet").mkdir()
    for each in cache.root().iterdir():
        if each.name != "containers":
            (home / "slownet" / each.name).symlink_to(each)
    archive, program = saved(folder)
    for name, service in SERVICES.items():
        (folder / f"{name}.py").write_text(EXPERIMENT.replace("SERVICE", service.replace("PROGRAM", str(program))))
    (folder / "test_mine.py").write_text(TESTS)

    def run(*words, command=SLOWNET):
        return ran([*command, *words], cwd=folder, env={**os.environ, "XDG_CACHE_HOME": str(home)}, text=True)

    added = run("lab", "image", "add", str(archive))
    assert added.returncode == 0, added.stderr
    return run


def measured(project, name, *options):
    done = project("run", f"{name}.py", "--out", "json=-", *options)
    assert done.returncode in (0, 1), done.stderr  # 1: one repetition is too few for a verdict
    (found,) = json.loads(done.stdout)["runs"]
    return found


def means(run):
    return {cell["condition"]["rtt_ms"]: cell["metrics"]["time_per_request_ms"]["mean"] for cell in run["cells"]}


def test_the_same_numbers_twice_and_the_same_law_as_without_a_container(project):
    first, again = (measured(project, "contained", "--tdf", "inf") for _ in range(2))
    assert [each["metrics"] for each in first["cells"]] == [each["metrics"] for each in again["cells"]]
    assert [each["verdict"] for each in first["claims"]] == ["supported"]
    plain = measured(project, "plain", "--tdf", "inf")
    assert means(first) == pytest.approx(means(plain), rel=1e-3, abs=0.02)
    logs = [path.read_text() for path in Path(first["directory"]).rglob("shop-server.log")]
    assert ["uid 33 gid 33" in log for log in logs] == [True, True]  # two boots


def test_a_clock_that_charges(project):
    near, far = means(measured(project, "contained", "--repeat", "1", "--vary", "rtt=0ms,40ms", "--tdf", "auto")).values()
    assert far - near >= 0.95 * 2 * 40


def test_the_real_clock(project):
    """Without a delay, because no ping on a busy machine would confirm it."""
    (mean,) = means(measured(project, "contained", "--repeat", "1", "--vary", "rtt=0ms", "--clock", "real")).values()
    assert mean > 0


def test_in_pytest(project):
    done = project("-q", "-p", "no:cacheprovider", "test_mine.py", command=[sys.executable, "-m", "pytest", *LIGHT])
    assert "1 failed, 4 passed" in done.stdout, done.stdout
    assert "FAILED test_mine.py::test_that_fails" in done.stdout


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("absent", "there is no image 'absent:2'"),
        ("absent", "slownet lab image add absent:2"),
        ("unseen", "--share /srv/not/shared"),
    ],
)
def test_mistakes_are_one_line(project, name, said):
    done = project("run", f"{name}.py", "--tdf", "inf")
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("slownet:")]
    assert said in line
    assert "Traceback" not in done.stderr
