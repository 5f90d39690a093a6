"""Doctests of the examples in docstrings."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["slownet.judge.claim", "slownet.judge.claim.expect", "slownet.judge.measured"])
def test_examples(name):
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted > 0
    assert done.failed == 0
