"""Whatever an output's size and pieces, its beginning and end are kept in a fixed amount of memory."""

import random
import subprocess
import sys
import tracemalloc

import pytest

from slownet.lab.run.excerpt import KEPT_BYTES, LINE_CHARACTERS, Excerpt, clipped, exception


def of(*pieces, kept=8):
    excerpt = Excerpt(kept)
    for piece in pieces:
        excerpt.add(piece)
    return excerpt


def test_a_short_output_is_kept_whole():
    assert of(b"one", b"", b"two").data() == b"onetwo"
    assert of(bytes(range(16))).data() == bytes(range(16))
    assert of(bytes(range(16))).omitted == 0
    assert not of(b"")
    assert of(b"x")


def test_the_middle_of_a_long_output_is_counted():
    excerpt = of(b"12345678" + b"x" * 2048 + b"abcdefgh")
    assert excerpt.data() == b"12345678\n... 2 kB more ...\nabcdefgh"
    assert (excerpt.omitted, excerpt.size) == (2048, 2064)
    assert of(b"x" * 17).text() == "xxxxxxxx\n... 1 bytes more ...\nxxxxxxxx"


@pytest.mark.parametrize("seed", range(20))
def test_pieces_make_no_difference(seed):
    chance = random.Random(seed)
    whole = chance.randbytes(chance.randrange(100))
    excerpt, rest = Excerpt(8), whole
    while rest:
        size = chance.randrange(12)
        excerpt.add(rest[:size])
        rest = rest[size:]
    assert excerpt.data() == of(whole).data()
    assert excerpt.data().startswith(whole[:8])
    assert excerpt.data().endswith(whole[-8:])


def test_memory_stays_fixed():
    piece = b"complaint\n" * 400
    tracemalloc.start()
    excerpt = Excerpt()
    for _ in range(50_000):  # 200 MB
        excerpt.add(piece)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 * KEPT_BYTES
    assert b"\n... 189 MB more ...\n" in excerpt.data()


def test_the_last_line_is_one_that_says_something_and_is_never_long():
    assert of(b"first\n  second \n\n", kept=100).last_line("status 3") == "second"
    assert of(b" \n", kept=100).last_line("status 3") == "status 3"
    assert of(b"a\nb\n\nc\n", kept=100).last_lines(2) == ["b", "c"]
    assert of(b"x" * 20 + b"\nend", kept=8).last_line("") == "end"
    long = "x" * (LINE_CHARACTERS + 3 * 2**20)
    assert clipped(long) == "x" * LINE_CHARACTERS + "... (3 MB more)"
    assert clipped("short") == "short"


def crashed(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).stderr


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("raise ValueError('one')", "ValueError: one"),
        (
            "raise ValueError('2 errors for Shop\\nname\\n  is missing\\nSee https://example.org')",
            "ValueError: 2 errors for Shop name is missing See https://example.org",
        ),
        ("raise KeyError", "KeyError"),
        ("assert [1] == [2], 'lists differ:\\n- 1\\n+ 2'", "AssertionError: lists differ: - 1 + 2"),
        ("try:\n  1/0\nexcept Exception as e:\n  raise RuntimeError('first\\n\\nsecond') from e", "RuntimeError: first second"),
        ("exec('x = (')", "SyntaxError: '(' was never closed"),
        ("import json; json.loads('[')", "json.decoder.JSONDecodeError: Expecting value: line 1 column 2 (char 1)"),
        ("raise ExceptionGroup('two', [ValueError('a\\nb'), KeyError('c')])", "ExceptionGroup: two (2 sub-exceptions)"),
        ("import sys; sys.exit('just words')", "just words"),
        (
            "import sys; sys.stderr.write('Traceback (most recent call last):\\n'); sys.exit(1)",
            "Traceback (most recent call last):",
        ),
    ],
)
def test_an_exception_of_several_lines_is_said_by_its_kind_and_first_words(code, line):
    found = of(b"warning: something\n", crashed(code), kept=KEPT_BYTES).reason("status 1")
    assert found.startswith(line)
    if "Group" not in code:
        assert found == line


def test_a_program_without_a_word_has_another_reason():
    assert of().reason("status 3") == "status 3"
    assert exception("Traceback (most recent call last):\n  File x\n") == ""
