import pytest

from slownet.containers import image_names
from slownet.model.errors import ImageError


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("shop", "shop:latest"),
        ("shop:1", "shop:1"),
        ("team/shop:v1.2-rc_3", "team/shop:v1.2-rc_3"),
        ("localhost:5000/shop", "localhost:5000/shop:latest"),
        ("registry.example:5000/team/my__shop:1", "registry.example:5000/team/my__shop:1"),
    ],
)
def test_a_name_gets_a_tag(text, whole):
    assert image_names.check(text) == whole


@pytest.mark.parametrize(
    "text", ["", "Shop Two", "SHOP:1", "shop:", ":1", "shop:1:2x/", "../shop", "shop@sha256:00", "-shop", "shop:.1", "s\n"]
)
def test_what_is_no_name_is_one_line(text):
    with pytest.raises(ImageError, match="is not a name of an image, --name: write for example shop:1, in lower case"):
        image_names.check(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("shop.tar", "shop:latest"),
        ("My Shop.tar.gz", "my-shop:latest"),
        ("shop-1.2.tgz", "shop-1-2:latest"),
        ("...", "image:latest"),
    ],
)
def test_a_name_of_a_file(text, name):
    assert image_names.from_text(text) == name
    assert image_names.check(name) == name


@pytest.mark.parametrize(
    ("asked", "name", "fits"),
    [
        ("shop:1", "shop:1", True),
        ("shop:1", "localhost/shop:1", True),
        ("shop", "localhost:5000/team/shop:latest", True),
        ("team/shop:1", "registry.example/team/shop:1", True),
        ("shop:1", "workshop:1", False),
        ("shop:1", "shop:2", False),
        ("localhost/shop:1", "shop:1", False),
    ],
)
def test_leading_folders_may_be_left_out(asked, name, fits):
    assert image_names.matches(asked, name) is fits


def test_a_digest_is_abbreviated_by_six_digits_at_least():
    digest = "sha256:" + "0123456789abcdef" * 4
    assert all(image_names.is_prefix(text, digest) for text in (digest, digest[7:], "012345", "sha256:0123456"))
    assert not any(image_names.is_prefix(text, digest) for text in ("01234", "sha256:", "123456", "0123456g", digest + "0"))
