"""What a container sees besides its image."""

import pytest

from slownet.containers.oci_bundle import Mount, complete
from slownet.model.errors import ImageError


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("/a", "/b", "bnd"), "unknown kind 'bnd', the mount at /b: did you mean 'bind'?"),
        (("/a", "b"), "'b' is not a path in a container, the mount at b: write a whole path such as /data"),
        (("/a", "/b/../c"), "'/b/../c' is not a path in a container"),
        (("/a", "//"), "'//' is not a path in a container"),
        (("", "/b"), "a bind has no source, the mount at /b: name a folder or file of the lab"),
        (("/a", "/b", "tmpfs"), "a tmpfs is empty, and has no source '/a'"),
        (("../a", "/b", "volume"), "'../a' is not a name of a volume"),
    ],
)
def test_mistakes(words, said):
    with pytest.raises(ImageError) as error:
        Mount(*words)
    assert str(error.value).startswith(said)


def test_volumes_of_the_image_are_added_and_outer_mounts_come_first():
    own = [Mount("/x", "/srv/deep/in"), Mount("data", "/data/", "volume"), Mount("", "/srv", "tmpfs")]
    assert complete(own, ["/data", "/logs"]) == [
        own[1], Mount("", "/logs", "volume"), own[2], own[0],
    ]  # fmt: skip


def test_two_mounts_at_one_path():
    with pytest.raises(ImageError, match=r"two mounts are at /data, image one: leave one of them out"):
        complete([Mount("/x", "/data"), Mount("", "/data/", "tmpfs")], [], "image one")
