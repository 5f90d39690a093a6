"""Doctests of the examples in docstrings."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["slownet.claim", "slownet.claim.expect", "slownet.measured"])
def test_examples(name):
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted > 0
    assert done.failed == 0
