import hashlib
import json
import multiprocessing
import os
import signal
import time

import pytest

from slownet.containers import store
from slownet.lab.host import native
from slownet.lab.run import container_shares
from slownet.model.errors import ImageError


def config(**inner):
    return json.dumps({"architecture": "amd64", "os": "linux", "config": inner}).encode()


def digest_of(text):
    return "sha256:" + hashlib.sha256(text).hexdigest()


def build(folder):
    (folder / store.SQUASHFS).write_bytes(b"hsqs" * 100)


def add(*names, build=build, **inner):
    text = config(**inner)
    return store.add(digest_of(text), text, build, names=names, source="here")


def visible(home):
    return sorted(path.name for path in home.iterdir() if not path.name.startswith("."))


def test_an_image_is_kept_under_its_digest(home):
    began = time.time()
    made = add("shop:1", User="www-data")
    assert made.folder == home / made.digest.replace(":", "-")
    assert sorted(path.name for path in made.folder.iterdir()) == ["config.json", "digests.json", "image.json", "root.squashfs"]
    assert (made.squashfs.read_bytes(), made.size) == (b"hsqs" * 100, 400)
    assert (made.names, made.source, made.config.user) == (("shop:1",), "here", "www-data")
    assert began <= made.added <= time.time()
    assert digest_of((made.folder / "config.json").read_bytes()) == made.digest
    assert store.kept() == [store.find("shop:1")] == [store.need("shop:1")] == [made]


def test_there_is_nothing_before_the_first():
    assert store.kept() == []
    assert store.find("shop:1") is None
    with pytest.raises(ImageError) as error:
        store.need("shop:1")
    assert str(error.value) == "there is no image 'shop:1': slownet lab image add shop:1"


def test_what_is_kept_is_not_built_again():
    first = add("shop:1")
    again = add("shop:2", build=lambda folder: pytest.fail("built again"))
    assert (again.digest, again.names) == (first.digest, ("shop:2", "shop:1"))
    assert again.added >= first.added


def test_a_name_moves_to_the_newest_image():
    old, new = add("shop:1", "shop:old", User="a"), add("shop:1", User="b")
    assert store.need("shop:1").digest == new.digest
    assert [(each.digest, each.names) for each in store.kept()] == [(new.digest, ("shop:1",)), (old.digest, ("shop:old",))]
    add("shop:1", User="a", build=lambda folder: pytest.fail("built again"))
    assert store.need("shop:1").digest == old.digest
    assert store.need(new.digest).names == ()


def test_between_the_two_records_of_a_moving_name_the_newest_has_it():
    old, new = add("shop:1", User="a"), add("shop:2", User="b")
    facts = json.loads((new.folder / store.FACTS).read_text())
    (new.folder / store.FACTS).write_text(json.dumps({**facts, "names": ["shop:1"]}))
    assert store.need("shop:1").digest == new.digest
    assert store.need(old.digest[7:19]).names == ()


def test_an_image_is_found_by_parts_of_its_name_and_by_digests():
    text = config(User="x")
    alias = "sha256:" + "0" * 64
    made = store.add(digest_of(text), text, build, names=["localhost:5000/team/shop:1"], aliases=[alias])
    for asked in (
        "shop:1",
        "team/shop:1",
        made.digest,
        made.digest[7:13],
        alias,
        f"team/shop@{alias}",
        f"shop:1@{made.digest}",
    ):
        assert store.find(asked) == made, asked
    for asked in ("shop", "op:1", "other/shop:1", made.digest[7:12], f"shop:1@sha256:{'1' * 64}"):
        assert store.find(asked) is None, asked


def test_a_short_name_of_two_images_is_one_line():
    add("one/shop:1", User="a")
    add("two/shop:1", User="b")
    assert store.need("one/shop:1").config.user == "a"
    for act in (store.find, store.remove):
        with pytest.raises(ImageError) as error:
            act("shop:1")
        expected = "'shop:1' is the name of several images: one/shop:1, two/shop:1: write the whole name, or the digest"
        assert str(error.value) == expected
    add("shop:1", User="c")
    assert store.need("shop:1").config.user == "c"


def test_an_unknown_name_gets_the_nearest():
    add("shop:1")
    with pytest.raises(ImageError) as error:
        store.need("shpo:1")
    assert str(error.value) == "there is no image 'shpo:1': did you mean 'shop:1'? Or add it: slownet lab image add shpo:1"
    with pytest.raises(ImageError) as error:
        store.remove("shpo:1")
    assert str(error.value) == "there is no image 'shpo:1': did you mean 'shop:1'?"


def test_an_image_goes_with_its_last_name(home):
    made = add("shop:1", "shop:2")
    assert store.remove("shop:1") == (made, False)
    assert store.need("shop:2").names == ("shop:2",)
    assert store.remove("shop:2")[1]
    assert visible(home) == store.kept() == []


@pytest.mark.parametrize("length", [71, 20, 13])
def test_an_image_goes_by_its_digest_whatever_its_names(home, length):
    made = add("shop:1", "shop:2")
    store.remove(made.digest[:length])
    assert visible(home) == []


@pytest.mark.parametrize("error", [ImageError("no"), KeyboardInterrupt()])
def test_a_build_that_fails_leaves_nothing(home, error):
    def fail(folder):
        build(folder)
        raise error

    with pytest.raises(type(error)):
        add("shop:1", build=fail)
    assert visible(home) == store.kept() == []
    assert not list(home.glob(".*.half"))


def test_a_killed_build_is_not_an_image(home):
    def die(folder):
        build(folder)
        os.kill(os.getpid(), signal.SIGKILL)

    child = multiprocessing.get_context("fork").Process(target=lambda: add("shop:1", build=die))
    child.start()
    child.join(30)
    assert child.exitcode == -signal.SIGKILL
    assert store.kept() == []
    assert add("shop:1").names == ("shop:1",)


def test_two_adds_at_once_build_once(tmp_path):
    def slow(folder):
        with (tmp_path / "builds").open("a") as builds:
            builds.write("x")
        time.sleep(0.3)
        build(folder)

    context = multiprocessing.get_context("fork")
    children = [context.Process(target=add, args=(f"shop:{number}",), kwargs={"build": slow}) for number in range(4)]
    for each in children:
        each.start()
    for each in children:
        each.join(30)
    assert [each.exitcode for each in children] == [0] * 4
    assert (tmp_path / "builds").read_text() == "x"
    assert sorted(store.need("shop:3").names) == [f"shop:{number}" for number in range(4)]


def test_an_image_removed_while_it_is_named_is_built_again(monkeypatch):
    add("shop:1")
    real, calls = store._named, []

    def removed_first(folder, facts):
        calls.append(folder)
        if len(calls) == 1:
            store._discard(folder)
        return real(folder, facts)

    monkeypatch.setattr(store, "_named", removed_first)
    assert add("shop:2").names == ("shop:2",)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("", "is empty"),
        ("\0" * 200, "is empty"),
        ("{", "is not JSON, or was cut short"),
        ("[" * 100_000, "is not JSON, or was cut short"),
        ("[]", "is not a JSON object"),
        ("{}", "lacks 'digest'"),
        (None, "is missing"),
        ('{"format": 2}', "was written by a newer version of slownet"),
        (("names", "shop:1"), "has a 'names' that is not a list of texts"),
        (("size", "many"), "has a 'size' that is not a whole number"),
        (("digest", "sha256:0"), "belongs to another image"),
        (("seen", {"here": 7}), "has a 'seen' that is not a table of lists of texts"),
    ],
)
def test_a_record_that_cannot_be_read_is_one_line_and_the_other_images_can_be_used(text, how):
    made, other = add("shop:1"), add("other:1", User="other")
    record = made.folder / store.FACTS
    if text is None:
        record.unlink()
    else:
        facts = json.loads(record.read_text())
        record.write_text(text if isinstance(text, str) else json.dumps({**facts, text[0]: text[1]}))
    fix = "slownet lab image add REF adds it again"
    line = f"the kept image {made.digest[7:19]} is damaged: image.json {how}, {record}: {fix}"
    for asked in ("shop:1", made.digest):
        with pytest.raises(ImageError) as error:
            store.need(asked)
        assert str(error.value).removeprefix("there is no image 'shop:1', and ") == line
    assert store.need("other:1") == other
    assert [(each.names, each.damage is None) for each in store.kept()] == [(("other:1",), True), ((), False)]
    assert [list(map(str, each)) for each in store.sound()] == [[str(other)], [line]]
    assert add("shop:1").names == ("shop:1",)
    assert store.need("shop:1").digest == made.digest


@pytest.mark.parametrize("name", ["config.json", "root.squashfs"])
def test_files_of_an_image_that_are_damaged_are_one_line_and_adding_it_again_repairs_them(name):
    made = add("shop:1", "shop:2")
    (made.folder / name).write_bytes(b"hsqs")
    size = made.size if name == "root.squashfs" else len(config())
    with pytest.raises(ImageError) as error:
        store.need("shop:2")
    what = f"the kept image shop:1 is damaged: {name} has 4 bytes, and {size} were written"
    assert str(error.value) == f"{what}, {made.folder / name}: slownet lab image add here"
    assert not store.is_whole(made.digest)
    assert add("shop:1").names == ("shop:1", "shop:2")
    assert store.is_whole(made.digest)
    assert store.need("shop:2").squashfs.read_bytes() == b"hsqs" * 100


def test_an_image_whose_record_is_damaged_can_be_removed():
    made = add("shop:1")
    (made.folder / store.FACTS).write_text("{}")
    assert store.remove(made.digest[7:19]) == (store.StoredImage(made.folder, made.digest), True)
    assert store.kept() == []


def test_a_lab_looks_at_sizes_and_times_only(monkeypatch, home):
    made = add("shop:1")
    monkeypatch.setenv(native.INSIDE, "inf")
    monkeypatch.setattr(store.container_shares, "AT", str(home))
    monkeypatch.setattr(store.digests.time, "time", lambda: 0.0)  # a lab has another date
    monkeypatch.setattr(store.digests, "_sha256", lambda file: pytest.fail("read"))
    assert store.need("shop:1") == made


def test_a_lab_reads_the_same_images_at_its_own_path(monkeypatch, home):
    assert container_shares.shares() == []
    add("shop:1")
    (share,) = container_shares.shares()
    assert share.mount == ("ro", str(home.resolve()), "/opt/slownet/containers")
    monkeypatch.setenv(native.INSIDE, "inf")
    assert str(store.root()) == share.at


def test_images_of_the_system_are_everybodys_and_stay(home, tmp_path, monkeypatch):
    monkeypatch.setenv("SLOWNET_SYSTEM_CACHE", str(tmp_path / "system"))
    config, digest = b"{}", "sha256:" + "1" * 64

    def keep(digest, *names):
        return store.add(digest, config, lambda half: (half / store.SQUASHFS).write_text(digest), names=names)

    first = keep(digest, "localhost/shop:1")
    (tmp_path / "system").mkdir()
    home.rename(tmp_path / "system" / "containers")
    assert [(each.name, each.folder.parent) for each in store.kept()] == [
        ("localhost/shop:1", tmp_path / "system" / "containers")
    ]
    with pytest.raises(
        ImageError, match=r"^image localhost/shop:1 belongs to all users of this machine, .*: remove it as root$"
    ):
        store.remove("shop:1")
    newer = keep("sha256:" + "2" * 64, "localhost/shop:1")
    assert store.need("shop:1").digest == newer.digest
    assert store.need(digest).names == ()
    assert len(container_shares.shares()) == 2
    store.remove(newer.digest)
    assert store.need("shop:1").digest == first.digest
