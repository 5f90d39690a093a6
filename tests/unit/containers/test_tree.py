import pytest

from slownet.containers.tree import Changes, HardLink, Kind, Node, Tree
from slownet.model.errors import ImageError


def path(text):
    return tuple(filter(None, text.split("/")))


def file(**fields):
    return Node(Kind.FILE, 0o644, **fields)


def link(target):
    return Node(Kind.LINK, 0o777, target=target)


def folder(**fields):
    return Node(Kind.FOLDER, **fields)


def layer(entries, removed=(), opaque=()):
    return Changes([(path(name), node) for name, node in entries.items()], [*map(path, removed)], [*map(path, opaque)], "layer")


def applied(*layers):
    tree = Tree()
    for each in layers:
        tree.apply(each)
    return tree


def names(tree):
    return ["/".join(name) for name, _ in tree.walk()][1:]


def at(tree, name):
    return next(node for each, node in tree.walk() if each == path(name))


def test_entries_are_added_in_order_and_walked_by_name():
    tree = applied(layer({"b": file(), "a": folder(mode=0o700), "a/z": file(), "a/y": folder()}))
    assert names(tree) == ["a", "a/y", "a/z", "b"]
    assert at(tree, "a").mode == 0o700


def test_a_missing_parent_is_made():
    tree = applied(layer({"a/b/c": file()}))
    assert names(tree) == ["a", "a/b", "a/b/c"]
    assert (at(tree, "a/b").kind, at(tree, "a/b").mode, at(tree, "a/b").uid) == (Kind.FOLDER, 0o755, 0)


def test_the_roots_own_entry_sets_its_mode_and_keeps_what_is_in_it():
    tree = applied(layer({"a": file()}), layer({"": folder(mode=0o711, uid=5)}))
    assert (tree.root.mode, tree.root.uid, names(tree)) == (0o711, 5, ["a"])
    with pytest.raises(ImageError, match="the root is a file, layer"):
        applied(layer({"": file()}))


def test_a_folder_on_a_folder_changes_it_and_keeps_what_is_in_it():
    tree = applied(layer({"a": folder(uid=1), "a/b": file()}), layer({"a": folder(uid=2)}))
    assert (names(tree), at(tree, "a").uid) == (["a", "a/b"], 2)


@pytest.mark.parametrize("new", [file(), link("elsewhere")])
def test_anything_else_replaces_a_folder_with_all_that_is_in_it(new):
    assert names(applied(layer({"a/b": file()}), layer({"a": new}))) == ["a"]


def test_a_folder_replaces_a_link_to_a_folder():
    tree = applied(layer({"usr/lib/x": file(), "lib": link("usr/lib")}), layer({"lib": folder(), "lib/y": file()}))
    assert names(tree) == ["lib", "lib/y", "usr", "usr/lib", "usr/lib/x"]


def test_a_whiteout_removes_a_file_or_a_whole_folder():
    tree = applied(
        layer({"a/b": file(), "a/c": file(), "d/e/f": file()}), layer({}, removed=["a/b", "d", "missing", "no/where"])
    )
    assert names(tree) == ["a", "a/c"]


def test_a_whiteout_spares_what_its_own_layer_adds():
    tree = applied(layer({"a/old": file(), "b": file(uid=1)}), layer({"a/new": file(), "b": file(uid=2)}, removed=["a", "b"]))
    assert names(tree) == ["a", "a/new", "b"]
    assert at(tree, "b").uid == 2


def test_an_opaque_folder_keeps_only_what_its_own_layer_adds():
    tree = applied(
        layer({"a": folder(uid=7), "a/old": file(), "a/sub/old": file(), "z": file()}),
        layer({"a/new": file(), "a/sub": folder()}, opaque=["a", "missing"]),
    )
    assert names(tree) == ["a", "a/new", "a/sub", "z"]
    assert at(tree, "a").uid == 7


def test_an_opaque_root_removes_everything_below():
    assert names(applied(layer({"a": file()}), layer({"b": file()}, opaque=[""]))) == ["b"]


@pytest.mark.parametrize("target", ["usr/lib", "/usr/lib", "./usr//lib/", "../../usr/lib", "/../usr/x/../lib"])
def test_a_linked_parent_is_followed_inside_the_root(target):
    below = layer({"usr/lib": folder(), "usr/lib/old": file(), "usr/x": folder(), "lib": link(target)})
    tree = applied(below, layer({"lib/new": file()}, removed=["lib/old"]))
    assert names(tree) == ["lib", "usr", "usr/lib", "usr/lib/new", "usr/x"]
    assert at(tree, "lib").kind is Kind.LINK


def test_a_link_to_nowhere_makes_its_target_inside_the_root():
    tree = applied(layer({"out": link("../../../etc")}), layer({"out/passwd": file()}))
    assert names(tree) == ["etc", "etc/passwd", "out"]


def test_a_circle_of_links_is_one_line():
    with pytest.raises(ImageError, match="the path a/x goes through too many symbolic links, layer"):
        applied(layer({"a": link("b"), "b": link("a"), "a/x/y": file()}))


def test_what_is_below_a_file_is_one_line():
    with pytest.raises(ImageError, match="something is below a, which is not a folder, layer"):
        applied(layer({"a": file(), "a/b": file()}))


def test_a_hard_link_is_the_same_file_in_any_layer():
    tree = applied(
        layer({"a": file(uid=3), "l": link("d"), "d/x": file()}), layer({"b": HardLink(("a",)), "c": HardLink(("l", "x"))})
    )
    assert at(tree, "a") is at(tree, "b")
    assert at(tree, "c") is at(tree, "d/x")


def test_a_file_lives_on_under_its_other_name():
    tree = applied(layer({"a": file(uid=3)}), layer({"b": HardLink(("a",))}), layer({}, removed=["a"]))
    assert (names(tree), at(tree, "b").uid) == (["b"], 3)


@pytest.mark.parametrize(
    ("target", "what"), [("missing", "missing"), ("no/where", "missing"), ("d", "a folder"), ("", "missing")]
)
def test_a_hard_link_to_what_is_no_file_is_one_line(target, what):
    with pytest.raises(ImageError) as error:
        applied(layer({"d": folder(), "b": HardLink(path(target))}))
    assert str(error.value) == f"the hard link b points to {target}, which is {what}, layer"
