"""The address of a compose service's front page, and what has none."""

from types import SimpleNamespace

import pytest

from slownet.compose.hosting import Hosted, Running
from slownet.compose.model import Project, Service
from slownet.compose.project_images import Ready
from slownet.model.errors import ExperimentError, ServiceError

HOST = SimpleNamespace(name="web", IP=lambda: "10.0.0.2")


def hosted(folder, ports, stated=(), checked=True):
    service = Service(name="web", image="shop:1", at="compose.yaml:2:3", ports=stated)
    return Hosted(HOST, service, Ready("sha256:0", ports, checked=checked), [], folder)


def test_a_service_with_a_health_check_has_the_address_of_its_port(tmp_path, monkeypatch):
    monkeypatch.setattr(Hosted, "_accepts", lambda self, port: port == 9000)
    assert hosted(tmp_path, (8000, 9000)).url == "http://10.0.0.2:9000/"
    assert hosted(tmp_path, (8000,)).url == "http://10.0.0.2:8000/"


def test_a_service_without_a_port_says_where_one_is_stated(tmp_path):
    with pytest.raises(
        ServiceError, match="web exposes no port, host 'web': write expose: with it in the compose file, or take"
    ):
        _ = hosted(tmp_path, ()).url


def test_a_host_in_place_of_a_services_name(tmp_path):
    running = Running(Project("shop", (), ()), None, tmp_path, tmp_path)
    for wrong, kind in ((HOST, "SimpleNamespace"), (0, "int")):
        with pytest.raises(
            ExperimentError, match=rf"^compose\[...\] takes the name of a service, and got a {kind}: write comp"
        ):
            running[wrong]


def test_a_port_that_does_not_answer_is_named(tmp_path):
    fix = "state a healthcheck, or below expose: the port that it listens on; "
    assert hosted(tmp_path, (8000,), checked=False)._waits_for() == (" on port 8000, of its image,", fix)
    assert hosted(tmp_path, (1, 2), (1, 2), checked=False)._waits_for() == (" on any of the ports 1, 2,", fix)
    assert hosted(tmp_path, (8000,))._waits_for() == hosted(tmp_path, (), checked=False)._waits_for() == ("", "")
