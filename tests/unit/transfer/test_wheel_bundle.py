"""What a wheel carries of a lab of a few bytes."""

import pytest

from slownet.lab.build import image, init, kernel, wordpress_site
from slownet.model.errors import LabError
from slownet.transfer import bundle


def held(folder):
    return {str(each.relative_to(folder)): each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file()}


def test_it_has_kernel_init_and_site_but_not_the_image(with_site, tmp_path):
    assert bundle.make(tmp_path / "bundle")
    site = f"site/{image.find().site_key}/{wordpress_site.NAME}"
    parts = [f"kernel/{kernel.key()}/{name}" for name in ("digests.json", "kernel.json", "linux")]
    parts += [f"init/{init.key()}/{name}" for name in ("absent.so", "confine", "digests.json", "init.cpio", "probe")]
    record = f"site/{image.find().site_key}/digests.json"
    assert sorted(held(tmp_path / "bundle")) == sorted(["SOURCES", site, record, *parts])
    wordpress_site.unpack(tmp_path / "bundle" / site, tmp_path / "site.tar")
    assert (tmp_path / "site.tar").read_bytes() == bytes(range(256)) * 100


def test_it_says_what_each_of_them_is_made_from(with_site, tmp_path):
    bundle.make(tmp_path / "bundle")
    said = " ".join((tmp_path / "bundle" / "SOURCES").read_text().split())
    assert "kernel Debian's linux-source-7.3_7.3.4-1, with the patches" in said
    assert (
        "site Debian's source packages of mariadb-server 1:11.8.9, php8.4-fpm 8.4.28, wordpress 6.8.12, with provision" in said
    )
    assert "WordPress and the theme (lab/build/wordpress in this package too) are GPL-2.0-or-later" in said
    assert "bash" not in said


def test_the_same_lab_gives_the_same_bytes(with_site, tmp_path):
    for name in ("one", "two"):
        bundle.make(tmp_path / name)
    assert held(tmp_path / "one") == held(tmp_path / "two")


def test_an_image_without_a_site_leaves_it_out(built, tmp_path):
    assert not bundle.make(tmp_path / "bundle")
    assert not (tmp_path / "bundle" / "site").exists()
    assert "site " not in (tmp_path / "bundle" / "SOURCES").read_text()


def test_a_kernel_alone_will_do(with_site, tmp_path):
    for each in with_site.iterdir():
        each.unlink()
    with_site.rmdir()
    assert not bundle.make(tmp_path / "bundle")
    assert (tmp_path / "bundle" / "kernel" / kernel.key() / "linux").is_file()


def test_a_damaged_site_is_one_line(with_site, tmp_path):
    site = with_site / wordpress_site.NAME
    site.write_bytes(site.read_bytes()[:-1])
    with pytest.raises(LabError, match=rf"^the WordPress site is damaged .*: remove {with_site} and run slownet lab build$"):
        bundle.make(tmp_path / "bundle")
