"""Configuration of all tests."""

import contextlib
import gc
import os
import signal

from slownet.lab.host import native

with contextlib.suppress(ModuleNotFoundError):  # a lab does not have it
    from hypothesis import HealthCheck, Phase, settings

    # `make fuzz` sets HYPOTHESIS_PROFILE; otherwise each fuzzer tries the same few examples every time.
    CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    settings.register_profile(
        "quick",
        max_examples=25,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=CHECKS,
        phases=[Phase.explicit, Phase.generate],
    )
    settings.register_profile("fuzz", max_examples=1000, deadline=None, print_blob=True, suppress_health_check=CHECKS)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

if not native.inside_lab():  # its memory is small, and garbage holds networks
    # Tests are hundreds of thousands of objects that stay, which looking for garbage would visit again and again.
    gc.set_threshold(50_000, 20, 100)

collect_ignore = ["examples/plain"]  # examples/test_examples.py runs it in a copy of the shop


def pytest_configure():
    """Restore SIGINT, which background jobs of a shell ignore, and SIGHUP, ignored under nohup: child processes inherit
    that."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda number, frame: None)


def pytest_collection_finish():
    """Leave the tests out of what is looked through for garbage."""
    if not native.inside_lab():
        gc.collect()
        gc.freeze()
