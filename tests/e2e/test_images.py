"""`slownet lab image` with images that other programs made: added as an ordinary user, served by a registry, run in a lab."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

import pytest
from command_line import SLOWNET, ran

from slownet.lab.build import cache

PROGRAM = r"""
#include <stdio.h>
#include <sys/stat.h>
int main(int count, char **words) {
    struct stat found;
    if (stat("/data/owned", &found)) return 1;
    printf("hello from the image, %u:%u %o\n", found.st_uid, found.st_gid, found.st_mode & 07777);
    return 7;
}
"""
IN_LAB = """
import pathlib, subprocess
from slownet.containers import store

kept = store.need("hello:1")
print(kept.folder, kept.name)
root = pathlib.Path("/run/image")
root.mkdir()
subprocess.run(["mount", "-t", "squashfs", "-o", "loop,ro", kept.squashfs, root], check=True)
done = subprocess.run(["chroot", root, "/bin/hello"], capture_output=True, text=True)
print(done.stdout, done.returncode)
"""
NOBODY = 65534


def needs(*programs):
    missing = [each for each in programs if not shutil.which(each, path=cache.search_path())]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed here")


pytestmark = needs("tar2sqfs", "rdsquashfs")


@pytest.fixture
def tmp_path():
    """A folder of an ordinary user's; those of pytest itself let nobody but their owner in."""
    with tempfile.TemporaryDirectory(prefix="slownet-images-") as folder:
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        yield Path(folder)


@pytest.fixture
def home(tmp_path):
    """A cache of the test's own, which an ordinary user may write to."""
    folder = tmp_path / "cache"
    (folder / "slownet").mkdir(parents=True)
    if os.geteuid() == 0:
        for each in (folder, folder / "slownet"):
            os.chown(each, NOBODY, NOBODY)
    return folder


@pytest.fixture
def ordinary():
    """Words before a command that make it an ordinary user's."""
    words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else []
    test = [*words, *SLOWNET, "--version"]
    if subprocess.run(test, capture_output=True, cwd="/", check=False).returncode:
        pytest.skip("an ordinary user cannot read this checkout")
    return words


@pytest.fixture
def image(home, tmp_path):
    """Run `slownet lab image` with that cache: image("list") -> the completed process."""

    def run(*words, prefix=()):
        environment = {**os.environ, "XDG_CACHE_HOME": str(home)}
        return ran([*prefix, *SLOWNET, "lab", "image", *words], cwd=tmp_path, env=environment, text=True)

    return run


@pytest.fixture(scope="module")
def hello(tmp_path_factory):
    """A static program, which needs nothing else in its root."""
    folder = tmp_path_factory.mktemp("hello")
    (folder / "hello.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-static", "-O1", "-o", folder / "hello", folder / "hello.c"], check=True)
    return folder / "hello"


@pytest.fixture
def root_tar(hello, tmp_path):
    """The tar of a root with that program and a file of another owner, as no ordinary user could unpack it."""
    path = tmp_path / "root.tar"
    with tarfile.open(path, "w") as tar:
        tar.add(hello, "bin/hello")
        owned = tarfile.TarInfo("data/owned")
        owned.uid, owned.gid, owned.mode = 33, 44, 0o2640
        tar.addfile(owned)
    path.chmod(0o644)
    return path


def one_line(done):
    assert done.returncode == 2, done
    assert done.stderr.startswith("slownet: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr[len("slownet: ") : -1]


def without_end(tar):
    """Return an archive without the zeros that mark its end."""
    data = tar.read_bytes()
    return data[: -(-len(data.rstrip(b"\0")) // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE]


def kept(home):
    return [each for each in (home / "slownet/containers").glob("*") if not each.name.startswith(".")]


def halves(home):
    return list((home / "slownet/containers").glob(".*.half"))


def test_an_ordinary_user_adds_an_image_and_a_lab_runs_it(built, home, image, ordinary, root_tar, tmp_path):
    done = image("add", root_tar, "--name", "hello:1", prefix=ordinary)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("added  hello:1  ")
    (listed,) = json.loads(image("list", "--json", prefix=ordinary).stdout)["images"]
    assert (listed["names"], listed["source"]) == (["hello:1"], str(root_tar))
    for each in cache.root().iterdir():
        if each.name != "containers":
            (home / "slownet" / each.name).symlink_to(each)
    words = [*SLOWNET, "lab", "exec", "--tdf", "inf", "--", "python", "-c", IN_LAB]
    environment = {**os.environ, "XDG_CACHE_HOME": str(home)}
    done = ran(words, env=environment, cwd=tmp_path, text=True)
    name = listed["digest"].replace(":", "-")
    assert done.stdout.split("\n") == [
        f"/opt/slownet/containers/{name} hello:1",
        "hello from the image, 33:44 2640",
        " 7",
        "",
    ], done.stderr


def test_the_table_and_the_end_of_an_image(home, image, root_tar):
    assert image("list").stdout == "there are no images: slownet lab image add REF\n"
    assert json.loads(image("list", "--json").stdout) == {"images": []}
    image("add", root_tar, "--name", "hello:1")
    assert image("add", root_tar, "--name", "hello:2").stdout.startswith("kept already  hello:2  ")
    table = image("list").stdout.splitlines()
    assert table[0].split() == ["name", "digest", "size", "added", "entry"]
    assert [line.split()[0] for line in table[1:]] == ["hello:2", "hello:1"]
    assert one_line(image("rm", "hello:1", "helo:2")) == "there is no image 'helo:2': did you mean 'hello:2'?"
    assert image("rm", "hello:1", "hello:2").stdout.split()[:2] == ["name", "removed"]
    assert kept(home) == []


def test_an_image_whose_name_another_took_is_pruned(home, image, root_tar, tmp_path):
    newer = shutil.copy(root_tar, tmp_path / "newer.tar")
    with tarfile.open(newer, "a") as tar:
        tar.addfile(tarfile.TarInfo("newer"))
    first = image("add", root_tar, "--name", "hello:1").stdout.split()[2]
    second = image("add", newer, "--name", "hello:1").stdout.split()[2]
    assert image("prune").stdout.split()[:2] == ["removed", first]
    assert [second in each["digest"] for each in json.loads(image("list", "--json").stdout)["images"]] == [True]
    assert image("prune").stdout == "every image has a name\n"
    assert len(kept(home)) == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["nosuch.tar"], "there is no file or folder nosuch.tar: correct the path; an image of a registry is docker://NAME"),
        (
            ["root.tar", "--name", "My Shop"],
            "'My Shop' is not a name of an image, --name: write for example shop:1, in lower case",
        ),
        (["cut.tar"], "cut.tar is truncated: it has no end"),
        (["zip"], "it is truncated or not an archive of an image or a root ("),
        (["."], "dev/zero is a device node, .: leave it out"),
    ],
)
def test_mistakes_are_one_line_and_keep_nothing(home, image, root_tar, tmp_path, words, line):
    (tmp_path / "cut.tar").write_bytes(without_end(root_tar))
    (tmp_path / "zip").write_bytes(b"PK\3\4" + os.urandom(2000))
    if words == ["."]:
        if os.geteuid() != 0:
            pytest.skip("only root can make a device node")
        (tmp_path / "dev").mkdir()
        os.mknod(tmp_path / "dev/zero", 0o020666, os.makedev(1, 5))
    assert one_line(image("add", *words)).startswith(line)
    assert kept(home) == halves(home) == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_an_add_that_is_ended_keeps_nothing(home, tmp_path, root_tar, number, status):
    environment = {**os.environ, "XDG_CACHE_HOME": str(home)}
    words = [*SLOWNET, "lab", "image", "add", "/dev/stdin", "--name", "hello:1"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=tmp_path) as process:
        process.stdin.write(without_end(root_tar))
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while not (home / "slownet/containers").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        process.stdin.close()  # the signal is handled after the next read at the latest
        assert process.wait(60) == status
        assert b"Traceback" not in process.stderr.read()
    assert kept(home) == halves(home) == []


@pytest.fixture
def archive(hello, tmp_path):
    """What buildah makes of a scratch image with that program, as `docker save` would write it."""
    buildah = ["buildah", "--storage-driver", "vfs", "--root", str(tmp_path / "storage"), "--runroot", str(tmp_path / "run")]

    def run(*words):
        done = subprocess.run([*buildah, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"buildah does not work here: {done.stderr.strip().splitlines()[-1]}")
        return done.stdout.strip()

    container = run("from", "scratch")
    run("copy", "--chown", "33:44", container, str(hello), "/bin/hello")
    run("commit", "--quiet", container, "below")
    run("config", "--entrypoint", '["/bin/hello"]', "--user", "33", "--env", "A=B", "--port", "8000", container)
    run("config", "--healthcheck", "CMD /bin/hello", "--healthcheck-interval", "5s", container)
    run("commit", "--quiet", "--format", "docker", container, "shop:1")
    path = tmp_path / "shop.tar"
    run("push", "--quiet", "shop:1", f"docker-archive:{path}:localhost/shop:1")
    run("push", "--quiet", "--format", "oci", "shop:1", f"oci-archive:{tmp_path}/oci.tar:shop:2")
    run("rm", container)
    yield path
    run("rmi", "--all", "--force")


@needs("buildah")
def test_what_buildah_made_is_added(home, image, archive, tmp_path):
    assert image("add", archive).returncode == 0
    assert image("add", "oci.tar").returncode == 0
    listed = {each["names"][0]: each for each in json.loads(image("list", "--json").stdout)["images"]}
    assert set(listed) == {"localhost/shop:1", "shop:2"}
    for each in listed.values():
        assert (each["entrypoint"], each["user"], each["exposed_ports"]) == (["/bin/hello"], "33", ["8000/tcp"])
        squashfs = Path(each["folder"], "root.squashfs")
        assert (
            "file bin/hello 0755 33 44"
            in subprocess.run(["rdsquashfs", "-d", squashfs], capture_output=True, text=True, check=True).stdout
        )


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def registry(folder):
    """Serve a registry on the loopback; yield its host and port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    configuration = {
        "version": "0.1",
        "storage": {"filesystem": {"rootdirectory": str(folder / "registry")}},
        "http": {"addr": f"127.0.0.1:{port}"},
    }
    (folder / "registry.yml").write_text(json.dumps(configuration))
    log = (folder / "registry.log").open("wb")
    with log, subprocess.Popen(["docker-registry", "serve", folder / "registry.yml"], stdout=log, stderr=log) as process:
        try:
            deadline = time.monotonic() + 30
            while not answers(port):
                assert process.poll() is None, (folder / "registry.log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()


@needs("skopeo", "docker-registry", "buildah")
def test_an_image_of_a_registry_is_added(home, image, archive, tmp_path):
    with registry(tmp_path) as host:
        name = f"{host}/team/shop:1"
        push = ["skopeo", "copy", "--quiet", "--dest-tls-verify=false", f"docker-archive:{archive}", f"docker://{name}"]
        subprocess.run(push, check=True, timeout=60)
        done = image("add", f"docker://{name}", "--no-tls-verify")
        assert (done.returncode, done.stdout.split()[:2]) == (0, ["added", name]), done.stderr
        assert image("add", name, "--no-tls-verify").stdout.startswith(f"kept already  {name}  ")
        assert image("add", archive).stdout.startswith("kept already  localhost/shop:1  ")
        (listed,) = json.loads(image("list", "--json").stdout)["images"]
        config = json.loads(Path(listed["folder"], "config.json").read_text())["config"]
        assert config["Healthcheck"]["Interval"] == 5_000_000_000  # which an OCI layout would have lost
        assert one_line(image("add", name)).endswith(
            "server gave HTTP response to HTTPS client: the registry has no TLS: --no-tls-verify"
        )
        wrong = f"{host}/team/shop:2"
        assert one_line(image("add", wrong, "--no-tls-verify")).endswith("manifest unknown: check the image's name and tag")
    assert one_line(image("add", name, "--no-tls-verify")).endswith("connection refused: check the registry's name and port")
    assert halves(home) == []
