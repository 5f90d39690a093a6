"""What cannot be measured fails alone: the lab is booted again for the others."""

from types import SimpleNamespace

import pytest

from slownet.costs import measuring
from slownet.costs.entry import Entry, Operation, Server
from slownet.costs.judging import RTTS, STEP
from slownet.costs.packages import Client
from slownet.model.errors import LabError

ONE = Operation("one", "next", 3.0)


def prepared(*names):
    entries = [Entry(each, each, "debian", "redis", "", (), (), "", (ONE,), (), "", measuring.packages.HERE) for each in names]
    return [measuring._Prepared(measuring.Item(each, ""), Server("redis"), Client("")) for each in entries]


@pytest.fixture
def boots(monkeypatch):
    """Keep the names of the items of each boot; "spins" ends its lab, and "accounts" does once it is measured."""
    found = []

    def run(place, boot, on_event, errors, accounts):
        names = [each.item.entry.name for each in boot]
        found.append(names)
        for rtt in (0, *RTTS):
            for index, name in enumerate(names):
                on_event({"event": "item", "index": index * STEP + rtt})
                if name == "spins":
                    raise LabError("the clock stood still")
                if rtt:
                    on_event({"event": "seconds", "index": index * STEP + rtt, "seconds": {"one": 3 * rtt / 1000}})
        if "accounts" in names:
            raise LabError("the clock stood still")

    monkeypatch.setattr(measuring, "_run", run)
    return found


def measured(*names):
    found = measuring._boot(lambda: SimpleNamespace(parts=None), lambda line: None, False, prepared(*names))
    return [(each.item.name, each.failure or each.costs["one"].verdict) for each in found]


def test_what_ends_the_lab_fails_and_the_others_are_booted_again(boots):
    assert measured("a", "spins", "b") == [
        ("a", "as expected"), ("spins", "the clock stood still"), ("b", "as expected")
    ]  # fmt: skip
    assert boots == [["a", "spins", "b"], ["a", "b"]]


def test_what_was_measured_before_the_lab_ended_stays(boots):
    assert measured("a", "accounts") == [("a", "as expected"), ("accounts", "as expected")]
    assert len(boots) == 1


def test_a_lab_that_never_came_to_an_item_is_not_booted_again(monkeypatch):
    def run(*_):
        raise LabError("no memory")

    monkeypatch.setattr(measuring, "_run", run)
    with pytest.raises(LabError, match="no memory"):
        measured("a", "b")
