"""What a release consists of, for all tests of its packages."""

import os
import shutil
import subprocess
import sys

import pytest
import wheels


@pytest.fixture(scope="session")
def kit(tmp_path_factory):
    """A folder with the wheel and an exported lab."""
    folder = tmp_path_factory.mktemp("kit")
    bundle = folder.parent / "bundle"
    subprocess.run([sys.executable, "-m", "slownet.transfer.bundle", bundle], check=True)
    build = [sys.executable, "setup.py", "-q", "bdist_wheel", "--dist-dir", folder, "--bdist-dir", folder.parent / "bdist"]
    copy = wheels.copied(folder.parent / "copy")
    subprocess.run(build, cwd=copy, env={**os.environ, "SLOWNET_BUNDLE": str(bundle)}, check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "slownet.cli", "lab", "export", folder / "lab.tar"], check=True)
    yield folder
    shutil.rmtree(folder)
