"""Images are added for real: what is kept is read back by squashfs-tools-ng."""

import gzip
import io
import json
import lzma
import multiprocessing
import os
import shutil
import signal
import subprocess
import tarfile
import threading
import time

import pytest

from slownet.containers import adding, rootfs, skopeo, store
from slownet.lab.build import cache
from slownet.model.errors import ImageError, LabError

pytestmark = pytest.mark.skipif(not shutil.which("tar2sqfs"), reason="no squashfs-tools-ng here")
CAPABILITY = bytes.fromhex("0100000200200000ff0a00000000000000000000").decode("utf-8", "surrogateescape")
ELF = "\x7fELF\x02\x01\x01" + "\0" * 9 + "\x02\0{}\0" + "\0" * 44


def left_over(home):
    return [path.name for path in home.iterdir() if not path.name.endswith((".lock", ".checked"))] if home.exists() else []


@pytest.fixture
def base(made):
    return made.tar(
        made.folder("bin"),
        made.member(
            "bin/shop",
            "#!/bin/sh\n",
            mode=0o4755,
            uid=33,
            gid=44,
            xattrs={"security.capability": CAPABILITY, "user.note": "hi"},
        ),
        made.hard_link("bin/sh", "bin/shop"),
        made.link("sbin", "bin"),
        made.folder("tmp", mode=0o1777),
        made.folder("data", uid=5),
        made.member("data/old", "old"),
        made.member("data/both", "below", mtime=1_700_000_000),
        made.member("gone", "gone"),
    )


@pytest.fixture
def top(made):
    return made.tar(
        made.member("data/.wh..wh..opq"),
        made.member("data/both", "above", uid=6),
        made.member(".wh.gone"),
        made.member("sbin/more", "more"),
        made.hard_link("bin/link", "bin/shop"),
    )


EXPECTED = {
    "bin": ("dir", 0o755, 0, 0),
    "bin/link": ("file", 0o4755, 33, 44),
    "bin/more": ("file", 0o644, 0, 0),
    "bin/sh": ("file", 0o4755, 33, 44),
    "bin/shop": ("file", 0o4755, 33, 44),
    "data": ("dir", 0o755, 5, 0),
    "data/both": ("file", 0o644, 6, 0),
    "sbin": ("slink", 0o777, 0, 0, "bin"),
    "tmp": ("dir", 0o1777, 0, 0),
}


@pytest.mark.parametrize(
    "compress",
    [
        pytest.param(gzip.compress, id="gzip"),
        pytest.param(None, id="plain"),
        pytest.param(
            lambda data: subprocess.run(["zstd", "-c"], input=data, capture_output=True, check=True).stdout,
            marks=pytest.mark.skipif(not shutil.which("zstd"), reason="no zstd here"),
            id="zstd",
        ),
    ],
)
def test_the_layers_of_a_layout_become_one_root(layout, base, top, inside, home, compress):
    layout.image(base, top, compress=compress, config={"Cmd": ["shop"]})
    done = adding.add(str(layout.folder))
    assert (done.is_new, done.omitted, done.image.names) == (True, (), ("layout:1",))
    root = inside(done.image)
    assert root.listing() == EXPECTED
    assert (root.text("data/both"), root.text("bin/link"), root.text("bin/more")) == ("above", "#!/bin/sh\n", "more")
    assert root.inode("bin/shop") == root.inode("bin/sh") == root.inode("bin/link")
    assert root.xattrs("bin/link") == {
        "security.capability": "0x" + CAPABILITY.encode("utf-8", "surrogateescape").hex().upper(),
        "user.note": "hi",
    }
    assert done.image.config.cmd == ("shop",)
    assert left_over(home) == [done.image.folder.name]


def test_every_way_to_hold_an_image_gives_the_same(layout, save, base, top, tmp_path, home):
    layout.image(base, top)
    docker = save((["shop:1"], [base, top], {}))
    oci = layout.archive(tmp_path / "oci.tar")
    compressed = tmp_path / "shop.tar.xz"
    compressed.write_bytes(lzma.compress(docker.read_bytes()))
    ways = [
        str(layout.folder),
        f"oci:{layout.folder}:1",
        str(docker),
        f"docker-archive:{docker}:shop:1",
        str(oci),
        f"oci-archive:{oci}",
        str(compressed),
    ]
    done = [adding.add(each) for each in ways]
    assert [each.is_new for each in done] == [True] + [False] * 6
    assert len({each.image.digest for each in done}) == 1
    assert set(store.need("shop:1").names) == {"layout:1", "shop:1", "oci:1"}
    assert store.need(layout.index[0]["digest"]).digest == done[0].image.digest


@pytest.mark.parametrize("by", ["folder", "tar", "tar.gz"])
def test_a_plain_root_becomes_an_image(tmp_path, base, inside, home, by):
    if by == "folder":
        path = tmp_path / "root"
        (path / "etc").mkdir(parents=True)
        (path / "etc/shop").write_text("text")
        (path / "etc/.wh.file").touch()
        os.link(path / "etc/shop", path / "etc/two")
        (path / "etc").chmod(0o700)
        owner = (os.getuid(), os.getgid())
        expected = {
            "etc": ("dir", 0o700, *owner),
            **{f"etc/{name}": ("file", 0o644, *owner) for name in (".wh.file", "shop", "two")},
        }
    else:
        path = tmp_path / f"root.{by}"
        path.write_bytes(base if by == "tar" else gzip.compress(base))
        expected = {name: each for name, each in EXPECTED.items() if name not in ("bin/link", "bin/more", "data/both")}
        expected |= {"data/both": ("file", 0o644, 0, 0), "data/old": ("file", 0o644, 0, 0), "gone": ("file", 0o644, 0, 0)}
    if by == "folder":
        path.chmod(0o755)
        umask_free(path)
    done = adding.add(str(path))
    assert done.image.names == ("root:latest",)
    assert inside(done.image).listing() == expected
    assert (done.image.config.architecture, done.image.config.entrypoint) == ("amd64", ())
    assert left_over(home) == [done.image.folder.name]


def umask_free(path):
    for each in path.rglob("*"):
        if each.is_file():
            each.chmod(0o644)


def aged(path):
    """Let a file or folder settle: what changed just now is read again."""
    time.sleep(adding.SETTLED_S + 0.05)
    return path


@pytest.mark.parametrize("by", ["folder", "tar"])
def test_what_did_not_change_is_not_read_again(tmp_path, base, monkeypatch, by):
    path = tmp_path / "root"
    if by == "folder":
        (path / "etc").mkdir(parents=True)
        (path / "etc/shop").write_text("text")
    else:
        path.write_bytes(base)
    first = adding.add(str(aged(path)), "shop:1")
    with monkeypatch.context() as patch:
        patch.setattr(adding, "_source", lambda *words: pytest.fail("read again"))
        second = adding.add(str(path), "shop:2")
        assert (second.is_new, second.image.digest, second.image.names) == (False, first.image.digest, ("shop:2", "shop:1"))
        assert adding.add(str(path)).image.names == ("root:latest", "shop:2", "shop:1")
    if by == "folder":
        (path / "etc/shop").write_text("TEXT")
    else:
        path.write_bytes(base.replace(b"below", b"BELOW"))
    assert adding.add(str(aged(path))).image.digest != first.image.digest


def test_an_archive_may_come_through_a_pipe(save, base, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = save((["shop:1"], [base], {})).read_bytes()
    for sent, is_new in ((gzip.compress(data), True), (data, False)):
        writer = threading.Thread(target=pipe.write_bytes, args=(sent,))
        writer.start()
        done = adding.add(str(pipe))
        writer.join()
        assert (done.is_new, done.image.names, done.image.seen) == (is_new, ("shop:1",), {})


def test_what_comes_through_a_pipe_has_no_name_and_no_source_of_its_own(tmp_path, base):
    (tmp_path / "root.tar").write_bytes(base)
    with subprocess.Popen(["cat", str(tmp_path / "root.tar")], stdout=subprocess.PIPE) as cat:
        assert cat.stdout
        done = adding.add(f"/dev/fd/{cat.stdout.fileno()}")
    assert (done.image.names, done.image.source) == (("image:latest",), "")


def test_a_damaged_image_is_added_again_from_any_folder(base, tmp_path, monkeypatch):
    (tmp_path / "root.tar").write_bytes(base)
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # read, then known
        assert adding.add("./root.tar").image.source == str(tmp_path / "root.tar")
        aged(tmp_path / "root.tar")


def test_an_image_that_was_removed_is_read_again(tmp_path, base):
    path = tmp_path / "root.tar"
    path.write_bytes(base)
    adding.add(str(aged(path)), "shop:1")
    store.remove("shop:1")
    assert adding.add(str(path), "shop:1").is_new


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_named(tmp_path, inside):
    root = tmp_path / "root"
    for folder in ("etc", "root"):
        (root / folder).mkdir(parents=True)
    for name in ("etc/shadow", "etc/passwd", "root/secret"):
        (root / name).write_text("x")
    (root / "etc/shadow").chmod(0)
    (root / "root").chmod(0)
    try:
        done = adding.add(str(root))
        assert done.omitted == (str(root / "etc/shadow"), str(root / "root"))
        assert sorted(inside(done.image).listing()) == ["etc", "etc/passwd", "root"]
    finally:
        (root / "root").chmod(0o700)


def test_one_of_several_images_is_chosen_by_tag_or_name(save, made):
    archive = save(*[([f"localhost/{name}:1"], [made.tar(made.member(name))], {}) for name in ("shop", "bank")])
    with pytest.raises(ImageError) as error:
        adding.add(str(archive))
    which = "localhost/shop:1, localhost/bank:1"
    assert str(error.value) == f"it has 2 images: {which}, {archive}: choose one, for example --tag localhost/shop:1"
    with pytest.raises(ImageError) as error:
        adding.add(str(archive), tag="back:1")
    assert str(error.value) == f"it has no image 'back:1', but {which}, {archive}: write for example --tag localhost/shop:1"
    shop, bank = adding.add(str(archive), tag="shop:1").image, adding.add(str(archive), "bank:1").image
    assert (shop.names, bank.names) == (("localhost/shop:1",), ("bank:1",))
    assert shop.digest != bank.digest


def test_one_of_several_images_of_a_layout_is_chosen(layout, made):
    for name in ("1", "2"):
        layout.image(made.tar(made.member(name)), tag=name)
    with pytest.raises(ImageError, match=f"^it has 2 images: 1, 2, {layout.folder}: choose one, for example --tag 1$"):
        adding.add(str(layout.folder))
    digests = {adding.add(f"oci:{layout.folder}:2").image.digest, adding.add(str(layout.folder), tag="2").image.digest}
    digests.add(adding.add(str(layout.folder), tag=layout.index[1]["digest"]).image.digest)
    assert len(digests) == 1
    assert adding.add(str(layout.folder), tag="1").image.digest not in digests


def on(architecture, os="linux", **more):
    return {"platform": {"os": os, "architecture": architecture, **more}}


@pytest.mark.parametrize("nested", [False, True])
def test_of_several_platforms_the_labs_is_chosen(layout, made, inside, nested):
    kinds = {
        "arm": on("arm64"),
        "win": on("amd64", "windows"),
        "v3": on("amd64", variant="v3"),
        "right": on("amd64"),
        "none": on("unknown", "unknown"),
    }
    found = [layout.manifest([made.tar(made.member(name))], **kind) for name, kind in kinds.items()]
    if nested:
        layout.add(layout.nested(*found), "1")
    else:
        for each in found:
            layout.add(each)
    layout.path(found[0]["digest"]).unlink()  # what is for others is not even read
    done = adding.add(str(layout.folder))
    assert list(inside(done.image).listing()) == ["right"]


def test_platforms_that_an_index_does_not_state_are_read(layout, made, inside):
    for architecture in ("arm64", "amd64"):
        layout.add(layout.manifest([made.tar(made.member(architecture))], architecture=architecture))
    assert list(inside(adding.add(str(layout.folder)).image).listing()) == ["amd64"]


@pytest.mark.parametrize("stated", [True, False])
def test_another_platform_is_named(layout, made, home, stated):
    layout.image(made.tar(), architecture="arm64", **(on("arm64") if stated else {}))
    with pytest.raises(ImageError) as error:
        adding.add(str(layout.folder))
    assert str(error.value) == (
        f"the image is for linux/arm64, and a lab runs programs for linux/amd64 (x86-64), {layout.folder}: "
        "build or fetch it for --platform linux/amd64"
    )
    assert left_over(home) == []


@pytest.mark.parametrize(
    ("machine", "name"), [("\xb7", "arm64"), ("\x28", "arm"), ("\xf3", "riscv"), ("\x03", "386"), (">", "")]
)
def test_a_plain_root_for_another_platform_is_named_by_its_programs(tmp_path, made, home, machine, name):
    elf, data = made.member("bin/shop", mode=0o755)
    data = ELF.format(machine).encode("latin-1")
    elf.size = len(data)
    (tmp_path / "root.tar").write_bytes(made.tar((elf, data)))
    if not name:
        assert adding.add(str(tmp_path / "root.tar")).is_new
        return
    with pytest.raises(ImageError, match=rf"^the image is for linux/{name}, and a lab runs .*root.tar \(bin/shop\)"):
        adding.add(str(tmp_path / "root.tar"))
    assert left_over(home) == []


def broken(layout, made, how):
    """Damage a layout in one way; return the beginning of the line that should say so."""
    tar = made.tar(made.member("a", "x" * 5000), made.member("b", "y"))
    layout.image(tar)
    manifest = json.loads(layout.path(layout.index[0]["digest"]).read_text())
    paths = {"layer": manifest["layers"][0], "config": manifest["config"], "manifest": layout.index[0]}
    which, _, kind = how.partition(" ")
    blob = layout.path(paths[which]["digest"]) if which in paths else layout.folder / which
    data = blob.read_bytes()
    if kind == "missing":
        blob.unlink()
    elif kind == "cut":
        blob.write_bytes(data[:-10])
    elif kind == "other":
        blob.write_bytes(data[:-10] + bytes(reversed(data[-10:])))
    else:
        blob.write_text(kind)


@pytest.mark.parametrize(
    ("how", "line"),
    [
        ("layer missing", "blobs/sha256/.* cannot be read"),
        ("layer cut", r"layer 1 of .* is truncated: \d+ bytes instead of \d+$"),
        ("layer other", "layer 1 of .* has the digest "),
        ("config missing", "blobs/sha256/.* cannot be read"),
        ("config cut", "blobs/sha256/.* bytes instead of"),
        ("config other", "the image's configuration has the digest"),
        ("manifest missing", "blobs/sha256/.* cannot be read"),
        ("manifest other", "the image's manifest has the digest"),
        ("index.json missing", "index.json cannot be read"),
        ("index.json cut", "index.json is not JSON"),
        ("index.json []", "index.json is not a JSON object"),
        ("index.json {}", "index.json has no 'manifests'"),
        ('index.json {"manifests": []}', "index.json lists no image"),
        ('index.json {"manifests": [{"digest": "sha256:../x", "size": 1}]}', "'sha256:../x' is not a digest"),
        ('index.json {"manifests": [5]}', "index.json has no "),
    ],
)
def test_a_damaged_layout_is_one_line_and_nothing_is_kept(layout, made, home, how, line):
    broken(layout, made, how)
    with pytest.raises(ImageError, match=f"^{line}") as error:
        adding.add(str(layout.folder))
    assert "\n" not in str(error.value)
    assert left_over(home) == store.kept() == []


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("compress", [lambda data: data, gzip.compress])
def test_a_truncated_archive_is_one_line(save, base, tmp_path, home, share, compress):
    whole = compress(save((["shop:1"], [base], {})).read_bytes().rstrip(b"\0"))
    (tmp_path / "cut.tar").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ImageError, match=r"truncated") as error:
        adding.add(str(tmp_path / "cut.tar"))
    assert "\n" not in str(error.value)
    assert left_over(home) == []


@pytest.mark.parametrize(
    ("manifest", "line"),
    [
        ({"Config": "nowhere.json"}, "nowhere.json is missing"),
        ({"Config": 5}, "5 is missing"),
        ({"Layers": 5}, "manifest.json lists no layers"),
        ({"Layers": ["nowhere/layer.tar"]}, "nowhere/layer.tar is missing"),
        ({"Layers": []}, "the image's manifest has 0 layers, and its configuration 1"),
        ({"RepoTags": None}, ""),
    ],
)
def test_a_damaged_docker_archive_is_one_line(save, base, home, manifest, line):
    archive = save((["shop:1"], [base], {}), **manifest)
    if not line:
        assert adding.add(str(archive)).image.names == ("shop:latest",)
        return
    with pytest.raises(ImageError, match=f"^{line}"):
        adding.add(str(archive))
    assert left_over(home) == []


def test_a_configuration_that_is_not_the_named_one_is_one_line(save, base):
    archive = save((["shop:1"], [base], {}))
    data = archive.read_bytes()
    archive.write_bytes(data.replace(b'"linux"', b'"linuz"'))
    with pytest.raises(ImageError, match=r"\.json has the digest sha256:"):
        adding.add(str(archive))


def test_an_archive_of_blobs_without_an_index_is_one_line(tmp_path):
    with tarfile.open(tmp_path / "shop.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("blobs/sha256/00"))
    with pytest.raises(ImageError, match=r"^index.json is missing, .*shop.tar: save the image again$"):
        adding.add(str(tmp_path / "shop.tar"))


@pytest.mark.parametrize("name", ["empty", "text", "zeros"])
def test_a_file_that_is_no_archive_is_one_line(tmp_path, name, home):
    path = tmp_path / f"{name}.tar"
    path.write_bytes({"empty": b"", "text": b"hello " * 500, "zeros": bytes(10240)}[name])
    with pytest.raises(ImageError, match=r"it is truncated or not an archive|it has no files") as error:
        adding.add(str(path))
    assert str(path) in str(error.value)
    assert left_over(home) == []


def test_a_folder_that_is_no_root_is_one_line(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    with pytest.raises(ImageError, match="project is empty: name an image, or the folder of a root file system"):
        adding.add(str(folder))
    (folder / "Dockerfile").touch()
    with pytest.raises(
        ImageError, match="project is not an image: it has a Dockerfile to build one from: buildah build -t shop:1 "
    ):
        adding.add(str(folder))


def test_another_thing_than_an_image_is_named(layout, made):
    config = layout.blob(b"{}", "application/vnd.cncf.helm.config.v1+json")
    chart = json.dumps({"schemaVersion": 2, "config": config, "layers": []}).encode()
    layout.add(layout.blob(chart, "application/vnd.oci.image.manifest.v1+json"))
    with pytest.raises(ImageError, match=r"^it is not a container image, but application/vnd.cncf.helm.config.v1\+json, "):
        adding.add(str(layout.folder))


def test_indexes_that_never_end_are_one_line(layout, made):
    inner = layout.manifest([made.tar()])
    for _ in range(6):
        inner = layout.nested(inner)
    layout.add(inner)
    with pytest.raises(ImageError, match=r"^its indexes contain one another, "):
        adding.add(str(layout.folder))


def test_a_full_disk_is_one_line_and_nothing_is_kept(layout, base, home, monkeypatch):
    layout.image(base)
    monkeypatch.setattr(rootfs, "SPARE_MEGABYTES", 10**9)
    with pytest.raises(LabError, match=r"^adding the image needs 1000000000 MB of disk, but only "):
        adding.add(str(layout.folder))
    assert left_over(home) == []


def test_a_cache_that_cannot_be_written_to_is_one_line(layout, base, tmp_path, monkeypatch):
    layout.image(base)
    (tmp_path / "root.tar.gz").write_bytes(gzip.compress(base))
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    for act in (
        lambda: adding.add(str(layout.folder)),
        lambda: adding.add(str(tmp_path / "root.tar.gz")),
        lambda: store.remove("shop"),
    ):
        with pytest.raises(LabError, match=r"^cannot write to .* \(Not a directory\): set XDG_CACHE_HOME to "):
            act()


def test_layers_that_docker_linked_to_equal_ones_are_read(made, base, tmp_path, inside):
    config = made.config([base, base])
    files = {"config.json": config, "a/layer.tar": base}
    files["manifest.json"] = json.dumps([{"Config": "config.json", "Layers": ["a/layer.tar", "b/layer.tar"]}]).encode()
    with tarfile.open(tmp_path / "shop.tar", "w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("b/layer.tar")
        link.type, link.linkname = tarfile.SYMTYPE, "../a/layer.tar"
        tar.addfile(link)
    assert "gone" in inside(adding.add(str(tmp_path / "shop.tar")).image).listing()


def test_a_squashfs_that_cannot_be_made_is_one_line(layout, base, home, monkeypatch):
    layout.image(base)
    monkeypatch.setattr(rootfs.image, "squash", lambda target: ["sh", "-c", "echo 'tar2sqfs: it is full' >&2; exit 3"])
    with pytest.raises(LabError, match=r"^adding the image failed \(3\): tar2sqfs: it is full, log "):
        adding.add(str(layout.folder))
    assert left_over(home) == []


def test_missing_programs_are_named_with_their_packages(layout, base, home, monkeypatch, tmp_path):
    layout.image(base)
    monkeypatch.setattr(cache, "search_path", lambda: str(tmp_path))
    with pytest.raises(LabError, match=r"^adding the image needs tar2sqfs: apt-get install squashfs-tools-ng$"):
        adding.add(str(layout.folder))
    with pytest.raises(LabError, match=r"^fetching docker://shop:1 needs skopeo: apt-get install skopeo$"):
        adding.add("shop:1")
    assert left_over(home) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_add_that_is_ended_leaves_nothing_behind(layout, base, home, monkeypatch, number):
    layout.image(base)
    real = rootfs.write

    def interrupted(*words):
        real(*words)
        if number == signal.SIGTERM:
            raise SystemExit(143)
        os.kill(os.getpid(), number)
        time.sleep(10)

    def run():
        monkeypatch.setattr(rootfs, "write", interrupted)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            adding.add(str(layout.folder))
        except KeyboardInterrupt:
            os._exit(130)

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    child.join(60)
    assert child.exitcode == {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert store.kept() == []
    if number == signal.SIGKILL:
        assert left_over(home)
    layout.image(base, tag="2", config={"Cmd": ["another image"]})
    done = adding.add(f"oci:{layout.folder}:2")
    assert left_over(home) == [done.image.folder.name]


def test_two_adds_at_once_keep_one_image(layout, base, home):
    layout.image(base)
    children = [
        multiprocessing.get_context("fork").Process(target=adding.add, args=(str(layout.folder), f"shop:{n}")) for n in range(3)
    ]
    for each in children:
        each.start()
    for each in children:
        each.join(60)
    assert [each.exitcode for each in children] == [0, 0, 0]
    assert sorted(store.need("shop:0").names) == ["shop:0", "shop:1", "shop:2"]
    assert len(left_over(home)) == 1


def test_a_file_that_changes_while_it_is_read_is_one_line(tmp_path, base, monkeypatch, home):
    path = tmp_path / "root.tar"
    path.write_bytes(base)
    real = rootfs.squash

    def changed(*words):
        path.write_bytes(base.replace(b"below", b"BELOW"))
        real(*words)

    monkeypatch.setattr(rootfs, "squash", changed)
    with pytest.raises(ImageError, match=r"root\.tar has the digest"):
        adding.add(str(path))
    assert left_over(home) == []


def test_skopeos_own_words_are_passed_on(monkeypatch, tmp_path):
    said = r'level=fatal msg="Error parsing image name \"docker://shop:1\": pinging \"shop\": no such host"'
    program = tmp_path / "skopeo"
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(ImageError) as error:
        skopeo.source("docker://shop:1")
    assert str(error.value) == (
        'skopeo cannot read docker://shop:1: pinging "shop": no such host: check the registry\'s name and the network'
    )


def test_a_socket_is_left_out_and_named(tmp_path, inside):
    import socket

    folder = tmp_path / "r"
    (folder / "run").mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "run/s"))
        done = adding.add(str(folder))
    assert done.omitted == (str(folder / "run/s"),)
    assert list(inside(done.image).listing()) == ["run"]


def test_a_copy_of_a_folder_is_sorted_and_names_nobody(tmp_path):
    for name in ("b", "a", "c"):
        (tmp_path / "root" / name).mkdir(parents=True)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in rootfs.walk(tmp_path / "root", []):
            rootfs._pack(tar, path, tmp_path / "root", [])
    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        assert [(each.name, each.uname, each.gname) for each in tar] == [(name, "", "") for name in (".", "a", "b", "c")]
