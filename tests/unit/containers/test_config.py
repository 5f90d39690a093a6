import json

import pytest

from slownet.containers.config import Config, Healthcheck, check_platform, parse
from slownet.model.errors import ImageError

# as `docker build` writes it for a Dockerfile with each of these instructions
WHOLE = {
    "architecture": "amd64",
    "os": "linux",
    "config": {
        "User": "www-data",
        "ExposedPorts": {"8000/tcp": {}, "53/udp": {}, "53": {}},
        "Env": ["PATH=/usr/bin:/bin", "EMPTY=", "EQUALS=a=b", "ALONE"],
        "Entrypoint": ["python3", "-u"],
        "Cmd": ["shop.py"],
        "Volumes": {"/var/lib/shop": {}, "/data": {}},
        "WorkingDir": "/srv",
        "StopSignal": "SIGINT",
        "Labels": {"version": "1"},
        "Healthcheck": {"Test": ["CMD-SHELL", "curl -f http://localhost/"], "Interval": 5_000_000_000, "Retries": 7},
    },
    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + "a" * 64]},
    "history": [{"created_by": "COPY"}],
}


def test_everything_is_read():
    assert parse(json.dumps(WHOLE)) == Config(
        architecture="amd64",
        os="linux",
        entrypoint=("python3", "-u"),
        cmd=("shop.py",),
        env={"PATH": "/usr/bin:/bin", "EMPTY": "", "EQUALS": "a=b", "ALONE": ""},
        user="www-data",
        working_dir="/srv",
        stop_signal="SIGINT",
        volumes=("/data", "/var/lib/shop"),
        exposed_ports=("53/tcp", "53/udp", "8000/tcp"),
        healthcheck=Healthcheck(("CMD-SHELL", "curl -f http://localhost/"), interval_s=5.0, retries=7),
        labels={"version": "1"},
        diff_ids=("sha256:" + "a" * 64,),
    )


@pytest.mark.parametrize("inner", [{}, {"config": None}, {"config": {"Cmd": None, "Env": None, "Volumes": None, "User": ""}}])
def test_what_is_not_stated_has_the_specifications_default(inner):
    found = parse(json.dumps({"architecture": "amd64", "os": "linux", **inner}))
    assert found == Config("amd64", "linux")
    assert (found.working_dir, found.stop_signal, found.healthcheck) == ("/", "SIGTERM", None)


def test_a_check_that_is_switched_off_is_none():
    assert parse(json.dumps({"config": {"Healthcheck": {"Test": ["NONE"]}}})).healthcheck is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "Expecting property name"),
        ("[]", "it is not an object"),
        ('{"config": []}', "config is not an object"),
        ('{"config": {"Cmd": "sh"}}', "Cmd is not a list of texts"),
        ('{"config": {"Cmd": [1]}}', "Cmd is not a list of texts"),
        ('{"architecture": 5}', "architecture is not a text"),
        ('{"config": {"Healthcheck": {"Test": ["CMD", "x"], "Interval": "5s"}}}', "Interval is not a number"),
        (b"\xff\xfe\xfa", "codec can't decode"),
    ],
)
def test_what_cannot_be_read_is_one_line(text, reason):
    with pytest.raises(ImageError) as error:
        parse(text, "shop.tar")
    assert str(error.value).startswith("the image's configuration cannot be read: ")
    assert reason in str(error.value)
    assert str(error.value).endswith(", shop.tar")


@pytest.mark.parametrize(
    ("os", "architecture", "named"),
    [
        ("linux", "arm64", "linux/arm64"),
        ("windows", "amd64", "windows/amd64"),
        ("linux", "", "linux/unknown"),
        ("linux", "386", "/386"),
    ],
)
def test_another_platform_is_named(os, architecture, named):
    with pytest.raises(ImageError) as error:
        check_platform(Config(architecture, os), "shop:1")
    assert named in str(error.value)
    assert str(error.value).endswith("linux/amd64 (x86-64), shop:1: build or fetch it for --platform linux/amd64")


def test_this_platform_passes_under_both_its_names():
    check_platform(parse('{"architecture": "x86_64", "os": "linux"}'), "")
