"""Reserving a processor for each lab."""

import os
import subprocess
from contextlib import ExitStack

import pytest

from slownet.lab.host import cpu


@pytest.fixture
def three(monkeypatch, tmp_path):
    monkeypatch.setattr(cpu.os, "sched_getaffinity", lambda pid: {0, 1, 2})
    monkeypatch.setattr(cpu, "FOLDERS", tmp_path)
    for number in range(3):
        (tmp_path / f"cpu{number}").mkdir()
    return tmp_path


def test_labs_of_one_process_have_different_processors(three):
    assert cpu.count() == 3
    with cpu.reserved() as first, cpu.reserved() as second, cpu.reserved() as third:
        assert {first, second, third} == {0, 1, 2}
    with cpu.reserved() as again:
        assert again == first


def test_more_labs_than_processors_are_spread(three):
    with ExitStack() as labs:
        found = [labs.enter_context(cpu.reserved()) for _ in range(6)]
    assert sorted(found) == [0, 0, 1, 1, 2, 2]


def test_what_others_have_is_taken_before_ones_own(three):
    """Two of three processors are taken by others: one lab gets the free one, the next two get one taken processor each."""
    with ExitStack() as others:
        for number in (0, 2):
            assert cpu._lock(number, others)
        with cpu.reserved() as first, cpu.reserved() as second, cpu.reserved() as third:
            assert first == 1
            assert {second, third} == {0, 2}


def test_a_processor_is_had_where_none_can_be_locked(three):
    for number in range(3):
        (three / f"cpu{number}").rmdir()
    with cpu.reserved() as first, cpu.reserved() as second:
        assert first != second


def test_boots_take_turns_on_the_processors(three):
    found = []
    for turn in range(5):
        with cpu.reserved(turn) as processor:
            found.append(processor)
    assert found == [2, 1, 0, 2, 1]


def test_a_turn_is_no_claim(three):
    """If another lab runs, the next free processor is used."""
    with cpu.reserved(1) as first, cpu.reserved(1) as second:
        assert (first, second) == (1, 0)


def test_what_is_started_is_bound_from_the_beginning():
    before = os.sched_getaffinity(0)
    one = max(before)
    with cpu.bound_to(one):
        done = subprocess.run(["taskset", "--pid", str(os.getpid())], capture_output=True, text=True, check=True)
        assert os.sched_getaffinity(0) == {one}
    assert int(done.stdout.split()[-1], 16) == 1 << one
    assert os.sched_getaffinity(0) == before


def test_a_host_that_binds_nothing_is_no_error(monkeypatch):
    def refuse(pid, mask):
        raise PermissionError

    monkeypatch.setattr(cpu.os, "sched_setaffinity", refuse)
    with cpu.bound_to(0):
        pass
