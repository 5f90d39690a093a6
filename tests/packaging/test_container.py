"""Builds .devcontainer/Containerfile from a release, and measures in it as an ordinary user, as Docker would let it.

It needs buildah, crun, and Go's module proxy, from which Docker's own profile comes as data (github.com/moby/profiles).
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
DEVCONTAINER = CHECKOUT / ".devcontainer"
PROFILE = "github.com/moby/profiles/seccomp@v0.3.0"
BASE = "debian:trixie-slim"
"""What the recipe begins with; made of Debian's packages here, because no registry of images can be reached."""
# Docker's default capabilities; buildah leaves out some of them.
CAPABILITIES = ["--cap-add=AUDIT_WRITE", "--cap-add=MKNOD", "--cap-add=NET_RAW"]
RUNTIME = ["--runtime=crun", "--runtime-flag=cgroup-manager=disabled"]
# A machine with both versions of cgroups confuses crun; the container is to be limited by its profile, not by them.
BY_ITSELF = """
umount -R /sys/fs/cgroup && mount -t tmpfs none /sys/fs/cgroup
exec "$@"
"""


class Builder:
    """buildah with a store of its own."""

    def __init__(self, folder, profile):
        self._folder = folder
        self._limits = [*CAPABILITIES, f"--security-opt=seccomp={profile}"]

    def __call__(self, *words):
        store = [f"--root={self._folder}/storage", f"--runroot={self._folder}/runroot", "--storage-driver=vfs"]
        argv = ["unshare", "--mount", "sh", "-euc", BY_ITSELF, "sh", "buildah", *store, *words]
        done = subprocess.run(argv, capture_output=True, text=True, env={**os.environ, "BUILDAH_ISOLATION": "oci"})
        assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout[-1500:]}{done.stderr[-3000:]}"
        return done.stdout.strip()

    def build(self, file, context, tag):
        return self("build", "--pull=never", "--network=host", *RUNTIME, *self._limits, "-t", tag, "-f", file, context)

    def container(self, tag):
        return self("from", "--pull=never", "--network=none", *self._limits, tag)

    def run(self, container, script):
        return self("run", *RUNTIME, container, "--", "sh", "-euc", script)


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    if not shutil.which("go"):
        pytest.skip("Go is not installed")
    words = ["go", "mod", "download", "-json", PROFILE]
    fetched = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path_factory.mktemp("module"))
    return Path(json.loads(fetched.stdout)["Dir"]) / "default.json"


@pytest.fixture(scope="module")
def builder(tmp_path_factory, profile):
    for program in ("buildah", "crun", "mmdebstrap"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    folder = tmp_path_factory.mktemp("buildah")
    made = Builder(folder, profile)
    subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "trixie", folder / "base.tar"], check=True)
    base = made("from", "scratch")
    made("add", "--quiet", base, folder / "base.tar", "/")
    if certificates := os.environ.get("PIP_CERT"):  # of this machine's own authority
        made("add", "--quiet", base, certificates, "/machine.pem")
        made("config", "--env", "PIP_CERT=/machine.pem", base)
    made("commit", "--quiet", base, BASE)
    yield made
    shutil.rmtree(folder)


def test_an_ordinary_user_measures_in_an_unprivileged_container(builder, kit, tmp_path):
    context = tmp_path / "dist"
    context.mkdir()
    (wheel,) = kit.glob("*.whl")
    shutil.copy(wheel, context)
    shutil.copy(kit / "lab.tar", context / "slownet-lab-x86_64.tar")
    builder.build(DEVCONTAINER / "Containerfile", context, "slownet")
    shutil.rmtree(context)
    container = builder.container("slownet")
    limits = dict(line.split(":\t") for line in builder.run(container, "cat /proc/self/status").splitlines())
    assert int(limits["CapEff"], 16) == 0
    assert limits["Seccomp"] == "2"
    assert limits["Uid"].split()[0] != "0"
    assert "Operation not permitted" in builder.run(container, "unshare --user true 2>&1 || true")  # the profile's doing
    out = builder.run(
        container, "slownet run client_delay --vary rtt=0ms,40ms --tdf inf --out json=out.json >&2 && cat out.json"
    )
    (run,) = json.loads(out)["runs"]
    assert {each["verdict"] for each in run["claims"]} == {"supported"}
    # what a class types first
    assert "A page costs four round trips" in builder.run(container, "slownet show runs/* | head -5")


def test_the_devcontainer_builds_that_file_from_a_release():
    text = "".join(
        line for line in (DEVCONTAINER / "devcontainer.json").read_text().splitlines(True) if not line.strip().startswith("//")
    )
    stated = json.loads(text)
    assert stated["build"] == {"dockerfile": "Containerfile", "context": "../dist"}
    assert stated["remoteUser"] == "student"
    assert "privileged" not in text
    assert "runArgs" not in text
    without = subprocess.run(["sh", "-c", stated["initializeCommand"]], cwd="/", capture_output=True, text=True)
    assert (without.returncode, without.stdout) == (1, "run make release first\n")
