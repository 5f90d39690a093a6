"""`slownet lab build`: what it makes, by what is there already."""

import pytest
from typer.testing import CliRunner

from slownet.cli.lab import app
from slownet.lab.build import bytecode, parts
from slownet.lab.build.image import Image
from slownet.lab.exact import emulator


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine on which nothing is built in earnest: what was asked for, whether QEMU and a kernel are there."""
    asked = {"qemu": True, "kernel": False}
    squashfs = tmp_path / "image.squashfs"
    squashfs.write_bytes(bytes(3 << 20))

    def build(report, *, only_exact):
        asked["only exact"] = only_exact
        return parts.Parts(None, Image(squashfs, "1", {}, 1, None), tmp_path)

    monkeypatch.setattr(parts, "build", build)
    monkeypatch.setattr(parts, "has_kernel", lambda: asked["kernel"])
    monkeypatch.setattr(emulator, "is_installed", lambda: asked["qemu"])
    monkeypatch.setattr(bytecode, "stale", list)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return asked


@pytest.mark.parametrize(
    ("options", "qemu", "kernel", "only_exact"),
    [
        (["--quick"], True, False, True),
        (["--quick"], True, True, False),
        (["--quick"], False, False, False),
        ([], True, False, False),
    ],
)
def test_quick_compiles_no_kernel_where_qemu_does_without(machine, options, qemu, kernel, only_exact):
    machine.update(qemu=qemu, kernel=kernel)
    assert CliRunner().invoke(app, ["build", *options], catch_exceptions=False).exit_code == 0
    assert machine["only exact"] is only_exact


def test_it_says_that_labs_are_on_the_exact_clock(machine):
    said = CliRunner().invoke(app, ["build", "--quick"], catch_exceptions=False).stdout
    assert "kernel    not built, so labs are on the exact clock: slownet lab build\n" in said
    assert "exact     Debian's kernel is fetched when it is asked for\n" in said
    assert ", 3 MB\n" in said
