"""Which lab is next where there are fewer than are wanted."""

import threading

import pytest

from slownet.runner.labs import Labs


def test_of_those_that_wait_the_least_rank_is_next_and_equal_ones_come_in_order():
    done, begun = [], threading.Event()
    with Labs(1) as labs:
        labs.submit((0,), begun.wait)
        ranks = [(1, 0), (0, 5), (0, 2), (1, 0), (0, 5)]
        futures = [labs.submit(rank, lambda number=number: done.append(number)) for number, rank in enumerate(ranks)]
        begun.set()
    assert done == [2, 1, 4, 0, 3]
    assert all(each.done() for each in futures)


def test_as_many_run_at_once_as_there_are_labs():
    both = threading.Barrier(2, timeout=10)
    with Labs(2) as labs:
        futures = [labs.submit((0,), both.wait) for _ in range(4)]
    assert [each.exception() for each in futures] == [None] * 4


def test_an_error_is_its_futures_own():
    def fail():
        raise KeyboardInterrupt

    with Labs(1) as labs:
        failed, fine = labs.submit((0,), fail), labs.submit((0,), lambda: None)
    with pytest.raises(KeyboardInterrupt):
        failed.result()
    assert fine.result() is None
