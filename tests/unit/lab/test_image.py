from dataclasses import replace

import pytest

from slownet.lab.build import cache, debian, distribution, image


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """A copy of the recipe that the test may change."""
    (tmp_path / "wordpress").mkdir()
    (tmp_path / "wordpress" / "seed.php").write_text("<?php")
    (tmp_path / "provision").write_text("#!/bin/sh\n")
    (tmp_path / "packages.txt").write_text("# tools\nmininet   # hosts\n\npython3-scapy iperf3\n#nothing\n")
    monkeypatch.setattr(image, "HERE", tmp_path)
    return tmp_path


def test_packages_are_read_in_order_without_comments(recipe):
    assert image.packages() == ["mininet", "python3-scapy", "iperf3"]


def test_the_real_list_holds_what_the_experiments_run():
    packages = image.packages()
    assert len(packages) == len(set(packages))
    assert {"mininet", "openvswitch-switch", "mariadb-server", "nginx", "apache2-utils", "iputils-ping"} <= set(packages)
    assert "apache2" not in packages


def test_versions_are_those_of_installed_packages(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert image.installed() == {}
    ask = tmp_path / "dpkg-query"
    ask.write_text("#!/bin/sh\necho bash 5.2-1; echo mininet 2.3; echo php8.4-fpm 8.4.28; echo\n")
    ask.chmod(0o755)
    assert image.installed() == {"mininet": "2.3", "php8.4-fpm": "8.4.28"}


def test_requirements_leave_out_other_extras_and_what_debian_has(recipe, monkeypatch):
    wanted = ["rich>=13.5", "mininet>=2.3.0.dev6", 'mypy>=1.8; extra == "dev"', "numpy>=1.26", 'xdist>=3; extra == "lab"']
    monkeypatch.setattr(image.metadata, "requires", lambda name: wanted)
    assert image.requirements() == ["numpy>=1.26", "rich>=13.5", "xdist>=3"]


def test_the_key_follows_everything_that_the_image_is_made_of(recipe, monkeypatch):
    monkeypatch.setattr(image, "requirements", lambda: ["rich>=13.5"])
    keys = [image.key()]
    (recipe / "provision").write_text("#!/bin/sh\ntrue\n")
    keys.append(image.key())
    (recipe / "wordpress" / "seed.php").rename(recipe / "wordpress" / "other.php")
    keys.append(image.key())
    monkeypatch.setattr(image, "requirements", lambda: ["rich>=14"])
    keys.append(image.key())
    monkeypatch.setattr(distribution, "IMAGE", replace(distribution.IMAGE, suite="forky"))
    keys.append(image.key())
    assert len(set(keys)) == 5
    assert image.key() == keys[-1]


def test_an_image_that_was_not_built_is_not_found(recipe, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert image.find() is None


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("W: Temporary failure resolving 'mirror.example'", "Debian's mirror cannot be reached"),
        ("E: Could not connect to mirror.example:80", "Debian's mirror cannot be reached"),
        ("E: Unable to connect to proxy:3128:", "Debian's mirror cannot be reached"),
        ("tar: write error: No space left on device", "the disk is full"),
        ("GPG error: NO_PUBKEY 6ED0E7B82643E131", "the host does not know Debian 13's keys"),
        ("E: invalid /etc/subuid", "your account has no subordinate ids"),
    ],
)
def test_what_goes_wrong_with_debians_archive_has_a_way_out(tmp_path, monkeypatch, text, fix):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    log = tmp_path / "image.log"
    log.write_text(f"I: chatter\n{text}\nE: mmdebstrap failed\n")
    line = str(cache.failure("building the lab's image", 25, log, debian.HINTS))
    assert line.startswith("building the lab's image failed, log ")
    assert f": {fix}" in line
    assert "\n" not in line
