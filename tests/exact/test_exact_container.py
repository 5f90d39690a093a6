"""Labs in a container as strict as they come: nobody, no capability, nothing to write to but 64 MB of /dev/shm and a home."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needs_qemu import needs_qemu

from slownet.lab.build import cache

pytestmark = needs_qemu
CHECKOUT = Path(__file__).resolve().parents[2]
DENIED = (
    "mount", "umount2", "unshare", "setns", "pivot_root", "bpf", "perf_event_open", "ptrace", "keyctl", "add_key",
    "request_key", "userfaultfd", "io_uring_setup", "kexec_load", "init_module", "finit_module", "open_by_handle_at",
    "personality", "process_vm_readv", "process_vm_writev", "name_to_handle_at", "swapon", "reboot",
)  # fmt: skip
"""What the usual profile of containers denies a process without capabilities, and a program may ask for all the same."""
BUNDLE = "umount -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup; exec crun --root {0}/state --cgroup-manager=disabled "
"""In a mount namespace: crun wants a machine with the second version of control groups alone."""


def bound(path: Path, at: str = "") -> dict[str, object]:
    options = ["rbind", "nosuid", "nodev", "ro"]
    return {"destination": at or str(path), "source": str(path), "type": "bind", "options": options}


def container(folder: Path, argv: list[str], home: Path | None = None) -> None:
    """Make the bundle of a container that runs a command of this checkout. home: a folder that it may write to, with /tmp."""
    seen = {Path("/usr"), Path("/etc"), Path(sys.base_prefix), Path(sys.prefix), CHECKOUT}
    root = folder / "rootfs"
    for each in (*seen, Path("/proc"), Path("/dev"), Path("/sys"), Path("/cache")):
        (root / each.relative_to("/")).mkdir(parents=True, exist_ok=True)
    for each in ("bin", "sbin", "lib", "lib64"):
        (root / each).symlink_to(f"usr/{each}")
    small = ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]
    env = [
        "PATH=/usr/local/bin:/usr/bin:/bin",
        f"HOME={'/home' if home else '/nonexistent'}",
        "SLOWNET_SYSTEM_CACHE=/cache",
        f"PYTHONPATH={CHECKOUT}/lib",
    ]
    mounts = [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=65536k"]},
        {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": small},
        {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
        *map(bound, sorted(seen)), bound(cache.root(), "/cache"),
    ]  # fmt: skip
    if home:
        for each in ("home", "tmp"):
            (root / each).mkdir(exist_ok=True)
        mounts = [  # first, because the checkout may lie in one of them
            {"destination": "/home", "source": str(home), "type": "bind", "options": ["bind", "nosuid", "nodev"]},
            {"destination": "/tmp", "type": "tmpfs", "source": "tmp", "options": ["nosuid", "nodev", "mode=1777", "exec"]},
            *mounts,
        ]
    denied = [{"names": [*DENIED], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]
    none = {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")}
    config = {
        "ociVersion": "1.0.2", "root": {"path": "rootfs", "readonly": True}, "hostname": "box", "mounts": mounts,
        "process": {"user": {"uid": 65534, "gid": 65534}, "args": argv, "env": env,
                    "cwd": "/home" if home else f"{CHECKOUT}/docs/reference",
                    "capabilities": none, "noNewPrivileges": True},
        "linux": {"namespaces": [{"type": each} for each in ("pid", "ipc", "uts", "mount", "network")],
                  "seccomp": {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": denied}},
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))


needs_crun = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("crun"), reason="needs root, and crun: apt-get install crun"
)


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    words = BUNDLE.format(folder) + f"run --bundle {folder} slownet-{os.getpid()}"
    return subprocess.run(["unshare", "-m", "sh", "-c", words], capture_output=True, text=True, timeout=900, check=False)


@needs_crun
def test_a_notebook_runs_in_a_users_container_without_privileges(tmp_path):
    """As a JupyterHub starts it; see docs/howto/notebook.md."""
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    shutil.copy(CHECKOUT / "examples/notebook.ipynb", home)
    (home / "notebook.ipynb").chmod(0o644)
    words = [sys.executable, "-c", "from nbclient.cli import main; main()", "--output", "done.ipynb", "notebook.ipynb"]
    container(tmp_path, words, home)
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    cells = json.loads((home / "done.ipynb").read_text())["cells"]
    outputs = [each for cell in cells for each in cell.get("outputs", ())]
    assert not [each for each in outputs if each["output_type"] == "error"]
    runs = [json.loads(path.read_text()) for path in home.glob("runs/*/run.json")]
    assert [each["place"] for each in runs] == ["lab", "lab"]
    # The notebook claims three round trips of a page, and then measures one of twice its size.
    assert {claim["verdict"] for each in runs for claim in each["claims"]} == {"supported", "refuted"}


@needs_crun
def test_a_lab_runs_as_nobody_where_nothing_can_be_written(tmp_path):
    script = "id -u; ip netns add mine; ip netns; cat /proc/uptime"
    container(tmp_path, [sys.executable, "-m", "slownet.cli", "lab", "exec", "--clock", "exact", "--", "sh", "-c", script])
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:2] == ["0", "mine"]
    said = [line for line in done.stderr.splitlines() if line.startswith("slownet: ")]
    assert len(said) == 1
    assert said[0].startswith(
        "slownet: the lab has to boot, because its snapshot cannot be kept: cannot write to /nonexistent "
    )
