"""What fetches packages fails in one line, which names no registry."""

import pytest

from slownet.costs import packages
from slownet.costs.entry import Server
from slownet.model.errors import LabError


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        ("no a:b:9 in central (https://registry.example/maven2)", "no a:b:9 in central (REGISTRY/maven2)"),
        ("404 - GET http://registry.example:8080/a - Not found", "404 - GET REGISTRY/a - Not found"),
        ("no such version", "no such version"),
    ],
)
def test_a_message_is_passed_on_without_the_registry(tmp_path, printed, says):
    with pytest.raises(LabError) as raised:
        packages._run(["sh", "-c", f"echo 'error: {printed}'; exit 1"], tmp_path, r"^error: (.+)")
    assert raised.value.what == f"sh: {says}"


def test_a_program_that_is_not_installed_is_named(tmp_path):
    with pytest.raises(LabError, match="no-such-program is not installed on this machine, and fetches these packages"):
        packages._run(["no-such-program"], tmp_path, "")


def test_a_server_without_packages_finds_none():
    assert packages.of_server(Server("x", run="x", port=1)) == {"packages": "", "program": ""}


def test_the_program_of_a_server_is_compiled(monkeypatch):
    compiled = []

    def go(needs, code):
        compiled.append((needs, code))
        return packages.Client("/cache/client")

    monkeypatch.setitem(packages.CLIENT, "go", go)
    found = packages.of_server(
        Server("x", ecosystem="go", packages=("a@v1",), code="package main", run="exec $PROGRAM", port=1)
    )
    assert found == {"packages": "", "program": "/cache/client"}
    assert compiled == [(("a@v1",), "package main")]
