"""pytest-xdist: what a worker in a lab sends is no reason for the controller to run anything."""

import sys
import warnings
from types import SimpleNamespace

import execnet
import pytest
from xdist import remote, workermanage

from slownet.pytest_plugin import worker_process, xdist_workers


class OwnWarning(UserWarning):
    """A warning that this process knows."""


@pytest.fixture
def build(monkeypatch):
    """Build a warning of what a worker sends."""
    monkeypatch.setattr(workermanage, "unserialize_warning_message", workermanage.unserialize_warning_message)
    xdist_workers.distrust_warnings()
    xdist_workers.distrust_warnings()
    return workermanage.unserialize_warning_message


def sent(**changed):
    """Return what a worker sends of a warning, with changes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(OwnWarning("careful"), stacklevel=1)
    return remote.serialize_warning_message(caught[0]) | changed


def test_a_warning_is_what_it_was(build):
    found = build(sent())
    assert isinstance(found.message, OwnWarning)
    assert (str(found.message), found.category) == ("careful", OwnWarning)


@pytest.mark.parametrize(
    ("module", "name"),
    [("os", "system"), ("builtins", "exec"), ("this", "x"), ("builtins", "ValueError"), ("os", "no"), ("builtins", "object")],
)
def test_nothing_that_a_worker_names_is_imported_or_called(build, tmp_path, module, name):
    mark = tmp_path / "mark"
    harm = {"message_args": (f"touch {mark}",), "message_str": "\x1b[2J"}
    found = build(
        sent(message_module=module, message_class_name=name, category_module=module, category_class_name=name, **harm)
    )
    assert found.category is Warning
    assert str(found.message) == r"'\x1b[2J'"
    assert not mark.exists()
    assert "this" not in sys.modules


def test_a_worker_without_a_test_says_so_until_one_comes(monkeypatch):
    queue, sent_ones = remote.TestQueue(execnet.gateway_base.get_execmodel("thread")), []

    def send(event):
        sent_ones.append(event)
        if len(sent_ones) == 3:
            queue.put(7)

    monkeypatch.setattr(worker_process.inside, "send", send)
    manager = SimpleNamespace(
        get_plugins=lambda: [SimpleNamespace(), SimpleNamespace(torun=queue), SimpleNamespace(torun="an option")]
    )
    worker_process.Waiting().pytest_runtestloop(SimpleNamespace(config=SimpleNamespace(pluginmanager=manager)))
    queue.put(6)
    assert queue.get() == 6
    assert sent_ones == []
    assert queue.get() == 7
    assert sent_ones == [{"event": "wait"}] * 3


def test_coverage_data_that_a_worker_sends_itself_is_dropped():
    """pytest-cov would run it as SQL, which can write to any file."""
    carried = []
    controller = xdist_workers.Workers(SimpleNamespace())
    controller._staging = SimpleNamespace(carry_coverage=lambda: carried.append(1))
    node = SimpleNamespace(workeroutput={"cov_worker_data": b"z", "cov_worker_node_id": "gw0"})
    controller.pytest_testnodedown(node)
    assert node.workeroutput == {"cov_worker_node_id": "gw0"}
    controller.pytest_testnodedown(SimpleNamespace())
    assert carried == [1, 1]
