"""What a program lacks in a lab, from what it says."""

import pytest

from slownet.lab.host import native
from slownet.lab.run import missing_programs

PYTHON = "/opt/slownet/venv/bin/python3"


@pytest.mark.parametrize(
    ("log", "name"),
    [
        ("Traceback (most recent call last):\nModuleNotFoundError: No module named 'flask'\n", "flask"),
        (f"{PYTHON}: No module named uvicorn\n", "uvicorn"),
        (
            f"{PYTHON}: Error while finding module specification for 'shop.it' (ModuleNotFoundError: No module named 'shop')",
            "shop",
        ),
        (f"{PYTHON}: No module named shop.__main__; 'shop' is a package and cannot be directly executed", None),
        ("it read: No module named shop", None),
    ],
)
def test_a_module_is_named_with_what_brings_it(log, name, monkeypatch):
    monkeypatch.delenv(native.INSIDE, raising=False)
    assert missing_programs.module(log) is None
    monkeypatch.setenv(native.INSIDE, "inf")
    found = missing_programs.module(log)
    assert (found and found[0]) == (name and f"the lab has no module '{name}'")
    assert name is None or f'dependencies = ["{name}"]' in found[1]
