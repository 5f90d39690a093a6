import stat

from slownet.lab.build import cache, init


def entries(archive):
    """Parse a newc archive independently, after cpio(5): {name: (mode, (major, minor), data)}."""
    found = {}
    offset = 0
    while True:
        head = archive[offset : offset + 110]
        assert head[:6] == b"070701"
        fields = [int(head[6 + 8 * i : 14 + 8 * i], 16) for i in range(13)]
        _, mode, uid, gid, links, _, size, _, _, major, minor, name_size, checksum = fields
        assert (uid, gid, links, checksum) == (0, 0, 1, 0)
        name = archive[offset + 110 : offset + 110 + name_size]
        assert name[-1:] == b"\0"
        start = -(-(offset + 110 + name_size) // 4) * 4
        assert set(archive[offset + 110 + name_size : start]) <= {0}
        if name == b"TRAILER!!!\0":
            assert archive[start + size :].strip(b"\0") == b""
            return found
        found[name[:-1].decode()] = (mode, (major, minor), archive[start : start + size])
        offset = -(-(start + size) // 4) * 4


def test_the_archive_holds_a_console_and_an_init():
    for size in range(5):
        found = entries(init.initial_root(b"\x7fELF"[:size]))
        assert list(found) == ["dev", "dev/console", "init"]
        assert stat.S_ISDIR(found["dev"][0])
        assert stat.S_ISCHR(found["dev/console"][0])
        assert found["dev/console"][1] == (5, 1)
        mode, _, data = found["init"]
        assert stat.S_ISREG(mode)
        assert stat.S_IMODE(mode) == 0o755
        assert data == b"\x7fELF"[:size]


def test_it_is_compiled_once_for_each_version_of_its_source(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(init, "HERE", tmp_path)
    runs = []

    def run(argv, log, what, hints=()):
        runs.append(what)
        argv[argv.index("-o") + 1].write_bytes(b"\x7fELF")

    monkeypatch.setattr(cache, "run", run)
    monkeypatch.setattr(cache, "need_programs", lambda programs, what: None)
    for name in (*(f"{each}.c" for each in (*init.NAMES, init.ABSENT)), init.HEADER):
        (tmp_path / name).write_text(name)
    folder = init.build()
    assert init.build() == folder
    assert runs == ["compiling init.c", "compiling confine.c", "compiling probe.c", "compiling absent.c"]
    assert entries((folder / "init.cpio").read_bytes())["init"][2] == b"\x7fELF"
    (tmp_path / init.HEADER).write_text("2")
    assert init.build() != folder
    (tmp_path / "init.c").write_text("3")
    assert init.build() != folder
