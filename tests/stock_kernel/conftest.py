"""One guest for all tests, because its boot takes a minute or more."""

import pytest
import stock
from machine import booted, need_qemu

from slownet.lab.build import parts
from slownet.model.errors import SlownetError


@pytest.fixture(scope="session")
def kernel():
    try:
        need_qemu()
        return stock.build()
    except SlownetError as error:
        pytest.exit(str(error), returncode=2)


@pytest.fixture(scope="session")
def guest(kernel, pytestconfig, tmp_path_factory):
    try:
        image = parts.need().image
        with booted(kernel, image, pytestconfig.rootpath, tmp_path_factory.mktemp("guest")) as machine:
            yield machine
    except SlownetError as error:
        pytest.exit(str(error), returncode=2)
