"""These tests boot emulated machines: about ten seconds of CPU each. Without QEMU they are skipped."""

import pytest

from slownet.lab import emulator
from slownet.model.errors import LabError


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    try:
        emulator.program()
    except LabError as error:
        for each in items:
            each.add_marker(pytest.mark.skip(reason=f"{error.what}: {error.fix}"))
