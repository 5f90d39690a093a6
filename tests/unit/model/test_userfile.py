"""Reading files that a user names."""

import io
import os
import threading
import time
import tomllib

import pytest

from slownet.model import userfile
from slownet.model.errors import ExperimentError, LabError


def test_a_byte_order_mark_and_windows_line_ends_are_no_text(tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\nb = 2\r")
    assert userfile.read_text(path) == "a = 1\nb = 2\n"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: None, "No such file or directory"),
        (lambda path: path.symlink_to(path), "Too many levels of symbolic links"),
        (lambda path: path.symlink_to("/dev/zero"), "it is larger than 4 MiB"),
        (lambda path: (path.touch(), os.truncate(path, 1 << 40)), "it is larger than 4 MiB"),
        (lambda path: path.write_bytes(b"ab\xff"), "it is not UTF-8, at byte 2"),
    ],
)
def test_what_cannot_be_read_is_an_ordinary_error(tmp_path, make, why):
    path = tmp_path / "x"
    make(path)
    with pytest.raises((OSError, UnicodeDecodeError)) as caught:
        userfile.read_text(path)
    assert userfile.reason(caught.value) == why


def test_a_null_byte_in_a_name_is_an_ordinary_error():
    with pytest.raises(OSError, match="null byte"):
        userfile.read_bytes("a\0b")


def test_a_pipe_is_read_to_its_end(tmp_path):
    reader, writer = os.pipe()

    def write():
        with os.fdopen(writer, "wb") as pipe:
            for part in (b"one", b"two" * 100_000):
                pipe.write(part)
                pipe.flush()

    thread = threading.Thread(target=write)
    thread.start()
    assert userfile.read_bytes(f"/dev/fd/{reader}") == b"one" + b"two" * 100_000
    thread.join()
    os.close(reader)


def test_a_named_pipe_waits_for_its_writer_but_not_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(userfile, "WRITER_S", 0.05)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is a pipe that no program writes to"):
        userfile.read_bytes(tmp_path / "pipe")
    monkeypatch.setattr(userfile, "WRITER_S", 60.0)
    thread = threading.Timer(0.05, (tmp_path / "pipe").write_bytes, [b"late"])
    thread.start()
    assert userfile.read_bytes(tmp_path / "pipe") == b"late"
    thread.join()


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 200 + "]" * 200,
        "a = " + "[" * 100_000,
        "a = " + "{b = " * 200 + "1" + "}" * 200,
        ".".join("a" * 200) + " = 1",
        "a = " + "1" * 5000,
        "a = 2000-99-99",
        "a = \0",
    ],
    ids=lambda text: text[:20],
)
def test_toml_that_exceeds_a_limit_is_its_ordinary_error(text):
    with pytest.raises(tomllib.TOMLDecodeError):
        userfile.toml(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 200 + "]" * 200, "nested deeper than 50"),
        ("[" * 100_000, "nested deeper than 50"),
        ("1" * 5000, "a number has too many digits"),
        ("", "Expecting value"),
        (b"\xff", "codec"),
        ("\0", "Expecting value"),
    ],
    ids=range(6),
)
def test_json_that_exceeds_a_limit_is_its_ordinary_error(text, why):
    with pytest.raises(ValueError, match=why):
        userfile.json(text)


def test_a_depth_is_counted_in_tables_and_lists():
    assert userfile.json("[" * 50 + "]" * 50)
    with pytest.raises(ValueError, match="nested deeper than 50"):
        userfile.json('{"a":' * 51 + "1" + "}" * 51)
    assert userfile.is_shallow(5, 0)
    assert not userfile.is_shallow([], 0)


def test_a_home_that_does_not_exist_is_one_line(monkeypatch):
    with pytest.raises(LabError) as caught:
        userfile.expanded("~nosuch/x", "share", LabError)
    fix = "write the whole path, or ./ before a name that begins with ~"
    assert str(caught.value) == f"there is no user 'nosuch', for ~nosuch/x, share: {fix}"
    with pytest.raises(ExperimentError, match="there is no user 'nosuch'"):
        userfile.expanded("~nosuch")
    monkeypatch.setenv("HOME", "/home/ada")
    assert str(userfile.expanded("~/x")) == "/home/ada/x"


@pytest.mark.parametrize("read", [userfile.opened, userfile.read_record])
def test_what_might_never_end_is_not_opened(tmp_path, monkeypatch, read):
    monkeypatch.setattr(userfile, "WRITER_S", 0.05)
    os.mkfifo(tmp_path / "fifo")
    for path in ("/dev/zero", tmp_path, tmp_path / "fifo", tmp_path / "missing"):
        with pytest.raises(OSError):  # noqa: PT011  # each has a text of its own
            read(path)
    (tmp_path / "file").write_bytes(b"whole")
    found = read(tmp_path / "file")
    with io.BytesIO(found) if isinstance(found, bytes) else found as file:
        assert file.read() == b"whole"


def test_a_pipe_whose_writer_is_slow_is_awaited(tmp_path, monkeypatch):
    monkeypatch.setattr(userfile, "WRITER_S", 0.05)
    reader, writer = os.pipe()
    late = threading.Timer(0.3, lambda: (os.write(writer, b"late"), os.close(writer)))
    late.start()
    with userfile.opened(f"/dev/fd/{reader}") as file:
        assert file.read() == b"late"
    os.close(reader)


@pytest.mark.parametrize("part", ["x" * 256, "é" * 128, "/".join(["x" * 200] * 21)])
def test_a_path_that_no_file_can_have_is_refused_before_anyone_looks_for_it(tmp_path, part):
    with pytest.raises(LabError, match=r"^the path .*\.\.\. is too long, here:1: a path has at most 4095 bytes"):
        userfile.beside(tmp_path, part, "here:1", LabError)
    assert not userfile.beside(tmp_path, part[:100], "here:1", LabError).exists()


def test_a_path_that_is_too_long_only_beside_its_folder_is_refused(tmp_path):
    folder = tmp_path.joinpath(*["x" * 200] * 19)
    with pytest.raises(LabError, match="is too long"):
        userfile.beside(folder, "y" * 250, "", LabError)


BOMBS = {
    "lists": "a = [" + "[]," * 1_300_000 + "]",
    "tables": "a = [" + "{}," * 1_300_000 + "]",
    "numbers": "a = [" + "1," * 2_000_000 + "]",
    "keys": "".join(f"a{number}=1\n" for number in range(400_000)),
    "heads": "".join(f"[a{number}]\n" for number in range(400_000)),
    "a dotted key": "a." * 1_000_000 + "b = 1",
    "a dotted key in quotes": '"a".' * 1_000_000 + "b = 1",
    "a dotted key with spaces": "a . " * 1_000_000 + "b = 1",
    "a dotted head": "[" + "a." * 1_000_000 + "b]",
    "a word": "a" * 4_000_000,
    "brackets": "a = " + "[" * 90_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_toml_that_would_take_long_is_refused_at_once(name):
    began = time.process_time()
    with pytest.raises(tomllib.TOMLDecodeError):
        userfile.toml(BOMBS[name])
    assert time.process_time() - began < 3


def test_toml_with_dots_in_texts_and_numbers_is_read():
    text = 'a = "' + "1.5, " * 60 + '"\nb = [' + "1.5, " * 1000 + ']\n[c.d.e]\nf.g = "10.0.0.1"\n'
    assert userfile.toml(text)["c"] == {"d": {"e": {"f": {"g": "10.0.0.1"}}}}


@pytest.mark.parametrize("text", ["[" + "[]," * 20_000_000 + "[]]", "[" * 5_000_000, '{"a": [' + "0," * 4_000_000 + "0]}"])
def test_json_that_would_take_much_memory_is_refused_at_once(text):
    began = time.process_time()
    with pytest.raises(ValueError, match="more than 3,000,000 values"):
        userfile.json(text)
    assert time.process_time() - began < 5


def test_json_with_many_commas_in_a_text_is_read():
    assert len(userfile.json('["' + ",[{" * 2_000_000 + '"]')[0]) == 6_000_000
