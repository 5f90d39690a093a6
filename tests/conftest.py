"""Configuration of all tests."""

import signal

collect_ignore = ["examples/plain"]  # examples/test_examples.py runs it in a copy of the shop


def pytest_configure():
    """Restore SIGINT, which background jobs of a shell ignore, and SIGHUP, ignored under nohup: child processes inherit
    that."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda number, frame: None)
