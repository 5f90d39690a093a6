"""Whom a container runs as, by the image's own files."""

import pytest

from slownet.containers.privileges import User, resolve
from slownet.model.errors import ImageError

PASSWD = """
# comment
root:x:0:0:root:/root:/bin/sh
me:x:33:34:Me:/home/me:/bin/sh
short:x:70:71
homeless:x:80:81:::
broken:x:many:0::/:
"""
GROUP = "root:x:0:\nmine:x:34:\nothers:x:50:root,me\nfew:x:51:me\nodd:x:no:me\n"


@pytest.mark.parametrize(
    ("text", "user"),
    [
        ("", User(0, 0, (0, 50), "/root")),
        ("root", User(0, 0, (0, 50), "/root")),
        ("me", User(33, 34, (34, 50, 51), "/home/me")),
        ("33", User(33, 34, (34, 50, 51), "/home/me")),
        ("me:few", User(33, 51, (51,), "/home/me")),
        ("me:0", User(33, 0, (0,), "/home/me")),
        ("33:7777", User(33, 7777, (7777,), "/home/me")),
        ("1000", User(1000, 0, (0,), "/")),
        ("1000:others", User(1000, 50, (50,), "/")),
        ("1000:1001", User(1000, 1001, (1001,), "/")),
        (":few", User(0, 51, (51,), "/root")),
        ("short", User(70, 71, (71,), "/")),
        ("homeless", User(80, 81, (81,), "/")),
    ],
)
def test_users(text, user):
    assert resolve(text, PASSWD, GROUP) == user


@pytest.mark.parametrize(
    ("text", "more", "groups"),
    [("me", ["few", "7"], (34, 50, 51, 7)), ("1000:5", ["50", "5"], (5, 50)), ("", ["others"], (0, 50))],
)
def test_further_groups(text, more, groups):
    assert resolve(text, PASSWD, GROUP, more=more).groups == groups


def test_a_further_group_that_the_image_lacks():
    with pytest.raises(ImageError, match="the group 'video' is not in the image's /etc/group, image one: name"):
        resolve("me", PASSWD, GROUP, "image one", ["video"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nobody", "the user 'nobody' is not in the image's /etc/passwd, image one: name one of them, or a number"),
        ("broken", "the user 'broken' is not in the image's /etc/passwd, image one"),
        ("me:none", "the group 'none' is not in the image's /etc/group, image one"),
        ("me:odd", "the group 'odd' is not in the image's /etc/group, image one"),
        ("4294967295", "the user '4294967295' is out of range, image one"),
        ("0:4294967295", "the user '0:4294967295' is out of range, image one"),
    ],
)
def test_users_that_the_image_lacks(text, said):
    with pytest.raises(ImageError) as error:
        resolve(text, PASSWD, GROUP, "image one")
    assert str(error.value).startswith(said)


def test_an_image_without_the_files():
    assert resolve("", "", "") == User(0, 0, (0,), "/")
    assert resolve("65532:65532", "", "") == User(65532, 65532, (65532,), "/")
