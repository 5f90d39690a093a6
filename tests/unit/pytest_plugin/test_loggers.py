"""Mininet's class of loggers, where its log claims all later ones, is not that of tests."""

import logging

import pytest

from slownet.pytest_plugin import other_plugins


@pytest.fixture
def before():
    kept = logging.getLoggerClass()
    yield kept
    logging.setLoggerClass(kept)


def test_mininets_loggers_are_only_mininets(before):
    logging.setLoggerClass(type("MininetLogger", (logging.Logger,), {"__module__": "mininet.log"}))
    other_plugins.keep()
    assert logging.getLoggerClass() is logging.Logger


def test_another_librarys_loggers_stay(before):
    other = type("Own", (logging.Logger,), {})
    logging.setLoggerClass(other)
    other_plugins.keep()
    assert logging.getLoggerClass() is other
