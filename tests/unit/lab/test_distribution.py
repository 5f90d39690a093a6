"""The image's release of Debian is written in one Python file; what cannot import it agrees with it."""

import re
from pathlib import Path

import pytest

from slownet.lab.build import debian, image, kernel_package
from slownet.lab.build.distribution import HOSTS, IMAGE
from slownet.lab.exact import emulator

LAB = Path(image.__file__).parents[1]
VAGRANT = Path(__file__).parents[3] / "Vagrantfile"
OF_ONE = r"{0.suite}|debian[ -]{0.number}|[+]deb{0.number}|[\"']{0.python}[\"']"
NAMES = re.compile("|".join(OF_ONE.format(each) for each in HOSTS), re.IGNORECASE)
OTHERS = sorted(
    path for path in LAB.rglob("*")
    if path.is_file() and path.suffix not in (".py", ".pyc", ".md") and b"Debian" in path.read_bytes()
)  # fmt: skip


def test_a_release_is_named_in_one_python_file():
    assert [path.name for path in sorted(LAB.rglob("*.py")) if NAMES.search(path.read_text())] == ["distribution.py"]


@pytest.mark.parametrize("path", [*OTHERS, VAGRANT], ids=lambda path: path.name)
def test_scripts_and_settings_name_the_releases_of_the_hosts_or_of_the_image(path):
    found = {int(each) for each in re.findall(r"Debian (\d+)", path.read_text())}
    assert found <= {each.number for each in HOSTS}
    if path.name in ("provision", "setup-native", "setup-says", "Vagrantfile"):
        assert found == {IMAGE.number}
    if path.name == "host-packages.txt":
        assert all(str(each.number) in path.read_text().partition("\n")[0] for each in HOSTS)


def test_the_virtual_machine_is_of_the_images_release():
    assert re.findall(r'\.box = "(.+)"', VAGRANT.read_text()) == list(IMAGE.vagrant_boxes)


def test_all_that_depends_on_the_release_follows_from_it():
    assert re.fullmatch(kernel_package.PATTERN, "linux-image-6.12.48+deb13-cloud-amd64")
    assert not re.fullmatch(kernel_package.PATTERN, "linux-image-6.12.48+deb12-cloud-amd64")
    assert tuple(each.qemu for each in HOSTS) == emulator.TRIED
    assert [line for name, line in debian.HINTS if name == "NO_PUBKEY" and IMAGE.title in line]
