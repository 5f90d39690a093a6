import re

import pytest

from slownet.lab.build import wordpress_site
from slownet.model.errors import LabError

PACKAGES = {"libc6": "2.41-12", "wordpress": "6.8"}


@pytest.fixture
def accounts(tmp_path):
    """The image's users and groups."""
    paths = [tmp_path / name for name in wordpress_site.ACCOUNTS]
    for path in paths:
        path.write_text("mysql:x:100:101:MariaDB Server:/nonexistent:/bin/false\n")
    return paths


@pytest.fixture
def packed(tmp_path):
    """A compressed site."""
    (tmp_path / "made.tar").write_bytes(bytes(range(256)) * 1000)
    wordpress_site.pack(tmp_path / "made.tar", tmp_path / wordpress_site.NAME, wordpress_site.QUICK)
    return tmp_path / wordpress_site.NAME


def test_the_key_follows_everything_that_the_site_is_made_of(accounts):
    keys = [wordpress_site.key("image", PACKAGES, accounts)]
    keys.append(wordpress_site.key("other", PACKAGES, accounts))
    keys.append(wordpress_site.key("image", {**PACKAGES, "libc6": "2.41-13"}, accounts))
    keys.append(wordpress_site.key("image", {**PACKAGES, "nginx": "1.26"}, accounts))
    accounts[0].write_text(accounts[0].read_text().replace("100:101", "101:102"))
    keys.append(wordpress_site.key("image", PACKAGES, accounts))
    assert len(set(keys)) == len(keys)


def test_the_key_does_not_follow_the_order_of_packages(accounts):
    backwards = dict(reversed(PACKAGES.items()))
    assert wordpress_site.key("image", PACKAGES, accounts) == wordpress_site.key("image", backwards, accounts)


@pytest.mark.parametrize("preset", [wordpress_site.QUICK, wordpress_site.SMALL])
def test_a_site_comes_back_and_is_packed_as_the_same_bytes(packed, tmp_path, preset):
    again = [tmp_path / "one.xz", tmp_path / "two.xz"]
    wordpress_site.unpack(packed, tmp_path / "unpacked.tar")
    assert (tmp_path / "unpacked.tar").read_bytes() == (tmp_path / "made.tar").read_bytes()
    for source, into in zip(("made.tar", "unpacked.tar"), again, strict=True):
        wordpress_site.pack(tmp_path / source, into, preset)
    assert again[0].read_bytes() == again[1].read_bytes()


def test_a_damaged_site_is_one_line_wherever_the_damage_is(packed, tmp_path):
    whole = packed.read_bytes()
    flipped = (len(whole) // 2, 3)
    damaged = [whole[:size] for size in (0, 1, 100, len(whole) - 1)]
    damaged += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in flipped]
    for content in damaged:
        packed.write_bytes(content)
        with pytest.raises(
            LabError, match=r"^the WordPress site is damaged \(.+\), .*site\.tar\.xz: remove .* and run"
        ) as error:
            wordpress_site.unpack(packed, tmp_path / "unpacked.tar")
        assert "\n" not in str(error.value)


def test_a_folder_without_the_file_is_damaged_too(tmp_path):
    with pytest.raises(LabError, match=re.escape(f"{tmp_path}/{wordpress_site.NAME}: remove {tmp_path} and run")):
        wordpress_site.unpack(tmp_path / wordpress_site.NAME, tmp_path / "unpacked.tar")
