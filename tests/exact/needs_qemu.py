"""These tests boot emulated machines: about ten seconds of CPU each. Without QEMU they are skipped.

A mark in each module and no conftest.py: one of them runs beside tests/e2e, whose tests import from their own.
"""

import pytest

from slownet.lab.exact.emulator import PACKAGE, PROGRAM, is_installed

needs_qemu = pytest.mark.skipif(not is_installed(), reason=f"there is no {PROGRAM} here: apt-get install {PACKAGE}")
