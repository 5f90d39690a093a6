"""The runtime's configuration, exact."""

import json
from pathlib import Path

import pytest

from slownet.containers import oci_bundle, privileges
from slownet.containers.config import Config
from slownet.containers.oci_bundle import Mount, Overrides
from slownet.containers.privileges import User
from slownet.model.errors import ImageError

IMAGE = Config(
    "amd64", "linux", ("/entry", "--first"), ("second",), {"PATH": "/opt/bin:/bin", "MODE": "slow"}, "me", "/srv",
    volumes=("/data",),
)  # fmt: skip
ME = User(33, 34, (34, 50), "/home/me")


@pytest.mark.parametrize(
    ("replaced", "words"),
    [
        (Overrides(), ["/entry", "--first", "second"]),
        (Overrides(command=["third", "4"]), ["/entry", "--first", "third", "4"]),
        (Overrides(command=[]), ["/entry", "--first"]),
        (Overrides(entrypoint=["sh"]), ["sh"]),
        (Overrides(entrypoint=["sh", "-c"], command=["x"]), ["sh", "-c", "x"]),
        (Overrides(entrypoint=[], command=["alone"]), ["alone"]),
    ],
)
def test_entrypoint_and_command(replaced, words):
    assert oci_bundle.argv(IMAGE, replaced) == words


def test_nothing_to_run():
    with pytest.raises(ImageError, match="the image has no entrypoint and no command, image one: name one"):
        oci_bundle.argv(Config("amd64", "linux"), Overrides(), "image one")
    with pytest.raises(ImageError, match="the program's name is empty"):
        oci_bundle.argv(Config("amd64", "linux", cmd=("",)), Overrides())


def test_variables():
    assert list(oci_bundle.environment(IMAGE, Overrides(env={"MODE": "fast", "MORE": "1"}), "web", ME).items()) == [
        ("PATH", "/opt/bin:/bin"), ("HOSTNAME", "web"), ("MODE", "fast"), ("MORE", "1"), ("HOME", "/home/me"),
    ]  # fmt: skip
    plain = oci_bundle.environment(Config("amd64", "linux"), Overrides(env={"HOME": "/x"}), "web", ME)
    assert plain == {"PATH": oci_bundle.PATH, "HOSTNAME": "web", "HOME": "/x"}


@pytest.mark.parametrize(("given", "found"), [(None, "/srv"), ("/x/y", "/x/y"), ("x", "/x"), ("", "/srv")])
def test_working_directory(given, found):
    assert oci_bundle.working_directory(IMAGE, Overrides(cwd=given)) == found


def test_the_whole_of_it():
    mounts = [Mount("/srv/x", "/x", read_only=True), Mount("", "/scratch", "tmpfs"), Mount("", "/data", "volume")]
    main = oci_bundle.process(["/entry"], {"A": "1", "B": "x=y"}, "/srv", ME)
    found = oci_bundle.runtime_config(main, "/run/root", "web", mounts, {mounts[0]: "/srv/x", mounts[2]: "/run/volumes/2"})
    assert found["process"] == {
        "terminal": False,
        "user": {"uid": 33, "gid": 34, "additionalGids": [34, 50]},
        "args": ["/entry"],
        "env": ["A=1", "B=x=y"],
        "cwd": "/srv",
        "capabilities": {"bounding": privileges.CAPABILITIES},
        "noNewPrivileges": True,
    }
    assert found["mounts"][-3:] == [
        {"destination": "/x", "type": "bind", "source": "/srv/x", "options": ["rbind", "rprivate", "nodev", "ro"]},
        {"destination": "/scratch", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "noexec", "rw"]},
        {"destination": "/data", "type": "bind", "source": "/run/volumes/2", "options": ["rbind", "rprivate", "nodev", "rw"]},
    ]
    file = Path(__file__).with_name("data") / "config.json"
    assert found == json.loads(file.read_text()), "look at the difference, and write the file anew if it is right"


def test_root_keeps_docker_s_capabilities_and_another_user_what_execve_gives():
    of_root = oci_bundle.process(["x"], {}, "/", User())["capabilities"]
    assert of_root == dict.fromkeys(("bounding", "effective", "permitted"), privileges.CAPABILITIES)
    assert "CAP_MKNOD" not in privileges.CAPABILITIES
    assert len(privileges.CAPABILITIES) == 13


def test_other_capabilities_and_settings():
    main = oci_bundle.process(["x"], {}, "/", ME, capabilities=["CAP_NET_ADMIN"])
    assert main["capabilities"] == {"bounding": ["CAP_NET_ADMIN"]}
    stated = {"net.core.somaxconn": "1", "kernel.msgmax": "2"}  # the network is the host's
    assert oci_bundle.runtime_config(main, "/root", "web", [], {}, sysctls=stated)["linux"]["sysctl"] == {"kernel.msgmax": "2"}
    assert oci_bundle.of_network(stated) == {"net.core.somaxconn": "1"}
    known = [*privileges.CAPABILITIES, *privileges.ADDED, *privileges.WITHHELD]
    assert len(set(known)) == len(known) == 41  # linux/capability.h, Linux 5.9 and later


def test_the_same_arguments_give_the_same_file_and_share_nothing():
    def made():
        return oci_bundle.runtime_config(oci_bundle.process(["x"], {}, "/", User()), "/root", "web", [], {})

    first = made()
    text = json.dumps(first)
    first["linux"]["maskedPaths"].clear()
    first["mounts"][0]["options"] = []
    first["process"]["capabilities"]["bounding"].clear()
    assert json.dumps(made()) == text


@pytest.mark.parametrize("read_only", [False, True])
def test_the_root_is_read_only_if_asked_for(read_only):
    main = oci_bundle.process(["x"], {}, "/", User())
    assert oci_bundle.runtime_config(main, "/root", "web", [], {}, read_only)["root"] == {
        "path": "/root",
        "readonly": read_only,
    }


def test_every_way_to_new_namespaces_is_refused():
    rules = privileges.seccomp()["syscalls"]
    flags = {rule["args"][0]["value"] for rule in rules if rule["names"] == ["clone"]}
    assert sum(flags) == 0x7E020000
    refused = {name for rule in rules if "args" not in rule for name in rule["names"]}
    assert {"mount", "unshare", "setns", "pivot_root", "fsopen", "open_tree", "move_mount", "clone3", "bpf"} <= refused
