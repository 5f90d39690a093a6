"""What cannot be measured fails alone: the lab is booted again for the others."""

import dataclasses
import re
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
                if name == "interrupted" and rtt == RTTS[-1]:
                    raise KeyboardInterrupt
        if "accounts" in names:
            raise LabError("the clock stood still")

    monkeypatch.setattr(measuring, "_run", run)
    return found


def measured(*names):
    done, items = [], prepared(*names)
    try:
        measuring._boot(lambda: SimpleNamespace(parts=None), lambda line: None, False, done, items)
    except KeyboardInterrupt:
        done.append(None)
    found = {each.item.name: each.failure or each.costs["one"].verdict for each in done if each}
    assert len(found) == len(done) - done.count(None)  # each once
    return [(name, found[name]) for name in names if name in found]


def test_what_ends_the_lab_fails_and_the_others_are_booted_again(boots):
    assert measured("a", "spins", "b") == [
        ("a", "as expected"), ("spins", "the clock stood still"), ("b", "as expected")
    ]  # fmt: skip
    assert boots == [["a", "spins", "b"], ["a", "b"]]


def test_what_was_measured_before_the_lab_ended_stays(boots):
    assert measured("a", "accounts") == [("a", "as expected"), ("accounts", "as expected")]
    assert len(boots) == 1


def test_what_was_measured_before_it_was_interrupted_stays(boots):
    assert measured("a", "interrupted", "b") == [("a", "as expected"), ("interrupted", "as expected")]
    assert measured("a", "spins", "interrupted") == [
        ("a", "as expected"), ("spins", "the clock stood still"), ("interrupted", "as expected")
    ]  # fmt: skip


def test_a_lab_that_never_came_to_an_item_is_not_booted_again(monkeypatch):
    def run(*_):
        raise LabError("no memory")

    monkeypatch.setattr(measuring, "_run", run)
    with pytest.raises(LabError, match="no memory"):
        measured("a", "b")


def needing(name, *debian):
    (found,) = prepared(name)
    return dataclasses.replace(found, item=measuring.Item(dataclasses.replace(found.item.entry, debian=debian), ""))


@pytest.fixture
def layers(monkeypatch):
    """Keep the Debian packages of each layer that is asked for; one with "gone" cannot be built."""
    asked = []

    def layer(debian):
        asked.append(debian)
        if "gone" in debian:
            raise LabError("Unable to locate package gone", "layers/0/slownet.toml", "correct `packages`")
        return measuring.packages.HERE

    image = SimpleNamespace(image=SimpleNamespace(versions={"redis-server": "8.0.2"}))
    monkeypatch.setattr(measuring.parts, "need", lambda: image)
    monkeypatch.setattr(measuring.packages, "layer", layer)
    return asked


def placed(*items):
    found = []
    groups = [[each.item.name for each in some] for _, some in measuring._places(items, found, lambda line: None)]
    return groups, {each.item.name: each.failure for each in found}


def test_an_item_whose_debian_package_cannot_be_had_fails_alone(layers):
    groups, failed = placed(needing("a"), needing("b", "gone"), needing("c", "jq"), needing("d", "jq"))
    assert groups == [["a"], ["c", "d"]]
    assert list(failed) == ["b"]
    assert re.match(r"Unable to locate package gone, .*costs: correct `debian`, of it or of its server", failed["b"])


def test_a_package_of_the_image_needs_no_layer(layers):
    assert placed(needing("a", "redis-server"), needing("b", "jq")) == ([["a", "b"]], {})
    assert layers == [["jq"]]
